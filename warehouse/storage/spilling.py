"""Rows in batches, also more than fit in memory: DuckDB works within a limit and spills the rest to disk."""

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa

from warehouse.storage.snapshot import Parameters, listed
from warehouse.support.errors import Failed, Unwritable, one_line
from warehouse.vocabulary.schema import PROVENANCE, Table

_MEMORY = "400MiB"
_THREADS = 4
"""Most threads; each takes a part of the memory."""
_ROWS_IN_BATCH = 2**17


@contextmanager
def bounded(folder: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """A connection to an in-memory DuckDB of bounded size.

    Until the block ends, the rest is in files in `folder`, which must be empty and on a disk with room for
    all rows.

    Raises:
        Unwritable: the disk has too little room.
        Failed: there is too little memory.
    """
    spilled = str(folder / f".spilled-{os.getpid()}")
    settings: dict[str, str | bool | int | float | list[str]] = {
        "memory_limit": _MEMORY,
        "threads": min(_THREADS, os.cpu_count() or 1),
        "temp_directory": spilled,  # DuckDB creates it if needed
    }
    try:
        with duckdb.connect(config=settings) as connection:
            connection.execute("SET enable_progress_bar = false")
            yield connection
    except (duckdb.OutOfMemoryException, duckdb.IOException) as error:
        if "temp_directory" in str(error) or str(folder) in str(error):
            raise Unwritable(f"{folder} has too little room for temporary files") from error
        if isinstance(error, duckdb.OutOfMemoryException):
            raise Failed(f"there is too little memory: {one_line(error)}") from error
        raise


@dataclass(frozen=True)
class StoredRows:
    """Rows of `table` in DuckDB, without provenance; they may exceed the memory."""

    connection: duckdb.DuckDBPyConnection
    table: Table
    selection: str
    """SELECT of the rows, in the order of their key."""
    num_rows: int

    @property
    def schema(self) -> pa.Schema:
        """The columns of the rows."""
        return pa.schema([column for column in self.table.schema if column.name != PROVENANCE])

    def batches(self) -> Iterator[pa.RecordBatch]:
        """The rows in the order of their key; no batch if there are no rows."""
        return batches(self.connection, self.selection, self.table) if self.num_rows else iter(())

    def in_file_order(self, ingest: str) -> Iterator[pa.RecordBatch]:
        """The rows with their provenance, sorted as in files, with ties by key."""
        rows = self.selection
        if self.table.sort_by:
            rows = f"SELECT * FROM ({rows}) ORDER BY {listed((*self.table.sort_by, *self.table.key))}"
        stamped = f"SELECT *, $ingest AS {PROVENANCE} FROM ({rows})"
        return batches(self.connection, stamped, self.table, {"ingest": ingest})


def batches(
    connection: duckdb.DuckDBPyConnection, selection: str, table: Table, parameters: Parameters = None
) -> Iterator[pa.RecordBatch]:
    """The rows of a SELECT, with the types of `table`; the connection is busy until the last one."""
    reader = connection.sql(selection, params=parameters).to_arrow_reader(_ROWS_IN_BATCH)
    schema = pa.schema([table.schema.field(name) for name in reader.schema.names])
    return (_blanked(batch).cast(schema) for batch in reader)


def _blanked(rows: pa.RecordBatch) -> pa.RecordBatch:
    """`rows` with zeros under nulls, where DuckDB leaves arbitrary bytes: fingerprints hash them."""
    for position, column in enumerate(rows.columns):
        if column.null_count:
            rows = rows.set_column(position, rows.field(position), column.take(np.arange(len(column))))
    return rows


def regrouped(batches: Iterable[pa.RecordBatch], rows: int) -> Iterator[pa.RecordBatch]:
    """Copies of the rows of `batches` in batches of `rows` rows; the last may have fewer."""
    held: list[pa.RecordBatch] = []
    n_held = 0
    for batch in batches:
        taken = 0
        while n_held + len(batch) - taken >= rows:
            held.append(batch.slice(taken, rows - n_held))
            taken += rows - n_held
            joined = _joined(held)
            held, n_held = [], 0  # free the memory while the caller works
            yield joined
        if taken < len(batch):
            held.append(batch.slice(taken))
            n_held += len(batch) - taken
    if held:
        yield _joined(held)


def _joined(batches: list[pa.RecordBatch]) -> pa.RecordBatch:
    """A copy of the rows: for slices pyarrow would write bytes after them as padding."""
    return pa.concat_batches([*batches, batches[0].slice(0, 0)])
