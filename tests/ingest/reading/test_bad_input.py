"""Whatever a user hands over: a dataset, or one line that says what is wrong; never another exception."""

import gzip
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ingest.metafeatures import compute_metafeatures
from ingest.reading.datasets import Dataset, load_dataset
from warehouse.support.errors import BadInput

HEADER = "a,b,class\n"
GOOD_ROWS = "1,2,x\n2,3,y\n3,4,x\n4,6,y\n"

# What stands in the file, and a part of the message.
REFUSED_FILES: dict[str, tuple[bytes | str, str]] = {
    "empty": ("", "the file is empty"),
    "blank lines only": ("\n \r\n\n", "the file is empty"),
    "header only": ("a,b,class\n", "no rows"),
    "header without line end": ("a,b,class", "no rows"),
    "one column": ("class\nx\ny\nx\ny\n", "single column"),
    "one word": ("hello", "single column"),
    "prose": ("It was the best of times,\nit was the worst of times.\nAnd so on.\nThe end", ""),
    "unknown delimiter": ("a^b^class\n1^2^x\n2^3^y\n", "single column"),
    "zip": (b"PK\x03\x04" + bytes(50), "zip archive"),
    "old Excel": (b"\xd0\xcf\x11\xe0" + bytes(50), "Excel workbook"),
    "random bytes": (np.random.default_rng(0).bytes(5_000), "neither text nor Parquet"),
    "NUL bytes": (b"a,b,class\n1,\x00,x\n", "neither text nor Parquet"),
    "UTF-32": ("a,b,class\n1,2,x\n".encode("utf-32"), "neither text nor Parquet"),
    "damaged gzip": (gzip.compress(b"a,b\n1,2\n" * 100)[:-9], "damaged gzip"),
    "gzip of nothing": (gzip.compress(b""), "empty"),
    "damaged Parquet": (b"PAR1" + bytes(100), "damaged Parquet"),
    "HTML": ("<!DOCTYPE html>\n<html><body>Not found</body></html>\n", "HTML"),
    "XML": ("<?xml version='1.0'?>\n<a><b/></a>", "XML"),
    "JSON records": ('[{"a": 1, "class": "x"},\n {"a": 2, "class": "y"}]', "JSON"),
    "JSON lines": ('{"a": 1, "class": "x"}\n{"a": 2, "class": "y"}\n', "JSON"),
    "most rows ragged": (HEADER + "1,x\n1,2,3,4,x\n1,2,y\n1,2,3,x\n1\n", "values"),
    "some rows ragged": (HEADER + GOOD_ROWS + "5,x\n", "line 6 has 2 values"),
    "header too short": ("a,class\n1,2,3,x\n2,3,4,y\n", "the header has 2 names, but the rows have 4 values"),
    "constant target": (HEADER + "1,2,x\n2,3,x\n", "one value only"),
    "target without values": (HEADER + "1,2,\n2,3,?\n3,4,NA\n", "no values"),
    "only a header, of two lines": ('a,"b\nc",class\n', "no rows"),
    "unique target": (HEADER + "".join(f"1,{i},u{i}\n" for i in range(50)), "50 different values in 50 rows"),
    "dates as target": (HEADER + "".join(f"1,2,2020-01-{1 + i % 5:02d}\n" for i in range(50)), "dates"),
    "one row": (HEADER + "1,2,x\n", "one value only"),
    "one row of 10,000": (
        ",".join(f"c{i}" for i in range(10_000)) + "\n" + "7," * 9_999 + "x\n",
        "one value only",
    ),
    "two class columns": ("class,a,class\n" + "x,1,x\ny,2,y\n" * 3, "several columns are named 'class'"),
    "ARFF without data": ("@relation r\n@attribute x real\n@attribute class {a,b}\n", "@data"),
    "ARFF without rows": ("@relation r\n@attribute x real\n@attribute class {a,b}\n@data\n", "no rows"),
    "ARFF with one column": ("@relation r\n@attribute class {a,b}\n@data\na\nb\n", "at least two columns"),
    "ARFF row too long": ("@relation r\n@attribute x real\n@attribute class {a,b}\n@data\n1,2,a\n", "line 5"),
}


@pytest.mark.parametrize("trouble", REFUSED_FILES)
def test_a_file_that_is_no_dataset_is_refused_in_one_line(tmp_path: Path, trouble: str) -> None:
    content, part = REFUSED_FILES[trouble]
    path = tmp_path / "data.csv"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    assert part in _refusal(path)


# Odd, but a dataset all the same.
ACCEPTED_FILES: dict[str, bytes | str] = {
    "byte order mark": b"\xef\xbb\xbf" + (HEADER + GOOD_ROWS).encode(),
    "UTF-16": (HEADER + GOOD_ROWS).encode("utf-16"),
    "Latin-1": (HEADER + GOOD_ROWS.replace("x", "é")).encode("latin-1"),
    "no line end": (HEADER + GOOD_ROWS).rstrip(),
    "Windows line ends": (HEADER + GOOD_ROWS).replace("\n", "\r\n"),
    "old Mac line ends": (HEADER + GOOD_ROWS).replace("\n", "\r"),
    "blank lines between": (HEADER + GOOD_ROWS).replace("\n", "\n\n"),
    "semicolons in a .csv": (HEADER + GOOD_ROWS).replace(",", ";"),
    "trailing delimiters": (HEADER + GOOD_ROWS).replace("\n", ",\n"),
    "rows end in a delimiter, the header does not": HEADER + GOOD_ROWS.replace("\n", ",\n"),
    "row names without a name": HEADER + "".join(f"r{i},1,{i},{'xy'[i % 2]}\n" for i in range(6)),
    "no header": GOOD_ROWS.replace("1", "1.5"),
    "no header, words only": "p,x,k\ne,x,s\np,b,k\ne,b,s\n" * 3,
    "repeated names": "a,a,a.1,class\n" + "1,2,3,x\n4,5,6,y\n" * 3,
    "nameless columns": ",,class\n" + "1,2,x\n4,5,y\n" * 3,
    "one ragged row in many": HEADER + GOOD_ROWS * 5 + "1,2\n",
    "blank in front of quotes": 'a, b, class\n' + '1, "x, y", p\n2, "z", q\n' * 3,
    "quotes that do not close": HEADER + '1,"2,x\n' + GOOD_ROWS * 5,
    "line breaks in quotes": HEADER + '1,"two\nlines",x\n2,"three\nmore\nlines",y\n' * 3,
    "all cells missing but the target": HEADER + "?,?,x\n?,?,y\n" * 3,
    "a column of nothing": HEADER + "1,,x\n2,,y\n" * 3,
    "infinities": HEADER + "inf,1,x\n-inf,2,y\n3,Infinity,x\n4,5,y\n",
    "overflowing numbers": HEADER + f"1e999,{10**30},x\n2,{-(10**30)},y\n" * 2,
    "numbers with gaps": HEADER + "1,-,x\n2,None,y\n.,3,x\n4,5,y\n",
    "mixed words and numbers": HEADER + "1,one,x\ntwo,2,y\n3,3,x\n4,4,y\n",
    "one class twice, one missing": HEADER + "1,2,x\n2,3,x\n3,4,y\n4,5,y\n5,6,\n",
    "very wide": ",".join(f"c{i}" for i in range(2_000))
    + ",class\n" + ("0," * 2_000 + "x\n") * 2 + ("1," * 2_000 + "y\n") * 2,
    "very long cell": HEADER + f"1,{'w' * 6_000_000},x\n2,v,y\n3,v,x\n4,v,y\n",
}  # fmt: skip


@pytest.mark.parametrize("oddity", ACCEPTED_FILES)
def test_an_odd_file_is_loaded(tmp_path: Path, oddity: str) -> None:
    content = ACCEPTED_FILES[oddity]
    path = tmp_path / "data.csv"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    dataset = load_dataset(path)
    assert dataset.n_classes == 2
    _assert_sound(dataset)


REFUSED_SOURCES: dict[str, tuple[Callable[[Path], Any], str]] = {
    "missing file": (lambda folder: folder / "nowhere.csv", "there is no file"),
    "directory": (lambda folder: folder, "is a directory"),
    "file as a directory": (lambda folder: _touched(folder / "f") / "data.csv", "as if it were a directory"),
    "name with a NUL": (lambda _: "a\0b.csv", "is no file name"),
    "name with line breaks": (lambda _: "a,b\n1,2\n", "there is no file"),
    "empty name": (lambda _: "", "is a directory"),
    "address": (lambda _: "https://example.org/data.csv", "is an address"),
    "OpenML without a number": (lambda _: "openml:iris", "openml:31"),
    "frame without columns": (lambda _: pd.DataFrame(), "at least two columns"),
    "frame without rows": (lambda _: pd.DataFrame({"a": [], "class": []}), "no rows"),
}


@pytest.mark.parametrize("trouble", REFUSED_SOURCES)
def test_a_source_that_is_no_file_is_refused_in_one_line(tmp_path: Path, trouble: str) -> None:
    source, part = REFUSED_SOURCES[trouble]
    assert part in _refusal(source(tmp_path))


FRAME = pd.DataFrame({"size": [1, 2, 3, 4], "Colour": list("rgrg"), "class": list("xyxy")})

REFUSED_OPTIONS: dict[str, tuple[dict[str, Any], str]] = {
    "absent target, close to one": ({"target": "colour"}, "did you mean 'Colour'?"),
    "absent target": ({"target": "xyz"}, "the columns are 'size', 'Colour', 'class'"),
    "empty target": ({"target": ""}, "there is no column ''"),
    "role of an absent column": ({"roles": {"sise": "numeric"}}, "did you mean 'size'?"),
    "unknown role": ({"roles": {"size": "big"}}, "the roles are numeric, categorical"),
    "role that values do not fit": (
        {"roles": {"Colour": "numeric"}},
        "'Colour' cannot have the role numeric",
    ),
    "date that is none": ({"roles": {"Colour": "date"}}, "'Colour' cannot have the role date"),
    "role that a target cannot have": ({"roles": {"class": "text"}}, "a target is detected, or categorical"),
}


@pytest.mark.parametrize("trouble", REFUSED_OPTIONS)
def test_options_that_do_not_fit_are_refused_in_one_line(trouble: str) -> None:
    options, part = REFUSED_OPTIONS[trouble]
    assert part in _refusal(FRAME, **options)


def _values(*values: Any) -> list[Any]:
    return [*values] * 3


ODD_COLUMNS: dict[str, Any] = {
    "nullable integers": pd.array(_values(1, None), dtype="Int64"),
    "nullable booleans": pd.array(_values(True, None), dtype="boolean"),
    "sparse": pd.arrays.SparseArray(_values(0.0, 1.0)),
    "unsigned": np.array(_values(2**64 - 1, 0), dtype=np.uint64),
    "half precision": np.array(_values(1, 2), dtype=np.float16),
    "complex": np.array(_values(1 + 2j, 3j)),
    "time spans": pd.to_timedelta(_values("1h", None)),
    "zoned times": pd.to_datetime(_values("2020-01-01", "2020-06-01")).tz_localize("Europe/Berlin"),
    "periods": pd.PeriodIndex(_values("2020-01", "2020-02"), freq="M"),
    "intervals": pd.cut(np.arange(6), 2),
    "categories of numbers": pd.Categorical(_values(1.0, 2.5)),
    "lists": pd.Series(_values([1], [2, 3])),
    "dictionaries": pd.Series(_values({"a": 1}, None)),
    "bytes": pd.Series(_values(b"a", b"b")),
    "objects of many kinds": pd.Series(_values(1, "a"), dtype=object),
    "objects that are numbers": pd.Series(_values(1, "2"), dtype=object),
    "objects that are truth values": pd.Series(_values(True, None), dtype=object),
    "nothing": pd.Series(_values(None, None), dtype=object),
    "arrow strings": pd.array(_values("a", None), dtype="string[pyarrow]"),
}


@pytest.mark.parametrize("kind", ODD_COLUMNS)
def test_a_frame_with_any_kind_of_column_is_loaded(kind: str) -> None:
    frame = pd.DataFrame({"odd": ODD_COLUMNS[kind], "class": _values("x", "y")})
    _assert_sound(load_dataset(frame))


def test_a_frame_with_odd_names_is_loaded() -> None:
    frame = pd.DataFrame(
        np.arange(24).reshape(6, 4), columns=[0, None, ("a", "b"), "x\ny"], index=list("aabbcc")
    )
    dataset = load_dataset(frame.assign(label=_values("p", "q")))
    assert list(dataset.features) == ["0", "Unnamed: 1", "('a', 'b')", "x\ny"]
    _assert_sound(dataset)


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(st.sampled_from("a1,;\t|\n\r \"'?-.@%{}\x0b\\é"), max_size=80))
def test_any_text_is_loaded_or_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "data.csv"
    path.write_text(text, newline="")
    _loaded_or_refused(path)


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=80))
def test_any_bytes_are_loaded_or_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "data.arff"
    path.write_bytes(content)
    _loaded_or_refused(path)


# ---- helpers -------------------------------------------------------------------------------------


def _touched(path: Path) -> Path:
    path.touch()
    return path


def _refusal(source: Any, **options: Any) -> str:
    with pytest.raises(BadInput) as error:
        load_dataset(source, **options)
    message = str(error.value)
    assert message
    assert message.isprintable(), "one line"
    assert len(message) < 500
    return message


def _loaded_or_refused(path: Path) -> None:
    try:
        load_dataset(path)
        # What experiments load: classes of two rows or more, whatever the target.
        dataset = load_dataset(path, numeric_target="binarize", rare_classes="drop")
    except BadInput as error:
        assert str(error).isprintable()
    else:
        _assert_sound(dataset)


def _assert_sound(dataset: Dataset) -> None:
    """What every part downstream relies on."""
    assert not dataset.target.isna().any()
    assert dataset.target.value_counts().min() >= 2
    assert len(dataset.target) == len(dataset.features)
    assert list(dataset.roles) == list(dataset.features)
    for column, role in dataset.roles.items():
        if role == "numeric":
            assert not np.isinf(dataset.features[column].to_numpy(dtype=float)).any()
    assert len(dataset.content_hash) == 16
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert compute_metafeatures(dataset)
