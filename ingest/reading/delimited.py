"""Reading delimited text: CSV, TSV, UCI's `.data`, tables between blanks."""

import io
import re

import pandas as pd
import pyarrow as pa
import pyarrow.csv as pa_csv

from ingest.reading.layout import Layout, find_layout
from ingest.reading.limits import DEFAULT_LIMITS, ReadingLimits
from ingest.reading.missing import MISSING_MARKERS
from warehouse.support.errors import UnreadableInput
from warehouse.support.text import counted

_MAX_RAGGED_SHARE = 0.1  # of the rows; with more it is another delimiter, or no table
_BLOCK_BYTES = 1 << 22  # bytes of a block; where a row is longer, the block is the text


def read_delimited(content: bytes, limits: ReadingLimits = DEFAULT_LIMITS) -> tuple[pd.DataFrame, list[str]]:
    """The table in UTF-8 text, and remarks for the user.

    Columns come as numbers, datetime64 or str, with missing cells as NaN; names as they stand, so they
    may repeat. Rows with another number of cells than the rest are left out (and remarked) as long as
    they are at most a tenth. Raises `BadInput` for text that is no table.
    """
    content = content.strip(b"\r\n")
    if b"\n" not in content:
        content = content.replace(b"\r", b"\n")
    if not content.strip():
        raise UnreadableInput("the file is empty")
    layout = find_layout(content, limits)
    if content.count(b"\n") < layout.header_lines:
        raise UnreadableInput("the file has a header but no rows")
    content = _without_blanks_around_cells(content, layout)
    limits.check_rows(content, b"\t" if layout.delimiter == " " else layout.delimiter.encode())
    table, ragged = _parse(content, layout)
    remarks = []
    if layout.header_lines == 0:
        remarks.append("no header line found: columns are named by their number")
    if layout.quote is None and b'"' in content:
        remarks.append("quotes do not close and were read as plain characters")
    if ragged:
        remarks.append(_judged(ragged, table.num_rows, content))
    return _to_frame(table, layout.names), remarks


def _without_blanks_around_cells(content: bytes, layout: Layout) -> bytes:
    """Blanks as delimiters become single tabs; a blank between delimiter and quote goes."""
    if layout.delimiter == " ":
        lines = b"\n".join(line.strip() for line in content.split(b"\n"))
        if layout.quote is None:
            return _with_tabs(lines)
        quote = layout.quote.encode()
        parts = lines.split(quote)  # every second one is between quotes
        parts[::2] = map(_with_tabs, parts[::2])
        return quote.join(parts)
    if layout.quote is None:
        return content
    delimiter, quote = layout.delimiter.encode(), layout.quote.encode()
    if delimiter + b" " + quote not in content:
        return content
    # Whole cells, because a quoted one may hold the same characters.
    cell = b"(Q(?:[^Q]++|QQ)*+Q)".replace(b"Q", re.escape(quote))
    starts = re.compile(b"^" + cell + b"|" + re.escape(delimiter) + b" ?" + cell, re.MULTILINE)
    return starts.sub(lambda match: match[1] or delimiter + match[2], content)


def _with_tabs(text: bytes) -> bytes:
    """The text with a tab for each run of blanks and tabs."""
    text = text.replace(b" ", b"\t")
    while b"\t\t" in text:
        text = text.replace(b"\t\t", b"\t")
    return text


def _parse(content: bytes, layout: Layout) -> tuple[pa.Table, list[pa_csv.InvalidRow]]:
    """Columns "0", "1", ... and the rows that were left out because of their number of cells."""
    table, ragged = _parse_with(content, layout, {})
    types = {field.name: pa.string() for field in table.schema if pa.types.is_time(field.type)}
    # A time of day stays the word it was written as.
    return _parse_with(content, layout, types) if types else (table, ragged)


def _parse_with(
    content: bytes, layout: Layout, types: dict[str, pa.DataType]
) -> tuple[pa.Table, list[pa_csv.InvalidRow]]:
    ragged: list[pa_csv.InvalidRow] = []

    def leave_out(row: pa_csv.InvalidRow) -> str:
        ragged.append(row)
        return "skip"

    parse_options = pa_csv.ParseOptions(
        delimiter="\t" if layout.delimiter == " " else layout.delimiter,
        quote_char=layout.quote or False,
        newlines_in_values=layout.quote is not None,
        invalid_row_handler=leave_out,
    )
    convert_options = pa_csv.ConvertOptions(
        column_types=types,
        null_values=sorted({spelling for marker in MISSING_MARKERS for spelling in _spellings(marker)}),
        strings_can_be_null=True,
        true_values=[],  # a boolean stays the word it was written as
        false_values=[],
        decimal_point=layout.decimal_sign,
    )
    names = [str(position) for position in range(len(layout.names))]
    for block_size in (_BLOCK_BYTES, len(content) + 1):
        ragged.clear()
        read_options = pa_csv.ReadOptions(
            column_names=names, skip_rows=layout.header_lines, block_size=block_size
        )
        try:
            table = pa_csv.read_csv(io.BytesIO(content), read_options, parse_options, convert_options)
        except pa.ArrowInvalid as error:
            if "block" in str(error) and block_size <= len(content):
                continue  # a row is longer than a block
            raise UnreadableInput(f"the file is no table ({' '.join(str(error).split())[:200]})") from None
        return table, ragged
    raise AssertionError("a block as large as the text holds every row")


def _spellings(marker: str) -> tuple[str, ...]:
    return marker, marker.upper(), marker.capitalize(), marker.replace("nan", "NaN")


def _judged(ragged: list[pa_csv.InvalidRow], complete: int, content: bytes) -> str:
    """A remark on the rows left out; raises `BadInput` when they are many."""
    # An open quote may have swallowed many lines into one row.
    lost = sum(row.text.strip().count("\n") + 1 for row in ragged)
    first = ragged[0]
    line = _line_of(first.text.strip().encode(), content)
    where = f"line {line} has {counted(first.actual_columns, 'values')}, {first.expected_columns} expected"
    if lost > _MAX_RAGGED_SHARE * (lost + complete):
        raise UnreadableInput(f"{lost} of {lost + complete} rows have the wrong number of values: {where}")
    return f"{counted(lost, 'rows')} with the wrong number of values left out ({where})"


def _line_of(row: bytes, content: bytes) -> int:
    """Number of the first line that reads like the row."""
    beginning = re.escape(row[:200]) + (rb"\s*?$" if len(row) <= 200 else b"")
    match = re.search(b"^" + beginning, content, re.MULTILINE)
    return content.count(b"\n", 0, match.start() if match else 0) + 1


def _to_frame(table: pa.Table, names: list[str]) -> pd.DataFrame:
    columns = {field: _pandas_ready(table[field]) for field in table.column_names}
    frame: pd.DataFrame = pa.table(columns).to_pandas()
    frame.columns = pd.Index(names)
    nameless_and_empty = (frame.columns == "") & frame.isna().all().to_numpy()
    return frame.loc[:, ~nameless_and_empty]


def _pandas_ready(column: pa.ChunkedArray) -> pa.ChunkedArray:
    if pa.types.is_null(column.type):
        return column.cast(pa.float64())
    if pa.types.is_date(column.type):
        return column.cast(pa.timestamp("s"))
    return column
