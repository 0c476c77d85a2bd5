"""Compressed files are read, and unreadable formats are named."""

import bz2
import gzip
import io
import lzma
import sqlite3
import tarfile
import zipfile
from pathlib import Path

import pandas as pd
import pyarrow as pa

from ingest.reading.datasets import load_dataset
from ingest.reading.limits import ReadingLimits
from tests.cases import each
from tests.ingest.reading.checks import refusal, written

TABLE = "size,colour,class\n" + "1.5,red,x\n2.5,blue,y\n" * 20


def _zip(**files: str) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return packed.getvalue()


def _arrow(codec: str) -> bytes:
    packed = pa.BufferOutputStream()
    with pa.CompressedOutputStream(packed, codec) as stream:
        stream.write(TABLE.encode())
    return packed.getvalue().to_pybytes()


PACKED = {
    "gzip": gzip.compress(TABLE.encode()),
    "bz2": bz2.compress(TABLE.encode()),
    "xz": lzma.compress(TABLE.encode()),
    "zstd": _arrow("zstd"),
    "lz4": _arrow("lz4"),
    "zip": _zip(**{"a.csv": TABLE}),
    "zip of a Mac": _zip(**{"a.csv": TABLE, "__MACOSX/a.csv": "x"}),
}


@each("kind", PACKED)
def test_a_packed_table_is_read_whatever_its_name(tmp_path: Path, kind: str) -> None:
    dataset = load_dataset(written(tmp_path, PACKED[kind]))
    assert (len(dataset.features), dataset.n_classes) == (40, 2)


@each("kind", ["gzip", "bz2", "xz", "zstd", "lz4", "zip"])
def test_a_damaged_packed_file_is_refused_with_its_kind(tmp_path: Path, kind: str) -> None:
    packed = PACKED[kind]
    assert f"damaged {kind}" in refusal(written(tmp_path, packed[: len(packed) // 2]))


@each("kind", ["gzip", "bz2", "xz", "zstd", "zip"])
def test_a_packed_file_that_unpacks_beyond_the_limit_is_refused(tmp_path: Path, kind: str) -> None:
    limits = ReadingLimits(packed_expansion=1, unpacked_bytes=10)
    message = refusal(written(tmp_path, PACKED[kind]), limits=limits)
    assert f"bytes of the {kind} file are" in message


def test_an_archive_of_several_tables_is_refused(tmp_path: Path) -> None:
    packed = _zip(**{"a.csv": TABLE, "b.csv": TABLE})
    assert "the zip archive holds 2 files" in refusal(written(tmp_path, packed))


def _tar() -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        archive.addfile(tarfile.TarInfo("a.csv"), io.BytesIO(b""))
    return packed.getvalue()


def test_unreadable_formats_are_named(tmp_path: Path) -> None:
    frame = pd.DataFrame({"a": [1, 2], "class": ["x", "y"]})
    sqlite3.connect(tmp_path / "t.sqlite").execute("CREATE TABLE t (a)").connection.close()
    frame = frame.rename(columns={"class": "kind"})
    frame.to_stata(tmp_path / "t.dta")
    frame.to_stata(tmp_path / "new.dta", version=118)
    frame.to_pickle(tmp_path / "t.pkl")
    frame.to_orc(tmp_path / "t.orc")
    assert "an SQLite database" in refusal(tmp_path / "t.sqlite")
    assert "a Stata file" in refusal(tmp_path / "t.dta")
    assert "a Stata file" in refusal(tmp_path / "new.dta")
    assert "a pickle, which could run code" in refusal(tmp_path / "t.pkl")
    assert "an ORC file" in refusal(tmp_path / "t.orc")
    assert "a tar archive" in refusal(written(tmp_path, _tar()))
    assert "an old Excel workbook" in refusal(written(tmp_path, b"\xd0\xcf\x11\xe0" + bytes(600)))


def test_libsvm_is_named_and_not_read_as_blank_separated_columns(tmp_path: Path) -> None:
    rows = "".join(f"{1 if i % 2 else -1} 1:{i}.5 2:{i}\n" for i in range(20))
    assert "LIBSVM" in refusal(written(tmp_path, rows))


def test_a_feather_file_is_read(tmp_path: Path) -> None:
    frame = pd.DataFrame({"a": [1.5, 2.5] * 5, "when": pd.to_datetime(["2020-01-01", "1500-02-03"] * 5)})
    frame.assign(**{"class": ["x", "y"] * 5}).to_feather(tmp_path / "t.feather")
    dataset = load_dataset(tmp_path / "t.feather")
    assert dataset.name == "t"
    assert {name: str(role) for name, role in dataset.roles.items()} == {"a": "numeric", "when": "date"}


def test_a_damaged_feather_file_is_refused(tmp_path: Path) -> None:
    pd.DataFrame({"a": range(100), "class": ["x", "y"] * 50}).to_feather(tmp_path / "t.feather")
    content = (tmp_path / "t.feather").read_bytes()
    assert "damaged Arrow" in refusal(written(tmp_path, content[: len(content) // 2]))
