"""One commit: all of its rows become visible at once, or none do."""

import json
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import duckdb
import pyarrow as pa

from warehouse import delta, manifests
from warehouse.history import CommitHistory, ingest_id
from warehouse.rows import Difference, compare
from warehouse.schema import PROVENANCE, TABLES
from warehouse.support.errors import Failed

logger = logging.getLogger(__name__)

_FILES_OF_RECORDS = 16
"""Files of `ingests` that are left as they are: whoever opens a warehouse reads each of them."""


@dataclass(frozen=True)
class Commit:
    """What one write did: rows per table it was given, and the version of the warehouse after it.

    `ingest` is None where everything was there already, so that no version was made.
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
    committed = history.delta_versions()
    differences = {
        name: compare(connection, table, incoming[name], _files(path, name, committed.get(name)))
        for name, table in TABLES.items()
        if name in incoming
    }
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
        "tables": json.dumps(_apply(path, differences, committed, ingest)),
        "finished": datetime.now(UTC),
    }
    append_ingests(path, pa.Table.from_pylist([record], schema=TABLES["ingests"].schema))
    return Commit(ingest, history.version + 1, added, changed)


def append_ingests(path: Path, ingests: pa.Table) -> None:
    """Record commits: the moment from which readers see them.

    What they wrote is on disk before that, so that a power cut can't leave a record without its rows; the
    record and its manifest are on disk when this returns.

    Raises:
        OSError, DeltaError: the disk refuses; nothing is committed.
    """
    newest = ingests.slice(len(ingests) - 1).to_pylist()[0]
    previous = manifests.newest(path)
    parts = [
        manifests.written(path, name, manifests.covered(previous, name), version)
        for name, version in json.loads(newest["tables"]).items()
    ]
    table = delta.open_version(path / "ingests")
    # Before, not after: once the record is written, nothing may fail any more.
    delta.compact_if_scattered(table, _FILES_OF_RECORDS)
    delta.append(table, ingests)
    try:
        covered = manifests.covered(previous, "ingests")
        parts.append(manifests.written(path, "ingests", covered, table.version()))
        manifests.manifest(newest["version"], newest["ingest"], previous, parts).write(path)
    except (Failed, OSError, ValueError) as error:
        logger.warning("version %d is written, but its checksums are not: %s", newest["version"], error)


def _apply(
    path: Path, differences: Mapping[str, Difference], committed: Mapping[str, int], ingest: str
) -> dict[str, int]:
    """Write the rows; returns the Delta version of every data table afterwards."""
    versions = {}
    for name in TABLES:
        if name == "ingests":
            continue
        versions[name] = committed.get(name, 0)
        if not differences.get(name) and delta.newest_version(path / name) == versions[name]:
            continue  # opening a table takes longer than a small write
        delta.create(path / name, TABLES[name])  # an older Headstart did not know all of today's tables
        table = delta.open_version(path / name)
        # What a writer left that died before its record was written is not to become visible with ours.
        delta.restore(table, versions[name])
        if differences.get(name):
            delta.upgrade(table, TABLES[name])
            new, changed = (
                _stamp(rows, ingest) for rows in (differences[name].new, differences[name].changed)
            )
            if new.num_rows:
                delta.append(table, new, TABLES[name].sort_by)
            if changed.num_rows:
                delta.replace(table, changed, TABLES[name].key)
            delta.compact_if_scattered(table)
        versions[name] = table.version()
    return versions


def _stamp(rows: pa.Table, ingest: str) -> pa.Table:
    """`rows` with their provenance, as the last column."""
    return rows.append_column(TABLES["runs"].schema.field(PROVENANCE), pa.repeat(ingest, rows.num_rows))


def _files(path: Path, name: str, version: int | None) -> list[str]:
    if version is None:
        return []
    return delta.files(path / name, delta.open_version(path / name, version))


def _counts(rows_per_table: Mapping[str, int]) -> str:
    return json.dumps({name: count for name, count in rows_per_table.items() if count})
