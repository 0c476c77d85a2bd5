"""Rows that are parts of a row of another table: hyperparameters of a setup, evaluations of a run.

A commit of new runs need not compare their evaluations with the millions in the table: if every evaluation
has its run, an unknown run has no evaluations. Tables record whether that holds (`delta.has_no_orphans`); a
commit with orphans changes the record.
"""

from __future__ import annotations

from dataclasses import replace

import duckdb
import pyarrow as pa
import pyarrow.compute as pc

from warehouse.storage.snapshot import create_view
from warehouse.vocabulary.schema import TABLES, Table


def belong_to(connection: duckdb.DuckDBPyConnection, table: Table, rows: pa.Table, wholes: pa.Table) -> bool:
    """Whether each of `rows`, of `table`, is a part of one of `wholes`."""
    return not _others(connection, table, rows, wholes).limit(1).fetchall()


def has_orphans(
    connection: duckdb.DuckDBPyConnection,
    table: Table,
    rows: pa.Table,
    wholes: pa.Table,
    files_of_wholes: list[str],
) -> bool:
    """Whether one of `rows`, of `table`, is a part neither of one of `wholes` nor of a row in the files."""
    others = _others(connection, table, rows, wholes).to_arrow_table()
    if not others.num_rows:
        return False
    name = f"wholes_of_{table.name}"
    create_view(connection, replace(TABLES[table.part_of], name=name), files_of_wholes)
    connection.register("others", others)
    orphan = f'SELECT 1 FROM others ANTI JOIN {name} USING ("{table.key[0]}") LIMIT 1'
    return bool(connection.sql(orphan).fetchall())


def _others(
    connection: duckdb.DuckDBPyConnection, table: Table, rows: pa.Table, wholes: pa.Table
) -> duckdb.DuckDBPyRelation:
    """Keys of the parents of `rows` that are not among `wholes`."""
    (key,) = table.key[:1]
    # Parts of the same row are adjacent, so their key is looked up only once.
    of_rows = [pc.run_end_encode(chunk).values for chunk in rows[key].chunks]
    connection.register("rows_", pa.table({key: pa.chunked_array(of_rows, rows[key].type)}))
    connection.register("wholes", wholes.select([key]))
    return connection.sql(f'SELECT DISTINCT "{key}" FROM rows_ ANTI JOIN wholes USING ("{key}")')
