"""How many bytes the pages of a Parquet file take when unpacked, by what stands before each page.

The footer says so, too, but readers allocate and unpack what the page's own header says. A header is a
struct in Thrift's compact protocol
(https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md), of which
https://github.com/apache/parquet-format/blob/master/src/main/thrift/parquet.thrift names the fields.
"""

from collections.abc import Iterator

import pyarrow.parquet as pq

_UNPACKED, _PACKED = 2, 3
"""Fields of a page's header: bytes of the page in memory, and in the file."""
_TRUE, _FALSE, _BYTE, _DOUBLE, _BINARY, _STRUCT = 1, 2, 3, 7, 8, 12
_INTEGERS = {4, 5, 6}
_DEEPEST = 8  # structs within structs; a page's header has two


def unpacked_pages(content: bytes, metadata: pq.FileMetaData) -> int:
    """Bytes that all pages of the file take when unpacked.

    Raises:
        ValueError: a header of a page is damaged, or not where the footer says.
    """
    groups = map(metadata.row_group, range(metadata.num_row_groups))
    columns = (group.column(place) for group in groups for place in range(group.num_columns))
    return sum(size for column in columns for size in _sizes(content, column))


def _sizes(content: bytes, column: pq.ColumnChunkMetaData) -> Iterator[int]:
    """Bytes in memory of each page of a column of a row group."""
    if not column.num_values:
        return  # nothing is read, and there may be no page
    first = column.dictionary_page_offset or column.data_page_offset
    at = min(first, column.data_page_offset)
    end = at + column.total_compressed_size
    if at < 0 or end > len(content):
        raise ValueError("a column lies outside of the file")
    while at < end:
        header = _Header(content, at)
        sizes = header.struct()
        unpacked, packed = sizes.get(_UNPACKED), sizes.get(_PACKED)
        if unpacked is None or packed is None or unpacked < 0 or packed < 0:
            raise ValueError("the header of a page lacks its size")
        yield unpacked
        at = header.at + packed


class _Header:
    """Reads a struct, of which it keeps integers."""

    def __init__(self, content: bytes, at: int) -> None:
        self._content = content
        self.at = at
        """Where the next byte is."""

    def struct(self, depth: int = 0) -> dict[int, int]:
        """Field to value, of the fields that are integers."""
        if depth > _DEEPEST:
            raise ValueError("the header of a page is too deep")
        found = {}
        field = 0
        while head := self._byte():
            kind = head & 15
            field = field + (head >> 4) if head >> 4 else self._integer()
            if kind in _INTEGERS:
                found[field] = self._integer()
            elif kind == _STRUCT:
                self.struct(depth + 1)
            elif kind not in (_TRUE, _FALSE):
                self._pass_over(kind)
        return found

    def _pass_over(self, kind: int) -> None:
        lengths = {_BYTE: 1, _DOUBLE: 8}
        if kind not in {*lengths, _BINARY}:
            raise ValueError("the header of a page has fields that no page has")  # lists and maps
        length = lengths[kind] if kind in lengths else self._unsigned()
        self.at += length

    def _integer(self) -> int:
        value = self._unsigned()
        return value >> 1 if value % 2 == 0 else -(value >> 1) - 1

    def _unsigned(self) -> int:
        value = 0
        for shift in range(0, 70, 7):
            byte = self._byte()
            value |= (byte & 127) << shift
            if byte < 128:
                return value
        raise ValueError("the header of a page has a number that is too long")

    def _byte(self) -> int:
        if self.at >= len(self._content):
            raise ValueError("the header of a page is cut off")
        self.at += 1
        return self._content[self.at - 1]
