"""Commits: all rows of a commit become visible at once, or none do."""

import json
import logging
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
from deltalake import DeltaTable

from warehouse.storage import delta, manifests, ordered_files
from warehouse.storage.file_parts import belong_to, has_orphans
from warehouse.storage.history import CommitHistory, ingest_id
from warehouse.storage.rows import Difference, compare
from warehouse.storage.snapshot import Snapshot, listed
from warehouse.storage.spilling import StoredRows
from warehouse.storage.verification import refuse_damaged
from warehouse.support.errors import BadInput, UnusableWarehouse
from warehouse.vocabulary.schema import DATA_TABLES, PROVENANCE, TABLES, Table

logger = logging.getLogger(__name__)

_FILES_OF_RECORDS = 16
"""Most files of `ingests` before they are compacted: opening a warehouse reads each of them."""


@dataclass(frozen=True)
class Commit:
    """Result of a write: rows added and changed per table, and the version afterwards.

    `ingest` is None if there was nothing new, and so no new version.
    """

    ingest: str | None
    version: int
    added: dict[str, int]
    changed: dict[str, int]


def commit(
    connection: duckdb.DuckDBPyConnection,
    path: Path,
    incoming: Mapping[str, pa.Table],
    *,
    source: str,
    location: str | None,
) -> Commit:
    """Write conformed rows to the warehouse at `path`; the caller holds its lock."""
    started = datetime.now(UTC)
    history = CommitHistory.read(path)
    stored = Snapshot(path, history.delta_versions(), history.ingests)
    differences, orphaned = _differences(connection, stored, incoming)
    return apply(history, differences, orphaned, source=source, location=location, started=started)


def apply(
    history: CommitHistory,
    differences: Mapping[str, Difference],
    orphaned: Collection[str],
    *,
    source: str,
    location: str | None,
    started: datetime,
) -> Commit:
    """Write new and changed rows as the commit after `history`; the caller holds the lock.

    Args:
        orphaned: tables that get rows without a parent (`warehouse.storage.file_parts`).
    """
    path, committed = history.path, history.delta_versions()
    added = {name: difference.new.num_rows for name, difference in differences.items()}
    changed = {name: difference.changed.num_rows for name, difference in differences.items()}
    if not any(differences.values()):
        return Commit(None, history.version, added, changed)
    ingest = ingest_id(history.fingerprint, source, differences)
    record = {
        "ingest": ingest,
        "version": history.version + 1,
        "source": source,
        "location": location,
        "started": started,
        "added": _counts(added),
        "changed": _counts(changed),
        "tables": json.dumps(_apply(path, differences, orphaned, committed, ingest)),
        "finished": datetime.now(UTC),
    }
    append_ingests(path, pa.Table.from_pylist([record], schema=TABLES["ingests"].schema))
    return Commit(ingest, history.version + 1, added, changed)


def _differences(
    connection: duckdb.DuckDBPyConnection, stored: Snapshot, incoming: Mapping[str, pa.Table]
) -> tuple[dict[str, Difference], set[str]]:
    """New and changed rows of each table, and tables with rows without a parent (`storage.file_parts`)."""
    differences: dict[str, Difference] = {}
    orphaned = set()
    for name, table in DATA_TABLES.items():
        if name not in incoming:
            continue
        rows = incoming[name]
        complete = bool(table.part_of) and stored.has_no_orphans(name)
        wholes = differences.get(table.part_of)
        if complete and wholes and belong_to(connection, table, rows, wholes.new):
            differences[name] = Difference(rows, rows.slice(0, 0))
            continue
        differences[name] = compare(connection, table, rows, stored.files(name))
        new = differences[name].new
        if complete and new.num_rows:
            beside = incoming.get(table.part_of, TABLES[table.part_of].schema.empty_table())
            if has_orphans(connection, table, new, beside, stored.files(table.part_of)):
                orphaned.add(name)
    return differences, orphaned


def append_ingests(path: Path, ingests: pa.Table) -> None:
    """Record commits, which makes them visible to readers.

    Their files are on disk first, so that a power cut can't leave a record without its rows; the record and
    its manifest are on disk when this returns.

    Raises:
        OSError, DeltaError: the disk refuses; nothing is committed.
    """
    newest = ingests.slice(len(ingests) - 1).to_pylist()[0]
    previous = manifests.newest(path)
    parts = [
        manifests.written(path, name, manifests.covered(previous, name), version)
        for name, version in json.loads(newest["tables"]).items()
    ]
    covered = manifests.covered(previous, "ingests")
    # Checkpoints left by a killed writer or damaged by a power cut, before the manifest that lists them.
    delta.cut_checkpoints(path / "ingests", covered)
    table = delta.open_version(path / "ingests")
    # Compacted first: once the record is written, nothing may fail any more.
    ordered_files.compact_if_scattered(table, path / "ingests", most=_FILES_OF_RECORDS)
    ordered_files.append_table(table, path / "ingests", ingests)
    try:
        parts.append(manifests.written(path, "ingests", covered, table.version()))
        manifests.manifest(newest["version"], newest["ingest"], previous, parts).write(path)
    except (BadInput, OSError, ValueError) as error:
        logger.warning("version %d is written, but its checksums are not: %s", newest["version"], error)


def restore(warehouse: Path, version: int) -> None:
    """Make an older version's content the newest, in a new commit; the caller holds the warehouse's lock.

    Later versions stay in the history.

    Raises:
        BadInput: there is no such version, or a file that it needs is damaged.
        OSError, DeltaError: the disk refuses.
    """
    history = CommitHistory.read(warehouse)
    wanted = history.until(version).delta_versions()
    for name, at in wanted.items():
        needed = sorted(delta.files_at(warehouse / name, at))
        gone = [file for file in needed if not Path(file).is_file()]  # a repair may have moved it
        if gone:
            raise UnusableWarehouse(f"version {version} of {warehouse} needs {gone[0]}, which is lost")
        refuse_damaged(warehouse, needed)
    tables = history.delta_versions()
    for name, committed in tables.items():
        delta.cut(warehouse / name, committed)
        if committed != wanted.get(name, 0):
            table = delta.open_version(warehouse / name)
            table.restore(wanted.get(name, 0))
            tables[name] = table.version()
    append_ingests(warehouse, history.next_record("restore", tables, about=[f"version {version}"]))


def _apply(
    path: Path,
    differences: Mapping[str, Difference],
    orphaned: Collection[str],
    committed: Mapping[str, int],
    ingest: str,
) -> dict[str, int]:
    """Write the rows; returns the Delta version of every data table afterwards."""
    versions = {}
    for name, of in DATA_TABLES.items():
        versions[name] = committed.get(name, 0)
        delta.create(path / name, of)  # an older Headstart lacked some tables
        # The remains of a writer that died before writing its record must not become visible with our commit.
        delta.cut(path / name, versions[name])
        if differences.get(name):
            table = delta.open_version(path / name)
            delta.refuse_partitions(table)
            delta.upgrade(table, of)
            if name in orphaned:
                delta.admit_orphans(table)
            if differences[name].new.num_rows:
                _add(table, of, path / name, differences[name].new, ingest)
            if differences[name].changed.num_rows:
                _replace(table, of, path / name, differences[name].changed, ingest)
            ordered_files.compact_if_scattered(table, path / name, of.sort_by)
            versions[name] = table.version()
    return versions


def _add(table: DeltaTable, of: Table, folder: Path, rows: pa.Table | StoredRows, ingest: str) -> None:
    if isinstance(rows, StoredRows):
        ordered_files.append(table, folder, rows.in_file_order(ingest))
    else:
        ordered_files.append_table(table, folder, _stamp(rows, ingest), of.sort_by)


def _replace(table: DeltaTable, of: Table, folder: Path, rows: pa.Table | StoredRows, ingest: str) -> None:
    if isinstance(rows, StoredRows):
        ordered_files.replace(table, folder, rows, ingest)
    else:
        with duckdb.connect() as connection:
            connection.register("changed", rows)
            selection = f"SELECT * FROM changed ORDER BY {listed(of.key)}"
            stored = StoredRows(connection, of, selection, rows.num_rows)
            ordered_files.replace(table, folder, stored, ingest)


def _stamp(rows: pa.Table, ingest: str) -> pa.Table:
    """`rows` with their provenance as the last column."""
    field = TABLES["runs"].schema.field(PROVENANCE)
    same = pa.DictionaryArray.from_arrays(pa.array(np.zeros(rows.num_rows, dtype=np.int8)), [ingest])
    return rows.append_column(field.with_type(same.type), same)


def _counts(rows_per_table: Mapping[str, int]) -> str:
    return json.dumps({name: count for name, count in rows_per_table.items() if count})
