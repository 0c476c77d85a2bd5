"""What the footer of a Parquet file says of its row groups.

PyArrow says so, too, but on some damaged footers it does not return: it ends the process.
https://github.com/apache/parquet-format/blob/master/src/main/thrift/parquet.thrift names the fields.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ingest.reading.thrift import I64, LIST, PLAIN, STRUCT, Field, Form, read_struct

_GROUPS, _GROUP_COLUMNS, _GROUP_SIZE = (4, LIST), (1, LIST), (2, I64)
_DECLARED, _PATH, _VALUES, _SIZE = (3, STRUCT), (3, LIST), (5, I64), (7, I64)
_DATA, _DICTIONARY = (9, I64), (11, I64)
_OF_COLUMN = dict.fromkeys((_PATH, _VALUES, _SIZE, _DATA, _DICTIONARY), PLAIN)
_COLUMN = Form({_DECLARED: Form(_OF_COLUMN, optional={_DICTIONARY})})
_FOOTER = Form({_GROUPS: Form({_GROUP_COLUMNS: _COLUMN, _GROUP_SIZE: PLAIN})})
_AFTER = 8  # bytes that follow the footer: its length, and the mark of the format


@dataclass(frozen=True)
class ColumnChunk:
    """A column of a row group."""

    path: str
    """Names of the column and of what it is a part of, joined by dots, the outermost first."""
    n_values: int
    start: int
    """Position of the first page."""
    size: int
    """Bytes of the pages in the file."""


@dataclass(frozen=True)
class RowGroup:
    """Rows that are written together."""

    unpacked: int
    """Bytes that the pages are said to take in memory."""
    columns: list[ColumnChunk]


def read_footer(content: bytes) -> list[RowGroup]:
    """The row groups of a file.

    Raises:
        ValueError: the footer is damaged.
    """
    start = len(content) - _AFTER - int.from_bytes(content[-_AFTER:-4], "little")
    footer, _ = read_struct(content[max(start, 0) : -_AFTER], 0, _FOOTER)
    return [_row_group(group) for group in footer[_GROUPS]]


def _row_group(group: Mapping[Field, Any]) -> RowGroup:
    return RowGroup(group[_GROUP_SIZE], [_column(chunk[_DECLARED]) for chunk in group[_GROUP_COLUMNS]])


def _column(declared: Mapping[Field, Any]) -> ColumnChunk:
    data_pages, dictionary_page = declared[_DATA], declared.get(_DICTIONARY)
    return ColumnChunk(
        path=_joined(declared[_PATH]),
        n_values=declared[_VALUES],
        start=min(data_pages, dictionary_page or data_pages),
        size=declared[_SIZE],
    )


def _joined(names: list[Any]) -> str:
    try:
        return b".".join(names).decode()
    except TypeError:
        raise ValueError("a name in the footer is no text") from None
