"""Reading Parquet files: declared sizes are checked, and metadata written by pandas is not trusted."""

import io
import json

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from ingest.reading.formats.parquet_pages import read_pages
from ingest.reading.limits import DEFAULT_LIMITS, ReadingLimits
from warehouse.support.errors import UnreadableInput, one_line

PARQUET_MAGIC = b"PAR1"
_SHARING = 7  # DELTA_BYTE_ARRAY
"""Encoding of a text as the length of the prefix that it shares with the text before, and the rest."""
_BY_NUMBER = frozenset({0, 2, 8})  # PLAIN, PLAIN_DICTIONARY, RLE_DICTIONARY
"""Encodings that Arrow can read into a dictionary, which keeps each text once."""
_ROWS_AT_ONCE = 32  # of texts that may be long
_CELL_BYTES = 8  # of most cells in memory, however few the file has for them


def read_parquet(content: bytes, limits: ReadingLimits = DEFAULT_LIMITS) -> pa.Table:
    """The table in the bytes of a Parquet file.

    Raises:
        BadInput: they are no readable Parquet, or the table is beyond the limits.
    """
    try:
        pages = read_pages(content)
        declared = pq.ParquetFile(io.BytesIO(content))
        metadata, schema = declared.metadata, declared.schema_arrow
        limits.check_columns(metadata.num_columns)
        limits.check_unpacked(max(_least_bytes(metadata), pages.declared, pages.unpacked), len(content))
        if _SHARING in set().union(*pages.encodings.values()):
            _check_shared_text(content, limits)
        # A text that many rows have stays one text until it is known what all rows take.
        plain = {name for name, found in pages.encodings.items() if found <= _BY_NUMBER}
        texts = [field.name for field in schema if _is_text(field.type) and field.name in plain]
        table = pq.ParquetFile(io.BytesIO(content), read_dictionary=texts).read()
        limits.check_repeated_text(sum(map(_text_bytes, table.columns)), len(content))
        table = pa.table(
            [_of_type(column, field.type) for column, field in zip(table.columns, schema, strict=True)],
            schema=schema,
        )
        table.validate(full=True)  # text that is no UTF-8, above all
    except (pa.ArrowException, OSError, ValueError) as error:
        raise UnreadableInput(f"the file is damaged Parquet ({one_line(error)[:200]})") from error
    return table


def _least_bytes(metadata: pq.FileMetaData) -> int:
    """Least size of the table in memory, by its rows and columns."""
    widths = [_width(metadata.schema.column(place)) for place in range(metadata.num_columns)]
    return int(metadata.num_rows) * sum(widths)


def _check_shared_text(content: bytes, limits: ReadingLimits) -> None:
    """Refuse prefix-encoded texts that are too large in memory."""
    size = 0
    for batch in pq.ParquetFile(io.BytesIO(content)).iter_batches(_ROWS_AT_ONCE):
        size += sum(column.nbytes for column in batch.columns if _is_text(column.type))
        limits.check_repeated_text(size, len(content))


def _width(column: pq.ColumnSchema) -> int:
    return max(_CELL_BYTES, column.length if column.physical_type == "FIXED_LEN_BYTE_ARRAY" else 0)


def _is_text(kind: pa.DataType) -> bool:
    kinds = (pa.types.is_string, pa.types.is_large_string, pa.types.is_binary, pa.types.is_large_binary)
    return any(is_kind(kind) for is_kind in kinds)


def _text_bytes(column: pa.ChunkedArray) -> int:
    """Bytes of the texts of all rows where a column holds each text once; 0 for another column."""
    if not pa.types.is_dictionary(column.type) or not _is_text(column.type.value_type):
        return 0
    return sum(
        pc.sum(pc.binary_length(chunk.dictionary).take(chunk.indices)).as_py() or 0 for chunk in column.chunks
    )


def _of_type(column: pa.ChunkedArray, kind: pa.DataType) -> pa.ChunkedArray:
    """A column as it is without `read_dictionary`."""
    return column if column.type == kind else column.cast(column.type.value_type).cast(kind)


def without_pandas_notes(table: pa.Table) -> pa.Table:
    """The table without metadata of pandas and the columns of the data frame's index."""
    bare = table.replace_schema_metadata(None)
    try:
        index = json.loads((table.schema.metadata or {})[b"pandas"])["index_columns"]
        names = {name for name in index if isinstance(name, str)}
    except (KeyError, TypeError, ValueError, RecursionError):
        return bare  # not by pandas, or damaged
    return bare.select([place for place, name in enumerate(bare.column_names) if name not in names])
