"""What another warehouse adds to ours, and where the two contradict each other.

Rows are compared by key. A value that only one of the two has is taken; a null, and a stand-in for what is
not known (`_STAND_INS`), is no value. Where both have one and they differ, it depends on what is said:

- What was run, on what, and its outcome must agree, else the merge is refused. That is every column that
  is not named below, and the hyperparameters that a setup has; defaults may be written out by one of the two.
- What only describes (`_DESCRIPTIVE`) may be said in other words, and a time is another one whenever it is
  measured: ours stays.
- A quality is taken whole from the newer extractor, told by the number at the end of its name. Of the same
  extractor, and of what OpenML published, ours stays.

Which ingest wrote a row is no part of what it says (`warehouse.schema.Table.payload`): to us it comes from
the merge. Positions stay, so that the runs of one source keep its order.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import duckdb
import numpy as np
import pyarrow as pa

from warehouse.schema import TABLES, Table
from warehouse.snapshot import Snapshot, create_view
from warehouse.support.errors import Failed, RefusedRows, UnusableWarehouse, one_line

_DESCRIPTIVE = {
    "datasets": ("name", "note", "status", "domain", "family"),
    "flows": ("name", "algorithm", "structure"),
    "scales": ("scale",),
    "spaces": ("space",),
    "hyperparameters": ("raw", "component", "is_default"),
    "runs": ("message", "position"),
    "evaluations": ("array_data",),
    "qualities": ("value", "extractor"),
}

# Table -> column -> LIKE pattern of the values that say: not known.
_STAND_INS = {"tasks": {"dataset": "openml-task:%", "task_type": "unknown"}}

# Table -> condition on the key of rows that may contradict each other.
_COMPARABLE = {"evaluations": "NOT (contains(measure, 'time_millis') OR contains(measure, '_seconds'))"}

_OTHER_PARAMETERS = """
SELECT count(*) OVER (), setup, parameter, {'column': 'value', 'ours': o.value, 'theirs': t.value}
FROM ours.hyperparameters o FULL JOIN theirs.hyperparameters t USING (setup, parameter)
WHERE (o.value IS NULL OR t.value IS NULL)
  AND coalesce(o.is_default, t.is_default, false) = false
  AND setup IN (SELECT setup FROM ours.hyperparameters)
  AND setup IN (SELECT setup FROM theirs.hyperparameters)
ORDER BY setup, parameter LIMIT 1
"""


@dataclass(frozen=True)
class _Contradiction:
    """The first row, by key, of which the warehouses say different things, and how many there are."""

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


def refuse_unknown(theirs: Snapshot) -> None:
    """Raise `BadInput` if `theirs` has tables or columns that a newer Headstart introduced."""
    unknown = theirs.unknown()
    if unknown:
        raise UnusableWarehouse(
            f"{theirs.path} was written by a newer Headstart, this one does not know {', '.join(unknown)}; "
            "update Headstart"
        )


def rows_to_write(ours: Snapshot, theirs: Snapshot) -> dict[str, pa.Table]:
    """The rows, by table and ordered by key, that are to be added to `ours` or to replace rows there.

    Raises:
        BadInput: the two contradict each other, or a file is lost or can't be read.
        Failed: there is too little memory.
    """
    try:
        with duckdb.connect() as connection:
            _create_views(connection, ours=ours, theirs=theirs)
            contradictions = list(_contradictions(connection))
            if contradictions:
                count = sum(found.count for found in contradictions)
                rows = "1 row contradicts" if count == 1 else f"{count:,} rows contradict"
                raise RefusedRows(f"{rows} {theirs.path}, and nothing was merged; {contradictions[0]}")
            return {
                name: _blanked(connection.sql(_new_or_completed(table)).to_arrow_table())
                for name, table in _data_tables()
            }
    except duckdb.OutOfMemoryException as error:
        raise Failed(f"cannot merge {theirs.path}: {one_line(error)}") from error
    except duckdb.Error as error:
        raise UnusableWarehouse(f"{theirs.path} cannot be merged: {one_line(error)}") from error


def _data_tables() -> Iterator[tuple[str, Table]]:
    return ((name, table) for name, table in TABLES.items() if name != "ingests")


def _create_views(connection: duckdb.DuckDBPyConnection, **snapshots: Snapshot) -> None:
    """Make the tables of each snapshot readable in a schema of its name."""
    for schema, snapshot in snapshots.items():
        connection.execute(f'CREATE SCHEMA "{schema}"; USE "{schema}"')
        for name, table in _data_tables():
            create_view(connection, table, snapshot.files(name))


def _contradictions(connection: duckdb.DuckDBPyConnection) -> Iterator[_Contradiction]:
    """Contradictions between the two, at most one per question, in the order of the tables."""
    for name, table in _data_tables():
        questions = [_differing(table)] if _facts(table) else []
        if name == "hyperparameters":
            questions.append(_OTHER_PARAMETERS)
        for question in questions:
            found = connection.execute(question).fetchone()
            if found:
                count, *key, what = found
                yield _Contradiction(count, name, dict(zip(table.key, key, strict=True)), **what)


def _facts(table: Table) -> list[str]:
    return [column for column in table.payload if column not in _DESCRIPTIVE.get(table.name, ())]


def _differing(table: Table) -> str:
    """SQL: how many rows contradict each other, and of the first its key and {column, ours, theirs}."""
    # A null differs from nothing: the comparison is null, and so not true.
    differs = {
        column: f"{_known(table, 'o', column)} <> {_known(table, 't', column)}" for column in _facts(table)
    }
    first = " ".join(
        f"WHEN {condition} THEN {{'column': '{column}', 'ours': o.\"{column}\"::VARCHAR, "
        f"'theirs': t.\"{column}\"::VARCHAR}}"
        for column, condition in differs.items()
    )
    key = _listed(table.key)
    return f"""
        SELECT count(*) OVER (), {key}, CASE {first} END
        FROM theirs."{table.name}" t JOIN ours."{table.name}" o USING ({key})
        WHERE ({" OR ".join(differs.values())}) AND {_COMPARABLE.get(table.name, "true")}
        ORDER BY {key} LIMIT 1
    """


def _new_or_completed(table: Table) -> str:
    """SQL: the rows of theirs that we lack, and ours that change, as they will be."""
    merged = {column: _merged(table, column) for column in table.payload}
    changes = " OR ".join(f'{value} IS DISTINCT FROM o."{column}"' for column, value in merged.items())
    key = _listed(table.key)
    return f"""
        SELECT {key}, {", ".join(f'{value} AS "{column}"' for column, value in merged.items())}
        FROM theirs."{table.name}" t LEFT JOIN ours."{table.name}" o USING ({key})
        WHERE o."{table.key[0]}" IS NULL OR {changes}
        ORDER BY {key}
    """


def _merged(table: Table, column: str) -> str:
    """SQL: the value of a column after the merge, from row `t` of theirs and `o` of ours, if there is one."""
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


def _blanked(rows: pa.Table) -> pa.Table:
    """`rows` with zeros below its nulls, where DuckDB leaves anything: fingerprints hash the bytes."""
    for position, column in enumerate(rows.columns):
        if column.null_count:
            rows = rows.set_column(position, rows.field(position), column.take(np.arange(len(column))))
    return rows


def _known(table: Table, row: str, column: str) -> str:
    """SQL: the value, null where it is a stand-in."""
    value = f'{row}."{column}"'
    stand_in = _STAND_INS.get(table.name, {}).get(column)
    return f"CASE WHEN {value} NOT LIKE '{stand_in}' THEN {value} END" if stand_in else value


def _listed(columns: tuple[str, ...]) -> str:
    return ", ".join(f'"{column}"' for column in columns)
