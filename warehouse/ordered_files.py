"""Files of tables whose rows come in batches and stay in their order.

deltalake writes batches in several threads, which mix them up, so these files are written here.
"""

import dataclasses
import glob
import json
import time
import uuid
from collections.abc import Iterable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from deltalake import DeltaTable
from deltalake.transaction import AddAction, RemoveAction

from warehouse import delta
from warehouse.batches import regrouped
from warehouse.schema import PROVENANCE
from warehouse.snapshot import create_view, listed
from warehouse.spilling import StoredRows, batches


def append(table: DeltaTable, folder: Path, batches: Iterable[pa.RecordBatch]) -> None:
    """Add rows to a table without partitions, which lies in `folder`, as one file.

    Few of them are in memory at once. Where there are none, nothing is done.
    """
    added = _written(folder, delta.columns(table), batches)
    if added:
        table.create_write_transaction([added], "append", table.schema())
        table.update_incremental()


def replace(table: DeltaTable, folder: Path, rows: StoredRows, ingest: str) -> None:
    """Put `rows` in the place of those with the same key.

    Files of the table that have none of these stay as they are, and the others become one.
    """
    key, connection = listed(rows.table.key), rows.connection
    there = pa.table(table.get_add_actions(flatten=True))
    path_of = {str(folder / delta.plain_path(path)): path for path in there["path"].to_pylist()}
    touched = connection.sql(
        f"""
        SELECT DISTINCT filename
        FROM read_parquet($files, filename = true, union_by_name = true, hive_partitioning = false)
        SEMI JOIN ({rows.selection}) USING ({key})
        """,
        params={"files": [glob.escape(path) for path in path_of]},
    ).fetchall()
    files = sorted(file for (file,) in touched)
    view = f"touched_{rows.table.name}"
    create_view(connection, dataclasses.replace(rows.table, name=view), files)
    columns = ", ".join(
        f'CASE WHEN given."{rows.table.key[0]}" IS NULL THEN stored."{column}" ELSE given."{column}" END'
        f' AS "{column}"'
        for column in rows.table.schema.names
    )
    result = f"""
        SELECT {columns}
        FROM "{view}" AS stored
        LEFT JOIN (SELECT *, $ingest AS {PROVENANCE} FROM ({rows.selection})) AS given USING ({key})
    """
    changed = batches(connection, result, rows.table, {"ingest": ingest})
    added = _written(folder, delta.columns(table), changed)
    removed = [RemoveAction(path_of[file], True, _now()) for file in files]
    table.create_write_transaction([*removed, *([added] if added else [])], "append", table.schema())
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
                writer.write_batch(rows.select(schema.names).cast(schema))
                n_rows += len(rows)
    except BaseException:
        path.unlink(missing_ok=True)
        raise
    if not n_rows:
        path.unlink()
        return None
    stats = json.dumps({"numRecords": n_rows})
    return AddAction(path.name, path.stat().st_size, {}, _now(), True, stats)


def _now() -> int:
    """Milliseconds since 1970."""
    return time.time_ns() // 1_000_000
