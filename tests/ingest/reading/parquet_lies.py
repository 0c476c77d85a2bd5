"""Parquet files that lie about the size of their pages."""

import io

import pyarrow.parquet as pq

_DECLARED = 1000


def with_small_footer(content: bytes) -> bytes:
    """The file whose footer says that its first row group, and column, take next to nothing when unpacked."""
    group = pq.ParquetFile(io.BytesIO(content)).metadata.row_group(0)
    start = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
    footer = content[start:]
    for size in (group.total_byte_size, group.column(0).total_uncompressed_size):
        footer = footer.replace(_number(size), _number(_DECLARED, len(_number(size))))
    return content[:start] + footer


def with_large_page(content: bytes, size: int) -> bytes:
    """The file whose first page says that it takes so many bytes.

    The number has as many bytes as the true one, which may have four: 2**20 to 2**27 bytes.
    """
    at = len(b"PAR1\x15\x00\x15")  # its kind is the first field, its size the second one
    return content[:at] + _number(size, 4) + content[at + 4 :]


def _number(value: int, length: int = 0) -> bytes:
    """A positive number in Thrift's compact protocol, in so many bytes at least."""
    rest, found = value * 2, bytearray()
    while rest > 127 or len(found) + 1 < length:
        found.append(rest & 127 | 128)
        rest >>= 7
    return bytes([*found, rest])
