"""Cells of typed tables depend on their notation: 9 is an integer and 9.0 is not."""

import io
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.reading.formats.cell_values import typed
from ingest.reading.formats.typed_tables import TypedColumn, read_typed_table
from tests.cases import each
from warehouse.support.errors import BadInput


def _parquet(**columns: Any) -> bytes:
    file = io.BytesIO()
    pq.write_table(pa.table(columns), file)
    return file.getvalue()


def _with_names(*names: str) -> bytes:
    file = io.BytesIO()
    pq.write_table(pa.table([pa.array([1])] * len(names), names=list(names)), file)
    return file.getvalue()


TWICE = _with_names("a", "a")


def _cells(column: TypedColumn) -> str:
    """The cells as Python prints them, to distinguish 9, 9.0 and True; `-` is an empty one."""
    return " ".join("-" if code < 0 else repr(column.values[code]) for code in column.codes)


WRITTEN: dict[str, tuple[bytes, dict[str, str]]] = {
    "commas": (b"a,b\n9,x\n9.0,None\n ,true\n", {"a": "9 9.0 -", "b": "'x' None True"}),
    "semicolons": (b"a;b\n1,5;1\n?;1.0\n", {"a": "'1,5' -", "b": "1 1.0"}),
    "tabs": (b"a\tb\n1 2\tNA\n1e-3\tnan\n", {"a": "'1 2' 0.001", "b": "- -"}),
    "numbers in ARFF": (
        b"@relation r\n@attribute 'a b' REAL\n@attribute c {1,x}\n@data\n9,1\n9.0,x\n?,1\n",
        {"a b": "9 9.0 -", "c": "1 'x' 1"},
    ),
    "Parquet": (
        _parquet(
            whole=pa.array([9, None, 9]),
            real=pa.array([9.0, None, float("nan")]),
            truth=pa.array([True, False, None]),
            nothing=pa.array([None, None, None]),
            text=pa.array(["9", "9.0", "None"]),
            words=pa.array(["x", None, "?"]).dictionary_encode(),
        ),
        {
            "whole": "9 - 9", "real": "9.0 - -", "truth": "True False -", "nothing": "- - -",
            "text": "9 9.0 None", "words": "'x' - -",
        },
    ),
}  # fmt: skip


@each("kind", WRITTEN)
def test_cells_of_every_kind_of_file_have_the_type_of_their_notation(kind: str) -> None:
    content, expected = WRITTEN[kind]
    table = read_typed_table(content)
    assert {name: _cells(column) for name, column in table.columns.items()} == expected


def test_each_text_is_parsed_once_and_rows_are_selected_by_mask_or_position() -> None:
    column = read_typed_table(b"a,b\n1,\n1.0,\n1,\n,\n").columns["a"]
    assert (column.codes.tolist(), column.values) == ([0, 1, 0, -1], (1, 1.0))
    assert _cells(column.take(np.array([3, 1]))) == "- 1.0"
    assert _cells(column.take(np.array([True, False, False, True]))) == "1 -"


@each(
    ("content", "metadata"),
    [
        (b'# {"flow_id": 5}\n# {"flow_id": 6}\na,b\n1,2\n', {"flow_id": 5}),
        (b'% {"flow_id": 5}\n@relation r\n@attribute a real\n@data\n1\n', {"flow_id": 5}),
        (b"# written by hand\na,b\n1,2\n", {}),
        (b"# [1, 2]\na,b\n1,2\n", {}),
        (b"a,b\n1,2\n", {}),
    ],
)
def test_the_first_comment_may_hold_metadata_as_a_json_object(
    content: bytes, metadata: dict[str, Any]
) -> None:
    assert read_typed_table(content).metadata == metadata


REFUSED: dict[str, tuple[bytes, str]] = {
    "blanks only": (b" \n\t\n", "the file is empty"),
    "a comment only": (b"# {}\n", "not a table"),
    "Parquet with a name twice": (TWICE, "two columns are named 'a'; rename one"),
    "Parquet without rows": (_parquet(a=pa.array([], pa.int64())), "no rows"),
    "Parquet with lists": (_parquet(a=pa.array([[1], [2]])), "column 'a' holds list<.*>; expected booleans"),
    "ARFF with one name twice": (
        b"@relation r\n@attribute a real\n@attribute a real\n@data\n1,2\n",
        "two columns are named 'a'; rename one",
    ),
    "names that differ in blanks": (b"a, a\n1,2\n", "two columns are named 'a'; rename one"),
    "quotes that do not close": (b'a,b\n1,"2\n', "not a table"),
}


@each("trouble", REFUSED)
def test_a_file_that_is_not_a_table_with_rows_is_refused_in_one_line(trouble: str) -> None:
    content, reason = REFUSED[trouble]
    with pytest.raises(BadInput, match=reason) as caught:
        read_typed_table(content)
    assert "\n" not in str(caught.value)


@each("text", ["", "nine", "1_0", "1,5", "0x1", "-", "1e", "٣", "none", "1l", "'a'", '"'])
def test_text_that_is_not_a_plain_number_stays_text(text: str) -> None:
    assert typed(text) == text


@each(
    ("text", "value"),
    [
        ("NULL", None), ("TRUE", True), ("FALSE", False), ("1L", 1), (".5", 0.5), ("1.", 1.0),
        ("Inf", "Infinity"), ("-inf", "-Infinity"), ('"rbf"', "rbf"), ('"1"', "1"),
    ],
)  # fmt: skip
def test_values_as_r_and_openmls_client_write_them(text: str, value: Any) -> None:
    assert repr(typed(text)) == repr(value)


@settings(max_examples=100, deadline=None)
@given(st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False))
def test_a_value_that_python_writes_is_read_with_its_type(value: bool | int | float | None) -> None:
    assert repr(typed(str(value))) == repr(value)
