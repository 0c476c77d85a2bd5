"""Read ARFF files, including old dialects.

The header is parsed by hand. The data block goes through Arrow's CSV reader if it is simple (one kind of
quotes, no escapes, no sparse rows, all rows complete), else through a row parser that understands the rest.
Both give the same table; the second is slower and reports the line of the first error.


Format: https://waikato.github.io/weka-wiki/formats_and_processing/arff_stable/
"""

import io
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv as pa_csv

from ingest.reading.formats.encoding import quoted
from ingest.reading.limits import DEFAULT_LIMITS, ReadingLimits
from warehouse.support.errors import UnreadableInput
from warehouse.support.text import counted

AttributeType = Literal["numeric", "nominal", "string", "date"]


@dataclass(frozen=True)
class Attribute:
    """A declared column: `values` of a nominal one in declared order, `date_format` in Java's notation."""

    name: str
    type: AttributeType
    values: tuple[str, ...] = ()
    date_format: str | None = None


@dataclass(frozen=True)
class ArffTable:
    """An ARFF file.

    `frame` has a column per attribute: float64 (numeric), category with the declared values in order
    (nominal), str (string), datetime64 (date); a `?` is missing. `comments` are the `%` lines before
    the data, without the `%`.
    """

    comments: tuple[str, ...]
    attributes: tuple[Attribute, ...]
    frame: pd.DataFrame


def read_arff(content: bytes, limits: ReadingLimits = DEFAULT_LIMITS) -> ArffTable:
    """Read an ARFF file in UTF-8.

    Raises:
        BadInput: it is not an ARFF file; the message names the line with the error.
    """
    data_line = _DATA_LINE.search(content)
    if data_line is None:
        raise UnreadableInput("not an ARFF file: it has no @data line")
    comments, attributes = _parse_header(content[: data_line.start()].decode(), limits)
    block = content[data_line.end() :]
    columns = _read_plain_block(block, attributes)
    if columns is None:
        first_line = content.count(b"\n", 0, data_line.end()) + 1
        columns = _read_row_by_row(block.decode(), attributes, first_line, limits)
    series = [_typed(attribute, column) for attribute, column in zip(attributes, columns, strict=True)]
    frame = pd.concat(series, axis=1, keys=range(len(series)))
    frame.columns = pd.Index([attribute.name for attribute in attributes])
    return ArffTable(comments, attributes, frame)


def is_arff(content: bytes) -> bool:
    """Whether the first line that is neither blank nor a comment starts an ARFF header."""
    return _ARFF_START.match(content) is not None


_ARFF_START = re.compile(rb"(?:[ \t\r]*+(?:%[^\n]*+)?+\n)*+[ \t]*+@(?:relation|attribute)\b", re.IGNORECASE)
_DATA_LINE = re.compile(rb"^[ \t]*+@data\b[^\r\n]*", re.IGNORECASE | re.MULTILINE)


# ---- header ------------------------------------------------------------------------------------

# Possessive quantifiers (`*+`) do not backtrack, so that no text takes quadratic time.
_QUOTED = r"""'(?:[^'\\]++|\\.)*+'|"(?:[^"\\]++|\\.)*+\""""
_RELATION = re.compile(r"@relation\s", re.IGNORECASE)
_ATTRIBUTE = re.compile(rf"@attribute\s++({_QUOTED}|[^\s{{]++)\s*+(.*+)", re.IGNORECASE | re.DOTALL)
_CELL = re.compile(rf"\s*+(?:({_QUOTED})\s*+|([^,]*+))(,|$)", re.DOTALL)
_DATE = re.compile(rf"date\s*+({_QUOTED})?", re.IGNORECASE)
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_CONTROL_CHARACTERS = {"n": "\n", "t": "\t", "r": "\r"}


def _parse_header(header: str, limits: ReadingLimits) -> tuple[tuple[str, ...], tuple[Attribute, ...]]:
    """The comments, and the declared attributes."""
    comments = []
    attributes = []
    lines = enumerate(header.splitlines(), start=1)
    for number, raw_line in lines:
        line = raw_line.strip()
        if line.startswith("%"):
            comments.append(line[1:].strip())
        elif line.lower().startswith("@attribute"):
            if "{" in line and "}" not in line:
                line = "\n".join([line, *_rest_of_list(following for _, following in lines)])
            attributes.append(_parse_attribute(line, number))
            limits.check_columns(len(attributes))
        elif line and not _RELATION.match(line):
            raise UnreadableInput(f"line {number} is not an ARFF declaration: {quoted(line)}")
    if not attributes:
        raise UnreadableInput("the ARFF header declares no @attribute")
    return tuple(comments), tuple(attributes)


def _rest_of_list(lines: Iterable[str]) -> Iterator[str]:
    """The remaining lines of a list of nominal values."""
    for line in lines:
        yield line.strip()
        if "}" in line:
            return


def _parse_attribute(declaration: str, line: int) -> Attribute:
    match = _ATTRIBUTE.match(declaration)
    if match is None or not match[2]:
        raise UnreadableInput(f"line {line}: an @attribute needs a name and a type: {quoted(declaration)}")
    name, kind = _unquote(match[1]), match[2]
    if kind.startswith("{"):
        return Attribute(name, "nominal", _nominal_values(kind[1 : kind.rfind("}")]))
    word = re.split(r"[\s\[(%]", kind, maxsplit=1)[0].lower()
    if word in ("numeric", "real", "integer", "float", "double"):
        return Attribute(name, "numeric")
    if word == "string":
        return Attribute(name, "string")
    if word == "date" and (date := _DATE.match(kind)):
        return Attribute(name, "date", date_format=_unquote(date[1]) if date[1] else None)
    raise UnreadableInput(f"line {line}: attribute {quoted(name)} has the unknown type {quoted(kind)}")


def _nominal_values(text: str) -> tuple[str, ...]:
    if "," not in text and not re.search("['\"]", text):
        return tuple(dict.fromkeys(text.split()))
    cells = (in_quotes or plain.strip() for in_quotes, plain, _ in _CELL.findall(text))
    return tuple(dict.fromkeys(_unquote(cell) for cell in cells if cell))


def _unquote(text: str) -> str:
    if len(text) >= 2 and text[0] == text[-1] and text[0] in "'\"":
        return _ESCAPE.sub(lambda match: _CONTROL_CHARACTERS.get(match[1], match[1]), text[1:-1])
    return text.strip()


# ---- data: the plain case -----------------------------------------------------------------------

_COMMENT_LINES = re.compile(rb"^[ \t]*%[^\n]*\n?", re.MULTILINE)


def _read_plain_block(block: bytes, attributes: Sequence[Attribute]) -> list[pa.Array] | None:
    """The columns as Arrow reads them, or None if the block needs the row parser."""
    if b"%" in block:
        block = _COMMENT_LINES.sub(b"", block)
    block = block.strip()
    single, double = b"'" in block, b'"' in block
    if not block or (single and double) or b"\\" in block or b"{" in block:
        return None
    spaced = b" " in block or b"\t" in block
    if spaced and (single or double):
        if re.search(rb"[ \t],|,[ \t]", block):
            return None
    elif spaced:
        block = _tightened(block)
    names = [str(index) for index in range(len(attributes))]
    types = {name: _ARROW_TYPES[attribute.type] for name, attribute in zip(names, attributes, strict=True)}
    try:
        table = pa_csv.read_csv(
            io.BytesIO(block),
            read_options=pa_csv.ReadOptions(column_names=names),
            parse_options=pa_csv.ParseOptions(quote_char='"' if double else "'" if single else False),
            convert_options=pa_csv.ConvertOptions(
                column_types=types,
                null_values=["?", ""],
                strings_can_be_null=True,
                quoted_strings_can_be_null=False,  # '?' in quotes is a value
            ),
        )
    except pa.ArrowInvalid:
        return None
    return [column.combine_chunks() for column in table.columns]


_ARROW_TYPES: dict[AttributeType, pa.DataType] = {
    "numeric": pa.float64(),
    "nominal": pa.dictionary(pa.int32(), pa.string()),
    "string": pa.string(),
    "date": pa.string(),
}


def _tightened(block: bytes) -> bytes:
    """The text without blanks around commas and line ends; blanks become commas if rows have no comma."""
    first_row = block.partition(b"\n")[0]
    block = block.replace(b"\t", b" ").replace(b"\r\n", b"\n")
    for doubled, single in ((b"  ", b" "), (b" \n", b"\n"), (b"\n ", b"\n"), (b" ,", b","), (b", ", b",")):
        while doubled in block:
            block = block.replace(doubled, single)
    return block if b"," in first_row else block.replace(b" ", b",")


# ---- data: row by row ---------------------------------------------------------------------------

_BLANK_SEPARATED_CELL = re.compile(rf"({_QUOTED})|([^\s,]++)")
_SPARSE_CELL = re.compile(rf"\s*+([0-9]{{1,9}}+)\s++(?:({_QUOTED})\s*+|([^,]*+))(?:,|$)")
_WEIGHT = re.compile(r",\s*+\{\s*+[\d.eE+-]++\s*+\}\s*+$")
_REFERENCE_BYTES = 8  # memory of a cell, even if many are equal


def _read_row_by_row(
    block: str, attributes: Sequence[Attribute], first_line: int, limits: ReadingLimits
) -> list[pa.Array]:
    lines = [
        (number, line)
        for number, raw_line in enumerate(block.split("\n"), start=first_line)
        if (line := raw_line.strip()) and not line.startswith("%")
    ]
    limits.check_unpacked(len(lines) * len(attributes) * _REFERENCE_BYTES, len(block))
    # Values omitted in a sparse row are 0, or the first declared value of a nominal attribute.
    left_out: list[str | None] = [
        attribute.values[0] if attribute.values else "0" if attribute.type == "numeric" else None
        for attribute in attributes
    ]
    rows: list[list[str | None]] = []
    for number, line in lines:
        rows.append(
            _sparse_row(line, left_out, number) if line[0] == "{" else _dense_row(line, len(left_out))
        )
        if len(rows[-1]) != len(attributes):
            expected = f"{len(attributes)} attributes are declared"
            raise UnreadableInput(
                f"line {number} has {counted(len(rows[-1]), 'values')}, but {expected}: {quoted(line)}"
            )
    numbers = [number for number, _ in lines]
    if not rows:
        return [pa.array([], pa.string()) for _ in attributes]
    return [
        _numbers(cells, attribute, numbers) if attribute.type == "numeric" else pa.array(cells, pa.string())
        for attribute, cells in zip(attributes, zip(*rows, strict=True), strict=True)
    ]


def _dense_row(line: str, width: int) -> list[str | None]:
    line = _WEIGHT.sub("", line)
    cells: list[str | None] = []
    for in_quotes, plain, separator in _CELL.findall(line):
        cells.append(_cell(in_quotes, plain))
        if not separator:
            break
    if len(cells) == width + 1 and line.endswith(","):
        return cells[:-1]
    if len(cells) != width:
        by_blanks = [_cell(in_quotes, plain) for in_quotes, plain in _BLANK_SEPARATED_CELL.findall(line)]
        return by_blanks if len(by_blanks) == width else cells
    return cells


def _sparse_row(line: str, left_out: Sequence[str | None], number: int) -> list[str | None]:
    row = list(left_out)
    cells = _WEIGHT.sub("", line).removeprefix("{").rpartition("}")[0].strip()
    end = 0
    while end < len(cells):
        cell = _SPARSE_CELL.match(cells, end)
        if cell is None:
            raise UnreadableInput(
                f"line {number} is not a sparse row: no index and value at {quoted(cells[end:])}"
            )
        if int(cell[1]) >= len(row):
            raise UnreadableInput(
                f"line {number} has the index {cell[1]}, but {len(row)} attributes are declared"
            )
        row[int(cell[1])] = _cell(cell[2], cell[3] or "")
        end = cell.end()
    return row


def _cell(in_quotes: str, plain: str) -> str | None:
    if in_quotes:
        return _unquote(in_quotes)
    plain = plain.strip()
    return None if plain in ("", "?") else plain


def _numbers(cells: Sequence[str | None], attribute: Attribute, lines: Sequence[int]) -> pa.Array:
    words = pd.Series(pd.array(cells, dtype="str"))
    values = pd.to_numeric(words, errors="coerce").to_numpy(dtype=float)
    wrong = np.flatnonzero(
        np.isnan(values) & words.notna().to_numpy() & (words.str.lower() != "nan").to_numpy()
    )
    if len(wrong):
        where, cell = lines[wrong[0]], quoted(words.iloc[wrong[0]])
        raise UnreadableInput(f"line {where}: {cell} is not a number (attribute {quoted(attribute.name)})")
    return pa.array(values, from_pandas=True)


# ---- columns -------------------------------------------------------------------------------------


def _typed(attribute: Attribute, column: pa.Array) -> pd.Series:
    if attribute.type == "numeric":
        return pd.Series(column.to_numpy(zero_copy_only=False).astype(float))
    if attribute.type == "nominal":
        return pd.Series(_categorical(attribute, column))
    text = pd.Series(column.to_pandas(), dtype="str").str.strip()
    return text if attribute.type == "string" else _dates(attribute, text)


def _categorical(attribute: Attribute, column: pa.Array) -> pd.Categorical:
    """Declared values first, in order; then undeclared values of the data."""
    if not pa.types.is_dictionary(column.type):
        column = column.dictionary_encode()
    found = [value.strip() for value in column.dictionary.to_pylist()]
    categories = pd.Index(list(dict.fromkeys([*attribute.values, *found])), dtype="str")
    position = np.append(categories.get_indexer(pd.Index(found, dtype="str")), -1)
    codes = column.indices.fill_null(len(found)).to_numpy(zero_copy_only=False)
    return pd.Categorical.from_codes(position[codes], categories=categories)


_JAVA_TO_STRFTIME = {
    "yyyy": "%Y", "yy": "%y", "MMMM": "%B", "MMM": "%b", "MM": "%m", "M": "%m", "dd": "%d", "d": "%d",
    "HH": "%H", "H": "%H", "hh": "%I", "mm": "%M", "ss": "%S", "SSS": "%f", "a": "%p", "EEE": "%a",
    "Z": "%z", "XXX": "%z",
}  # fmt: skip


def _dates(attribute: Attribute, text: pd.Series) -> pd.Series:
    pattern = (attribute.date_format or "yyyy-MM-dd'T'HH:mm:ss").replace("'", "")
    strftime = re.sub(r"([A-Za-z])\1*+", lambda run: _JAVA_TO_STRFTIME.get(run[0], run[0]), pattern)
    try:
        return pd.to_datetime(text, format=strftime)
    except (ValueError, re.error):  # `re.error` if the pattern names a part twice
        dates = pd.to_datetime(text, format="ISO8601", errors="coerce")
    if dates.isna().sum() > text.isna().sum():
        raise UnreadableInput(
            f"attribute {quoted(attribute.name)}: not all values are dates of the form {quoted(pattern)}"
        )
    return dates
