"""Read Parquet files, checking declared sizes and ignoring metadata by pandas."""

import io
import json

import pyarrow as pa
import pyarrow.parquet as pq

from ingest.reading.formats.arrow import CELL_BYTES, cell_bytes, is_text, text_bytes
from ingest.reading.formats.parquet_pages import Pages, read_pages
from ingest.reading.limits import DEFAULT_LIMITS, ReadingLimits
from warehouse.support.errors import UnreadableInput, one_line

PARQUET_MAGIC = b"PAR1"
_SHARING = 7  # DELTA_BYTE_ARRAY
"""Encoding of a text as the length of the prefix it shares with the previous text, and the rest."""
_BY_NUMBER = frozenset({0, 2, 8})  # PLAIN, PLAIN_DICTIONARY, RLE_DICTIONARY
"""Encodings that Arrow can read into a dictionary, which stores each text once."""
_ROWS_AT_ONCE = 32  # for texts that may be long


def read_parquet(content: bytes, limits: ReadingLimits = DEFAULT_LIMITS) -> pa.Table:
    """Read a Parquet file.

    Raises:
        BadInput: it is not readable, or the table exceeds the limits.
    """
    try:
        pages = read_pages(content)
        declared = pq.ParquetFile(io.BytesIO(content))
        metadata, schema = declared.metadata, declared.schema_arrow
        limits.check_columns(metadata.num_columns)
        least = _least_bytes(metadata, schema, pages)
        limits.check_unpacked(max(least, pages.declared, pages.unpacked), len(content))
        if _SHARING in set().union(*pages.encodings.values()):
            _check_shared_text(content, limits)
        # Texts shared by many rows stay shared until the memory of all rows is known.
        plain = {name for name, found in pages.encodings.items() if found <= _BY_NUMBER}
        texts = [field.name for field in schema if is_text(field.type) and field.name in plain]
        table = pq.ParquetFile(io.BytesIO(content), read_dictionary=texts).read()
        limits.check_repeated_text(sum(map(text_bytes, table.columns)), len(content))
        table = pa.table(
            [_of_type(column, field.type) for column, field in zip(table.columns, schema, strict=True)],
            schema=schema,
        )
        table.validate(full=True)  # above all, that text is UTF-8
    except (pa.ArrowException, OSError, ValueError) as error:
        raise UnreadableInput(f"the file is damaged Parquet ({one_line(error)[:200]})") from error
    return table


def _least_bytes(metadata: pq.FileMetaData, schema: pa.Schema, pages: Pages) -> int:
    """Minimum memory of the table, from the number and the types of its values."""
    size = 0
    for place in range(metadata.num_columns):
        column = metadata.schema.column(place)
        name = column.path.split(".")[0]
        width = cell_bytes(schema.field(name).type) if schema.names.count(name) == 1 else CELL_BYTES
        is_fixed = column.physical_type == "FIXED_LEN_BYTE_ARRAY"
        values = max(int(metadata.num_rows), pages.values.get(column.path, 0))
        size += values * max(width, column.length if is_fixed else 0)
    return size


def _check_shared_text(content: bytes, limits: ReadingLimits) -> None:
    """Refuse prefix-encoded texts that are too large in memory."""
    size = 0
    for batch in pq.ParquetFile(io.BytesIO(content)).iter_batches(_ROWS_AT_ONCE):
        size += sum(column.nbytes for column in batch.columns if is_text(column.type))
        limits.check_repeated_text(size, len(content))


def _of_type(column: pa.ChunkedArray, kind: pa.DataType) -> pa.ChunkedArray:
    """A column as it is without `read_dictionary`."""
    return column if column.type == kind else column.cast(column.type.value_type).cast(kind)


def without_pandas_notes(table: pa.Table) -> pa.Table:
    """The table without pandas' metadata and the columns of the data frame's index."""
    bare = table.replace_schema_metadata(None)
    try:
        index = json.loads((table.schema.metadata or {})[b"pandas"])["index_columns"]
        names = {name for name in index if isinstance(name, str)}
    except (KeyError, TypeError, ValueError, RecursionError):
        return bare  # not by pandas, or damaged
    return bare.select([place for place, name in enumerate(bare.column_names) if name not in names])
