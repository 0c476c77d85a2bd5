"""One version of the warehouse, readable with SQL, without access to anything else.

DuckDB reads exactly the Parquet files of the snapshot's Delta versions, so a reader takes no lock and does
not notice a concurrent writer.
"""

import glob
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from warehouse.storage import delta
from warehouse.support.errors import BadOption, Failed, UnusableWarehouse, one_line, raise_refusal
from warehouse.support.interrupts import after
from warehouse.vocabulary.schema import DATA_TABLES, TABLES, Table

_SQL_TYPES = {
    pa.string(): "VARCHAR",
    pa.int64(): "BIGINT",
    pa.float64(): "DOUBLE",
    pa.bool_(): "BOOLEAN",
    pa.timestamp("us", tz="UTC"): "TIMESTAMPTZ",
}

_PLAIN_TYPES = {
    "boolean", "tinyint", "smallint", "integer", "bigint", "hugeint", "utinyint", "usmallint", "uinteger",
    "ubigint", "float", "double", "decimal", "varchar", "enum", "uuid", "date", "time", "timestamp",
    "timestamp_s", "timestamp_ms", "timestamp_ns", "timestamp with time zone", "sqlnull",
}  # fmt: skip
_ROWS_AT_ONCE = 2**16
_NOTICED = 0.2
"""Longest wait in seconds, after which a signal is noticed that another thread got."""
_INTERRUPTED = "Query interrupted"
"""DuckDB's words in place of the `KeyboardInterrupt` that ended a query."""

Parameters = Sequence[Any] | Mapping[str, Any] | None


class Snapshot:
    """The tables of the warehouse at `path` at the given Delta versions.

    `versions` maps the data tables to Delta versions; `ingests` has the commits up to these.
    """

    def __init__(self, path: Path, versions: Mapping[str, int], ingests: pa.Table) -> None:
        self.path = path
        self.versions = dict(versions)
        self._ingests = ingests

    def query(self, sql: str, parameters: Parameters = None) -> pa.Table:
        """Rows of one SELECT statement; `parameters` fill its placeholders.

        Raises `BadInput` for a lost or damaged file, and for anything but one valid SELECT: even an EXPLAIN
        ANALYZE or a PIVOT without IN could contain a COPY, which may overwrite the files that the connection
        is allowed to read.
        """
        with self._explained():
            _refuse_all_but_select(sql)
            # One cursor per query: the connection may be used by several threads.
            return self._connection.cursor().sql(sql, params=parameters or None).to_arrow_table()

    def limited_query(self, sql: str, *, seconds: float | None, memory: int) -> pa.Table:
        """Rows of one SELECT statement, with values of types that Python lacks as texts.

        It runs in a thread, since DuckDB may not look for signals for as long as it runs.

        Args:
            seconds: time limit; None = no limit.
            memory: largest number of bytes for DuckDB, and for the rows.

        Raises as `query`, and `Failed` if a limit is exceeded.
        """
        too_much = (
            f"the query needs more than {memory / 2**20:,.0f} MiB; select less, or raise --memory-limit"
        )
        try:
            with self._explained(), self._connect(memory) as connection, after(seconds, connection.interrupt):
                _refuse_all_but_select(sql)
                with ThreadPoolExecutor(1) as thread:
                    rows = thread.submit(_rows_within, connection, sql, memory)
                    try:
                        while not wait([rows], _NOTICED).done:
                            pass
                    except KeyboardInterrupt:
                        connection.interrupt()
                        raise
                    return rows.result()
        except duckdb.InterruptException as error:
            raise Failed(f"the query was stopped after {seconds:g} s") from error
        except (duckdb.OutOfMemoryException, MemoryError) as error:  # of DuckDB, or of its rows
            raise Failed(too_much) from error

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Turn DuckDB's errors into ours, except those about an interrupt or memory."""
        try:
            yield
        except (duckdb.Error, OSError) as raised:
            error = _of_reader(raised) if isinstance(raised, OSError) else raised
            if isinstance(error, duckdb.InterruptException | duckdb.OutOfMemoryException):
                raise error from raised
            raise_refusal(error)
            if _is_about_files(error):
                raise self.damaged(error) from error
            raise BadOption(f"the query cannot be run: {_summary(error)}") from error
        except RuntimeError as error:
            if type(error) is not RuntimeError:
                raise
            if str(error) == _INTERRUPTED:
                raise KeyboardInterrupt from None
            # DuckDB quotes bytes of a damaged file that are not valid text.
            raise self.damaged(error) from error

    def files(self, table: str) -> list[str]:
        """Paths of the Parquet files of `table`; none if the warehouse's older Headstart lacked the table."""
        if table not in self.versions:
            return []
        return delta.files_at(self.path / table, self.versions[table])

    def damaged(self, error: Exception) -> UnusableWarehouse:
        """The error to raise if DuckDB can't read the files."""
        return UnusableWarehouse(
            f"{self.path} is damaged, or has lost a file ({_summary(error)});"
            " `warehouse verify --deep` says more"
        )

    def has_no_orphans(self, table: str) -> bool:
        """Whether each row of `table` is known to have its parent row; see `delta.has_no_orphans`."""
        if table not in self.versions:
            return False
        return delta.has_no_orphans(delta.open_version(self.path / table, self.versions[table]))

    def refuse_unknown(self) -> None:
        """Raise `BadInput` if there are tables, or columns, of a newer Headstart."""
        unknown = []
        for name, version in self.versions.items():
            if name not in TABLES:
                unknown.append(name)
                continue
            columns = delta.columns(delta.open_version(self.path / name, version))
            known = TABLES[name].schema.names
            unknown += [f"{name}.{column.name}" for column in columns if column.name not in known]
        if unknown:
            raise UnusableWarehouse(
                f"{self.path} was written by a newer Headstart, and this version does not know "
                f"{', '.join(unknown)}: update Headstart"
            )

    @cached_property
    def _connection(self) -> duckdb.DuckDBPyConnection:
        return self._connect(None)

    def _connect(self, memory: int | None) -> duckdb.DuckDBPyConnection:
        """A connection that can only read the tables, with a memory limit in bytes."""
        connection = duckdb.connect()
        if memory is not None:
            connection.execute(f"SET memory_limit = '{memory / 2**20:.0f}MiB'")
            connection.execute("SET max_temp_directory_size = '0KiB'")  # it would be in the current directory
        allowed: list[str] = []
        connection.from_arrow(self._ingests).create("ingests")
        for name, table in DATA_TABLES.items():
            files = self.files(name)
            allowed += files + create_view(connection, table, files)
        _lock_down(connection, allowed)
        return connection


def _refuse_all_but_select(sql: str) -> None:
    statements = duckdb.extract_statements(sql)
    if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
        raise BadOption("the query must be one SELECT statement (PIVOT needs its IN list)")


def _rows_within(connection: duckdb.DuckDBPyConnection, sql: str, memory: int) -> pa.Table:
    """Rows of a query.

    Raises:
        MemoryError: they take more than `memory` bytes.
    """
    batches, size = [], 0
    reader = _with_texts(connection, sql).to_arrow_reader(_ROWS_AT_ONCE)
    for batch in reader:
        batches.append(batch)
        size += batch.nbytes
        if size > memory:
            raise MemoryError
    return pa.Table.from_batches(batches, reader.schema)


def _with_texts(connection: duckdb.DuckDBPyConnection, sql: str) -> duckdb.DuckDBPyRelation:
    """A query whose columns of types that Python lacks are cast to text."""
    rows = connection.sql(sql)
    if all(map(_is_plain, rows.types)):
        return rows
    connection.execute(f"CREATE TEMP VIEW _typed AS {sql}")
    columns = (
        f"{f'#{n}' if _is_plain(kind) else f'CAST(#{n} AS VARCHAR)'} AS " + listed([name.replace('"', '""')])
        for n, (name, kind) in enumerate(zip(rows.columns, rows.types, strict=True), 1)
    )
    return connection.sql(f"SELECT {', '.join(columns)} FROM _typed")


def _is_plain(kind: Any) -> bool:
    """Whether Python has values of this DuckDB type."""
    if kind.id in ("list", "array", "struct"):
        return all(_is_plain(child) for name, child in kind.children if name != "size")
    return kind.id in _PLAIN_TYPES


def _of_reader(error: OSError) -> Exception:
    """DuckDB's error behind an error of Arrow's batch reader; `error` itself if there is none."""
    kinds = {
        "INTERRUPT Error": duckdb.InterruptException,
        "Out of Memory Error": duckdb.OutOfMemoryException,
        "IO Error": duckdb.IOException,
        "INTERNAL Error": duckdb.InternalException,
        "Invalid Input Error": duckdb.InvalidInputException,
    }
    kind = next((kind for word, kind in kinds.items() if str(error).startswith(word)), None)
    return error if kind is None else kind(str(error))


def listed(columns: Iterable[str]) -> str:
    """SQL: list of these columns."""
    return ", ".join(f'"{name}"' for name in columns)


def create_view(connection: duckdb.DuckDBPyConnection, table: Table, files: list[str]) -> list[str]:
    """Make `table` readable under its name; return the glob patterns under which DuckDB reads its files."""
    if not files:
        nothing = ", ".join(_null(column) for column in table.schema)
        connection.execute(f'CREATE OR REPLACE VIEW "{table.name}" AS SELECT {nothing} WHERE false')
        return []
    patterns = [glob.escape(file) for file in files]
    # A table of an older Headstart may be partitioned: then a column is only in the names of folders.
    folder = Path(files[0]).parent.name
    partitions = [column.name for column in table.schema if folder.startswith(f"{column.name}=")]
    # Without hive_types DuckDB guesses types: a flow "007" would become the number 7.
    types = "{" + ", ".join(f"'{column}': VARCHAR" for column in partitions) + "}"
    of_folders = f"true, hive_types = {types}" if partitions else "false"
    rows = connection.sql(
        f"SELECT * FROM read_parquet($files, union_by_name = true, hive_partitioning = {of_folders})",
        params={"files": patterns},
    )
    present = rows.columns
    if present != table.schema.names:  # files of an older Headstart lack newer columns
        rows = rows.project(
            ", ".join(
                f'"{column.name}"' if column.name in present else _null(column) for column in table.schema
            )
        )
    rows.create_view(table.name)
    return patterns


def _null(column: pa.Field) -> str:
    """SQL: a null with the column's type and name."""
    return f'NULL::{_SQL_TYPES[column.type]} AS "{column.name}"'


def _lock_down(connection: duckdb.DuckDBPyConnection, allowed: list[str]) -> None:
    connection.execute("SET GLOBAL TimeZone = 'UTC'")
    connection.execute("SET python_enable_replacements = false")
    connection.execute("SET allowed_paths = ?", [allowed])
    connection.execute("SET enable_external_access = false")
    connection.execute("SET lock_configuration = true")


def _is_about_files(error: Exception) -> bool:
    """Whether an error comes from reading files rather than from the query."""
    if isinstance(error, duckdb.InvalidInputException):
        message = str(error)
        return any(words in message for words in ("Parquet", "Failed to read file", "magic bytes"))
    # Errors of DuckDB's Parquet reader have no class of their own, or are internal errors.
    return isinstance(error, duckdb.IOException | duckdb.InternalException) or type(error) is duckdb.Error


def _summary(error: Exception) -> str:
    """DuckDB's message and its suggestion, without the excerpt of the query."""
    return one_line(str(error).split("\n\n", 1)[0])
