"""Parquet files: pandas' metadata is not trusted, and damaged text is refused."""

import io
import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.reading.formats.parquet import read_parquet
from ingest.reading.limits import ReadingLimits
from ingest.reading.tables import read_table
from tests.cases import each
from tests.ingest.reading.parquet_lies import (
    with_empty_columns,
    with_encoding,
    with_large_page,
    with_small_footer,
)
from warehouse.support.errors import BadInput

FRAME = pd.DataFrame({"key": [7, 9, 8], "a": [1.0, None, 3.0], "b": ["x", "y", None]}).set_index("key")


def written(folder: Path, notes: Any) -> Path:
    """The frame with other pandas metadata, as text or as JSON."""
    text = notes if isinstance(notes, bytes) else json.dumps(notes).encode()
    path = folder / "data.parquet"
    pq.write_table(pa.Table.from_pandas(FRAME).replace_schema_metadata({b"pandas": text}), path)
    return path


def file_of(columns: Any, **options: Any) -> bytes:
    """The bytes of a Parquet file of these columns, or of this table."""
    sink = pa.BufferOutputStream()
    pq.write_table(columns if isinstance(columns, pa.Table) else pa.table(columns), sink, **options)
    return bytes(sink.getvalue().to_pybytes())


def test_the_index_of_a_data_frame_is_left_out(tmp_path: Path) -> None:
    FRAME.to_parquet(tmp_path / "data.parquet")
    assert list(read_table(tmp_path / "data.parquet").frame) == ["a", "b"]


NOTES: dict[str, Any] = {
    "no JSON": b"{",
    "no object": [1],
    "no index": {},
    "an index of nothing": {"index_columns": None},
    "an index of objects": {"index_columns": [{"kind": "range"}, None, 3]},
    "deep nesting": b"[" * 100_000,
    "columns of no form": {"index_columns": [], "columns": [{"name": None}], "column_indexes": "x"},
    "unknown types": {"index_columns": [], "columns": [{"name": "a", "numpy_type": "x", "pandas_type": 3}]},
}


@each("trouble", NOTES)
def test_damaged_pandas_metadata_changes_nothing(tmp_path: Path, trouble: str) -> None:
    frame = read_table(written(tmp_path, NOTES[trouble])).frame
    assert frame["a"].tolist()[::2] == [1.0, 3.0]
    assert frame["b"].tolist()[:2] == ["x", "y"]
    assert frame["key"].tolist() == [7, 9, 8]


def test_text_that_is_not_utf_8_is_refused() -> None:
    text = pa.Array.from_buffers(
        pa.string(), 1, [None, pa.py_buffer(b"\0\0\0\0\2\0\0\0"), pa.py_buffer(b"\xff\xfe")]
    )
    with pytest.raises(BadInput, match="damaged Parquet"):
        read_parquet(file_of({"a": text}))


TEXTS = {
    "text": pa.array(["x", None, "x", "y"]),
    "large text": pa.array(["x", None, "x", "y"], pa.large_string()),
    "bytes": pa.array([b"\xff", None, b"x", b"x"]),
    "categories": pa.array(["x", None, "x", "y"]).dictionary_encode(),
    "nothing": pa.array([None] * 4, pa.string()),
    "lists": pa.array([["x"], None, [], ["x", "y"]]),
    "a . in the name": pa.array(["", "x", "x", "x"]),
}


@each("rows", [4, 0])
@each("repeats_texts_by_number", [True, False])
def test_columns_have_the_values_and_types_that_the_file_declares(
    rows: int, repeats_texts_by_number: bool
) -> None:
    table = pa.table([*TEXTS.values(), TEXTS["text"]], names=[*TEXTS, "text"]).slice(0, rows)
    content = file_of(table, use_dictionary=repeats_texts_by_number, row_group_size=3)
    assert read_parquet(content).equals(pq.ParquetFile(pa.BufferReader(content)).read())


@each("encoding", ["DELTA_BYTE_ARRAY", "DELTA_LENGTH_BYTE_ARRAY", "PLAIN"])
def test_texts_are_read_in_every_encoding(encoding: str) -> None:
    table = pa.table({"a": ["abc", "abd", None, "b"] * 100, "b": range(400)})
    assert read_parquet(file_of(table, use_dictionary=False, column_encoding={"a": encoding})).equals(table)


def of_long_texts(**options: Any) -> bytes:
    """A Parquet file with a column that takes 2 MB in memory, and little in the file."""
    columns = {"a": ["x" * 20_000] * 100, "b": range(100)}
    return file_of(columns, compression="zstd", use_dictionary=False, **options)


@each("version", ["1.0", "2.0"])
@each("lie", [bytes, with_small_footer])
def test_a_page_counts_with_its_true_size_whatever_the_footer_says(lie: Any, version: str) -> None:
    content = lie(of_long_texts(data_page_version=version))
    limits = ReadingLimits(unpacked_bytes=10_000, text_expansion=10**6)
    with pytest.raises(BadInput, match=r"take 2,00\d,\d+ or more in memory"):
        read_parquet(content, limits)


def test_a_page_that_declares_more_than_it_has_is_refused() -> None:
    content = with_large_page(of_long_texts(), 2**27 - 1)
    with pytest.raises(BadInput, match="damaged Parquet"):
        read_parquet(content)
    with pytest.raises(BadInput, match=r"take 134,21\d,\d+ or more in memory"):
        read_parquet(content, ReadingLimits(unpacked_bytes=10**8))


def test_the_encoding_of_texts_is_that_of_the_pages() -> None:
    """Texts with shared beginnings take few bytes in the file, and 5,000 each in memory."""
    columns = {"a": ["x" * 5_000] * 20_000}
    written_so = file_of(columns, use_dictionary=False, column_encoding={"a": "DELTA_BYTE_ARRAY"})
    content = with_encoding(written_so, encoding=0)
    assert pq.ParquetFile(io.BytesIO(content)).metadata.row_group(0).column(0).encodings == ("RLE", "PLAIN")
    with pytest.raises(BadInput, match="repeat text"):
        read_parquet(content, ReadingLimits(unpacked_bytes=2**20))


def test_a_footer_of_empty_columns_is_refused_before_arrow_reads_it() -> None:
    with pytest.raises(BadInput, match="lacks a field"):
        read_parquet(with_empty_columns(file_of({"a": [1.0]}), 1000))


@settings(max_examples=200, deadline=None)
@given(data=st.data())
def test_a_flipped_bit_is_refused_or_harmless(data: st.DataObject) -> None:
    """Some footers of this file would make Arrow end the process, if asked for a column's metadata."""
    content = bytearray(SMALL)
    content[data.draw(st.integers(4, len(content) - 1))] ^= 1 << data.draw(st.integers(0, 7))
    with suppress(BadInput):
        read_parquet(bytes(content))


@settings(max_examples=50, deadline=None)
@given(place=st.integers(4, 60), value=st.integers(0, 255))
def test_a_damaged_header_of_a_page_is_refused_or_harmless(place: int, value: int) -> None:
    content = bytearray(LONG)
    content[place] = value
    with suppress(BadInput):
        read_parquet(bytes(content))


LONG = of_long_texts()


KINDS = {"a": ["x", None, "yy"], "b": [1.0, 2.0, None], "c": [["x"], None, []]}
SMALL = file_of(KINDS, write_page_index=True)
