"""Read Arrow files (Feather), and compute the memory of Arrow columns.

A file is a stream of messages between two marks, and a list of their positions. The sizes that the messages
declare are checked before PyArrow unpacks them. Messages are tables of FlatBuffers
(https://flatbuffers.dev/internals/) with the fields of
https://github.com/apache/arrow/blob/main/format/Message.fbs.
"""

import struct

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ingest.reading.limits import DEFAULT_LIMITS, ReadingLimits
from warehouse.support.errors import UnreadableInput, one_line

ARROW_MAGIC = b"ARROW1"
_START = 8  # bytes: the mark, and two of padding
CELL_BYTES = 16
"""Memory of most cells, in Arrow and pandas together, even if the file needs less."""
_DATE_BYTES, _OBJECT_BYTES = 40, 128  # of cells that are Python objects in pandas

# Fields of the tables: of a message, a dictionary, a batch of rows.
_HEADER, _DATA = 2, 1
_NODES, _BUFFERS, _COMPRESSION = 1, 2, 3
_PAIR = 16  # bytes of an entry of either list: length and nulls of an array, position and length of a buffer


def read_arrow(content: bytes, limits: ReadingLimits = DEFAULT_LIMITS) -> pa.Table:
    """Read an Arrow file whose declared sizes are within the limits.

    Raises:
        BadInput: it is not a readable Arrow file, or exceeds the limits.
    """
    if not content.endswith(ARROW_MAGIC):
        raise UnreadableInput("the file is damaged Arrow (it is cut off)")
    try:
        stream = pa.py_buffer(content)[_START:]
        schema = pa.ipc.open_stream(stream).schema
        limits.check_columns(len(schema))
        width = max(map(cell_bytes, schema.types), default=CELL_BYTES)
        size = 0
        for message in pa.ipc.MessageReader.open_stream(stream):
            size += _declared_bytes(message, width)
            limits.check_unpacked(size, len(content))
        table = pa.ipc.open_stream(stream).read_all()
        table.validate(full=True)  # above all, that text is UTF-8
    except (pa.ArrowException, OSError, ValueError, MemoryError, struct.error) as error:
        raise UnreadableInput(f"the file is damaged Arrow ({one_line(error)[:200]})") from error
    limits.check_repeated_text(sum(map(text_bytes, table.columns)), len(content))
    return table


def _declared_bytes(message: pa.ipc.Message, width: int) -> int:
    """Memory of a batch of rows or a dictionary, at least `width` bytes per cell."""
    if message.type not in ("record batch", "dictionary"):
        return 0
    metadata, body = message.metadata, message.body
    batch = _field(metadata, _root(metadata), _HEADER)
    if message.type == "dictionary":
        batch = _field(metadata, _at(metadata, batch), _DATA)
    batch = _at(metadata, batch)
    cells = sum(length for length, _ in _pairs(metadata, _field(metadata, batch, _NODES)))
    buffers = _pairs(metadata, _field(metadata, batch, _BUFFERS))
    if not _field(metadata, batch, _COMPRESSION):
        return max(cells * width, sum(length for _, length in buffers))
    # A compressed buffer begins with its length, -1 if it is uncompressed.
    unpacked = [struct.unpack_from("<q", body, place)[0] for place, length in buffers if length]
    packed = [length for _, length in buffers if length]
    sizes = (long if long >= 0 else short for long, short in zip(unpacked, packed, strict=True))
    return max(cells * width, sum(sizes))


# ---- FlatBuffers -----------------------------------------------------------------------------------


def _root(data: pa.Buffer) -> int:
    """Position of the outermost table."""
    return int(struct.unpack_from("<I", data)[0])


def _field(data: pa.Buffer, table: int, number: int) -> int:
    """Position of a field of a table; 0 if the table lacks it."""
    fields = table - int(struct.unpack_from("<i", data, table)[0])
    if 4 + 2 * number >= struct.unpack_from("<H", data, fields)[0]:
        return 0
    offset = int(struct.unpack_from("<H", data, fields + 4 + 2 * number)[0])
    return table + offset if offset else 0


def _at(data: pa.Buffer, field: int) -> int:
    """Position of the table or list that a field refers to."""
    return field + int(struct.unpack_from("<I", data, field)[0])


def _pairs(data: pa.Buffer, field: int) -> list[tuple[int, int]]:
    """The entries of a list of pairs of numbers."""
    if not field:
        return []
    start = _at(data, field)
    count = int(struct.unpack_from("<I", data, start)[0])
    if start + 4 + count * _PAIR > len(data):
        raise ValueError("a list is cut off")
    return [struct.unpack_from("<qq", data, start + 4 + place * _PAIR) for place in range(count)]


# ---- memory of columns -----------------------------------------------------------------------------


def cell_bytes(kind: pa.DataType) -> int:
    """Minimum memory of a cell, in bytes, without its text."""
    if pa.types.is_date(kind) or pa.types.is_time(kind) or pa.types.is_binary(kind):
        return _DATE_BYTES
    is_plain = pa.types.is_primitive(kind) or pa.types.is_dictionary(kind) or pa.types.is_null(kind)
    return CELL_BYTES if is_plain or is_text(kind) or _is_view(kind) else _OBJECT_BYTES


def is_text(kind: pa.DataType) -> bool:
    """Whether a type is of texts or bytes stored one after the other."""
    kinds = (pa.types.is_string, pa.types.is_large_string, pa.types.is_binary, pa.types.is_large_binary)
    return any(is_kind(kind) for is_kind in kinds)


def text_bytes(column: pa.ChunkedArray) -> int:
    """Bytes of the texts of all rows if the column may share texts between rows; else 0."""
    if _is_view(column.type):
        return sum(map(_viewed_bytes, column.chunks))
    if not pa.types.is_dictionary(column.type) or not is_text(column.type.value_type):
        return 0
    return sum(
        pc.sum(pc.binary_length(chunk.dictionary).take(chunk.indices)).as_py() or 0 for chunk in column.chunks
    )


def _is_view(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string_view(kind) or pa.types.is_binary_view(kind))


def _viewed_bytes(views: pa.Array) -> int:
    """Bytes of the texts of an array of views; each view has 16 bytes and begins with the length."""
    if not len(views):
        return 0
    lengths = np.frombuffer(views.buffers()[1], np.int32)[::4]
    return int(lengths[views.offset : views.offset + len(views)].sum(dtype=np.int64))
