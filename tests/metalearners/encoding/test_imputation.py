"""Numbers in place of words such as `sqrt` in hyperparameters."""

import math
from typing import Any

import numpy as np
import pandas as pd

from metalearners.encoding.hyperparameters import learn_encoding
from metalearners.encoding.imputation import UNKNOWN_SIZE, DatasetSize
from tests.cases import each
from tests.metalearners.thesis import ABSENT, frame, transformed


def test_mixed_parameters_are_split_as_in_the_thesis(thesis: pd.DataFrame) -> None:
    encoded = transformed(thesis)
    assert encoded["max_features_num"].round(4).tolist() == [0.05, 0.10, 0.0576, 0.0913, 1]
    assert encoded["max_depth_num"].tolist() == [9, 10, 11, 12, 20]
    one_hot = transformed(thesis, one_hot=True)
    labels = one_hot.filter(like="max_features_nom_").idxmax(axis=1).str.removeprefix("max_features_nom_")
    assert labels.tolist() == ["null", "null", "log2", "sqrt", "None"]
    labels = one_hot.filter(like="max_depth_nom_").idxmax(axis=1).str.removeprefix("max_depth_nom_")
    assert labels.tolist() == ["null"] * 4 + ["None"]


@each(
    ("parameter", "values", "expected"),
    [
        ("max_features", ["auto", 0.1], [math.sqrt(120) / 120, 0.1]),
        ("max_features", [12, 0.1], [0.1, 0.1]),
        ("max_features", [1, 1.0], [1 / 120, 1.0]),
        ("max_features", [None, np.int64(60)], [1.0, 0.5]),
        ("max_depth", [None, 7], [20, 7]),
        ("gamma", ["auto", 0.5], [1 / 120, 0.5]),
        ("gamma", ["scale", 0.5], [1 / 120, 0.5]),
        ("min_samples_leaf", [0.01, 3], [10, 3]),
        ("min_samples_leaf", [0.0101, 3], [11, 3]),  # ceiling, as scikit-learn does
        ("min_samples_split", [0.5, 2], [500, 2]),
        ("random_forest:max_features", ["sqrt", 12], [math.sqrt(120) / 120, 0.1]),
        ("base_estimator__max_depth", [None, 2], [20, 2]),
        ("n_jobs", [None, 2], [ABSENT, 2]),  # a word without a rule is not a number
    ],
)
def test_values_become_comparable_numbers(parameter: str, values: list[Any], expected: list[float]) -> None:
    # Two more values, so that no column is constant and dropped.
    configurations = pd.DataFrame({parameter: [*values, 0.25, 30]}, dtype=object)
    encoded = transformed(configurations)
    numbers = encoded[parameter] if parameter in encoded else encoded[f"{parameter}_num"]
    np.testing.assert_allclose(numbers[: len(values)], expected)


def test_auto_is_called_sqrt_in_the_nominal_column_too() -> None:
    encoded = transformed(frame(max_features=["auto", "sqrt", 0.5]), one_hot=True)
    assert encoded["max_features_nom_sqrt"].tolist() == [1, 1, 0]
    assert "max_features_nom_auto" not in encoded
    only_words = transformed(frame(max_features=["auto", "sqrt", "log2"]), one_hot=True)
    assert only_words["max_features_sqrt"].tolist() == [1, 1, 0]


def test_sizes_may_differ_from_row_to_row() -> None:
    configurations = frame(max_features=["sqrt", 0.5, "sqrt"])
    size = DatasetSize(np.array([10, 10, 10]), np.array([4, 4, 100]))
    assert transformed(configurations, size)["max_features_num"].tolist() == [0.5, 0.5, 0.1]


def test_one_configuration_may_be_in_many_rows() -> None:
    configurations = frame(max_features=["sqrt", 0.25], criterion=["gini", "entropy"])
    rows = np.array([0, 1, 0])
    size = DatasetSize(10, np.array([4, 4, 100]))
    encoding = learn_encoding(configurations, size, one_hot=True, rows=rows)
    encoded = dict(zip(encoding.columns, encoding.matrix(configurations, size, rows).T, strict=True))
    assert encoded["max_features_num"].tolist() == [0.5, 0.25, 0.1]
    assert encoded["criterion_gini"].tolist() == [1, 0, 1]


def test_values_that_depend_on_unknown_sizes_are_missing() -> None:
    encoded = transformed(frame(max_features=["sqrt", 0.5, 0.25, None]), UNKNOWN_SIZE)
    np.testing.assert_array_equal(encoded["max_features_num"], [ABSENT, 0.5, 0.25, 1])
