"""Conversion of scikit-learn users' targets to one array: labels of classes, or numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_array, column_or_1d

from ingest.reading.target.task_choice import are_squarable
from warehouse.support.arrays import Floats


def labels_of(y: Any) -> npt.NDArray[Any]:
    """(n,) labels, all numbers, all booleans or all text; whole numbers are never converted to floats.

    Args:
        y: (n,) or (n, 1) labels: an array, a list, or a series of any library, whose index is ignored. A
            column vector is accepted with scikit-learn's DataConversionWarning.

    Raises:
        ValueError: a label is missing, or labels have different or unsuitable types.
    """
    if isinstance(y, pd.Series | pd.DataFrame | pd.Index | pd.api.extensions.ExtensionArray):
        _refuse_missing(y)
        y = y.to_numpy()  # also of nullable integers: scikit-learn would make them floats
    labels = column_or_1d(y, warn=True)
    _refuse_missing(labels)
    if labels.dtype == object:
        labels = pd.Series(labels).infer_objects().to_numpy()
    if labels.dtype == object:
        types = sorted({type(label).__name__ for label in labels.tolist()})
        if types != ["str"]:
            raise ValueError(
                f"Unknown label type: y holds {' and '.join(types)}; expected numbers, truth values or text,"
                " all of one type, such as y.astype(str) makes them"
            )
    check_classification_targets(labels)
    return np.asarray(labels)


_NOT_REAL = {"M": "dates", "m": "durations", "c": "complex numbers"}
"""Kind of a dtype that NumPy converts to numbers -> what it holds."""


def numbers_of(y: Any) -> Floats:
    """(n,) finite numbers.

    Args:
        y: (n,) or (n, 1) numbers, as for `labels_of`.

    Raises:
        ValueError: one is missing, infinite, not a number or too large to square, or all are (nearly) equal.
    """
    kind = getattr(getattr(y, "dtype", None), "kind", "")
    if kind in _NOT_REAL:
        raise ValueError(f"y holds {_NOT_REAL[kind]}, which can't be predicted as numbers")
    if isinstance(y, pd.Series | pd.DataFrame | pd.Index | pd.api.extensions.ExtensionArray):
        y = y.to_numpy(np.float64, na_value=np.nan)
    numbers = check_array(y, ensure_2d=False, dtype=np.float64, ensure_min_samples=2, input_name="y")
    numbers = column_or_1d(numbers, warn=True)
    if np.ptp(numbers) == 0:
        raise ValueError("all of y is the same number; there is nothing to learn")
    if not are_squarable(numbers):
        raise ValueError("y has numbers too large or too small to square; use another unit")
    return np.asarray(numbers, np.float64)


def _refuse_missing(y: Any) -> None:
    if np.any(pd.isna(y)):
        raise ValueError("Input y contains NaN: each row needs a class")


def target_name(y: Any, columns: list[str], usual: str) -> str:
    """The name of the target, by default `usual`; a different one if a column has the same name."""
    name = getattr(y, "name", None)
    name = usual if name is None or str(name) in columns else str(name)
    number = 0
    while (found := f"{name}.{number}" if number else name) in columns:
        number += 1
    return found
