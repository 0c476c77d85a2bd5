"""Files of tables whose rows keep their order.

deltalake writes in several threads, which mix batches up and take more memory than the written rows, so these
files are written here, group after group.
"""

import dataclasses
import glob
import json
import math
import uuid
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from deltalake import DeltaTable

from warehouse.storage import delta
from warehouse.storage.snapshot import create_view, listed
from warehouse.storage.spilling import StoredRows, batches, regrouped
from warehouse.support.files import sync_file
from warehouse.vocabulary.schema import PROVENANCE

# Trials are committed one by one, and reading pays a millisecond per file. Small tables are rewritten often
# and large ones rarely, as older versions keep their files.
_SMALL_FILES = ((50_000, 4), (500_000, 16), (math.inf, 64))
"""Largest number of files before compaction, for up to so many rows."""
_SORTED_AGAIN = 2_000_000
"""Most rows of a table that compaction sorts in memory and writes to one file."""


def append(table: DeltaTable, folder: Path, batches: Iterable[pa.RecordBatch]) -> None:
    """Add rows to the table in `folder` as one file, or none if there are no rows.

    Few rows are in memory at a time.
    """
    _append(table, folder, regrouped(batches, delta.ROWS_IN_GROUP))


def append_table(table: DeltaTable, folder: Path, rows: pa.Table, sort_by: tuple[str, ...] = ()) -> None:
    """Add `rows` to the table in `folder` as one file, sorted by text columns without nulls.

    They are sorted one group at a time, while the previous one is written.
    """
    sort = sort_by and len(rows)
    _append(table, folder, _ahead(delta.in_order(rows, sort_by)) if sort else _groups(rows))


def _append(table: DeltaTable, folder: Path, groups: Iterable[pa.RecordBatch]) -> None:
    added = _written(folder, delta.columns(table), groups)
    if added:
        _commit(table, folder, [added])


def _commit(table: DeltaTable, folder: Path, actions: Iterable[dict[str, Any]]) -> None:
    delta.commit(folder, actions)
    table.update_incremental()


def _ahead(groups: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The same groups, each made while the caller works on the previous one."""
    source = iter(groups)
    with ThreadPoolExecutor(1) as maker:
        following = maker.submit(next, source, None)
        while (rows := following.result()) is not None:
            following = maker.submit(next, source, None)
            yield rows


def _groups(rows: pa.Table) -> Iterator[pa.RecordBatch]:
    for start in range(0, len(rows), delta.ROWS_IN_GROUP):
        yield from rows.slice(start, delta.ROWS_IN_GROUP).combine_chunks().to_batches()


def replace(table: DeltaTable, folder: Path, rows: StoredRows, ingest: str) -> None:
    """Replace the stored rows with the keys of `rows`.

    Files without any of these keys stay; the others become one.
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
    added = _written(folder, delta.columns(table), regrouped(changed, delta.ROWS_IN_GROUP))
    _commit(table, folder, [*(_removed(path_of[file]) for file in files), *([added] if added else [])])


def compact_if_scattered(
    table: DeltaTable, folder: Path, sort_by: tuple[str, ...] = (), most: int | None = None
) -> None:
    """Merge many small files of the table in `folder` into few, as a new version with the same content.

    Args:
        sort_by: text columns without nulls to sort the rows by, unless the table is large.
        most: largest number of files to leave as they are.
    """
    there = pa.table(table.get_add_actions(flatten=True)).sort_by("modification_time")
    n_rows = pc.sum(there["num_records"]).as_py() or 0
    if most is None:
        most = next(files for rows, files in _SMALL_FILES if n_rows <= rows)
    if there.num_rows <= most:
        return
    if n_rows > _SORTED_AGAIN:
        delta.compact(table)
    else:
        paths = there["path"].to_pylist()
        schema = delta.columns(table)
        rows = _rows_of([folder / delta.plain_path(path) for path in paths], schema)
        if sort_by:
            rows = delta.in_order(pa.Table.from_batches(rows, schema), sort_by)
        added = _written(folder, schema, regrouped(rows, delta.ROWS_IN_GROUP), same=True)
        _commit(table, folder, [*(_removed(path, same=True) for path in paths), *([added] if added else [])])
    table.create_checkpoint()  # replaces as many log entries


def _rows_of(paths: Iterable[Path], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """The rows of files, with nulls for columns that they lack."""
    for path in paths:
        for rows in pq.ParquetFile(path).iter_batches(delta.ROWS_IN_GROUP):
            present = rows.schema.names
            columns = [
                rows[field.name] if field.name in present else pa.nulls(len(rows), field.type)
                for field in schema
            ]
            yield pa.record_batch(columns, names=schema.names).cast(schema)


def _written(
    folder: Path, schema: pa.Schema, groups: Iterable[pa.RecordBatch], *, same: bool = False
) -> dict[str, Any] | None:
    """Write groups of rows to a file; returns the log's action that adds it, None without rows.

    Dictionaries of texts are written as dictionaries, and read as texts.

    Args:
        same: the rows replace equal ones in other files.
    """
    path = folder / f"part-{uuid.uuid4()}.zstd.parquet"
    writer: pq.ParquetWriter | None = None
    n_rows = 0
    try:
        with ExitStack() as stack:
            for rows in groups:
                rows = rows.select(schema.names)
                if writer is None:
                    writer = stack.enter_context(_writer(path, _as_they_come(schema, rows.schema)))
                writer.write_batch(rows.cast(writer.schema))
                n_rows += len(rows)
    except BaseException:
        path.unlink(missing_ok=True)
        raise
    if writer is None:
        return None
    sync_file(path)  # before an entry of the log names it
    facts = {
        "path": path.name,
        "partitionValues": {},
        "size": path.stat().st_size,
        "modificationTime": delta.now(),
        "dataChange": not same,
        "stats": json.dumps({"numRecords": n_rows}),
    }
    return {"add": facts}


def _removed(path: str, *, same: bool = False) -> dict[str, Any]:
    """The log's action that removes a file; `path` as written in the log."""
    return {"remove": {"path": path, "deletionTimestamp": delta.now(), "dataChange": not same}}


def _writer(path: Path, schema: pa.Schema) -> pq.ParquetWriter:
    return pq.ParquetWriter(
        path,
        schema,
        compression="zstd",
        use_dictionary=[name for name in schema.names if name not in delta.WITHOUT_DICTIONARY],
        store_schema=False,
    )


def _as_they_come(schema: pa.Schema, rows: pa.Schema) -> pa.Schema:
    """`schema` with dictionaries for columns that have them in the rows."""
    return pa.schema(
        [
            field.with_type(rows.field(field.name).type)
            if pa.types.is_dictionary(rows.field(field.name).type)
            else field
            for field in schema
        ]
    )
