"""The first sheet of an Excel workbook as CSV: titles, units and odd cells are read as in any text."""

from __future__ import annotations

import csv
import io
import zipfile
from datetime import datetime, time
from typing import Any

from ingest.reading.limits import DEFAULT_LIMITS, ReadingLimits
from warehouse.support.errors import UnreadableInput, one_line


def excel_as_csv(content: bytes, limits: ReadingLimits = DEFAULT_LIMITS) -> tuple[bytes, tuple[str, ...]]:
    """The first sheet with cells as CSV in UTF-8, and remarks for the user.

    Raises:
        BadInput: the package openpyxl is missing, or the workbook is damaged, empty or beyond the limits.
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
        book = openpyxl.load_workbook(io.BytesIO(content), read_only=True, data_only=True)
        sheets = [
            (sheet.title, rows)
            for sheet in book.worksheets
            if (rows := _cells(sheet.iter_rows(values_only=True)))
        ]
    except (KeyError, ValueError, TypeError, OSError, zipfile.BadZipFile, SyntaxError) as error:
        raise UnreadableInput(f"the file is a damaged Excel workbook ({one_line(error)[:200]})") from error
    if not sheets:
        raise UnreadableInput("the Excel workbook has no cells with values")
    title, rows = sheets[0]
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    others = [name for name, _ in sheets[1:]]
    remarks = (
        (f"only the sheet {title!r} of the workbook was read, not {', '.join(others)}",) if others else ()
    )
    return text.getvalue().encode(errors="replace"), remarks


def _cells(rows: Any) -> list[list[str]]:
    """The rows as text, without empty rows and the empty columns at the right."""
    texts = [[_text(cell) for cell in row] for row in rows]
    texts = [row for row in texts if any(row)]
    width = max((1 + max(place for place, cell in enumerate(row) if cell) for row in texts), default=0)
    return [[*row[:width], *[""] * (width - len(row))] for row in texts]


def _text(cell: Any) -> str:
    if cell is None:
        return ""
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < 1e15:
        return str(int(cell))
    if isinstance(cell, datetime) and cell.time() == time():
        return str(cell.date())
    return str(cell)
