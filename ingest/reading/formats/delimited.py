"""Read delimited text: CSV, TSV, UCI's `.data`, blank-separated tables.

Every cell is read as a word; the type of a column is detected later from all its words.
"""

from __future__ import annotations

import io
import itertools
import re
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv

from ingest.reading.column_types.numbers import are_thousands, proved_decimal
from ingest.reading.formats.layout import Layout, find_layout, misfit, offset_below, rows_of
from ingest.reading.limits import DEFAULT_LIMITS, ReadingLimits
from ingest.reading.options import DETECTED, ReadingOptions
from warehouse.support.errors import UnreadableInput
from warehouse.support.text import counted

_MAX_RAGGED_SHARE = 0.1  # of the rows; with more the delimiter is wrong, or it is not a table
_BLOCK_BYTES = 1 << 22  # bytes of a block; with longer rows, the block is the whole text
_LOOKED_AT = 1000  # cells of columns without commas that may prove decimal points
_ROWS_COUNTED = 200_000  # the line of a cell is only found in these


@dataclass(frozen=True)
class DelimitedTable:
    """A table of words."""

    frame: pd.DataFrame
    """Columns of `str`, with empty cells as NaN; names are unchanged and may repeat."""
    layout: Layout
    decimal: str | None
    """Decimal sign of the file; None = unknown."""
    remarks: tuple[str, ...]
    """Remarks for the user about skipped parts."""
    line_of: Callable[[int], int | None]
    """Row of the frame -> line of the file; None beyond the first rows."""


def read_delimited(
    content: bytes, limits: ReadingLimits = DEFAULT_LIMITS, options: ReadingOptions = DETECTED
) -> DelimitedTable:
    """Read a table from UTF-8 text.

    Rows with a different number of cells are left out with a remark if they are at most a tenth. So are rows
    that repeat the header.

    Raises:
        BadInput: the text is not a table.
    """
    if not content or content.isspace():
        raise UnreadableInput("the file is empty")
    if b"\n" not in content.strip(b"\r\n"):
        content = content.replace(b"\r", b"\n")
    layout = find_layout(content, limits, options)
    data = _after(content, layout.lines)
    if not data or data.isspace():
        raise UnreadableInput("the file has a header but no rows")
    data = _without_blanks_around_cells(data, layout)
    limits.check_rows(data, b"\t" if layout.delimiter == " " else layout.delimiter.encode())
    table, ragged = _parse(data, layout)
    remarks = list(layout.remarks)
    if layout.header is None and options.header is None:
        remarks.append("no header line found: columns are named by their number")
    if layout.quote is None and b'"' in data:
        remarks.append("quotes do not close and were read as plain characters")
    if ragged:
        remarks.append(_judged(ragged, table.num_rows, content))
    kept = _no_headers(table, layout)
    if kept is not None:
        repeated = table.num_rows - int(kept.sum())
        verb = "repeats" if repeated == 1 else "repeat"
        remarks.append(f"{counted(repeated, 'rows')} that {verb} the header left out")
        table = table.filter(pa.array(kept))
    if layout.names_rows and not _names_rows(table[0]):
        raise misfit(len(layout.names) - 1, len(layout.names), _line_of_row(content, layout, 0) or 0)
    if options.missing:
        table = _without(table, options.missing)
    frame = _to_frame(table, layout.names)
    decimal = options.decimal or _decimal_sign(table, layout, data)
    if decimal == "," and options.decimal is None and b"," not in data:
        remarks.append("points were read as between thousands (as decimal ones with --decimal .)")
    return DelimitedTable(
        frame,
        layout,
        decimal,
        tuple(remarks),
        lambda row: _line_of_row(content, layout, row),
    )


def _after(content: bytes, lines: int) -> bytes:
    """The text after this many lines."""
    offset = offset_below(content, lines)
    return b"" if offset is None else content[offset:]


def _without_blanks_around_cells(content: bytes, layout: Layout) -> bytes:
    """Replace blank delimiters by single tabs, and remove blanks between a delimiter and a quote."""
    if layout.delimiter == " ":
        lines = b"\n".join(line.strip() for line in content.split(b"\n"))
        if layout.quote is None:
            return _with_tabs(lines)
        quote = layout.quote.encode()
        parts = lines.split(quote)  # every second part is between quotes
        parts[::2] = map(_with_tabs, parts[::2])
        return quote.join(parts)
    if layout.quote is None:
        return content
    delimiter, quote = layout.delimiter.encode(), layout.quote.encode()
    if delimiter + b" " + quote not in content:
        return content
    # Match whole cells, because a quoted one may contain the same characters.
    inside = rb"(?:[^Q\\]++|\\.|QQ)*+" if layout.escape else b"(?:[^Q]++|QQ)*+"
    cell = (b"(Q" + inside + b"Q)").replace(b"Q", re.escape(quote))
    starts = re.compile(b"^" + cell + b"|" + re.escape(delimiter) + b" ?" + cell, re.MULTILINE)
    return starts.sub(lambda match: match[1] or delimiter + match[2], content)


def _with_tabs(text: bytes) -> bytes:
    """The text with a tab for each run of blanks and tabs."""
    text = text.replace(b" ", b"\t")
    while b"\t\t" in text:
        text = text.replace(b"\t\t", b"\t")
    return text


def _parse(content: bytes, layout: Layout) -> tuple[pa.Table, list[pa_csv.InvalidRow]]:
    """Columns "0", "1", ... of words, and the rows left out for their number of cells."""
    ragged: list[pa_csv.InvalidRow] = []

    def leave_out(row: pa_csv.InvalidRow) -> str:
        ragged.append(row)
        return "skip"

    names = [str(position) for position in range(len(layout.names))]
    parse_options = pa_csv.ParseOptions(
        delimiter="\t" if layout.delimiter == " " else layout.delimiter,
        quote_char=layout.quote or False,
        escape_char=layout.escape or False,
        newlines_in_values=layout.quote is not None,
        invalid_row_handler=leave_out,
    )
    convert_options = pa_csv.ConvertOptions(
        column_types=dict.fromkeys(names, pa.large_string()), null_values=[""], strings_can_be_null=True
    )
    for block_size in (_BLOCK_BYTES, len(content) + 1):
        ragged.clear()
        read_options = pa_csv.ReadOptions(column_names=names, block_size=block_size)
        try:
            table = pa_csv.read_csv(io.BytesIO(content), read_options, parse_options, convert_options)
        except pa.ArrowInvalid as error:
            if "block" in str(error) and block_size <= len(content):
                continue  # a row is longer than a block
            raise UnreadableInput(f"the file is not a table ({' '.join(str(error).split())[:200]})") from None
        return table, ragged
    raise AssertionError("a block as large as the text holds every row")


def _no_headers(table: pa.Table, layout: Layout) -> np.ndarray | None:
    """(n,) whether each row differs from the header; None if all do."""
    if layout.header is None or layout.names_rows:
        return None
    is_header = np.ones(table.num_rows, dtype=bool)
    for position, name in enumerate(layout.names):
        equal = pc.equal(table[position], name) if name else pc.is_null(table[position])
        is_header &= pc.fill_null(equal, False).to_numpy()
        if not is_header.any():
            return None
    return ~is_header


def _names_rows(first: pa.ChunkedArray) -> bool:
    """Whether cells may be names of rows: each occurs once, and none is a fraction."""
    is_unique = first.null_count == 0 and pc.count_distinct(first).as_py() == len(first)
    return is_unique and not pc.any(pc.match_substring_regex(first, r"^[+-]?\d*[.,]\d+$")).as_py()


def _without(table: pa.Table, words: tuple[str, ...]) -> pa.Table:
    """The table with these words replaced by nulls."""
    gaps = pa.array([word.strip() for word in words])
    return pa.table(
        {
            name: pc.if_else(pc.is_in(pc.utf8_trim_whitespace(column), gaps), None, column)
            for name, column in zip(table.column_names, table.columns, strict=True)
        }
    )


def _decimal_sign(table: pa.Table, layout: Layout, data: bytes) -> str | None:
    """The decimal sign of the file; if commas may be within cells, the columns are examined."""
    if b"," not in data:
        return _sign_of_points(table) if layout.delimiter == ";" else "."
    if layout.delimiter == "," and layout.quote is None:
        return "."
    has_comma = [pc.any(pc.match_substring(column, ",")).as_py() for column in table.columns]
    if not any(has_comma):
        return "."
    with_comma = (_distinct(column) for column, found in zip(table.columns, has_comma, strict=True) if found)
    without = (
        _distinct(column[:_LOOKED_AT])
        for column, found in zip(table.columns, has_comma, strict=True)
        if not found
    )
    usual = {",": ".", ";": ","}.get(layout.delimiter)
    return proved_decimal(with_comma) or proved_decimal(without) or usual


def _sign_of_points(table: pa.Table) -> str:
    """The decimal sign of a file with semicolons and no commas: 25.426 is 25426 unless a point is decimal."""
    columns = [_distinct(column[:_LOOKED_AT]) for column in table.columns]
    return proved_decimal(columns) or ("," if any(map(are_thousands, columns)) else ".")


def _distinct(column: pa.ChunkedArray) -> pd.Series:
    return pd.Series(pc.unique(column).to_pandas(), dtype="str").str.strip()


def _judged(ragged: list[pa_csv.InvalidRow], complete: int, content: bytes) -> str:
    """A remark on the rows left out; raises `BadInput` if they are too many."""
    # An open quote may have swallowed many lines into one row.
    lost = sum(row.text.strip().count("\n") + 1 for row in ragged)
    first = ragged[0]
    line = _line_of(first.text.strip().encode(), content)
    where = f"line {line} has {counted(first.actual_columns, 'values')}, {first.expected_columns} expected"
    if lost > _MAX_RAGGED_SHARE * (lost + complete):
        hint = "; a cell that holds the delimiter needs quotes"
        raise UnreadableInput(
            f"{lost} of {lost + complete} rows have the wrong number of values: {where}"
            f"{hint if first.actual_columns > first.expected_columns else ''}"
        )
    return f"{counted(lost, 'rows')} with the wrong number of values left out ({where})"


def _line_of(row: bytes, content: bytes) -> int:
    """Number of the first line that is equal to the row."""
    beginning = re.escape(row[:200]) + (rb"\s*?$" if len(row) <= 200 else b"")
    match = re.search(b"^" + beginning, content, re.MULTILINE)
    return content.count(b"\n", 0, match.start() if match else 0) + 1


def _line_of_row(content: bytes, layout: Layout, row: int) -> int | None:
    """The line on which a row of the table ends."""
    if row > _ROWS_COUNTED:
        return None
    text = io.StringIO(_after(content, layout.lines).decode(errors="replace"), newline="")
    rows = (
        found
        for found in rows_of(text, layout.delimiter, layout.quote, layout.escape)
        if len(found.cells) == len(layout.names) and found.cells != layout.names
    )
    found = next(itertools.islice(rows, row, None), None)
    return None if found is None else layout.lines + found.end


def _to_frame(table: pa.Table, names: list[str]) -> pd.DataFrame:
    frame: pd.DataFrame = table.to_pandas()
    frame.columns = pd.Index(names)
    nameless_and_empty = (frame.columns == "") & frame.isna().all().to_numpy()
    return frame.loc[:, ~nameless_and_empty]
