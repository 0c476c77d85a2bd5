"""Delta tables on local disk: the operations that the warehouse needs.

A Delta table is a folder of Parquet files and a log; version v of the table is the set of files after the
first v + 1 entries of the log (https://github.com/delta-io/delta/blob/master/PROTOCOL.md).
"""

import json
import math
import os
import re
import time
import uuid
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import unquote

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from deltalake import ColumnProperties, DeltaTable, Schema, WriterProperties

from warehouse.support.errors import UnusableWarehouse, one_line, raise_refusal
from warehouse.support.files import make_folder, write_text
from warehouse.vocabulary.schema import Table, plain

# A model may need its training version years later, so no log entry and no file ever expires.
KEEP_EVERYTHING = {
    "delta.enableExpiredLogCleanup": "false",
    "delta.logRetentionDuration": "interval 36500 days",
    "delta.deletedFileRetentionDuration": "interval 36500 days",
}
# Each row group is read by one thread, or skipped based on its minimum and maximum values.
ROWS_IN_GROUP = 2**17
# For values that hardly repeat, a dictionary takes half of the writing time and makes files larger.
WITHOUT_DICTIONARY = ("run", "setup", "position", "value")
_WRITER = WriterProperties(
    compression="ZSTD",
    max_row_group_size=ROWS_IN_GROUP,
    column_properties={name: ColumnProperties(dictionary_enabled=False) for name in WITHOUT_DICTIONARY},
)

# Description in the log of a table without orphans.
_NO_ORPHANS = "Each row belongs to a row of the table that its own is a part of."

# deltalake 1.6 turns paths into URLs and decodes some twice: with these in a path it panics or goes astray.
_UNUSABLE_IN_PATH = re.compile(r"[\[\]|^\\\x00-\x1f]|%[0-9A-Fa-f]{2}")

_LOG_ENTRY = re.compile(r"\d{20}\.json")


def check_path(path: Path) -> None:
    """Raise `BadInput` if a character in `path` prevents Delta tables below it."""
    unusable = _UNUSABLE_IN_PATH.search(path.as_posix())
    if unusable:
        raise UnusableWarehouse(
            f"a warehouse cannot be in {path}: {unusable[0]!r} in a path is not supported; rename it"
        )


def create(folder: Path, table: Table) -> None:
    """Create the empty table at its Delta version 0, unless it exists; it is on disk when this returns.

    Raises:
        OSError, Unwritable: the disk refuses.
    """
    if newest_version(folder) is not None:
        return
    make_folder(folder / "_delta_log")
    metadata: dict[str, Any] = {
        "id": str(uuid.uuid4()),
        "description": _NO_ORPHANS if table.part_of else None,
        "format": {"provider": "parquet", "options": {}},
        "schemaString": Schema.from_arrow(plain(table.schema)).to_json(),
        "partitionColumns": [],
        "createdTime": now(),
        "configuration": KEEP_EVERYTHING,
    }
    protocol = {"minReaderVersion": 1, "minWriterVersion": 2}
    commit(folder, [{"protocol": protocol}, {"metaData": metadata}], operation="CREATE TABLE")


def commit(folder: Path, actions: Iterable[Mapping[str, Any]], *, operation: str = "WRITE") -> None:
    """Add an entry to a table's log, which makes the next Delta version; it is on disk when this returns.

    When deltalake adds an entry, its name may reach the disk before its content: a power cut may empty it.

    Raises:
        Unwritable: the disk refuses.
    """
    info = {"commitInfo": {"timestamp": now(), "operation": operation, "operationParameters": {}}}
    newest = newest_version(folder)
    entry = log_entry_path(folder, 0 if newest is None else newest + 1)
    write_text(entry, "".join(json.dumps(action) + "\n" for action in (info, *actions)))


def cut(folder: Path, version: int) -> list[Path]:
    """Remove the entries of a log after a Delta version, and their checkpoints; returns their paths.

    Files with rows stay, but no entry names them any more.

    Raises:
        OSError: the disk refuses.
    """
    checkpoints = cut_checkpoints(folder, version)
    later = [log_entry_path(folder, one) for one in reversed(log_versions(folder)) if one > version]
    for path in later:
        path.unlink()
    return [*checkpoints, *later]


def cut_checkpoints(folder: Path, version: int) -> list[Path]:
    """Remove the checkpoints after a Delta version; returns their paths.

    deltalake can't open a table with a damaged checkpoint.
    """
    log = folder / "_delta_log"
    later = [log / name for name in _checkpoints(folder) if _version_of(name) > version]
    removed = [log / "_last_checkpoint", *later] if later else []
    for path in removed:
        path.unlink(missing_ok=True)
    return removed


def open_version(folder: Path, version: int | None = None) -> DeltaTable:
    """The table at Delta version `version`; None = the newest."""
    return DeltaTable(folder, version=version)


def refuse_partitions(table: DeltaTable) -> None:
    """Refuse to write to a table with a folder for each value of a column; such tables are read-only.

    Raises:
        UnusableWarehouse: the table has such folders.
    """
    if table.metadata().partition_columns:
        raise UnusableWarehouse(
            "an older Headstart made this warehouse, and this one only reads it: `warehouse merge OLD"
            " --warehouse NEW` makes a new one of the same content"
        )


def has_no_orphans(table: DeltaTable) -> bool:
    """Whether every row is known to have its parent row in the table `Table.part_of`.

    False for tables made by an older Headstart.
    """
    return table.metadata().description == _NO_ORPHANS


def admit_orphans(table: DeltaTable) -> None:
    """Withdraw the promise of `has_no_orphans`, in a new Delta version."""
    if has_no_orphans(table):
        table.alter.set_table_description("")


def files_at(folder: Path, version: int) -> list[str]:
    """Paths of the Parquet files that make up a Delta version of the table in `folder`.

    They are computed from the last checkpoint and the log entries after it, or from all entries if the
    checkpoint is of a later version or can't be read.

    Raises as `log_entries`.
    """
    start, active = -1, list[str]()
    try:
        checkpoint, then_active = _at_last_checkpoint(folder)
        if checkpoint <= version:
            start, active = checkpoint, then_active
    except (OSError, ValueError, KeyError, pa.ArrowException) as error:
        raise_refusal(error)
    for entry in log_entries(folder, start, version):
        active = [*entry.added, *(path for path in active if path not in entry.removed)]
    return [str(folder / path) for path in active]


def _at_last_checkpoint(folder: Path) -> tuple[int, list[str]]:
    """Delta version of the last checkpoint, and the table's files at it; version -1 if there is none.

    Raises:
        OSError, ValueError, KeyError, ArrowException: it is damaged, or has several parts.
    """
    log = folder / "_delta_log"
    try:
        version = int(json.loads((log / "_last_checkpoint").read_bytes())["version"])
    except FileNotFoundError:
        return -1, []
    checkpoint = pq.ParquetFile(log / f"{version:020}.checkpoint.parquet")
    added = checkpoint.read(["add.path"], use_threads=False)["add"]
    paths = pc.struct_field(added, "path").drop_null().to_pylist()
    return version, [plain_path(path) for path in paths]


@dataclass(frozen=True)
class LogEntry:
    """One entry of a table's log: the changes from one Delta version to the next."""

    version: int
    path: Path
    added: tuple[str, ...]  # paths of Parquet files, relative to the table's folder
    removed: tuple[str, ...]
    restores: bool  # whether it restored an earlier version of the table


def log_entry_path(folder: Path, version: int) -> Path:
    """Path of the log entry that made a Delta version of the table in `folder`."""
    return folder / "_delta_log" / f"{version:020}.json"


def log_versions(folder: Path) -> list[int]:
    """Delta versions with an entry in the log, in order; empty without a log."""
    return sorted(int(name.removesuffix(".json")) for name in _log_names(folder) if is_log_entry(name))


def _log_names(folder: Path) -> list[str]:
    log = folder / "_delta_log"
    # For a thousand entries, names are several times as fast as paths.
    return os.listdir(log) if log.is_dir() else []  # noqa: PTH208


def newest_version(folder: Path) -> int | None:
    """The table's newest Delta version, by its log; None if there is no table."""
    return max(log_versions(folder), default=None)


def is_log_entry(name: str) -> bool:
    """Whether a file of a log with this name is an entry."""
    return _LOG_ENTRY.fullmatch(name) is not None


def log_entries(folder: Path, after: int, until: int) -> Iterator[LogEntry]:
    """The log entries of the Delta versions after `after` up to `until`, oldest first.

    Raises:
        OSError: an entry is missing.
        ValueError: an entry is damaged or empty.
    """
    for version in range(after + 1, until + 1):
        path = log_entry_path(folder, version)
        try:
            actions = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
            added, removed = (
                tuple(plain_path(action[kind]["path"]) for action in actions if kind in action)
                for kind in ("add", "remove")
            )
            restores = any(action.get("commitInfo", {}).get("operation") == "RESTORE" for action in actions)
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise ValueError(f"{path} is damaged ({one_line(error)}); `warehouse repair` may help") from error
        if not any(actions):
            raise ValueError(f"{path} is empty; `warehouse repair` may help")
        yield LogEntry(version, path, added, removed, restores)


def checkpoint_files(folder: Path, version: int) -> list[Path]:
    """The checkpoint files of a Delta version; readers need no entries before it."""
    log = folder / "_delta_log"
    found = sorted(log.glob(f"{version:020}.checkpoint*.parquet"))
    return [*found, log / "_last_checkpoint"] if found else []


def newest_checkpoint(folder: Path) -> int:
    """The Delta version of the table's last checkpoint; 0 without one."""
    return max(map(_version_of, _checkpoints(folder)), default=0)


def _checkpoints(folder: Path) -> list[str]:
    return [name for name in _log_names(folder) if ".checkpoint" in name]


def _version_of(checkpoint: str) -> int:
    return int(checkpoint.partition(".")[0])


def plain_path(path: str) -> str:
    """A path in a log as on disk, relative to the table's folder.

    Raises:
        ValueError: it points outside of the folder.
    """
    plain = unquote(path)
    if PurePosixPath(plain).is_absolute() or ".." in PurePosixPath(plain).parts or "://" in plain:
        raise ValueError(f"its log names a file outside of its folder: {plain!r}")
    return plain


def columns(table: DeltaTable) -> pa.Schema:
    """The columns of `table`, as stored."""
    return pa.schema(table.schema().to_arrow())


def upgrade(delta_table: DeltaTable, table: Table) -> None:
    """Add the columns that a table of an older Headstart lacks, filled with nulls."""
    stored = {field.name: field for field in columns(delta_table)}
    wanted = plain(table.schema)
    missing = [column for column in wanted if column.name not in stored]
    if missing:
        delta_table.alter.add_columns(list(Schema.from_arrow(pa.schema(missing)).fields))
    for column in wanted:
        if column.nullable and column.name in stored and not stored[column.name].nullable:
            delta_table.alter.drop_column_not_null(column.name)


def in_order(rows: pa.Table, columns: tuple[str, ...]) -> pa.RecordBatchReader:
    """`rows` sorted by text columns without nulls, in batches of a row group's size.

    Batches are assembled while earlier ones are written.
    """
    encoded = {name: _encoded(rows[name]) for name in columns}
    places = math.prod(len(texts.dictionary) for texts in encoded.values())
    # NumPy sorts small integers by radix sort, in linear time.
    order = np.zeros(len(rows), dtype=np.min_scalar_type(places))
    for texts in encoded.values():
        rank = np.empty(len(texts.dictionary), dtype=order.dtype)
        rank[pc.sort_indices(texts.dictionary).to_numpy()] = np.arange(len(rank), dtype=order.dtype)
        order = order * order.dtype.type(len(rank)) + rank[texts.indices.to_numpy()]
    taken = np.argsort(order, kind="stable")
    table = pa.table({name: encoded.get(name, rows[name]) for name in rows.column_names})
    starts = range(0, len(taken), ROWS_IN_GROUP)
    parts = (table.take(pa.array(taken[start : start + ROWS_IN_GROUP])).combine_chunks() for start in starts)
    return pa.RecordBatchReader.from_batches(
        table.schema, (batch for part in parts for batch in part.to_batches())
    )


def _encoded(texts: pa.ChunkedArray) -> pa.DictionaryArray:
    encoded = texts.dictionary_encode().unify_dictionaries()
    return encoded.chunk(0) if encoded.num_chunks == 1 else encoded.combine_chunks()


def now() -> int:
    """Milliseconds since 1970."""
    return time.time_ns() // 1_000_000


def compact(table: DeltaTable) -> None:
    """Merge small files into few, as a new version with the same rows in any order."""
    table.optimize.compact(writer_properties=_WRITER)
