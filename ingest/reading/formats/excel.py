"""Convert the first table of an Excel workbook to CSV, which handles titles, units and odd cells."""

from __future__ import annotations

import csv
import io
import zipfile
from collections.abc import Iterator
from datetime import datetime, time
from itertools import islice
from typing import Any

from ingest.reading.column_types.columns import label
from ingest.reading.limits import DEFAULT_LIMITS, TEXT_CELL_BYTES, ReadingLimits
from warehouse.support.errors import UnreadableInput, one_line

_BYTES_AT_ONCE = 1 << 22
_FIRST_ROWS = 10  # non-empty rows by which a table is recognized


def excel_as_csv(content: bytes, limits: ReadingLimits = DEFAULT_LIMITS) -> tuple[bytes, tuple[str, ...]]:
    """Convert the first sheet that looks like a table to CSV in UTF-8; with remarks for the user.

    Raises:
        BadInput: the package openpyxl is missing, or the workbook is damaged, empty or exceeds the limits.
    """
    try:
        import openpyxl
    except ImportError:
        raise UnreadableInput(
            "the file is an Excel workbook: save the table as CSV, or install openpyxl to have it read"
        ) from None
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            limits.check_packed(sum(part.file_size for part in archive.infolist()), len(content), "Excel")
            limits.check_cells(_elements(archive) // 2, len(content))  # a cell with a value has two elements
        book = openpyxl.load_workbook(io.BytesIO(content), read_only=True, data_only=True)
        sheets = ((sheet.title, _rows(sheet, limits, len(content))) for sheet in book.worksheets)
        filled = [(title, first, rows) for title, rows in sheets if (first := [*islice(rows, _FIRST_ROWS)])]
        tables = [sheet for sheet in filled if _is_table(sheet[1])] or filled
        table = [*tables[0][1], *tables[0][2]] if tables else []
    except (KeyError, ValueError, TypeError, OSError, zipfile.BadZipFile, SyntaxError) as error:
        raise UnreadableInput(f"the file is a damaged Excel workbook ({one_line(error)[:200]})") from error
    if not filled:
        raise UnreadableInput("the Excel workbook has no cells with values")
    title = tables[0][0]
    width = max(1 + max(place for place, cell in enumerate(row) if cell) for row in table)
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(
        [*row[:width], *[""] * (width - len(row))] for row in table
    )
    others = [name for name, _, _ in filled if name != title]
    remarks = (
        (f"only the sheet {title!r} of the workbook was read, not {', '.join(others)}",) if others else ()
    )
    return text.getvalue().encode(errors="replace"), remarks


def _elements(archive: zipfile.ZipFile) -> int:
    """Number of XML elements in all parts; a million take a second to parse."""
    count = 0
    for part in archive.infolist():
        with archive.open(part) as file:
            while piece := file.read(_BYTES_AT_ONCE):
                count += piece.count(b"/>") + piece.count(b"</")
    return count


def _rows(sheet: Any, limits: ReadingLimits, packed: int) -> Iterator[list[str]]:
    """The non-empty rows of a sheet as text; raises if they exceed the limits."""
    size = 0
    for row in sheet.iter_rows(values_only=True):  # all rows have the width of the widest, even missing ones
        cells = [_text(cell) for cell in row]
        size += TEXT_CELL_BYTES * (1 + len(cells)) + sum(map(len, cells))
        limits.check_unpacked(size, packed)
        if any(cells):
            yield cells


def _is_table(first: list[list[str]]) -> bool:
    """Whether two of the first rows have several cells: a cover sheet has one text per row."""
    return sum(sum(map(bool, row)) > 1 for row in first) > 1


def _text(cell: Any) -> str:
    if cell is None:
        return ""
    if isinstance(cell, datetime) and cell.time() == time():
        return str(cell.date())
    return label(cell)
