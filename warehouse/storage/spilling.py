"""Rows in batches, and more rows than memory holds: DuckDB works within a limit and puts the rest on disk."""

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
"""Threads at most; each takes a part of the memory."""
_ROWS_IN_BATCH = 2**17


@contextmanager
def bounded(folder: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """A connection to an in-memory DuckDB of bounded size.

    What does not fit lies in files in `folder`, which has nothing else in it and is on a disk with room for
    all rows, until the block ends.

    Raises:
        Unwritable: the disk has too little room.
        Failed: there is too little memory.
    """
    spilled = str(folder / f".spilled-{os.getpid()}")
    settings: dict[str, str | bool | int | float | list[str]] = {
        "memory_limit": _MEMORY,
        "threads": min(_THREADS, os.cpu_count() or 1),
        "temp_directory": spilled,  # DuckDB makes it where it is needed
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
    """Rows of `table`, without provenance, that DuckDB holds; there may be more than memory has room for."""

    connection: duckdb.DuckDBPyConnection
    table: Table
    selection: str
    """SELECT of the rows; it gives them in the order of their key."""
    num_rows: int

    @property
    def schema(self) -> pa.Schema:
        """The columns of the rows."""
        return pa.schema([column for column in self.table.schema if column.name != PROVENANCE])

    def batches(self) -> Iterator[pa.RecordBatch]:
        """The rows in the order of their key; no batch where there is no row."""
        return batches(self.connection, self.selection, self.table) if self.num_rows else iter(())

    def in_file_order(self, ingest: str) -> Iterator[pa.RecordBatch]:
        """The rows with their provenance, sorted as files are, and where that leaves it open by their key."""
        rows = self.selection
        if self.table.sort_by:
            rows = f"SELECT * FROM ({rows}) ORDER BY {listed((*self.table.sort_by, *self.table.key))}"
        stamped = f"SELECT *, $ingest AS {PROVENANCE} FROM ({rows})"
        return batches(self.connection, stamped, self.table, {"ingest": ingest})


def batches(
    connection: duckdb.DuckDBPyConnection, selection: str, table: Table, parameters: Parameters = None
) -> Iterator[pa.RecordBatch]:
    """The rows of a SELECT, typed as those of `table`; the connection is busy until the last one."""
    reader = connection.sql(selection, params=parameters).to_arrow_reader(_ROWS_IN_BATCH)
    schema = pa.schema([table.schema.field(name) for name in reader.schema.names])
    return (_blanked(batch).cast(schema) for batch in reader)


def _blanked(rows: pa.RecordBatch) -> pa.RecordBatch:
    """`rows` with zeros below its nulls, where DuckDB leaves anything: fingerprints hash the bytes."""
    for position, column in enumerate(rows.columns):
        if column.null_count:
            rows = rows.set_column(position, rows.field(position), column.take(np.arange(len(column))))
    return rows


def regrouped(batches: Iterable[pa.RecordBatch], rows: int) -> Iterator[pa.RecordBatch]:
    """Copies of the rows of `batches` in batches of `rows` rows, the last of which may have fewer."""
    held: list[pa.RecordBatch] = []
    n_held = 0
    for batch in batches:
        taken = 0
        while n_held + len(batch) - taken >= rows:
            held.append(batch.slice(taken, rows - n_held))
            taken += rows - n_held
            joined = _joined(held)
            held, n_held = [], 0  # not held while the caller is at work
            yield joined
        if taken < len(batch):
            held.append(batch.slice(taken))
            n_held += len(batch) - taken
    if held:
        yield _joined(held)


def _joined(batches: list[pa.RecordBatch]) -> pa.RecordBatch:
    """A copy of the rows: of those that lie behind a slice pyarrow would write some bytes as padding."""
    return pa.concat_batches([*batches, batches[0].slice(0, 0)])
