"""Files of tables whose rows come in batches and stay in their order.

deltalake writes batches in several threads, which mix them up, so these files are written here.
"""

import json
import time
import uuid
from collections.abc import Iterable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from deltalake import DeltaTable
from deltalake.transaction import AddAction

from warehouse import delta
from warehouse.batches import regrouped


def append(table: DeltaTable, folder: Path, batches: Iterable[pa.RecordBatch]) -> None:
    """Add rows to a table without partitions, which lies in `folder`, as one file.

    Few of them are in memory at once. Where there are none, nothing is done.
    """
    added = _written(folder, delta.columns(table), batches)
    if added:
        table.create_write_transaction([added], "append", table.schema())
        table.update_incremental()


def _written(folder: Path, schema: pa.Schema, batches: Iterable[pa.RecordBatch]) -> AddAction | None:
    path = folder / f"part-{uuid.uuid4()}.zstd.parquet"
    n_rows = 0
    try:
        with pq.ParquetWriter(
            path,
            schema,
            compression="zstd",
            use_dictionary=[name for name in schema.names if name not in delta.WITHOUT_DICTIONARY],
            store_schema=False,
        ) as writer:
            for rows in regrouped(batches, delta.ROWS_IN_GROUP):
                writer.write_table(rows.select(schema.names).cast(schema))
                n_rows += len(rows)
    except BaseException:
        path.unlink(missing_ok=True)
        raise
    if not n_rows:
        path.unlink()
        return None
    now = time.time_ns() // 1_000_000
    return AddAction(path.name, path.stat().st_size, {}, now, True, json.dumps({"numRecords": n_rows}))
