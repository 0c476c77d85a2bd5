"""The configurations of van Hoof's thesis, Table 3.1, and how to encode others."""

import math
from typing import Any

import pandas as pd
from sklearn.decomposition import PCA
from sklearn.preprocessing import OneHotEncoder

from metalearners.encoding.hyperparameters import learn_encoding
from metalearners.encoding.imputation import DatasetSize

ABSENT = math.nan
THESIS_SIZE = DatasetSize(rows=1000, features=120)


def frame(**columns: list[Any]) -> pd.DataFrame:
    return pd.DataFrame(columns, dtype=object)


def thesis_configurations() -> pd.DataFrame:
    """The five configurations of Table 3.1."""
    columns = {
        "n_estimators": [10, 100, 100, 500, 100],
        "criterion": ["gini", "gini", "gini", "entropy", "gini"],
        "max_features": [0.05, 0.10, "log2", "sqrt", None],
        "max_depth": [9, 10, 11, 12, None],
        "min_samples_split": [2, 3, 8, 5, 8],
        "min_samples_leaf": [1, 7, 2, 7, 9],
        "bootstrap": [True, False, 0, 1, True],
        "@preprocessor": [OneHotEncoder(), PCA(), PCA(), PCA(), None],
    }
    return pd.DataFrame(columns, dtype=object)


def transformed(
    configurations: pd.DataFrame, size: DatasetSize = THESIS_SIZE, **options: Any
) -> pd.DataFrame:
    encoding = learn_encoding(configurations, size, **{"one_hot": False, **options})
    return encoding.transform(configurations, size)
