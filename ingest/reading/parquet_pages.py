"""What the pages of a Parquet file take when unpacked, and how they are written, by what stands before each.

The footer says so, too, but readers allocate, unpack and decode by the page's own header.
https://github.com/apache/parquet-format/blob/master/src/main/thrift/parquet.thrift names the fields.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ingest.reading.parquet_footer import ColumnChunk
from ingest.reading.thrift import I32, PLAIN, STRUCT, Form, read_struct

_UNPACKED, _PACKED = (2, I32), (3, I32)
_ENCODINGS = {(5, STRUCT): (2, I32), (7, STRUCT): (2, I32), (8, STRUCT): (4, I32)}
"""Where the encoding is in what a header says of a page of data, a dictionary, or data of version 2."""
_HEADER = Form(
    {
        _UNPACKED: PLAIN,
        _PACKED: PLAIN,
        **{kind: Form({place: PLAIN}) for kind, place in _ENCODINGS.items()},
    },
    optional=_ENCODINGS.keys(),
)


@dataclass(frozen=True)
class Page:
    """Some values of a column, or its dictionary."""

    unpacked: int
    """Bytes in memory."""
    encodings: frozenset[int]
    """How values are written, by the numbers of the format; a damaged header may name several."""


def pages(content: bytes, column: ColumnChunk) -> Iterator[Page]:
    """The pages of a column of a row group.

    Raises:
        ValueError: a header of a page is damaged, or not where the footer says.
    """
    if not column.n_values:
        return  # nothing is read, and there may be no page
    at, end = column.start, column.start + column.size
    if at < 0 or end > len(content):
        raise ValueError("a column lies outside of the file")
    while at < end:
        header, after = read_struct(content, at, _HEADER)
        if header[_UNPACKED] < 0 or header[_PACKED] < 0:
            raise ValueError("the header of a page has a negative size")
        named = frozenset(header[kind][place] for kind, place in _ENCODINGS.items() if kind in header)
        yield Page(header[_UNPACKED], named)
        at = after + header[_PACKED]
