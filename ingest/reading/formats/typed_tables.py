"""Read tables from typed files, interpreting text cells like those of text files.

`9` is an integer and `9.0` is not: a hyperparameter's integers and fractions may mean different things, and
one column may have both.
"""

import csv
import io
import json
import logging
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from ingest.reading.formats.arff import is_arff, read_arff
from ingest.reading.formats.cell_values import typed
from ingest.reading.formats.encoding import decoded, quoted
from ingest.reading.formats.parquet import PARQUET_MAGIC, read_parquet
from ingest.reading.limits import DEFAULT_LIMITS, ReadingLimits
from warehouse.support.errors import UnreadableInput
from warehouse.vocabulary.parameters import Value

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class TypedColumn:
    """Cells of one column: `values[codes[row]]`, or empty if the code is -1.

    `values` are distinct as written, so that each is parsed (and later written) once.
    """

    codes: np.ndarray
    values: tuple[Value, ...]

    @classmethod
    def from_text(cls, cells: pd.Series) -> Self:
        """Typed cells of a text column."""
        texts = cells.str.strip()
        codes, distinct = pd.factorize(texts.mask(texts.isin(_EMPTY)))
        return cls(codes, tuple(typed(text) for text in distinct))

    def take(self, rows: np.ndarray) -> Self:
        """The cells of some rows; `rows` is a mask or positions."""
        return type(self)(self.codes[rows], self.values)


@dataclass(frozen=True)
class TypedTable:
    """A table and the JSON in its first comment."""

    metadata: Mapping[str, Any]
    columns: Mapping[str, TypedColumn]

    def __len__(self) -> int:
        """Number of rows."""
        return len(next(iter(self.columns.values())).codes) if self.columns else 0


_EMPTY = frozenset({"", "?", "nan", "NaN", "NA", "<NA>", "N/A", "n/a", "#N/A"})
_WITH_COMMA = re.compile(r"^\s*([+-]?[0-9]*),([0-9]+(?:[eE][+-]?[0-9]+)?)\s*$")
_WITH_POINT = re.compile(r"\s*[+-]?[0-9]*\.[0-9]+(?:[eE][+-]?[0-9]+)?\s*")


def read_typed_table(content: bytes, limits: ReadingLimits = DEFAULT_LIMITS) -> TypedTable:
    """Read the content of an ARFF, Parquet or delimited file (comma, semicolon or tab).

    The format is detected from the content. Empty, `?`, NaN and null cells are empty. Raises
    `BadInput` if the file is none of these, has no rows, or names a column twice.
    """
    if not content.strip():
        raise UnreadableInput("the file is empty")
    if content.startswith(PARQUET_MAGIC):
        table = _read_parquet(content, limits)
    else:
        text = decoded(content, limits).utf8
        table = _read_arff(text, limits) if is_arff(text) else _read_delimited(text, limits)
    if not len(table):
        raise UnreadableInput("the file has no rows")
    return table


def _read_parquet(content: bytes, limits: ReadingLimits) -> TypedTable:
    table = read_parquet(content, limits)
    _refuse_duplicates(table.column_names)
    return TypedTable({}, {name: _typed_arrow(name, table[name]) for name in table.column_names})


def _typed_arrow(name: str, column: pa.ChunkedArray) -> TypedColumn:
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    texts = (pa.types.is_string, pa.types.is_large_string, pa.types.is_temporal)
    if any(is_kind(column.type) for is_kind in texts):
        return TypedColumn.from_text(column.to_pandas().astype("str"))
    kinds = (pa.types.is_boolean, pa.types.is_integer, pa.types.is_floating, pa.types.is_null)
    if not any(is_kind(column.type) for is_kind in kinds):
        raise UnreadableInput(
            f"column {quoted(name)} holds {column.type}; expected booleans, numbers or text"
        )
    if pa.types.is_floating(column.type):
        column = pc.if_else(pc.is_nan(column), None, column)
    encoded = pa.concat_arrays(column.chunks).dictionary_encode()
    codes = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False)
    return TypedColumn(codes, tuple(encoded.dictionary.to_pylist()))


_NUMERIC_ATTRIBUTE = re.compile(
    rb"""^([ \t]*+@attribute[ \t]++(?:'[^'\n]*+'|"[^"\n]*+"|\S++)[ \t]++)(?:numeric|real|integer)\b""",
    re.IGNORECASE | re.MULTILINE,
)


def _read_arff(content: bytes, limits: ReadingLimits) -> TypedTable:
    # Read numbers as text, to keep their notation.
    table = read_arff(_NUMERIC_ATTRIBUTE.sub(rb"\1string", content), limits)
    _refuse_duplicates(list(table.frame.columns))
    columns = {name: TypedColumn.from_text(table.frame[name].astype("str")) for name in table.frame.columns}
    return TypedTable(_metadata(next(iter(table.comments), "")), columns)


def _read_delimited(content: bytes, limits: ReadingLimits) -> TypedTable:
    file = io.TextIOWrapper(io.BytesIO(content.lstrip(b"\n")), encoding="utf-8", newline="")
    comment = ""
    start, line = 0, file.readline()
    while (line.startswith(("#", "%")) and line.endswith(("\n", "\r"))) or re.match("sep=.", line):  # Excel's
        comment = comment or line
        start, line = file.tell(), file.readline()
    delimiter = max(",;\t", key=line.count)
    file.seek(start)
    try:
        first_row = next(csv.reader(file, delimiter=delimiter), [])
        limits.check_columns(len(first_row))
        file.seek(start)
        cells = pd.read_csv(file, sep=delimiter, header=None, dtype=str, keep_default_na=False)
    except (ValueError, csv.Error) as error:
        raise UnreadableInput(f"the file is not a table: {' '.join(str(error).split())}") from error
    names = [str(name).strip() for name in cells.iloc[0]]
    _refuse_duplicates(names)
    if delimiter != "," and _has(cells, _WITH_COMMA) and not _has(cells, _WITH_POINT):
        logger.warning("numbers were read with decimal commas")
        cells = cells.replace(_WITH_COMMA, r"\1.\2", regex=True)
    return TypedTable(
        _metadata(comment.lstrip("#%")),
        {name: TypedColumn.from_text(cells[position].iloc[1:]) for position, name in enumerate(names)},
    )


def _has(cells: pd.DataFrame, pattern: re.Pattern[str]) -> bool:
    return any(column.str.fullmatch(pattern).any() for _, column in cells.items())


def _metadata(comment: str) -> Mapping[str, Any]:
    try:
        content = json.loads(comment)
    except ValueError:
        return {}
    return content if isinstance(content, dict) else {}


def _refuse_duplicates(names: list[str]) -> None:
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise UnreadableInput(f"two columns are named {quoted(twice[0])}; rename one")
