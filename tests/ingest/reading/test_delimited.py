"""Delimited text becomes a table of typed columns, with remarks on omissions and guesses."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.reading.column_types.columns import tidied
from ingest.reading.datasets import load_dataset
from ingest.reading.formats.delimited import read_delimited
from tests.cases import each
from warehouse.support.errors import BadInput


def test_omissions_and_guesses_are_noted(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a,b,class\n" + "1,2,x\n2,3,y\n" * 10 + "1,x\n")
    note = load_dataset(path).note
    assert note == "1 row with the wrong number of values left out (line 22 has 2 values, 3 expected)"
    path.write_text("1.5,2,x\n2.5,3,y\n" * 3)
    dataset = load_dataset(path)
    assert dataset.note == "no header line found: columns are named by their number"
    assert list(dataset.features) == ["column_1", "column_2"]
    assert len(dataset.features) == 6


def test_quotes_that_do_not_close_are_part_of_the_words_and_remarked() -> None:
    table = read_delimited(b'a,b\n1,x\n2,"y\n3,z\n')
    assert table.frame["b"].tolist() == ["x", '"y', "z"]
    assert [*table.remarks] == ["quotes do not close and were read as plain characters"]


def test_ragged_rows_are_left_out_up_to_a_tenth_of_all() -> None:
    """1 of 10 rows is a tenth, 1 of 9 is more."""
    table = read_delimited(b"a,b\n" + b"1,2\n" * 9 + b"1\n")
    assert (len(table.frame), len(table.remarks)) == (9, 1)
    with pytest.raises(BadInput, match=r"^1 of 9 rows .*: line 10 has 1 value, 2 expected$"):
        read_delimited(b"a,b\n" + b"1,2\n" * 8 + b"1\n")


@each(
    ("cells", "expected"),
    [
        (("1", "-2"), [1, -2]),
        (("1", "2.5"), [1.0, 2.5]),
        (("1e3", "NA"), [1000.0, np.nan]),
        (("2020-01-31", "2020-02-01"), [pd.Timestamp("2020-01-31"), pd.Timestamp("2020-02-01")]),
        (("10:30", "11:45"), [630.0, 705.0]),
        (("True", "false"), ["True", "false"]),
        (("1", "-"), [1.0, np.nan]),
        (("N/A", "#n/a"), [np.nan, np.nan]),
    ],
)
def test_cells_are_numbers_dates_or_unchanged_words(cells: tuple[str, str], expected: list[object]) -> None:
    table = read_delimited(f"a,b\n{cells[0]},x\n{cells[1]},y\n".encode())
    found = tidied(table.frame["a"])
    pd.testing.assert_series_equal(found, pd.Series(expected), check_names=False, check_dtype=False)


@each(
    ("text", "sign"),
    [
        ("a;b\n1,5;x\n", ","),
        ("a;b\n1,50;2.5\n3,25;4.5\n1,5;2,5\n", ","),
        ("a;b\n1,149;x\n", ","),
        ("a\tb\n1,149\t51.26\n", "."),
        ("a\tb\n1,149\tx\n", None),
        ('a,b\n"51,26",x\n', ","),
        ('a,b\n"1,149",x\n', "."),
        ("a;b\n1;x\n", "."),
        ("a;b\n" + "".join(f"{n}.5{n} €;x\n" for n in range(10, 40)), ","),
        ("a;b\n" + "".join(f"{n}.5{n};0.5\n" for n in range(10, 40)), "."),
        ("a;b\n" + "".join(f"{n}.5{n};x\n" for n in range(10, 20)), "."),
        ("a;b\n1.234.567;x\n", ","),
    ],
)
def test_the_decimal_sign_is_proved_by_most_columns_or_else_follows_the_delimiter(
    text: str, sign: str | None
) -> None:
    """1,149 proves nothing: comma delimiters imply points, semicolons decimal commas."""
    assert read_delimited(text.encode()).decimal == sign


def test_columns_between_runs_of_blanks_may_be_quoted() -> None:
    table = read_delimited(b"a   b\n  'x  y'  2\n'z' 3 \n")
    assert table.frame.to_dict("list") == {"a": ["x  y", "z"], "b": ["2", "3"]}


words = st.text("ab,;|\t\n\"'é", max_size=6).map(lambda word: f"w{word}w")


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.floats(allow_nan=False, allow_infinity=False), words), min_size=1, max_size=8))
def test_what_pandas_writes_is_read(rows: list[tuple[float, str]]) -> None:
    frame = pd.DataFrame(rows, columns=["number", "word"])
    table = read_delimited(frame.to_csv(index=False, quoting=1, lineterminator="\n").encode())
    assert tidied(table.frame["number"]).tolist() == frame["number"].tolist()
    assert table.frame["word"].tolist() == frame["word"].tolist()
    assert not table.remarks


def test_a_blank_is_removed_before_a_quoted_cell_and_kept_inside() -> None:
    frame = read_delimited(b'a,b\n1, "he said, ""no"""\n"x, y", "z"\n').frame
    assert frame["b"].tolist() == ['he said, "no"', "z"]
    assert frame["a"].tolist() == ["1", "x, y"]
