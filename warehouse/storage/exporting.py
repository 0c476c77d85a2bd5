"""A copy of one version of a warehouse, with one file per table."""

from pathlib import Path

import duckdb

from warehouse.storage import delta, ordered_files
from warehouse.storage.history import CommitHistory
from warehouse.storage.snapshot import Snapshot, create_view, listed
from warehouse.storage.spilling import batches, bounded
from warehouse.storage.writing import append_ingests
from warehouse.support.errors import raise_refusal
from warehouse.vocabulary.schema import TABLES, Table

_ORPHAN = 'SELECT 1 FROM "{part}" ANTI JOIN "{whole}" USING ("{key}") LIMIT 1'


def fill(copy: Path, snapshot: Snapshot, history: CommitHistory) -> None:
    """Fill the empty tables in the folder `copy` with the rows of `snapshot` and the record of its commits.

    Rows that exceed the memory are kept beside `copy` meanwhile.

    Raises:
        BadInput: the disk refuses, or a file of the warehouse can't be read.
        OSError, DeltaError: the disk refuses.
    """
    versions = {}
    try:
        with bounded(copy.parent) as connection:
            for name in snapshot.versions:
                create_view(connection, TABLES[name], snapshot.files(name))
            for name in snapshot.versions:
                table, exported = TABLES[name], delta.open_version(copy / name)
                rows = f'SELECT * FROM "{name}" ORDER BY {_order(table)}'
                ordered_files.append(exported, copy / name, batches(connection, rows, table))
                if table.part_of and not snapshot.has_no_orphans(name):
                    orphan = _ORPHAN.format(part=name, whole=table.part_of, key=table.key[0])
                    if connection.sql(orphan).fetchall():
                        delta.admit_orphans(exported)
                versions[name] = exported.version()
    except duckdb.Error as error:
        raise_refusal(error)
        raise snapshot.damaged(error) from error
    append_ingests(copy, history.with_only_newest_content(versions))


def _order(table: Table) -> str:
    """SQL: columns to sort by: `sort_by` first, then up to the last column of the key."""
    columns = list(dict.fromkeys((*table.sort_by, *table.schema.names)))
    last = max(columns.index(name) for name in table.key)
    return listed(columns[: last + 1])
