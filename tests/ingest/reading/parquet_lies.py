"""Parquet files with false footers or pages."""

import io

import pyarrow.parquet as pq

_DECLARED = 1000


def with_small_footer(content: bytes) -> bytes:
    """A file whose footer claims that its first row group and column are tiny when unpacked."""
    group = pq.ParquetFile(io.BytesIO(content)).metadata.row_group(0)
    start = _footer(content)
    footer = content[start:]
    for size in (group.total_byte_size, group.column(0).total_uncompressed_size):
        footer = footer.replace(_number(size), _number(_DECLARED, len(_number(size))))
    return content[:start] + footer


def with_large_page(content: bytes, size: int) -> bytes:
    """A file whose first page claims this many bytes.

    The number is encoded in as many bytes as the true one, which may be four: 2**20 to 2**27 bytes.
    """
    at = len(b"PAR1\x15\x00\x15")  # the kind is the first field, the size the second
    return content[:at] + _number(size, 4) + content[at + 4 :]


def with_encoding(content: bytes, encoding: int) -> bytes:
    """A file of one column whose footer, unlike its pages, names this encoding for DELTA_BYTE_ARRAY."""
    start = _footer(content)
    was, now = (
        b"\x19\x25\x06" + _number(one) for one in (7, encoding)
    )  # a list of two, of which RLE is first
    assert content.count(was, start) == 1
    return content[:start] + content[start:].replace(was, now)


def with_empty_columns(content: bytes, number: int) -> bytes:
    """A file whose footer declares this many columns with nothing but a position.

    Args:
        content: a file with one row group of one column.
    """
    start = _footer(content)
    footer, chunks = content[start:-8], b"\x19\x1c\x19\x1c"  # a list of one group, in it a list of one chunk
    assert footer.count(chunks) == 1
    empty = b"\x26\x00\x00" * number
    lie = footer[: footer.index(chunks)] + chunks[:3] + b"\xfc" + _unsigned(number) + empty
    lie += b"\x16\x00\x16\x00\x00\x00"  # size and rows of the group, and the ends of group and footer
    return content[:start] + lie + len(lie).to_bytes(4, "little") + b"PAR1"


def _footer(content: bytes) -> int:
    return len(content) - 8 - int.from_bytes(content[-8:-4], "little")


def _number(value: int, length: int = 0) -> bytes:
    """A positive number in Thrift's compact protocol, in at least this many bytes."""
    return _unsigned(value * 2, length)


def _unsigned(value: int, length: int = 0) -> bytes:
    rest, found = value, bytearray()
    while rest > 127 or len(found) + 1 < length:
        found.append(rest & 127 | 128)
        rest >>= 7
    return bytes([*found, rest])
