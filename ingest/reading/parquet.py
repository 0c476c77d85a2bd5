"""Reading Parquet files: what the footer declares is checked first, and what pandas noted is not trusted."""

import io
import json

import pyarrow as pa
import pyarrow.parquet as pq

from ingest.reading.limits import DEFAULT_LIMITS, ReadingLimits
from warehouse.support.errors import UnreadableInput, one_line

PARQUET_MAGIC = b"PAR1"
_CELL_BYTES = 8  # of most cells in memory, however few the file has for them


def read_parquet(content: bytes, limits: ReadingLimits = DEFAULT_LIMITS) -> pa.Table:
    """The table in the bytes of a Parquet file.

    Raises:
        BadInput: they are no readable Parquet, or the table is beyond the limits.
    """
    try:
        file = pq.ParquetFile(io.BytesIO(content))
        declared = file.metadata
        limits.check_columns(declared.num_columns)
        limits.check_unpacked(declared.num_rows * declared.num_columns * _CELL_BYTES, len(content))
        table = file.read()
        table.validate(full=True)  # text that is no UTF-8, above all
    except (pa.ArrowException, OSError, ValueError) as error:
        raise UnreadableInput(f"the file is damaged Parquet ({one_line(error)[:200]})") from error
    return table


def without_pandas_notes(table: pa.Table) -> pa.Table:
    """The table without what pandas noted in it, and the columns that it wrote for the index of its frame."""
    bare = table.replace_schema_metadata(None)
    try:
        index = json.loads((table.schema.metadata or {})[b"pandas"])["index_columns"]
        names = {name for name in index if isinstance(name, str)}
    except (KeyError, TypeError, ValueError, RecursionError):
        return bare  # not by pandas, or damaged
    return bare.select([place for place, name in enumerate(bare.column_names) if name not in names])
