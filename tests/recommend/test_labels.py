"""Labels that users of scikit-learn have, brought to one array of a type that scikit-learn sorts."""

from datetime import date

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from sklearn.exceptions import DataConversionWarning

from recommend.labels import labels_of, target_name

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
def test_labels_go_by_position_and_keep_their_type(y: object, labels: list[object]) -> None:
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
def test_labels_of_several_types_are_refused_in_words(y: object, types: str) -> None:
    with pytest.raises(ValueError, match=f"y holds {types}; expected numbers, truth values or text"):
        labels_of(y)


def test_the_target_never_has_the_name_of_a_column() -> None:
    y = pd.Series([0, 1])
    assert target_name([0, 1], ["x"]) == "class"
    assert target_name(y.rename("size"), ["x"]) == "size"
    assert target_name(y.rename(0), ["x"]) == "0"
    assert target_name(y.rename("size"), ["size", "class"]) == "class.1"
