"""Forests trained by LightGBM, for tests."""

from typing import Any, Literal

import lightgbm
import numpy as np


def rows(rng: np.random.Generator, n: int = 400, missing: float = 0.1) -> np.ndarray:
    """(n, 6): continuous, few-valued and binary features, NaN in the first three."""
    X = np.column_stack([rng.normal(size=(n, 3)), rng.integers(0, 5, (n, 2)), rng.integers(0, 2, n)]).astype(
        float
    )
    X[:, :3][rng.random((n, 3)) < missing] = np.nan
    return X


def trained(
    X: np.ndarray,
    y: np.ndarray,
    trees: int = 30,
    categorical: list[int] | Literal["auto"] = "auto",
    **parameters: Any,
) -> Any:
    settings = {
        "objective": "regression",
        "verbosity": -1,
        "min_data_in_leaf": 1,
        "num_threads": 1,
        "seed": 0,
    }
    data = lightgbm.Dataset(X, y, categorical_feature=categorical)
    return lightgbm.train(settings | parameters, data, num_boost_round=trees)


def target(X: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    filled = np.nan_to_num(X, nan=1.0)
    values: np.ndarray = (
        filled[:, 0] * filled[:, 3] + np.sin(filled[:, 1]) + filled[:, 5] + rng.normal(size=len(X))
    )
    return values
