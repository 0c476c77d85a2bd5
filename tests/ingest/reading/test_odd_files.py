"""Odd files are loaded, and files that are not datasets are refused in one line."""

import gzip
from pathlib import Path

import numpy as np

from ingest.reading.datasets import load_dataset
from tests.cases import each
from tests.ingest.reading.checks import GOOD_ROWS, HEADER, assert_sound, refusal, written

REFUSED: dict[str, tuple[bytes | str, str]] = {
    # encoding
    "random bytes": (np.random.default_rng(0).bytes(5_000), "neither text nor Parquet"),
    "NUL bytes": (b"a,b,class\n1,\x00,x\n", "neither text nor Parquet (its line 2 has the byte 0x00)"),
    "UTF-32": ("a,b,class\n1,2,x\n".encode("utf-32"), "neither text nor Parquet"),
    "gzip of nothing": (gzip.compress(b""), "empty"),
    "HTML": ("<!DOCTYPE html>\n<html><body>Not found</body></html>\n", "HTML"),
    "XML": ("<?xml version='1.0'?>\n<a><b/></a>", "XML"),
    "JSON records": ('[{"a": 1, "class": "x"},\n {"a": 2, "class": "y"}]', "JSON"),
    "JSON lines": ('{"a": 1, "class": "x"}\n{"a": 2, "class": "y"}\n', "JSON"),
    # layout
    "one column": ("class\nx\ny\nx\ny\n", "single column"),
    "one word": ("hello", "single column"),
    "prose": ("It was the best of times,\nit was the worst of times.\nAnd so on.\nThe end", ""),
    "unknown delimiter": ("a^b^class\n1^2^x\n2^3^y\n", "single column"),
    "header too short": ("a,class\n1,2,3,x\n2,3,4,y\n", "the header has 2 names, but the rows have 4 values"),
    "fixed width": (
        "".join(f"{'a b' if i % 2 else 'c':4}{i**5:>12,}{i:>4}\n" for i in range(20)),
        "the columns have a fixed width",
    ),
    # delimited
    "empty": ("", "the file is empty"),
    "blank lines only": ("\n \r\n\n", "the file is empty"),
    "header only": ("a,b,class\n", "no rows"),
    "header without line end": ("a,b,class", "no rows"),
    "only a header, of two lines": ('a,"b\nc",class\n', "no rows"),
    "most rows ragged": (HEADER + "1,x\n1,2,3,4,x\n1,2,y\n1,2,3,x\n1\n", "values"),
    "unquoted commas": (HEADER + GOOD_ROWS + "5,x, y,y\n", "holds the delimiter needs quotes"),
    "some rows ragged": (HEADER + GOOD_ROWS + "5,x\n", "line 6 has 2 values"),
    # tables
    "damaged Parquet": (b"PAR1" + bytes(100), "damaged Parquet"),
    "ARFF without data": ("@relation r\n@attribute x real\n@attribute class {a,b}\n", "@data"),
    "ARFF without rows": ("@relation r\n@attribute x real\n@attribute class {a,b}\n@data\n", "no rows"),
    "ARFF with one column": ("@relation r\n@attribute class {a,b}\n@data\na\nb\n", "at least two columns"),
    "ARFF row too long": ("@relation r\n@attribute x real\n@attribute class {a,b}\n@data\n1,2,a\n", "line 5"),
    # datasets
    "constant target": (HEADER + "1,2,x\n2,3,x\n", "one value only"),
    "a tick or nothing": (HEADER + "1,2,x\n2,3,\n" * 2, "if its 2 empty cells are a class, write a word"),
    "target without values": (HEADER + "1,2,\n2,3,?\n3,4,NA\n", "no values"),
    "unique target": (HEADER + "".join(f"1,{i},u{i}\n" for i in range(50)), "50 different values in 50 rows"),
    "dates as target": (HEADER + "".join(f"1,2,2020-01-{1 + i % 5:02d}\n" for i in range(50)), "dates"),
    "one row": (HEADER + "1,2,x\n", "one value only"),
    "one row of 3,000": (
        ",".join(f"c{i}" for i in range(3_000)) + "\n" + "7," * 2_999 + "x\n",
        "one value only",
    ),
    "two class columns": ("class,a,class\n" + "x,1,x\ny,2,y\n" * 3, "several columns are named 'class'"),
}
"""Content of the file, and a part of the message."""

ACCEPTED: dict[str, bytes | str] = {
    # encoding
    "byte order mark": b"\xef\xbb\xbf" + (HEADER + GOOD_ROWS).encode(),
    "UTF-16": (HEADER + GOOD_ROWS).encode("utf-16"),
    "Latin-1": (HEADER + GOOD_ROWS.replace("x", "é")).encode("latin-1"),
    # layout
    "semicolons in a .csv": (HEADER + GOOD_ROWS).replace(",", ";"),
    "rows end in a delimiter, the header does not": HEADER + GOOD_ROWS.replace("\n", ",\n"),
    "row names without a name": HEADER + "".join(f"r{i},1,{i},{'xy'[i % 2]}\n" for i in range(6)),
    "no header": GOOD_ROWS.replace("1", "1.5"),
    "no header, words only": "p,x,k\ne,x,s\np,b,k\ne,b,s\n" * 3,
    # delimited
    "no line end": (HEADER + GOOD_ROWS).rstrip(),
    "Windows line ends": (HEADER + GOOD_ROWS).replace("\n", "\r\n"),
    "old Mac line ends": (HEADER + GOOD_ROWS).replace("\n", "\r"),
    "blank lines between": (HEADER + GOOD_ROWS).replace("\n", "\n\n"),
    "trailing delimiters": (HEADER + GOOD_ROWS).replace("\n", ",\n"),
    "one ragged row in many": HEADER + GOOD_ROWS * 5 + "1,2\n",
    "blank in front of quotes": "a, b, class\n" + '1, "x, y", p\n2, "z", q\n' * 3,
    "quotes that do not close": HEADER + '1,"2,x\n' + GOOD_ROWS * 5,
    "line breaks in quotes": HEADER + '1,"two\nlines",x\n2,"three\nmore\nlines",y\n' * 3,
    "very long cell": HEADER + f"1,{'w' * 6_000_000},x\n2,v,y\n3,v,x\n4,v,y\n",
    # tables
    "repeated names": "a,a,a.1,class\n" + "1,2,3,x\n4,5,6,y\n" * 3,
    "nameless columns": ",,class\n" + "1,2,x\n4,5,y\n" * 3,
    # columns
    "all cells missing but the target": HEADER + "?,?,x\n?,?,y\n" * 3,
    "a column of nothing": HEADER + "1,,x\n2,,y\n" * 3,
    "infinities": HEADER + "inf,1,x\n-inf,2,y\n3,Infinity,x\n4,5,y\n",
    "overflowing numbers": HEADER + f"1e999,{10**30},x\n2,{-(10**30)},y\n" * 2,
    "numbers with gaps": HEADER + "1,-,x\n2,None,y\n.,3,x\n4,5,y\n",
    "mixed words and numbers": HEADER + "1,one,x\ntwo,2,y\n3,3,x\n4,4,y\n",
    # datasets
    "one class twice, one missing": HEADER + "1,2,x\n2,3,x\n3,4,y\n4,5,y\n5,6,\n",
    "very wide": ",".join(f"c{i}" for i in range(500))
    + ",class\n"
    + ("0," * 500 + "x\n") * 2
    + ("1," * 500 + "y\n") * 2,
}


@each("trouble", REFUSED)
def test_a_file_that_is_not_a_dataset_is_refused_in_one_line(tmp_path: Path, trouble: str) -> None:
    content, part = REFUSED[trouble]
    assert part in refusal(written(tmp_path, content))


@each("oddity", ACCEPTED)
def test_an_odd_file_is_loaded(tmp_path: Path, oddity: str) -> None:
    dataset = load_dataset(written(tmp_path, ACCEPTED[oddity]))
    assert dataset.n_classes == 2
    assert_sound(dataset)
