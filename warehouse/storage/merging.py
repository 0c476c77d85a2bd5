"""Merging of another warehouse: its new rows, and contradictions between the two.

Rows are compared by key. A null, or a stand-in for an unknown value (`_STAND_INS`), counts as no value; then
the other warehouse's value is taken. If both have a value and they differ, it depends on the column:

- Runs, what they were run on, and their outcomes must agree, else the merge is refused. These are all columns
  not named below, and the hyperparameters of a setup; but one of the two may write out defaults.
- Descriptions (`_DESCRIPTIVE`) may be worded differently, and times differ whenever they are measured: ours
  stay.
- Qualities are taken from the newer extractor, according to the number at the end of its name. For the same
  extractor, and for qualities published by OpenML, ours stay.

The ingest that wrote a row is not compared (`warehouse.vocabulary.schema.Table.payload`): to us the row comes
from the merge. Positions stay, so that the runs of one source keep their order.
"""

import glob
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import NoReturn

import duckdb
import pyarrow as pa

from warehouse.storage.crash_cleanup import MERGING
from warehouse.storage.history import CommitHistory
from warehouse.storage.rows import Difference, refuse_broken
from warehouse.storage.snapshot import Snapshot, create_view, listed
from warehouse.storage.spilling import StoredRows, bounded
from warehouse.storage.writing import Commit, apply
from warehouse.support.errors import RefusedRows, UnusableWarehouse, one_line, raise_refusal
from warehouse.support.files import scratch_folder
from warehouse.vocabulary.schema import DATA_TABLES, PROVENANCE, Table

_DESCRIPTIVE = {
    "datasets": ("name", "note", "status", "domain", "family"),
    "flows": ("name", "algorithm", "structure"),
    "scales": ("scale",),
    "spaces": ("space",),
    "hyperparameters": ("raw", "component", "is_default"),
    "runs": ("message", "position"),
    "evaluations": ("array_data",),
    "qualities": ("value", "extractor"),
    "sketches": ("method", "columns", "bits", "cells"),
}

# Table -> column -> LIKE pattern of the values that mean "unknown".
_STAND_INS = {"tasks": {"dataset": "openml-task:%", "task_type": "unknown"}}

# Table -> condition on the key of rows that are compared.
_COMPARABLE = {"evaluations": "NOT (contains(measure, 'time_millis') OR contains(measure, '_seconds'))"}

_OTHER_PARAMETERS = """
WITH shared AS MATERIALIZED (
  SELECT setup FROM (SELECT DISTINCT setup FROM theirs.hyperparameters)
  SEMI JOIN ours.hyperparameters USING (setup)
)
SELECT count(*) OVER (), setup, parameter, {'column': 'value', 'ours': o.value, 'theirs': t.value}
FROM (FROM ours.hyperparameters SEMI JOIN shared USING (setup)) o
FULL JOIN (FROM theirs.hyperparameters SEMI JOIN shared USING (setup)) t USING (setup, parameter)
WHERE (o.value IS NULL OR t.value IS NULL) AND coalesce(o.is_default, t.is_default, false) = false
ORDER BY setup, parameter LIMIT 1
"""


@dataclass(frozen=True)
class _Contradiction:
    """The first row, by key, with different values in the two warehouses, and the number of such rows."""

    count: int
    table: str
    key: dict[str, str]
    column: str
    ours: str | None
    theirs: str | None

    def __str__(self) -> str:
        key = ", ".join(f"{name}={value!r}" for name, value in self.key.items())
        ours, theirs = ("none" if value is None else value for value in (self.ours, self.theirs))
        return one_line(f"{self.table}: for {key}, {self.column} is {ours} here and {theirs} there")


def merge(folder: Path, ours: Snapshot, theirs: Snapshot, *, location: str) -> Commit:
    """Commit the additions of `theirs` to `ours`, the warehouse in `folder`; the caller holds the lock.

    Raises:
        BadInput: the two contradict each other, a file is lost or can't be read, or the disk refuses.
        Failed: there is too little memory.
        OSError, DeltaError: the disk refuses.
    """
    started = datetime.now(UTC)
    history = CommitHistory.read(folder)
    try:
        with scratch_folder(folder / MERGING) as scratch, bounded(scratch) as connection:
            _create_views(connection, ours=ours, theirs=theirs)
            contradict = [_merge(connection, table, ours, theirs, scratch) for table in DATA_TABLES.values()]
            if any(contradict) or connection.sql(_OTHER_PARAMETERS).fetchall():
                _refuse_contradictions(connection, theirs)
            differences = {
                name: _difference(connection, table, scratch) for name, table in DATA_TABLES.items()
            }
            orphaned = _orphaned(connection, ours, theirs)
            return apply(history, differences, orphaned, source="merge", location=location, started=started)
    except duckdb.Error as error:
        raise_refusal(error)
        raise UnusableWarehouse(f"{theirs.path} cannot be merged: {one_line(error)}") from error


def _refuse_contradictions(connection: duckdb.DuckDBPyConnection, theirs: Snapshot) -> NoReturn:
    contradictions = list(_contradictions(connection))
    count = sum(found.count for found in contradictions)
    rows = "1 row contradicts" if count == 1 else f"{count:,} rows contradict"
    raise RefusedRows(f"{rows} {theirs.path}, and nothing was merged; {contradictions[0]}")


def _create_views(connection: duckdb.DuckDBPyConnection, **snapshots: Snapshot) -> None:
    """Make the tables of each snapshot readable in a schema named after it."""
    for schema, snapshot in snapshots.items():
        connection.execute(f'CREATE SCHEMA "{schema}"; USE "{schema}"')
        for name, table in DATA_TABLES.items():
            create_view(connection, table, snapshot.files(name))
    connection.execute("CREATE SCHEMA merged; USE merged")


def _contradictions(connection: duckdb.DuckDBPyConnection) -> Iterator[_Contradiction]:
    """Contradictions between the two, at most one per query, in the order of the tables."""
    for name, table in DATA_TABLES.items():
        questions = [_differing(table)] if _facts(table) else []
        if name == "hyperparameters":
            questions.append(_OTHER_PARAMETERS)
        for question in questions:
            for count, *key, what in connection.sql(question).fetchall():
                yield _Contradiction(count, name, dict(zip(table.key, key, strict=True)), **what)


def _facts(table: Table) -> list[str]:
    return [column for column in table.payload if column not in _DESCRIPTIVE.get(table.name, ())]


def _differences_of_facts(table: Table) -> dict[str, str]:
    """SQL by column: whether it differs. A null never differs: comparing it gives null, which is not true."""
    return {
        column: f"{_known(table, 'o', column)} <> {_known(table, 't', column)}" for column in _facts(table)
    }


def _contradicts(table: Table) -> str:
    """SQL: whether their row `t` contradicts our row `o`."""
    differs = " OR ".join(_differences_of_facts(table).values()) or "false"
    return f"(coalesce({differs}, false) AND {_COMPARABLE.get(table.name, 'true')})"


def _differing(table: Table) -> str:
    """SQL: number of contradicting rows, and the key and {column, ours, theirs} of the first."""
    differs = _differences_of_facts(table)
    first = " ".join(
        f"WHEN {condition} THEN {{'column': '{column}', 'ours': o.\"{column}\"::VARCHAR, "
        f"'theirs': t.\"{column}\"::VARCHAR}}"
        for column, condition in differs.items()
    )
    key = listed(table.key)
    return f"""
        SELECT count(*) OVER (), {key}, CASE {first} END
        FROM theirs."{table.name}" t JOIN ours."{table.name}" o USING ({key})
        WHERE {_contradicts(table)}
        ORDER BY {key} LIMIT 1
    """


def _merge(
    connection: duckdb.DuckDBPyConnection, table: Table, ours: Snapshot, theirs: Snapshot, scratch: Path
) -> bool:
    """Create the view of a table's new and changed rows; returns whether any contradict ours."""
    if not theirs.files(table.name):
        connection.execute(
            f'CREATE VIEW merged."{table.name}" AS SELECT * EXCLUDE ({PROVENANCE}), false AS is_new_, '
            f'false AS contradicts_ FROM theirs."{table.name}"'
        )
        return False
    nothing_known = ours.has_no_orphans(table.name) and _all_are_of_new(connection, table)
    _store(connection, _new_or_changed(table, nothing_known), table, scratch / f"{table.name}.parquet")
    return bool(connection.sql(f'SELECT 1 FROM merged."{table.name}" WHERE contradicts_ LIMIT 1').fetchall())


def _store(connection: duckdb.DuckDBPyConnection, selection: str, table: Table, file: Path) -> None:
    """Store the merged rows of a table in a file."""
    connection.sql(selection).write_parquet(str(file), compression="snappy")
    rows = connection.sql("SELECT * FROM read_parquet($file)", params={"file": glob.escape(str(file))})
    rows.create_view(table.name, replace=True)


def _all_are_of_new(connection: duckdb.DuckDBPyConnection, table: Table) -> bool:
    """Whether all their rows are parts of rows that are new to us (`Table.part_of`)."""
    known = f"""
        SELECT 1 FROM theirs."{table.name}"
        ANTI JOIN (FROM merged."{table.part_of}" WHERE is_new_) USING ("{table.key[0]}") LIMIT 1
    """
    return not connection.sql(known).fetchall()


def _difference(connection: duckdb.DuckDBPyConnection, table: Table, scratch: Path) -> Difference:
    """The merged rows of a table: new ones, and changed ones with their new content.

    Raises:
        BadInput: some of their rows break a check of the table.
    """
    merged = f'merged."{table.name}"'
    needed = [column.name for column in table.schema if not column.nullable and column.name != PROVENANCE]
    lacks = ", ".join(f'coalesce(bool_or("{name}" IS NULL), false)' for name in needed)
    ((rows, *lacking),) = connection.sql(f"SELECT count(*), {lacks} FROM {merged}").fetchall()
    if any(lacking):
        raise RefusedRows(f"{table.name}: a row has no {needed[lacking.index(True)]}, which every row needs")
    if rows:
        refuse_broken(connection, table, merged)
    if rows and _repeated(connection, table):
        every = f"SELECT DISTINCT * FROM {merged} ORDER BY {listed(table.key)}"
        _store(connection, every, table, scratch / f"{table.name}-once.parquet")
        if key := _repeated(connection, table):
            described = ", ".join(f"{name}={value!r}" for name, value in zip(table.key, key, strict=True))
            raise RefusedRows(f"{table.name}: two rows for {described} contradict each other")
    counted = ", ".join(f"count(*) FILTER (WHERE {condition})" for condition in ("is_new_", "NOT is_new_"))
    ((new, changed),) = connection.sql(f"SELECT {counted} FROM {merged}").fetchall()
    return Difference(
        _rows(connection, table, "is_new_", new), _rows(connection, table, "NOT is_new_", changed)
    )


def _rows(connection: duckdb.DuckDBPyConnection, table: Table, condition: str, count: int) -> StoredRows:
    selection = f'SELECT * EXCLUDE (is_new_, contradicts_) FROM merged."{table.name}" WHERE {condition}'
    return StoredRows(connection, table, selection, count)


def _repeated(connection: duckdb.DuckDBPyConnection, table: Table) -> tuple[str, ...] | None:
    """The first key shared by two merged rows, which are sorted by it."""
    before = ", ".join(f'lag("{name}") OVER () AS before_{place}' for place, name in enumerate(table.key))
    same = " AND ".join(f'"{name}" = before_{place}' for place, name in enumerate(table.key))
    found = connection.sql(
        f"""
        SELECT {listed(table.key)} FROM (SELECT {listed(table.key)}, {before} FROM merged."{table.name}")
        WHERE {same} LIMIT 1
        """
    ).fetchall()
    return found[0] if found else None


def _orphaned(connection: duckdb.DuckDBPyConnection, ours: Snapshot, theirs: Snapshot) -> set[str]:
    """Our tables without orphans (`warehouse.storage.file_parts`) that get some."""
    return {
        name
        for name, table in DATA_TABLES.items()
        if table.part_of
        and ours.has_no_orphans(name)
        and not theirs.has_no_orphans(name)
        and connection.sql(
            f"""
            SELECT 1 FROM merged."{name}"
            ANTI JOIN merged."{table.part_of}" USING ("{table.key[0]}")
            ANTI JOIN ours."{table.part_of}" USING ("{table.key[0]}")
            WHERE is_new_ LIMIT 1
            """
        ).fetchall()
    }


def _new_or_changed(table: Table, nothing_known: bool) -> str:
    """SQL: their rows that are new to us, and our changed rows with their new content; by key.

    Args:
        nothing_known: none of the keys is ours, so our rows need not be read.
    """
    merged = {
        column.name: _nan_to_null(column, _merged(table, column.name))
        for column in table.schema
        if column.name in table.payload
    }
    changes = " OR ".join(f'{value} IS DISTINCT FROM o."{column}"' for column, value in merged.items())
    values = {name: f't."{name}"' for name in table.key} | merged
    columns = ", ".join(f'{values[name]} AS "{name}"' for name in table.schema.names if name in values)
    ours = f'(FROM ours."{table.name}"' + (" WHERE false)" if nothing_known else ")")
    return f"""
        SELECT {columns}, o."{table.key[0]}" IS NULL AS is_new_, {_contradicts(table)} AS contradicts_
        FROM theirs."{table.name}" t LEFT JOIN {ours} o USING ({listed(table.key)})
        WHERE o."{table.key[0]}" IS NULL OR {changes} OR {_contradicts(table)}
        ORDER BY {listed(table.key)}
    """


def _nan_to_null(column: pa.Field, value: str) -> str:
    """SQL: one of their values, with NaN as null."""
    return f"CASE WHEN NOT isnan({value}) THEN {value} END" if pa.types.is_floating(column.type) else value


def _merged(table: Table, column: str) -> str:
    """SQL: value of a column after the merge, from their row `t` and our row `o`, if there is one."""
    ours, theirs = f'o."{column}"', f't."{column}"'
    known = f"{_known(table, 'o', column)}, {_known(table, 't', column)}"
    either = f"coalesce({known}, {ours}, {theirs})"
    if table.name != "qualities":
        return either
    our_number, their_number = (
        f"TRY_CAST(regexp_extract({row}.extractor, '[0-9]+$') AS BIGINT)" for row in "ot"
    )
    return f"""
        CASE WHEN {their_number} > {our_number} THEN {theirs}
             WHEN {our_number} > {their_number} THEN {ours} ELSE {either} END
    """


def _known(table: Table, row: str, column: str) -> str:
    """SQL: the value, or null for a stand-in."""
    value = f'{row}."{column}"'
    stand_in = _STAND_INS.get(table.name, {}).get(column)
    return f"CASE WHEN {value} NOT LIKE '{stand_in}' THEN {value} END" if stand_in else value
