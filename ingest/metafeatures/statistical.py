"""Meta-features that one pass over the cells gives.

Notation:
    n             rows
    p             columns, the target included
    class_sizes   (n_classes,) rows per class
    distinct      (n_nominal,) distinct values per nominal feature, identifiers left out
    missing       (n, p - 1) True where a cell is missing
Shares are in percent.
"""

import numpy as np
import numpy.typing as npt
import pandas as pd

from ingest.datasets import Dataset
from ingest.roles import Role

_NAN = float("nan")
# OpenML counts 0 classes where the target is a number; what describes classes does not exist there.
_NO_CLASSES = {
    "NumberOfClasses": 0.0,
    "MajorityClassSize": _NAN,
    "MinorityClassSize": _NAN,
    "MajorityClassPercentage": _NAN,
    "MinorityClassPercentage": _NAN,
    "ClassEntropy": _NAN,
    "AutoCorrelation": _NAN,
}


def count_based(dataset: Dataset) -> dict[str, float]:
    """The groups "statistical" and "simple" of the registry; NaN where a value does not exist."""
    features, target = dataset.features, dataset.target
    n, p = len(target), features.shape[1] + 1
    return (
        {"NumberOfInstances": float(n), "NumberOfFeatures": float(p), "Dimensionality": p / n}
        | (_of_classes(target.cat.codes.to_numpy()) if dataset.n_classes else _NO_CLASSES)
        | _of_missing(features)
        | _of_types(dataset)
        | _of_nominal(dataset)
    )


def _of_classes(codes: npt.NDArray[np.integer]) -> dict[str, float]:
    n = len(codes)
    class_sizes = np.bincount(codes)
    class_sizes = class_sizes[class_sizes > 0]
    shares = class_sizes / n
    largest, smallest = float(class_sizes.max()), float(class_sizes.min())
    return {
        "NumberOfClasses": float(len(class_sizes)),
        "MajorityClassSize": largest,
        "MinorityClassSize": smallest,
        "MajorityClassPercentage": 100 * largest / n,
        "MinorityClassPercentage": 100 * smallest / n,
        "ClassEntropy": float(-(shares * np.log2(shares)).sum()),
        "AutoCorrelation": float((codes[1:] == codes[:-1]).mean()) if n > 1 else _NAN,
    }


def _of_missing(features: pd.DataFrame) -> dict[str, float]:
    n, columns = features.shape
    per_row = np.zeros(n, dtype=np.int64)
    for name in features:
        per_row += features[name].isna().to_numpy()
    cells, rows = int(per_row.sum()), int((per_row > 0).sum())
    return {
        "NumberOfMissingValues": float(cells),
        "NumberOfInstancesWithMissingValues": float(rows),
        "PercentageOfMissingValues": 100 * cells / (n * (columns + 1)),
        "PercentageOfInstancesWithMissingValues": 100 * rows / n,
    }


def _of_types(dataset: Dataset) -> dict[str, float]:
    p = dataset.features.shape[1] + 1
    dtypes = dataset.features.dtypes
    target_is_numeric = dataset.n_classes == 0
    numeric = sum(pd.api.types.is_numeric_dtype(dtype) for dtype in dtypes) + target_is_numeric
    symbolic = sum(isinstance(dtype, pd.CategoricalDtype) for dtype in dtypes) + (not target_is_numeric)
    binary = int((_distinct_values(dataset.features) == 2).sum()) + (dataset.n_classes == 2)
    return {
        "NumberOfNumericFeatures": float(numeric),
        "NumberOfSymbolicFeatures": float(symbolic),
        "NumberOfBinaryFeatures": float(binary),
        "PercentageOfNumericFeatures": 100 * numeric / p,
        "PercentageOfSymbolicFeatures": 100 * symbolic / p,
        "PercentageOfBinaryFeatures": 100 * binary / p,
    }


def _of_nominal(dataset: Dataset) -> dict[str, float]:
    named = [name for name, role in dataset.roles.items() if role != Role.identifier]
    distinct = _distinct_values(dataset.features[named])
    exist = len(distinct) > 0
    spread = float(distinct.std(ddof=1)) if len(distinct) > 1 else 0.0
    return {
        "MaxNominalAttDistinctValues": float(distinct.max()) if exist else _NAN,
        "MinNominalAttDistinctValues": float(distinct.min()) if exist else _NAN,
        "MeanNominalAttDistinctValues": float(distinct.mean()) if exist else _NAN,
        "StdvNominalAttDistinctValues": spread if exist else _NAN,
    }


def _distinct_values(features: pd.DataFrame) -> npt.NDArray[np.int64]:
    """How many values each categorical column has; `Dataset` holds no category that does not occur."""
    return np.array(
        [
            len(column.cat.categories)
            for _, column in features.items()
            if isinstance(column.dtype, pd.CategoricalDtype)
        ],
        dtype=np.int64,
    )
