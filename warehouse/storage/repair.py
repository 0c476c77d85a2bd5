"""Repair of a damaged warehouse from copies of its files and older files of its tables.

Log entries and the record of commits are restored from their copies in the manifests. Rows of a damaged or
lost file are taken from older files, written before a compaction or a change. As rows are never deleted from
a warehouse, an older version's row belongs to the newest one, too, unless a later file has its key. Rows that
are then still missing were only in the damaged file.
"""

import json
import shutil
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

import duckdb
import pyarrow as pa

from warehouse.storage import delta, manifests, ordered_files
from warehouse.storage.history import CommitHistory
from warehouse.storage.manifests import FileSum, Manifest
from warehouse.storage.snapshot import create_view, listed
from warehouse.storage.verification import QUARANTINE, Finding, expected, is_checkpoint, read_chain, verify
from warehouse.storage.writing import append_ingests
from warehouse.support.errors import UnusableWarehouse, one_line, raise_refusal
from warehouse.support.files import make_folder, write_bytes
from warehouse.vocabulary.schema import TABLES, Table


@dataclass(frozen=True)
class LostRows:
    """A file with rows that can't be repaired."""

    table: str
    path: str
    """Path of the file within the warehouse."""
    rows: int
    """Number of rows, according to the table's log."""
    version: int | None
    """Version of the commit that wrote the file."""


@dataclass(frozen=True)
class Repair:
    """Result of `repair`."""

    version: int
    """Newest version of the warehouse after the repair."""
    mended: list[str]
    """Paths of the restored files."""
    damaged: list[LostRows]
    """Files with rows that can't be repaired."""
    recovered: Mapping[str, int]
    """Number of their rows that were found in older files, by table."""
    findings: list[Finding]
    """Findings of `verify` after the repair."""


def repair(warehouse: Path) -> Repair:
    """Repair the damage that `verify --deep` finds; the caller holds the warehouse's lock.

    Damaged files with rows are moved to the folder `damaged`. If the newest version needs one, its rows in
    older files replace it, in a commit of their own (source `repair`). Older versions that need a damaged
    file can no longer be opened.

    Raises:
        BadInput: the record of commits is damaged beyond its copies, or the disk refuses.
    """
    damage = verify(warehouse, deep=True).damage
    chain, _ = read_chain(warehouse)
    sums, versions = expected(chain)
    intact = _intact(sums, damage)
    mended = _write_copies(warehouse, damage, chain)
    try:
        if chain:  # without manifests, an unreadable entry may be a committed one
            mended += _cut_unreadable_records(warehouse, chain[-1].tables["ingests"])
        history = CommitHistory.read_as_it_is(warehouse)
    except Exception as error:
        raise_refusal(error)
        raise UnusableWarehouse(
            f"the record of commits of {warehouse} can't be repaired: {one_line(error)}"
        ) from error
    tables = history.delta_versions()
    lost: list[LostRows] = []
    recovered: dict[str, int] = {}
    for name, committed in list(tables.items()):
        delta.cut(warehouse / name, committed)
        broken = _broken(damage, name) - set(mended)
        rows_of = _rows_by_file(warehouse / name, committed) if broken else {}
        lost += [LostRows(name, path, rows_of.get(path, 0), versions.get(path)) for path in sorted(broken)]
        if broken:
            recovered[name], tables[name] = _rebuild(warehouse, TABLES[name], broken, history)
    # Parts may have lost their whole.
    for name in {one.table for one in lost}:
        for part in (part for part, table in TABLES.items() if table.part_of == name):
            tables[part] = _with_orphans(warehouse / part)
    paths = [one.path for one in lost]
    if tables != history.delta_versions():
        append_ingests(warehouse, history.next_record("repair", tables, about=paths))
        history = CommitHistory.read(warehouse)
    lost_paths = sorted({*paths, *(path for one in chain for path in one.lost)})
    _begin_chain(warehouse, history, lost_paths, intact)
    # Every byte was just read, by the first verification or for the new manifest.
    return Repair(history.version, mended, lost, recovered, verify(warehouse).findings)


def _intact(sums: Mapping[str, FileSum], damage: Collection[Finding]) -> dict[str, FileSum]:
    """Checksums of the files that a verification found intact."""
    damaged = {one.path for one in damage}
    # A rewritten checkpoint is not damage, so its checksum may differ.
    return {path: one for path, one in sums.items() if path not in damaged and not is_checkpoint(path)}


def _write_copies(warehouse: Path, damage: Collection[Finding], chain: list[Manifest]) -> list[str]:
    """Restore files from their copies in manifests, and remove damaged checkpoints."""
    copies = {path: copy for manifest in chain for path, copy in manifest.copies.items()}
    mended = []
    for path in sorted({one.path for one in damage}):
        file = warehouse / path
        if path in copies:
            make_folder(file.parent)
            write_bytes(file, copies[path])
            mended.append(path)
        elif "/_delta_log/" in path and file.suffix != ".json":
            for one in (file, file.parent / "_last_checkpoint"):
                one.unlink(missing_ok=True)
            mended.append(path)
    return mended


def _cut_unreadable_records(warehouse: Path, listed: int) -> list[str]:
    """Cut the log of `ingests` at the first unreadable entry after the manifests' last one."""
    folder, readable = warehouse / "ingests", listed
    try:
        for entry in delta.log_entries(folder, listed, max(delta.log_versions(folder), default=listed)):
            readable = entry.version
    except (OSError, ValueError) as error:
        raise_refusal(error)
    return [path.relative_to(warehouse).as_posix() for path in delta.cut(folder, readable)]


def _broken(damage: Collection[Finding], table: str) -> set[str]:
    """Damaged files with rows of a table."""
    return {
        one.path
        for one in damage
        if one.path.startswith(f"{table}/")
        and one.path.endswith(".parquet")
        and "/_delta_log/" not in one.path
    }


def _rebuild(
    warehouse: Path, table: Table, broken: Collection[str], history: CommitHistory
) -> tuple[int, int]:
    """Remove broken files from a table; returns the rows found in older files, and its Delta version."""
    folder = warehouse / table.name
    newest = history.delta_versions()[table.name]
    for path in broken:
        _set_aside(warehouse, path)
    gone = {path.removeprefix(f"{table.name}/") for path in broken}
    active = {Path(file).relative_to(folder).as_posix() for file in delta.files_at(folder, newest)}
    if not active & gone:
        return 0, newest
    delta_table = delta.open_version(folder)
    delta_table.repair()
    older = _committed(folder, history.all_delta_versions(table.name)) - active - gone
    rows = _older_rows(folder, table, active - gone, older)
    if rows.num_rows:
        ordered_files.append_table(delta_table, folder, rows, table.sort_by)
    return rows.num_rows, delta_table.version()


def _with_orphans(folder: Path) -> int:
    """Mark a table as possibly having orphans; returns its Delta version afterwards."""
    table = delta.open_version(folder)
    delta.admit_orphans(table)
    return int(table.version())


def _older_rows(folder: Path, table: Table, kept: set[str], older: set[str]) -> pa.Table:
    """Rows of `older` files with keys that no kept file has; the last written row of each key."""
    entries = delta.log_entries(folder, -1, max(delta.log_versions(folder)))
    named = (file for entry in entries for file in entry.added)
    order = {file: place for place, file in enumerate(named) if file in older}
    if not order:
        return table.schema.empty_table()  # avoids reading millions of keys of the kept files
    keys = listed(table.key)
    with duckdb.connect() as connection:
        create_view(connection, table, [str(folder / file) for file in sorted(kept)])
        connection.execute(f'CREATE TABLE known AS SELECT {keys} FROM "{table.name}"')
        parts = [table.schema.empty_table()]
        for file in sorted(order, key=lambda name: -order[name]):
            with duckdb.connect() as reader:
                create_view(reader, table, [str(folder / file)])
                found = reader.sql(f'SELECT * FROM "{table.name}"').to_arrow_table()
            connection.register("found", found)
            new = connection.sql(f"SELECT * FROM found ANTI JOIN known USING ({keys})").to_arrow_table()
            connection.register("new", new)
            connection.execute(f"INSERT INTO known SELECT {keys} FROM new")
            parts.append(new.cast(table.schema))
    return pa.concat_tables(parts)


def _committed(folder: Path, versions: Collection[int]) -> set[str]:
    """Files written by commits that ended at these Delta versions, not by killed writers."""
    committed: set[str] = set()
    pending: set[str] = set()
    for entry in delta.log_entries(folder, -1, max(versions, default=0)):
        # A commit begins by removing the remains of a killed writer.
        pending = set() if entry.restores else pending | set(entry.added)
        if entry.version in versions:
            committed |= pending
            pending = set()
    return committed


def _rows_by_file(folder: Path, version: int) -> dict[str, int]:
    """Number of rows of each file of a table, by path in the warehouse, according to the log."""
    rows = {}
    for entry in delta.log_entries(folder, -1, version):
        for line in entry.path.read_text(encoding="utf-8").splitlines():
            add = json.loads(line).get("add")
            if add and add.get("stats"):
                rows[f"{folder.name}/{delta.plain_path(add['path'])}"] = int(
                    json.loads(add["stats"]).get("numRecords", 0)
                )
    return rows


def _set_aside(warehouse: Path, path: str) -> None:
    if (warehouse / path).exists():
        target = warehouse / QUARANTINE / path
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.move(warehouse / path, target)


def _begin_chain(
    warehouse: Path, history: CommitHistory, lost: list[str], intact: Mapping[str, FileSum]
) -> None:
    """Replace all manifests by one that lists all current files; `intact` files are not read again."""
    tables = {
        **history.delta_versions(),
        "ingests": delta.open_version(warehouse / "ingests").version(),
    }
    parts = [manifests.written(warehouse, name, -1, version, intact) for name, version in tables.items()]
    older = [version for version in manifests.versions(warehouse) if version != history.version]
    ingest = history.fingerprint if history.version else ""
    manifests.manifest(history.version, ingest, None, parts, lost).write(warehouse)
    for version in older:
        manifests.path_of(warehouse, version).unlink()
