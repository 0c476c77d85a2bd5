"""Excel workbooks are read like text with the same cells."""

import datetime as dt
import io
import sys
from pathlib import Path
from typing import Any

import pytest

from ingest.reading.datasets import load_dataset
from tests.ingest.reading.checks import refusal, written

openpyxl = pytest.importorskip("openpyxl")


def _workbook(**sheets: list[list[Any]]) -> bytes:
    book = openpyxl.Workbook()
    book.remove(book.active)
    for title, rows in sheets.items():
        sheet = book.create_sheet(title)
        for row in rows:
            sheet.append(row)
    content = io.BytesIO()
    book.save(content)
    return content.getvalue()


ROWS: list[list[Any]] = [[i + 0.5, i, dt.datetime(2024, 1, 1 + i), i % 3 > 0, "xy"[i % 2]] for i in range(25)]
NAMES: list[Any] = ["size", "visits", "since", "paid", "class"]


def test_titles_above_the_table_are_skipped_and_cells_keep_their_kinds(tmp_path: Path) -> None:
    content = _workbook(Report=[["Monthly report"], [], NAMES, *ROWS])
    dataset = load_dataset(written(tmp_path, content))
    assert {name: str(role) for name, role in dataset.roles.items()} == {
        "size": "numeric",
        "visits": "identifier",
        "since": "date",
        "paid": "boolean",
    }
    assert (len(dataset.features), dataset.n_classes) == (25, 2)
    assert dataset.note == "1 line above the header was skipped"


def test_only_the_first_sheet_with_a_table_is_read_and_the_others_are_named(tmp_path: Path) -> None:
    cover = [["Report of May"], ["by Bob", "2024"], ["see Data"]]
    dataset = load_dataset(
        written(tmp_path, _workbook(Empty=[], Cover=cover, Data=[NAMES, *ROWS], More=cover))
    )
    assert len(dataset.features) == 25
    assert dataset.note == "only the sheet 'Data' of the workbook was read, not Cover, More"


def test_a_workbook_without_cells_or_with_damage_is_refused(tmp_path: Path) -> None:
    assert "no cells" in refusal(written(tmp_path, _workbook(Empty=[])))
    content = _workbook(Data=[NAMES, *ROWS])
    assert "damaged" in refusal(written(tmp_path, content[:-200] + b"xl/workbook.xml"))


def test_without_openpyxl_the_message_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    message = refusal(written(tmp_path, _workbook(Data=[NAMES, *ROWS])))
    assert "save the table as CSV, or install openpyxl" in message
