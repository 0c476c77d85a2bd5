"""Labels of scikit-learn's users are converted to one array that scikit-learn can sort."""

from datetime import date

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from sklearn.exceptions import DataConversionWarning

from recommend.labels import labels_of, numbers_of, target_name

BEYOND_FLOATS = [2**53, 2**53 + 1, 5]


@pytest.mark.parametrize(
    "y",
    [
        BEYOND_FLOATS,
        np.array(BEYOND_FLOATS, dtype=object),
        np.array(BEYOND_FLOATS, dtype="uint64"),
        pd.Series(BEYOND_FLOATS, dtype="Int64"),
        pd.Series(BEYOND_FLOATS, dtype="int64[pyarrow]"),
        pd.Series(BEYOND_FLOATS, dtype="category"),
        pa.chunked_array([BEYOND_FLOATS]),
    ],
    ids=["list", "objects", "uint64", "Int64", "Arrow in pandas", "category", "Arrow"],
)
def test_whole_numbers_never_pass_through_floats(y: object) -> None:
    assert labels_of(y).tolist() == BEYOND_FLOATS


@pytest.mark.parametrize(
    ("y", "labels"),
    [
        (pd.Series(["b", "a"], dtype="string", index=[1, 0]), ["b", "a"]),
        (pd.Series(["b", "a"], dtype=pd.CategoricalDtype(["a", "b", "unused"])), ["b", "a"]),
        (pd.Series([True, False], dtype="boolean"), [True, False]),
        (np.array([True, False], dtype=object), [True, False]),
        (pd.Index([2, 1]), [2, 1]),
    ],
    ids=["text", "category", "boolean", "objects", "index"],
)
def test_labels_are_matched_by_position_and_keep_their_type(y: object, labels: list[object]) -> None:
    assert labels_of(y).tolist() == labels


@pytest.mark.parametrize("y", [np.array([["a"], ["b"]]), pd.DataFrame({"y": ["a", "b"]})])
def test_a_column_vector_is_taken_with_a_warning(y: object) -> None:
    with pytest.warns(DataConversionWarning, match="column-vector"):
        assert labels_of(y).tolist() == ["a", "b"]


@pytest.mark.parametrize(
    "y",
    [
        pd.Series(["a", None], dtype="string"),
        pd.Series([1, None], dtype="Int64"),
        np.array(["a", np.nan], dtype=object),
        [1.0, np.nan],
        pa.chunked_array([["a", None]]),
    ],
)
def test_a_missing_label_is_refused(y: object) -> None:
    with pytest.raises(ValueError, match="each row needs a class"):
        labels_of(y)


@pytest.mark.parametrize(
    ("y", "types"),
    [
        (np.array([1, "a"], dtype=object), "int and str"),
        (pd.Series([True, "yes", 1]), "bool and int and str"),
        ([date(2024, 1, 1), date(2024, 1, 2)], "date"),
    ],
)
def test_labels_of_mixed_types_are_refused(y: object, types: str) -> None:
    with pytest.raises(ValueError, match=f"y holds {types}; expected numbers, truth values or text"):
        labels_of(y)


def test_the_target_never_has_the_name_of_a_column() -> None:
    y = pd.Series([0, 1])
    assert target_name([0, 1], ["x"], "class") == "class"
    assert target_name(y.rename("size"), ["x"], "class") == "size"
    assert target_name(y.rename(0), ["x"], "class") == "0"
    assert target_name(y.rename("size"), ["size", "target"], "target") == "target.1"


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    "y",
    [
        [1, 2.5],
        np.array([1.0, 2.5], dtype="float32"),
        np.array([1, 2.5], dtype=object),
        pd.Series([1.0, 2.5], index=[7, 7]),
        pd.Series([1.0, 2.5], dtype="Float64"),
        pd.Series([1.0, 2.5], dtype="float64[pyarrow]"),
        pd.Series([1.0, 2.5], dtype="category"),
        pa.chunked_array([[1.0, 2.5]]),
    ],
    ids=["list", "float32", "objects", "Series", "Float64", "Arrow in pandas", "category", "Arrow"],
)
def test_numbers_are_taken_from_any_library(y: object) -> None:
    found = numbers_of(y)
    assert found.dtype == np.float64
    assert found.tolist() == [1.0, 2.5]


def test_a_column_of_numbers_is_taken_with_a_warning() -> None:
    for column in (np.array([[1.0], [2.5]]), pd.DataFrame({"y": [1.0, 2.5]})):
        with pytest.warns(DataConversionWarning):
            assert numbers_of(column).tolist() == [1.0, 2.5]


@pytest.mark.parametrize(
    ("y", "complaint"),
    [
        ([1.0, np.nan], "Input y contains NaN"),
        (pd.Series([1, None], dtype="Int64"), "Input y contains NaN"),
        ([1.0, np.inf], "Input y contains infinity"),
        ([3.5], "1 sample"),
        ([1e200, 2e200, 3.0], "too large or too small to square"),
        ([1e-200, 2e-200, 3e-200], "too large or too small to square"),
        ([3.5] * 5, "all of y is the same number; there is nothing to learn"),
        (["much", "little"], "could not convert string to float"),
        (pd.date_range("2026-01-01", periods=2), "y holds dates, which can't be predicted as numbers"),
        (np.array([1, 2], dtype="timedelta64[s]"), "y holds durations"),
        (np.array([1, 2j]), "y holds complex numbers"),
        ([[1.0, 2.0], [3.0, 4.0]], "y should be a 1d array"),
    ],
)
def test_invalid_numeric_targets_are_refused(y: object, complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        numbers_of(y)
