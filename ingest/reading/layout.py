"""How a delimited text is written: delimiter, quotes, header and decimal sign, told from its first rows."""

import csv
import io
import itertools
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from ingest.reading.limits import DEFAULT_LIMITS, ReadingLimits
from warehouse.support.errors import UnreadableInput
from warehouse.support.text import counted

_DELIMITERS = ("\t", "|", ";", ",", " ")  # those that words and numbers hold more rarely first
_SAMPLE_ROWS = 100  # enough to count delimiters in
_SAMPLE_BYTES = 64 * 1024  # as many rows as these hold, at most
_SAMPLE_MIN_LINES = 10  # read even when they are longer than the sample
_NUMBER = re.compile(r"[+-]?(?:\d++(?:\.\d*+)?|\.\d++)(?:[eE][+-]?\d++)?")
_DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+")
_DECIMAL_POINT = re.compile(r"[+-]?\d*\.\d+")
_YEAR = re.compile(r"(?:19|20)\d\d")
_SINGLE_QUOTED = re.compile(r"(?:^|[,;\t| ])'[^'\n]*'(?:$|[,;\t| ])", re.MULTILINE)


@dataclass(frozen=True)
class Layout:
    """How a text is written.

    `delimiter` " " stands for any run of blanks; `quote` is None where the text has no quotes, or has
    some that do not close; `header_lines` is 0 where the first row is data.
    """

    delimiter: str
    quote: str | None
    names: list[str]
    header_lines: int
    decimal_sign: str


def find_layout(content: bytes, limits: ReadingLimits = DEFAULT_LIMITS) -> Layout:
    """Judge a text without blank lines in front.

    Raises `BadInput` when its rows have one column only or more than the limit, or a header that does not
    fit them.
    """
    sample = _sample(content)
    quote: str | None = "'" if '"' not in sample and _SINGLE_QUOTED.search(sample) else '"'
    number_of_quotes = content.count(str(quote).encode())
    if number_of_quotes == 0 or number_of_quotes % 2:
        quote = None
    delimiter, rows = _best_delimiter(sample, quote, limits)
    width = _usual_width(rows[1:] or rows)
    limits.check_columns(max(width, *map(len, rows)))
    if width < 2:
        raise UnreadableInput(
            "the file has a single column; expected columns between commas, ';', '|', tabs or blanks"
        )
    header, body = rows[0], [row for row in rows[1:] if len(row) == width]
    if _is_data(header, body):
        names, header_lines = [f"column_{number}" for number in range(1, width + 1)], 0
    else:
        names, header_lines = _fitted(header, body, width), _lines_of_first_row(sample, delimiter, quote)
    return Layout(delimiter, quote, names, header_lines, _decimal_sign(body, delimiter))


def _sample(content: bytes) -> str:
    """The first lines, whole ones if there is more than one."""
    line_ends = itertools.islice(re.finditer(rb"\n", content), _SAMPLE_MIN_LINES)
    end = max([_SAMPLE_BYTES, *(match.start() for match in line_ends)])
    if end < len(content):
        end = max(content.rfind(b"\n", 0, end + 1), 0) or end
    return content[:end].decode(errors="replace")


def _reader(sample: str, delimiter: str, quote: str | None) -> Iterator[list[str]]:
    return csv.reader(
        io.StringIO(sample, newline=""),
        delimiter=delimiter,
        quotechar=quote,
        quoting=csv.QUOTE_MINIMAL if quote else csv.QUOTE_NONE,
        skipinitialspace=True,
    )


def _split(sample: str, delimiter: str, quote: str | None, limits: ReadingLimits) -> list[list[str]]:
    rows: list[list[str]] = []
    try:
        for row in _reader(sample, delimiter, quote):
            cells = [cell.strip() for cell in row if cell or delimiter != " "]
            if any(cells):
                rows.append(cells)
            if len(rows) == _SAMPLE_ROWS or len(cells) > limits.columns:
                break
    except csv.Error:
        return rows  # a cell beyond the csv module's limit; the rows before it have to do
    return rows


def _best_delimiter(sample: str, quote: str | None, limits: ReadingLimits) -> tuple[str, list[list[str]]]:
    """The delimiter that gives most rows one width of at least 2; the earlier in the list among equals."""
    splits = {delimiter: _split(sample, delimiter, quote, limits) for delimiter in _DELIMITERS}

    def agreement(delimiter: str) -> float:
        rows = splits[delimiter]
        width = _usual_width(rows)
        return sum(len(row) == width for row in rows) / len(rows) if width >= 2 else 0.0

    best = max(_DELIMITERS, key=agreement)
    if not splits[best]:
        raise UnreadableInput("the file is no table: its first rows cannot be split into cells")
    return best, splits[best]


def _usual_width(rows: list[list[str]]) -> int:
    return Counter(map(len, rows)).most_common(1)[0][0] if rows else 0


def _is_data(first: list[str], body: list[list[str]]) -> bool:
    """Whether the first row is data.

    It is when it has numbers that are no names of columns (these are the positions, or years), or when
    most of its words come again in the column below them.
    """
    numbers = [(position, cell) for position, cell in enumerate(first) if _NUMBER.fullmatch(cell)]
    if numbers:
        are_positions = all(
            cell in (str(position - 1), str(position), str(position + 1)) for position, cell in numbers
        )
        are_years = all(_YEAR.fullmatch(cell) for _, cell in numbers)
        are_distinct = len({cell for _, cell in numbers}) == len(numbers)
        return not (are_distinct and (are_positions or are_years))
    if not body or len(body[0]) != len(first):
        return False
    below = [set(column) for column in zip(*body, strict=True)]
    recurring = sum(bool(cell) and cell in values for cell, values in zip(first, below, strict=True))
    return recurring >= 2 and recurring > len(first) / 2


def _fitted(header: list[str], body: list[list[str]], width: int) -> list[str]:
    """Names for `width` columns; one may lack, of row names in front or of an empty last column."""
    if len(header) == width:
        return header
    if len(header) == width - 1:
        ends_empty = all(row[-1] == "" for row in body)
        return [*header, ""] if ends_empty else ["", *header]
    raise UnreadableInput(
        f"the header has {counted(len(header), 'names')}, but the rows have {counted(width, 'values')}"
    )


def _lines_of_first_row(sample: str, delimiter: str, quote: str | None) -> int:
    first_row = next(_reader(sample, delimiter, quote))
    return 1 + sum(cell.count("\n") for cell in first_row)


def _decimal_sign(body: list[list[str]], delimiter: str) -> str:
    cells = [cell for row in body for cell in row]
    with_comma = any(map(_DECIMAL_COMMA.fullmatch, cells)) and not any(map(_DECIMAL_POINT.fullmatch, cells))
    return "," if with_comma and delimiter != "," else "."
