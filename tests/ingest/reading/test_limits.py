"""Files that would use all memory or time are refused, and the message says how to lift the limit."""

import gzip
import io
import os
import struct
import subprocess
import sys
import zipfile
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ingest.reading.datasets import load_dataset
from ingest.reading.formats.typed_tables import read_typed_table
from ingest.reading.limits import NO_LIMITS, ReadingLimits
from ingest.reading.tables import read_table
from tests.cases import each
from tests.commands import PEAK_MEMORY
from warehouse.support.errors import BadInput

SMALL = ReadingLimits(
    columns=10, line_bytes=1_000, expansion=10, packed_expansion=8, text_expansion=9, unpacked_bytes=10_000
)
TABLE = b"a,b,class\n" + b"1,2,x\n1,3,y\n" * 10


def parquet(rows: int, columns: int) -> bytes:
    """A file of one value, which takes hardly any space."""
    sink = pa.BufferOutputStream()
    zeros = pa.array(np.zeros(rows, dtype=np.int8))
    pq.write_table(pa.table({f"c{place}": zeros for place in range(columns)}), sink)
    return bytes(sink.getvalue().to_pybytes())


def zipped(text: bytes) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.csv", text)
    return content.getvalue()


def parquet_of(values: list[Any]) -> bytes:
    sink = pa.BufferOutputStream()
    pq.write_table(pa.table({"a": pa.array(values), "b": [0] * len(values)}), sink)
    return bytes(sink.getvalue().to_pybytes())


def parquet_of_text(values: Any, **options: Any) -> bytes:
    sink = pa.BufferOutputStream()
    pq.write_table(pa.table({"a": pa.array(values), "b": pa.array(range(len(values)))}), sink, **options)
    return bytes(sink.getvalue().to_pybytes())


def arrow(table: pa.Table, **options: Any) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_file(sink, table.schema, options=pa.ipc.IpcWriteOptions(**options)) as file:
        file.write_table(table)
    return bytes(sink.getvalue().to_pybytes())


def viewed(text: str, rows: int) -> pa.Array:
    """An array whose rows all refer to one text."""
    view = struct.pack("<i4sii", len(text), text[:4].encode(), 0, 0)
    buffers = [None, pa.py_buffer(view * rows), pa.py_buffer(text.encode())]
    return pa.Array.from_buffers(pa.string_view(), rows, buffers)


def workbook(*rows: list[Any]) -> bytes:
    sheet = openpyxl.Workbook()
    for row in rows:
        sheet.active.append(row)
    content = io.BytesIO()
    sheet.save(content)
    return content.getvalue()


def arff(attributes: int, data: bytes) -> bytes:
    declared = b"".join(b"@attribute a%d numeric\n" % place for place in range(attributes))
    return b"@relation r\n" + declared + b"@data\n" + data


BOMBS = {
    "gzip": (
        gzip.compress(TABLE * 1_000),
        "or more of text; the limit is 8 times as many",
        "packed_expansion",
    ),
    "gzip in many members": (gzip.compress(TABLE * 100) * 20, "of the gzip file are", "packed_expansion"),
    "gzip of empty rows": (
        gzip.compress(b"a,class\n" + b",\n" * 1_000),
        "cells or more, the limit is 312",
        "expansion",
    ),
    "gzip of empty lines": (
        gzip.compress(b"a,class\n" + b"\n" * 2_000),
        "cells or more, the limit is 312",
        "expansion",
    ),
    "zip of blanks": (
        zipped(b"a class\n" + b"1  2 " * 1_000),
        "cells or more, the limit is 312",
        "expansion",
    ),
    "Parquet of a long list": (
        parquet_of([[0] * 10_000, []]),
        "or more in memory; the limit is 10 times as many",
        "expansion",
    ),
    "Parquet of records": (parquet_of([{"a": 0}] * 1_000), "take 144,000 or more in memory", "expansion"),
    "Parquet of dates": (
        parquet_of([date(2020, 1, 1)] * 1_000),
        "take 56,000 or more in memory",
        "expansion",
    ),
    "Arrow of nothing": (
        arrow(pa.table({"a": pa.nulls(10_000), "b": pa.nulls(10_000)})),
        "take 320,000 or more in",
        "expansion",
    ),
    "packed Arrow": (
        arrow(pa.table({"a": np.zeros(10_000), "b": range(10_000)}), compression="zstd"),
        "take 320,000 or more in memory",
        "expansion",
    ),
    "packed Arrow of a long text": (
        arrow(pa.table({"a": ["x" * 100_000], "b": [1]}), compression="zstd"),
        "or more in memory; the limit is 10 times as many",
        "expansion",
    ),
    "Arrow that repeats a category": (
        arrow(pa.table({"a": pa.array(["x" * 1_000] * 100).dictionary_encode(), "b": range(100)})),
        "of the file repeat text of 100,000 bytes",
        "text_expansion",
    ),
    "Arrow that repeats a view": (
        arrow(pa.table({"a": viewed("x" * 1_000, 100), "b": range(100)})),
        "of the file repeat text of 100,000 bytes",
        "text_expansion",
    ),
    "Excel of wide gaps": (
        workbook([1] + [None] * 900 + [2], *[[1]] * 300),
        "or more in memory",
        "expansion",
    ),
    "Parquet of many rows": (parquet(1_000_000, 2), "take 32,000,000 or more in memory", "expansion"),
    "Parquet that repeats a text": (
        parquet_of_text(["x" * 1_000] * 100),
        "repeat text of 100,000 bytes; the limit is 9 times as many",
        "text_expansion",
    ),
    "Parquet that repeats a category": (
        parquet_of_text(pd.Categorical(["x" * 1_000] * 100)),
        "repeat text of 100,000 bytes",
        "text_expansion",
    ),
    "Parquet whose texts begin alike": (
        parquet_of_text(
            ["x" * 1_000 + str(row) for row in range(100)],
            use_dictionary=False,
            column_encoding={"a": "DELTA_BYTE_ARRAY"},
        ),
        "of the file repeat text of",
        "text_expansion",
    ),
    "Parquet with a large page": (
        parquet_of_text(["x" * 1_000] * 100, use_dictionary=False, compression="zstd"),
        "or more in memory; the limit is 10 times as many",
        "expansion",
    ),
    "sparse ARFF": (arff(9, b"{}\n" * 1_000), "take 72,000 or more in memory", "expansion"),
    "wide CSV": (b",".join([b"1"] * 50) + b"\n", "the table has 50 columns, the limit is 10", "columns"),
    "wide text between blanks": (b"1 " * 50 + b"\n" + b"1 " * 50, "the table has 50 columns", "columns"),
    "wide row": (b"a b c\n" + b"1 " * 50, "the table has 50 columns", "columns"),
    "wide ARFF": (arff(50, b""), "the table has 11 columns, the limit is 10", "columns"),
    "wide Parquet": (parquet(2, 50), "the table has 50 columns", "columns"),
    "long line": (b"a,b\n1," + b"x" * 2_000, "a line of more than 1,000 bytes", "line_bytes"),
    "long last line of many": (TABLE * 20 + b"1," + b"x" * 2_000, "a line of more than", "line_bytes"),
}


@each("bomb", BOMBS)
def test_files_beyond_a_limit_are_refused(tmp_path: Path, bomb: str) -> None:
    content, reason, name = BOMBS[bomb]
    path = tmp_path / "data"
    path.write_bytes(content)
    with pytest.raises(BadInput) as error:
        read_table(path, SMALL)
    assert reason in str(error.value)
    assert (
        f"set HEADSTART_LIMITS=off, or in Python give load_dataset(..., limits=ReadingLimits({name}=...))"
        in str(error.value)
    )


def test_cells_of_a_workbook_are_counted_before_it_is_parsed(tmp_path: Path) -> None:
    path = tmp_path / "data.xlsx"
    path.write_bytes(workbook(*[[1] * 9] * 2_000))
    with pytest.raises(BadInput, match="cells or more, the limit is"):
        read_table(path, ReadingLimits(packed_expansion=1_000, expansion=1, unpacked_bytes=1_000))


@each("bomb", ["wide CSV", "wide ARFF", "wide Parquet", "long line", "sparse ARFF"])
def test_tables_of_runs_have_the_same_limits(bomb: str) -> None:
    content, reason, _ = BOMBS[bomb]
    with pytest.raises(BadInput, match=reason):
        read_typed_table(content, SMALL)


READS = f"""{PEAK_MEMORY}
import sys
from pathlib import Path
from ingest.reading.datasets import load_dataset
from ingest.reading.formats.encoding import read_bytes
from ingest.reading.formats.typed_tables import read_typed_table
for read in (load_dataset, lambda path: read_typed_table(read_bytes(Path(path)))):
    try:
        read(sys.argv[1])
    except Exception as error:
        print(type(error).__name__)
print(peak())
"""
EMPTY_ROWS = {
    "far beyond the limit": gzip.compress(b"a,b,c,d,e,class\n") + gzip.compress(b",,,,,\n" * 100_000) * 400,
    "just within": gzip.compress(b"task_id,class\n" + b",\n" * 4_000_000),
}


@pytest.mark.parametrize("number", EMPTY_ROWS)
def test_empty_rows_take_little_memory_whatever_their_number(tmp_path: Path, number: str) -> None:
    path = tmp_path / "data.csv.gz"
    path.write_bytes(EMPTY_ROWS[number])
    command = [sys.executable, "-c", READS, str(path)]
    *refusals, peak = subprocess.check_output(command, cwd=Path(__file__).parents[3], text=True).split()
    if number == "far beyond the limit":
        assert refusals == ["UnreadableInput", "UnreadableInput"]
    assert int(peak) < 500


def test_a_table_within_the_limits_is_read(tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    path.write_bytes(TABLE * 100)  # longer than the limit of a line, but in many lines
    assert len(load_dataset(path, limits=SMALL).features) == len(load_dataset(path).features)


def test_lines_may_end_in_carriage_returns(tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    path.write_bytes((TABLE * 100).replace(b"\n", b"\r"))
    assert len(read_table(path, SMALL).frame) > 1_000


def test_limits_can_be_lifted(tmp_path: Path) -> None:
    path = tmp_path / "data.csv.gz"
    path.write_bytes(gzip.compress(TABLE * 100))
    with pytest.raises(BadInput, match="of text"):
        load_dataset(path, limits=ReadingLimits(unpacked_bytes=1_000, packed_expansion=2))
    assert len(load_dataset(path, limits=NO_LIMITS).features)


def test_the_environment_lifts_limits() -> None:
    code = "from ingest.reading.limits import DEFAULT_LIMITS, NO_LIMITS; print(DEFAULT_LIMITS == NO_LIMITS)"
    environment = os.environ | {"HEADSTART_LIMITS": "off"}
    command = [sys.executable, "-c", code]
    assert subprocess.check_output(command, env=environment, text=True) == "True\n"
    assert ReadingLimits() != NO_LIMITS


BLANKS = b" " * 200_000
SLOW = {
    "blanks in a relation's name": b"@relation a" + BLANKS + b"b\n@attribute a numeric\n@data\n1\n",
    "blanks in a nominal value": b"@relation r\n@attribute a {x,a" + BLANKS + b"b}\n@data\nx\n",
    "blanks in a sparse row": arff(2, b"{0 1" + BLANKS + b"2}\n"),
    "digits in a sparse row": arff(2, b"{" + b"1" * 200_000 + b"}\n"),
    "a list over many lines": b"@relation r\n@attribute a {x\n" + b",y\n" * 50_000 + b"@data\n",
    "comments without a relation": b"% comment\n" * 20_000 + b"1,2\n",
    "a number that is none": b"a," + b"1" * 100_000 + b"x\n" + b"1,2\n" * 3,
    "comments before runs": b"#\n" * 100_000 + b"task_id,depth\n",
}


@each("trouble", SLOW)
def test_no_text_takes_quadratic_time(tmp_path: Path, trouble: str) -> None:
    """Each takes minutes unless reading is linear, so the time of the test suite shows it."""
    path = tmp_path / "data"
    path.write_bytes(SLOW[trouble])
    for read in (load_dataset, lambda path: read_typed_table(path.read_bytes())):
        try:
            read(path)
        except BadInput:
            continue
