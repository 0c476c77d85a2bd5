"""Incoming rows: conversion to the schema of their table, checks, and comparison with its rows.

All functions compute in an in-memory DuckDB `connection`, one per write: opening one costs more than a small
write itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from warehouse.storage.snapshot import create_view, listed
from warehouse.storage.spilling import StoredRows
from warehouse.support.errors import RefusedRows, UnknownName, one_line
from warehouse.vocabulary.schema import DATA_TABLES, PROVENANCE, Table

if TYPE_CHECKING:
    import pandas as pd

_TEXTS = pa.dictionary(pa.int32(), pa.string())


@dataclass(frozen=True)
class Difference:
    """Difference between incoming rows and one table; both parts lack the provenance column."""

    new: pa.Table | StoredRows
    changed: pa.Table | StoredRows

    def __bool__(self) -> bool:
        return bool(self.new.num_rows or self.changed.num_rows)


def conform(connection: duckdb.DuckDBPyConnection, name: str, rows: pa.Table | pd.DataFrame) -> pa.Table:
    """`rows` with exactly the typed columns of table `name`, without provenance, each row once.

    Texts in a dictionary remain so, as they would take several times the memory otherwise; except for the
    first column of the key, whose minimum and maximum are needed. Nullable columns may be missing. NaN counts
    as null, whatever its type. Raises `BadInput` for an unknown table or column, a value of a wrong type, a
    missing required value, a row that fails one of the table's checks, and two rows with the same key and
    different content.
    """
    table = DATA_TABLES.get(name)
    if table is None:
        raise UnknownName(f"there is no table {name!r} to write to; tables: {', '.join(DATA_TABLES)}")
    typed = _typed(table, rows)
    for column in typed.schema:
        if not column.nullable and typed[column.name].null_count:
            row = pc.index(pc.is_null(typed[column.name]), True).as_py()
            raise RefusedRows(f"{name}: row {row} has no {column.name}, which every row needs")
    connection.register("incoming", _numbered(typed))
    refuse_broken(connection, table, "incoming")
    return _rows_at(typed, _first_of_each(connection, table))


def refuse_broken(connection: duckdb.DuckDBPyConnection, table: Table, rows: str) -> None:
    """Raise `BadInput` if a row of the view `rows` breaks one of the checks of `table`."""
    columns = listed(name for name in table.schema.names if name != PROVENANCE)
    for promise, condition in table.checks.items():
        broken = connection.sql(f"SELECT {columns} FROM {rows} WHERE NOT ({condition}) LIMIT 1").fetchall()
        if broken:
            raise RefusedRows(f"{table.name}: {promise}; this row breaks the rule: {broken[0]}")


def compare(
    connection: duckdb.DuckDBPyConnection, table: Table, incoming: pa.Table, existing_files: list[str]
) -> Difference:
    """Split conformed rows into those that are new in `table` and those that replace a row of it."""
    create_view(connection, table, existing_files)
    connection.register("incoming", _numbered(incoming))
    # Most writes only bring new keys, which a query on the keys alone shows. Files, and parts of files,
    # without a key between the minimum and maximum of the incoming keys are not read.
    first = table.key[0]
    known = f"""
        SELECT 1 FROM (SELECT * FROM "{table.name}" WHERE "{first}" BETWEEN $least AND $greatest) e
        SEMI JOIN incoming i ON {_same(table.key, "i", "e")} LIMIT 1
    """
    least, greatest = pc.min_max(incoming[first]).as_py().values()
    if not connection.sql(known, params={"least": least, "greatest": greatest}).fetchall():
        return Difference(incoming, _rows_at(incoming, np.empty(0, dtype=np.intp)))
    differs = " OR ".join(f'i."{name}" IS DISTINCT FROM e."{name}"' for name in table.payload)
    # There may be millions of stored rows; only those with an incoming key are held in memory.
    found = connection.sql(
        f"""
        WITH there AS MATERIALIZED (
          SELECT e.* FROM "{table.name}" e SEMI JOIN incoming i ON {_same(table.key, "i", "e")}
        )
        SELECT i.position_ AS position, e."{table.key[0]}" IS NULL AS is_new
        FROM incoming i LEFT JOIN there e ON {_same(table.key, "i", "e")}
        WHERE e."{table.key[0]}" IS NULL OR {differs}
        ORDER BY position
        """
    ).fetchnumpy()
    position, is_new = np.asarray(found["position"]), np.asarray(found["is_new"], dtype=bool)
    return Difference(_rows_at(incoming, position[is_new]), _rows_at(incoming, position[~is_new]))


def _rows_at(rows: pa.Table, position: np.ndarray) -> pa.Table:
    """The rows at these sorted positions; `rows` itself if these are all positions."""
    return rows if len(position) == rows.num_rows else rows.take(position)


def _typed(table: Table, rows: pa.Table | pd.DataFrame) -> pa.Table:
    given = [str(name) for name in (rows.column_names if isinstance(rows, pa.Table) else rows.columns)]
    wanted = [column for column in table.schema if column.name != PROVENANCE]
    known = {column.name for column in wanted}
    unknown = [name for name in given if name not in known and name != PROVENANCE]
    twice = [name for name in known if given.count(name) > 1]
    absent = [column.name for column in wanted if not column.nullable and column.name not in given]
    for columns, complaint in ((unknown, "unknown"), (twice, "repeated"), (absent, "missing")):
        if columns:
            raise RefusedRows(f"{table.name}: {complaint} column {', '.join(sorted(columns))}")
    present = pa.schema([pa.field(c.name, c.type) for c in wanted if c.name in given])
    try:
        if isinstance(rows, pa.Table):
            for place, name in enumerate(present.names):
                if rows.schema.field(name).type == _TEXTS and name != table.key[0]:
                    present = present.set(place, pa.field(name, _TEXTS))
            typed = rows.select(present.names).cast(present)
        else:
            typed = pa.Table.from_pandas(rows, schema=present, preserve_index=False)
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError) as error:
        reason = one_line(error)
        raise RefusedRows(f"{table.name}: a value does not fit its column: {reason}") from error
    columns = [
        _nan_to_null(typed[c.name]) if c.name in given else pa.nulls(len(typed), c.type) for c in wanted
    ]
    typed_fields = [field.with_type(column.type) for field, column in zip(wanted, columns, strict=True)]
    return pa.table(columns, schema=pa.schema(typed_fields))


def _nan_to_null(column: pa.ChunkedArray) -> pa.ChunkedArray:
    if not pa.types.is_floating(column.type) or not pc.any(pc.is_nan(column)).as_py():
        return column
    return pc.if_else(pc.is_nan(column), pa.scalar(None, column.type), column)


def _first_of_each(connection: duckdb.DuckDBPyConnection, table: Table) -> np.ndarray:
    """Positions of the distinct rows of `incoming`, in order; refuses different rows with the same key."""
    key = listed(table.key)
    hashes = connection.sql(f"SELECT hash({key}) AS hash FROM incoming").fetchnumpy()["hash"]
    hashes.sort()
    if (hashes[1:] != hashes[:-1]).all():  # then keys are distinct, too
        return np.arange(len(hashes))
    row = listed((*table.key, *table.payload))
    connection.execute(
        f"""
        CREATE OR REPLACE TABLE firsts AS
        SELECT {row}, min(position_) AS position_ FROM incoming GROUP BY {row}
        """
    )
    conflict = connection.sql(
        f"SELECT {key} FROM firsts GROUP BY {key} HAVING count(*) > 1 ORDER BY min(position_) LIMIT 1"
    ).fetchall()
    if conflict:
        described = ", ".join(f"{n}={v!r}" for n, v in zip(table.key, conflict[0], strict=True))
        raise RefusedRows(f"{table.name}: two rows for {described} contradict each other")
    positions = connection.sql("SELECT position_ FROM firsts ORDER BY position_").fetchnumpy()
    return np.asarray(positions["position_"])


def _numbered(rows: pa.Table) -> pa.Table:
    return rows.append_column("position_", pa.array(np.arange(rows.num_rows)))


def _same(key: tuple[str, ...], left: str, right: str) -> str:
    return " AND ".join(f'{left}."{name}" = {right}."{name}"' for name in key)
