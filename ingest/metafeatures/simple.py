"""Groups `simple` and `class`: counts from one pass over the cells.

Notation
    n             rows
    columns       columns, the target included (OpenML: features)
    distinct      (nominal attributes,) distinct values of each
    class_sizes   (n_classes,) rows per class, all at least 1
Shares are in percent, except DefaultAccuracy.
"""

import numpy as np
import numpy.typing as npt
import pandas as pd

from ingest.metafeatures.prepared import Prepared
from ingest.metafeatures.values import Values, extent


def simple(prepared: Prepared) -> Values:
    """Sizes, column types, missing cells, and values of the nominal attributes."""
    features = prepared.dataset.features
    columns = features.shape[1] + 1
    return (
        {
            "NumberOfInstances": float(prepared.n),
            "NumberOfFeatures": float(columns),
            "Dimensionality": columns / prepared.n,
        }
        | _of_missing(features)
        | _of_types(prepared)
        | extent(
            _declared_values(features[prepared.nominal]),
            [f"{statistic}NominalAttDistinctValues" for statistic in ("Min", "Max", "Mean", "Stdv")],
            "no attribute is nominal",
        )
    )


def of_classes(prepared: Prepared) -> Values:
    """The distribution of the classes."""
    if not prepared.has_classes:
        return {"NumberOfClasses": 0.0}  # as in OpenML
    y, n = prepared.y, prepared.n
    class_sizes = np.bincount(y)
    shares = class_sizes / n
    return {
        "NumberOfClasses": float(len(class_sizes)),
        "MajorityClassSize": float(class_sizes.max()),
        "MinorityClassSize": float(class_sizes.min()),
        "MajorityClassPercentage": 100 * float(shares.max()),
        "MinorityClassPercentage": 100 * float(shares.min()),
        "DefaultAccuracy": float(shares.max()),
        "ClassEntropy": float(-(shares * np.log2(shares)).sum()),
        "AutoCorrelation": float((y[1:] == y[:-1]).mean()) if n > 1 else "there is one row only",
    }


def _of_missing(features: pd.DataFrame) -> Values:
    n, attributes = features.shape
    per_row = np.zeros(n, dtype=np.int64)
    for name in features:
        per_row += features[name].isna().to_numpy()
    cells, rows = int(per_row.sum()), int((per_row > 0).sum())
    return {
        "NumberOfMissingValues": float(cells),
        "NumberOfInstancesWithMissingValues": float(rows),
        "PercentageOfMissingValues": 100 * cells / (n * (attributes + 1)),
        "PercentageOfInstancesWithMissingValues": 100 * rows / n,
    }


def _of_types(prepared: Prepared) -> Values:
    features = prepared.dataset.features
    columns = features.shape[1] + 1
    has_classes = prepared.has_classes
    numeric = sum(pd.api.types.is_numeric_dtype(dtype) for dtype in features.dtypes) + (not has_classes)
    symbolic = sum(isinstance(dtype, pd.CategoricalDtype) for dtype in features.dtypes) + has_classes
    binary = int((_declared_values(features) == 2).sum()) + (prepared.dataset.n_classes == 2)
    return {
        "NumberOfNumericFeatures": float(numeric),
        "NumberOfSymbolicFeatures": float(symbolic),
        "NumberOfBinaryFeatures": float(binary),
        "PercentageOfNumericFeatures": 100 * numeric / columns,
        "PercentageOfSymbolicFeatures": 100 * symbolic / columns,
        "PercentageOfBinaryFeatures": 100 * binary / columns,
    }


def _declared_values(features: pd.DataFrame) -> npt.NDArray[np.int64]:
    """Number of values of each categorical column, including declared values that do not occur."""
    dtypes = features.dtypes
    return np.array(
        [len(dtype.categories) for dtype in dtypes if isinstance(dtype, pd.CategoricalDtype)], dtype=np.int64
    )
