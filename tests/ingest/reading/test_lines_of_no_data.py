"""Titles, comments, units and repeated headers are skipped with a note."""

from pathlib import Path

import pytest

from ingest.reading.datasets import load_dataset
from ingest.reading.options import ReadingOptions
from tests.cases import each
from tests.ingest.reading.checks import refusal, written
from warehouse.support.errors import BadOption

HEADER = "size,visits,colour,class\n"
ROWS = "".join(
    f"{40 + i % 17}.25,{i % 23},{['red', 'blue', 'green'][i % 3]},{'xy'[i % 2]}\n" for i in range(60)
)
NOTES = {
    "comment": ("# exported by a tool, v2, on Monday, ok\n" + HEADER + ROWS, "1 line above the header"),
    "comments of other widths": ("# a\n# b, c\n" + HEADER + ROWS, "2 lines above the header"),
    "padded titles": ("Report,,,\nNorth,,,\n,,,\n" + HEADER + ROWS, "2 lines above the header"),
    "title and blank line": ("Report of May\n\n" + HEADER + ROWS, "1 line above the header"),
    "Excel's separator": ("sep=,\n" + HEADER + ROWS, "the line sep=, was skipped"),
    "units": (HEADER + "mm,count,name,\n" + ROWS, "1 line between header and data"),
    "header of two rows": (
        "all,all,all,\n" + HEADER + ROWS,
        "1 line above the header",
    ),
    "header repeated": (HEADER + ROWS + HEADER + ROWS, "1 row that repeats the header left out"),
}  # fmt: skip


@each("kind", NOTES)
def test_lines_without_data_are_left_out_and_named(tmp_path: Path, kind: str) -> None:
    content, note = NOTES[kind]
    dataset = load_dataset(written(tmp_path, content))
    assert [str(role) for role in dataset.roles.values()] == ["numeric", "numeric", "categorical"]
    assert [*dataset.roles] == ["size", "visits", "colour"]
    assert [*dataset.target.cat.categories] == ["x", "y"]
    assert len(dataset.target) == ROWS.count("\n") * (2 if kind == "header repeated" else 1)
    assert note in (dataset.note or "")


@each(
    ("header", "names"),
    [
        ("before,before,,class\nsys,dia,colour,\n", ["sys", "dia", "colour"]),
        ("before,before,kind,class\nsys,dia,,\n", ["before sys", "before dia", "kind"]),
        ("before,,after,\nsys,dia,sys,class\n", ["before sys", "dia", "after sys"]),
        ("Report,,,\nsize,size,,class\n", ["size", "size.1", "Unnamed: 2"]),
    ],
)
def test_names_are_completed_from_the_other_line_of_a_header(
    tmp_path: Path, header: str, names: list[str]
) -> None:
    dataset = load_dataset(written(tmp_path, header + ROWS))
    assert [*dataset.features] == names
    assert ("names were completed" in (dataset.note or "")) == ("Report" not in header)


def test_a_comment_sign_before_the_names_is_removed(tmp_path: Path) -> None:
    """As in files of `numpy.savetxt`."""
    content = "# size visits class\n" + "".join(
        f"{40 + i % 17}.25 {i % 23} {'xy'[i % 2]}\n" for i in range(60)
    )
    assert [*load_dataset(written(tmp_path, content)).roles] == ["size", "visits"]


@each(
    "content",
    [
        HEADER + ROWS,
        HEADER.replace("visits", "red") + ROWS,  # a name that is also a value
        "101,205,307,class\n" + ROWS.replace("red", "1").replace("blue", "2").replace("green", "3"),
        HEADER + ",,red,x\n" + ROWS,  # a first row without numbers
        HEADER + "unknown,,red,x\n" + ROWS,
    ],
)
def test_an_ordinary_table_loses_no_row(tmp_path: Path, content: str) -> None:
    dataset = load_dataset(written(tmp_path, content), target="class")
    assert len(dataset.target) == content.count("\n") - 1
    assert dataset.note is None or "skipped" not in dataset.note


def test_a_comma_without_quotes_does_not_shift_the_names(tmp_path: Path) -> None:
    rows = "".join(f"{40 + i % 9}.5,Hall {i % 3}, north,{i},{'xy'[i % 2]}\n" for i in range(40))
    message = refusal(written(tmp_path, "size,place,visits,class\n" + rows))
    assert "the header has 4 names, but the rows have 5 values (line 2)" in message


@each(
    ("header", "names"), [("size,visits,colour,kind,class", 5), ("size,class", 2), ("Report\nsize,class", 2)]
)
def test_a_header_with_more_or_fewer_names_is_refused(tmp_path: Path, header: str, names: int) -> None:
    message = refusal(written(tmp_path, f"{header}\n{ROWS}"))
    assert f"the header has {names} names, but the rows have 4 values" in message


@each("title", ["Report,,,", "Report, as of May,,,,"])
def test_a_padded_title_is_not_a_header_if_names_are_numbers(tmp_path: Path, title: str) -> None:
    rows = "".join(f"{i % 7}.5,{i % 5},{i % 3},{'xy'[i % 2]}\n" for i in range(40))
    dataset = load_dataset(written(tmp_path, f"{title}\n\n0,1,2,class\n{rows}"))
    assert [*dataset.roles] == ["0", "1", "2"]


def test_an_empty_name_after_the_last_column_is_removed(tmp_path: Path) -> None:
    dataset = load_dataset(written(tmp_path, HEADER.replace("\n", ",\n") + ROWS))
    assert [*dataset.roles] == ["size", "visits", "colour"]


def test_quotes_escaped_by_backslashes_are_read(tmp_path: Path) -> None:
    rows = "".join(f'{i}.5,"say \\"a, b\\" {i % 3}",{"xy"[i % 2]}\n' for i in range(40))
    dataset = load_dataset(written(tmp_path, "size,note,class\n" + rows))
    assert dataset.features["note"].iloc[1] == 'say "a, b" 1'
    assert [*dataset.roles] == ["size", "note"]


def test_a_column_of_row_names_is_recognized_if_all_are_distinct(tmp_path: Path) -> None:
    rows = "".join(f"row{i},{i}.5,{i % 7},{'xy'[i % 2]}\n" for i in range(40))
    dataset = load_dataset(written(tmp_path, "size,visits,class\n" + rows))
    assert [*dataset.roles] == ["Unnamed: 0", "size", "visits"]


# ---- options --------------------------------------------------------------------------


def test_options_override_detection(tmp_path: Path) -> None:
    text = (
        "no data\nnor this\n"
        + "größe^wert^klasse\n"
        + "".join(f"1.{i % 9}49^{'k/A' if i % 5 == 0 else i}^{'xy'[i % 2]}\n" for i in range(60))
    )
    options = ReadingOptions(
        encoding="cp850", delimiter="^", decimal=",", missing=("k/A",), skip_lines=2, header=True
    )
    dataset = load_dataset(written(tmp_path, text.encode("cp850")), options=options)
    assert [*dataset.roles] == ["größe", "wert"]
    assert dataset.features["größe"].iloc[3] == 1349  # the point separates thousands
    assert dataset.features["wert"].isna().sum() == 12


def test_without_a_header_columns_have_numbers(tmp_path: Path) -> None:
    options = ReadingOptions(header=False)
    dataset = load_dataset(written(tmp_path, "a,b,x\nc,d,y\n" * 10), options=options)
    assert [*dataset.roles] == ["column_1", "column_2"]
    assert len(dataset.target) == 20


def test_more_lines_to_skip_than_there_are_is_refused(tmp_path: Path) -> None:
    assert "no more than 99 lines" in refusal(
        written(tmp_path, HEADER + "1,2,red,x\n"), options=ReadingOptions(skip_lines=99)
    )


def test_an_encoding_that_does_not_fit_is_refused(tmp_path: Path) -> None:
    message = refusal(
        written(tmp_path, "größe,class\n".encode("cp1252")), options=ReadingOptions(encoding="utf-8")
    )
    assert "not written in utf-8" in message


@each(
    "options",
    [{"delimiter": "ab"}, {"delimiter": "x"}, {"decimal": ";"}, {"encoding": "rot13"}, {"skip_lines": -1}],
)
def test_an_invalid_option_is_refused(options: dict[str, object]) -> None:
    with pytest.raises(BadOption):
        ReadingOptions(**options)  # type: ignore[arg-type]
