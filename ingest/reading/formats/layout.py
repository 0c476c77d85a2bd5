"""Detect the layout of delimited text from its first rows: delimiter, quotes, header, start of the data.

The header is the first row of the usual width with distinct, word-like cells above rows of another kind.
Lines above it (titles, comments, Excel's `sep=;`) and between it and the data (units, further header rows)
are not data.
"""

from __future__ import annotations

import csv
import io
import itertools
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ingest.reading.column_types.missing import MISSING_AMONG_NUMBERS, MISSING_MARKERS
from ingest.reading.column_types.numbers import PLAIN, looks_like_number
from ingest.reading.limits import DEFAULT_LIMITS, ReadingLimits
from ingest.reading.options import DETECTED, ReadingOptions
from warehouse.support.errors import UnreadableInput
from warehouse.support.text import counted

_DELIMITERS = ("\t", "|", ";", ",", " ")  # those that are rarer in words and numbers come first
_SAMPLE_ROWS = 100  # enough to count delimiters in
_SAMPLE_BYTES = 64 * 1024  # limit of the sampled rows
_SAMPLE_MIN_LINES = 10  # read even if they are longer than the sample
_WHOLE_NUMBER = re.compile(r"\d+")
_YEAR = re.compile(r"(?:19|20)\d\d")
_SINGLE_QUOTED = re.compile(r"(?:^|[,;\t| ])'[^'\n]*'(?:$|[,;\t| ])", re.MULTILINE)
_SEPARATOR_LINE = re.compile(rb'\s*"?sep=(.)"?[ \t]*\r?\n')
_COMMENT = ("#", "%", "//")
_NUMERIC_SHARE = 0.8  # minimum share of numbers in a numeric column
_GAPS = MISSING_MARKERS | MISSING_AMONG_NUMBERS


@dataclass(frozen=True)
class Layout:
    """Layout of a delimited text.

    `delimiter` " " stands for any run of blanks; `quote` is None if the text has no quotes, or unclosed ones;
    `escape` is the sign before a quote within a cell, None if such a quote is doubled.

    """

    delimiter: str
    quote: str | None
    escape: str | None
    names: list[str]
    header: tuple[int, int] | None
    """Lines up to the end of the header; None without a header."""
    lines: int
    """Lines above the data."""
    remarks: tuple[str, ...] = ()
    """Remarks for the user about skipped lines."""
    names_rows: bool = False
    """Whether the unnamed first column is taken for row names."""


@dataclass(frozen=True)
class _Row:
    cells: list[str]
    end: int
    """Lines of the text up to the end of the row."""


def find_layout(
    content: bytes, limits: ReadingLimits = DEFAULT_LIMITS, options: ReadingOptions = DETECTED
) -> Layout:
    """Detect the layout of a UTF-8 text.

    Raises:
        BadInput: it has only one column, more columns than the limit, or a header that does not fit the rows.
    """
    above = options.skip_lines
    start = offset_below(content, above)
    if start is None:
        raise UnreadableInput(f"the file has no more than {counted(above, 'lines')}, which are skipped")
    separator = _SEPARATOR_LINE.match(content, start)
    if separator:
        start, above = separator.end(), above + content.count(b"\n", start, separator.end())
    wanted = options.delimiter or (separator[1].decode() if separator else None)
    sample = _sample(content[start : start + _SAMPLE_BYTES + 1] if start else content)
    quote, escape, delimiter, rows = _best_way(content, sample, wanted, limits)
    width = _usual_width(rows[1:] or rows)
    if delimiter == "," and quote is None and _is_of_fixed_width(sample, rows):
        raise UnreadableInput("the columns have a fixed width; save the table as CSV, with pandas.read_fwf")
    limits.check_columns(max(width, *(len(row.cells) for row in rows)))
    if width < 2:
        raise UnreadableInput(
            "the file has a single column; expected columns between commas, ';', '|', tabs or blanks"
        )
    header, data = _header_and_data(rows, width, options.header)
    lines = above + (rows[data - 1].end if data else 0)
    remarks = [f"the line sep={wanted} was skipped"] if separator else []
    if header is None:
        remarks += _skipped(rows[:data], "above the data")
        names = [f"column_{number}" for number in range(1, width + 1)]
        return Layout(delimiter, quote, escape, names, None, lines, tuple(remarks))
    remarks += _skipped(rows[:header], "above the header")
    remarks += _skipped(rows[header + 1 : data], "between header and data")
    cells, body = rows[header].cells, [row.cells for row in rows[data:] if len(row.cells) == width]
    others = [place for place in range(data) if place != header and len(rows[place].cells) == len(cells)]
    if others:
        completed = _completed(cells, rows[others[-1]].cells, is_above=others[-1] < header)
        if completed != cells:
            remarks.append("missing or repeated names were completed from the other line of the header")
        cells = completed
    names = _fitted(cells, body, width, rows[data].end + above if data < len(rows) else 0)
    extent = above + (rows[header - 1].end if header else 0), above + rows[header].end
    names_rows = len(cells) < width and names[0] == ""
    return Layout(delimiter, quote, escape, names, extent, lines, tuple(remarks), names_rows)


def offset_below(content: bytes, lines: int) -> int | None:
    """Position after this number of lines; None if the text has no more lines."""
    offset = 0
    for _ in range(lines):
        offset = content.find(b"\n", offset) + 1
        if offset == 0:
            return None
    return offset


def _sample(content: bytes) -> str:
    """The first lines; complete ones if there is more than one."""
    line_ends = itertools.islice(re.finditer(rb"\n", content), _SAMPLE_MIN_LINES)
    end = max([_SAMPLE_BYTES, *(match.start() for match in line_ends)])
    if end < len(content):
        end = max(content.rfind(b"\n", 0, end + 1), 0) or end
    return content[:end].decode(errors="replace")


def _skipped(rows: Sequence[_Row], where: str) -> list[str]:
    if not rows:
        return []
    verb = "was" if len(rows) == 1 else "were"
    return [f"{counted(len(rows), 'lines')} {where} {verb} skipped"]


# ---- cells ---------------------------------------------------------------------------------------


def rows_of(text: io.StringIO, delimiter: str, quote: str | None, escape: str | None) -> Iterator[_Row]:
    """The non-empty rows, as split by Python's csv module."""
    reader = csv.reader(
        text,
        delimiter=delimiter,
        quotechar=quote,
        escapechar=escape,
        quoting=csv.QUOTE_MINIMAL if quote else csv.QUOTE_NONE,
        skipinitialspace=True,
    )
    for row in reader:
        cells = [cell.strip() for cell in row if cell or delimiter != " "]
        if any(cells):
            yield _Row(cells, reader.line_num)


def _split(
    sample: str, delimiter: str, quote: str | None, escape: str | None, limits: ReadingLimits
) -> list[_Row]:
    rows: list[_Row] = []
    try:
        for row in rows_of(io.StringIO(sample, newline=""), delimiter, quote, escape):
            rows.append(row)
            if len(rows) == _SAMPLE_ROWS or len(row.cells) > limits.columns:
                break
    except csv.Error:
        return rows  # a cell exceeds the csv module's limit; use the rows before it
    return rows


def _best_way(
    content: bytes, sample: str, wanted: str | None, limits: ReadingLimits
) -> tuple[str | None, str | None, str, list[_Row]]:
    """Quote, escape and delimiter that give most rows one width of at least 2, and the rows.

    Ties go to no escape, and to the earlier delimiter in the list.
    """
    quote: str | None = "'" if '"' not in sample and _SINGLE_QUOTED.search(sample) else '"'
    number_of_quotes = content.count(str(quote).encode())
    if number_of_quotes == 0 or number_of_quotes % 2:
        quote = None
    escapes = (None, "\\") if quote and f"\\{quote}" in sample else (None,)
    ways = {
        (escape, delimiter): _split(sample, delimiter, quote, escape, limits)
        for escape in escapes
        for delimiter in ((wanted,) if wanted else _DELIMITERS)
    }

    def agreement(way: tuple[str | None, str]) -> float:
        rows = ways[way]
        width = _usual_width(rows)
        return sum(len(row.cells) == width for row in rows) / len(rows) if width >= 2 else 0.0

    best = max(ways, key=agreement)
    # Without a needed escape, a width may fit by chance; then rows are longer than their header.
    if escapes[-1] and _is_shifted(ways[best]) and not _is_shifted(ways["\\", best[1]]):
        best = ("\\", best[1])
    if not ways[best]:
        raise UnreadableInput("the file is not a table: its first rows cannot be split into cells")
    return quote, best[0], best[1], ways[best]


def _is_shifted(rows: list[_Row]) -> bool:
    return len(rows[0].cells) != _usual_width(rows[1:] or rows) if rows else True


def _usual_width(rows: list[_Row]) -> int:
    return Counter(len(row.cells) for row in rows).most_common(1)[0][0] if rows else 0


def _is_of_fixed_width(sample: str, rows: list[_Row]) -> bool:
    """Whether all lines are equally long and have blanks in the same places, but rows differ in width."""
    lines = sample.splitlines()[: rows[-1].end] if rows else []
    if len(lines) < _SAMPLE_MIN_LINES or len({*map(len, lines)}) > 1:
        return False
    has_gap = any({*column} == {" "} for column in [*zip(*lines, strict=True)][1:-1])
    return has_gap and len({len(row.cells) for row in rows}) > 1


# ---- header --------------------------------------------------------------------------------------


def _header_and_data(rows: list[_Row], width: int, wanted: bool | None) -> tuple[int | None, int]:
    """Positions of the header (None if there is none) and of the first row of data.

    Args:
        wanted: whether the first row is the header; None = detected.
    """
    if wanted is not None:
        return (0, 1) if wanted else (None, 0)
    full = [row.cells for row in rows if len(row.cells) == width]
    body = full[len(full) // 2 :]  # the second half has no header rows
    numeric = [place for place in range(width) if _is_numeric([cells[place] for cells in body])]
    first = next(
        (
            place
            for place, row in enumerate(rows)
            if len(row.cells) == width and _is_data(row.cells, numeric, full)
        ),
        len(rows),
    )
    above = [place for place in range(first) if _may_be_header(rows[place].cells, width, place + 1 == first)]
    named = [place for place in above if not rows[place].cells[0].startswith(_COMMENT)] or above
    distinct = [place for place in named if len(set(rows[place].cells)) == len(rows[place].cells)]
    distinct = distinct or sorted(named, key=lambda place: rows[place].cells.count(""))
    is_of_numbers = first < len(rows) and _is_header_of_numbers(rows[first].cells, full)
    if distinct and not (is_of_numbers and _is_padded(rows[distinct[0]].cells)):
        return distinct[0], first if numeric else distinct[0] + 1
    if 0 < first < len(rows) and _is_misfit(rows[first - 1].cells, width):
        return first - 1, first  # the user is told
    if is_of_numbers:
        return first, first + 1
    return None, first if first < len(rows) else 0


def _is_numeric(cells: list[str]) -> bool:
    present = [cell for cell in cells if cell.lower() not in _GAPS]
    return bool(present) and sum(map(looks_like_number, present)) >= _NUMERIC_SHARE * len(present)


def _is_padded(cells: list[str]) -> bool:
    """Whether the second half of the cells is empty, as in a title padded to the table's width."""
    return not any(cells[(len(cells) + 1) // 2 :])


def _may_be_header(cells: list[str], width: int, is_last: bool) -> bool:
    """Whether a row above the data fits their width; the last one may have gaps, or no name for row names."""
    if is_last:
        return len(cells) == width or (len(cells) == width - 1 and width > 2) or _ends_empty(cells, width)
    return len(cells) == width and not _is_padded(cells)


def _is_misfit(cells: list[str], width: int) -> bool:
    """Whether a row above the data looks like a header with a different number of names."""
    return len(cells) != width and sum(map(bool, cells)) >= 2 and not _is_padded(cells)


def _ends_empty(cells: list[str], width: int) -> bool:
    """Whether a row is wider than the data only by empty cells."""
    return len(cells) > width and not any(cells[width:])


def _is_data(cells: list[str], numeric: list[int], full: list[list[str]]) -> bool:
    """Whether a row is data: numbers in numeric columns, or repeated words and not more unique ones there."""
    present = [place for place in numeric if cells[place].lower() not in _GAPS]
    words = [place for place in present if not looks_like_number(cells[place])]
    if present and len(words) * 2 <= len(present):
        return True
    others = sorted({*range(len(cells))} - {*numeric})
    recurring = sum(_recurs(cells, place, full) for place in others)
    if numeric:
        unique = sum(not _recurs(cells, place, full) for place in words)
        return recurring > 0 and recurring * 2 >= len(others) and recurring >= unique
    return recurring > 1 and recurring * 2 > len(others)


def _recurs(cells: list[str], place: int, full: list[list[str]]) -> bool:
    """Whether another row has the same cell at this position."""
    return bool(cells[place]) and any(
        other[place] == cells[place] for other in full if other is not cells and other != cells
    )


def _is_header_of_numbers(first: list[str], full: list[list[str]]) -> bool:
    """Whether a first row with numbers is still a header.

    It is if these are positions of columns, or years, or if all are whole and a word beside them is not
    repeated in a column of repeated words.
    """
    numbers = [(place, cell) for place, cell in enumerate(first) if PLAIN.fullmatch(cell)]
    if len({cell for _, cell in numbers}) < len(numbers):
        return False
    if all(cell in (str(place - 1), str(place), str(place + 1)) for place, cell in numbers):
        return bool(numbers)
    if all(_YEAR.fullmatch(cell) for _, cell in numbers):
        return True
    words = [place for place, cell in enumerate(first) if cell and not looks_like_number(cell)]
    if not words or not all(_WHOLE_NUMBER.fullmatch(cell) for _, cell in numbers):
        return False
    below = [[cells[place] for cells in full if cells is not first] for place in words]
    return all(
        first[place] not in column and len(set(column)) * 2 <= len(column)
        for place, column in zip(words, below, strict=True)
    )


def _completed(header: list[str], other: list[str], *, is_above: bool) -> list[str]:
    """The header with missing and repeated names completed from another line, unless that has a single cell.

    A name above may stand for a group of columns, over the first of them.
    """
    if sum(map(bool, other)) < 2:
        return header
    completed, group = [], ""
    for name, cell in zip(header, other, strict=True):
        group = cell or group if is_above else cell
        both = f"{group} {name}" if is_above else f"{name} {group}"
        completed.append((both.strip() if header.count(name) > 1 else name) if name else cell)
    return completed


def _fitted(header: list[str], body: list[list[str]], width: int, line: int) -> list[str]:
    """Names for `width` columns; one may be missing: of row names in front, or of an empty last column.

    A comment sign before the names, as NumPy writes it, is removed.
    """
    if len(header) == width or _ends_empty(header, width):
        return header[:width]
    if len(header) == width + 1 and header[0] in _COMMENT:
        return header[1:]
    if len(header) == width - 1:
        ends_empty = all(row[-1] == "" for row in body)
        return [*header, ""] if ends_empty else ["", *header]
    raise misfit(len(header), width, line)


def misfit(names: int, width: int, line: int) -> UnreadableInput:
    """The error for a header whose number of names differs from the rows' number of values."""
    where = f" (line {line})" if line else ""
    hint = ": a cell that holds the delimiter needs quotes" if width == names + 1 else ""
    return UnreadableInput(
        f"the header has {counted(names, 'names')}, but the rows have {counted(width, 'values')}{where}{hint}"
    )
