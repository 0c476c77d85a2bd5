"""Small tables to fit flows on, and the flows whose packages are installed."""

from collections.abc import Iterable
from importlib.util import find_spec

import numpy as np
import pandas as pd

from ingest.reading.column_types.roles import Role


def where_installed(names: Iterable[str]) -> list[str]:
    """The flows or libraries whose package is installed: XGBoost may be missing."""
    there = find_spec("xgboost") is not None
    return [name for name in names if there or not name.startswith("xgboost")]


def numbers(rows: int = 200, classes: int = 2) -> tuple[np.ndarray, np.ndarray]:
    """(n, 3) numbers, and classes that the first number predicts with an error of about one in six."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(rows, 3))
    cuts = np.linspace(-0.5, 0.5, classes - 1) if classes > 2 else [0.0]
    return X, np.digitize(X[:, 0] + rng.normal(0, 0.5, rows), cuts)


def as_frame(X: np.ndarray) -> tuple[pd.DataFrame, dict[str, Role]]:
    """The numbers as columns `a`, `b`, `c`, and their roles."""
    names = list("abc"[: X.shape[1]])
    return pd.DataFrame(X, columns=names), dict.fromkeys(names, Role.numeric)
