"""`warehouse`: summary, SQL queries, copies, merging, verification and repair."""

import io
import json
import math
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from datetime import date, datetime
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import typer

from warehouse.options import WaitOption, WarehouseOption
from warehouse.storage import verification
from warehouse.storage.verification import Finding
from warehouse.store import Warehouse
from warehouse.support import console
from warehouse.support.console import JsonOption
from warehouse.support.errors import BadOption, Failed, UnknownName
from warehouse.support.files import write_bytes
from warehouse.support.interrupts import after
from warehouse.support.paths import is_url
from warehouse.support.text import counted
from warehouse.vocabulary.schema import TABLES

app = console.new_app("Query, check, copy and merge warehouses of runs.")

VersionOption = Annotated[
    int | None,
    typer.Option(
        "--version",
        metavar="N",
        help="Version of the warehouse: its content after N commits. Default: the newest.",
    ),
]

_RUNS_PER_FLOW = """
SELECT f.flow, f.algorithm, count(r.run) AS runs
FROM flows f LEFT JOIN setups s USING (flow) LEFT JOIN runs r USING (setup)
GROUP BY ALL ORDER BY runs DESC, f.flow
"""
_COVERAGE = """
SELECT count(*) AS datasets, count(DISTINCT coalesce(family, dataset)) AS families,
  count(DISTINCT domain) AS domains,
  quantile_cont(rows, [0, 0.25, 0.5, 0.75, 1]) AS rows,
  quantile_cont(columns - 1, [0, 0.25, 0.5, 0.75, 1]) AS features,
  quantile_cont(classes, [0, 0.25, 0.5, 0.75, 1]) AS classes
FROM datasets WHERE dataset IN (SELECT dataset FROM tasks JOIN runs USING (task))
"""
_DOMAINS = """
SELECT domain, count(*) AS datasets FROM datasets
WHERE domain IS NOT NULL AND dataset IN (SELECT dataset FROM tasks JOIN runs USING (task))
GROUP BY ALL ORDER BY datasets DESC, domain
"""
# Experiments run in tiers with a cap on the training rows, so runs are grouped by that cap.
# Runs on all rows may be ten million and are not joined: their time is the total minus that of the others.
_FIDELITIES = """
WITH capped AS (
  SELECT *, try_cast(regexp_extract(
    estimation_procedure, '^(?:[0-9]+x)?(?:cv[0-9]+|holdout)-([0-9]+)', 1) AS BIGINT) AS most_train_rows
  FROM tasks
), groups AS (
  SELECT most_train_rows, count(DISTINCT dataset) AS datasets, count(DISTINCT setup) AS configurations,
    count(*) AS runs
  FROM runs JOIN capped USING (task) GROUP BY most_train_rows
), few AS (
  SELECT run, most_train_rows FROM runs JOIN capped USING (task)
  WHERE task IN (SELECT task FROM capped WHERE most_train_rows IS NOT NULL) -- so that it joins few runs
), of_capped AS (
  SELECT most_train_rows, sum(value) AS milliseconds, count(*) AS timed
  FROM evaluations JOIN few USING (run)
  WHERE measure = 'usercpu_time_millis' GROUP BY most_train_rows
), of_others AS (
  SELECT sum(value) - coalesce((SELECT sum(milliseconds) FROM of_capped), 0) AS milliseconds,
    count(*) - coalesce((SELECT sum(timed) FROM of_capped), 0) AS timed
  FROM evaluations WHERE measure = 'usercpu_time_millis'
)
SELECT g.most_train_rows, datasets, configurations, runs, round(CASE
  WHEN g.most_train_rows IS NOT NULL THEN c.milliseconds
  WHEN o.timed > 0 THEN o.milliseconds END / 3.6e6, 1) AS processor_hours
FROM groups g LEFT JOIN of_capped c USING (most_train_rows) CROSS JOIN of_others o
ORDER BY g.most_train_rows NULLS LAST
"""
_FAILURES = """
SELECT outcome, f.algorithm, count(*) AS runs
FROM runs r JOIN setups s USING (setup) JOIN flows f USING (flow)
WHERE outcome <> 'success' GROUP BY ALL ORDER BY runs DESC, f.algorithm, outcome
"""
_FLOWS_SHOWN = 20  # with the most runs; OpenML has thousands
_COMMITS_SHOWN = 3  # the newest; experiments commit every minute
_COMMITS = "SELECT version, source, location, finished, added, changed FROM ingests ORDER BY version"


@app.command()
def info(
    warehouse: WarehouseOption = None, version: VersionOption = None, output: JsonOption = "table"
) -> None:
    """Summarize a warehouse: its version, tables, flows, datasets and last commits.

    Example: warehouse info --format json
    """
    store = Warehouse.open(warehouse, version=version)
    summary: dict[str, Any] = {
        "path": store.location,
        "version": store.version,
        "fingerprint": store.fingerprint,
        "read_only": store.read_only,
        "rows": {name: store.arrow(f"SELECT count(*) AS n FROM {name}")["n"][0].as_py() for name in TABLES},
        "flows": store.arrow(_RUNS_PER_FLOW).to_pylist(),
        "coverage": store.arrow(_COVERAGE).to_pylist()[0],
        "domains": store.arrow(_DOMAINS).to_pylist(),
        "fidelities": store.arrow(_FIDELITIES).to_pylist(),
        "failures": store.arrow(_FAILURES).to_pylist(),
        "commits": [
            {**commit, "added": json.loads(commit["added"]), "changed": json.loads(commit["changed"])}
            for commit in store.arrow(_COMMITS).to_pylist()
        ],
    }
    if output == "json":
        print(_to_json(summary))
    else:
        _print_info(summary)


@app.command()
def query(
    sql: Annotated[str, typer.Argument(metavar="SQL", help="One SELECT statement.")],
    warehouse: WarehouseOption = None,
    version: VersionOption = None,
    output: Annotated[
        Literal["table", "json", "csv"],
        typer.Option("--format", metavar="table|json|csv", help="Output format."),
    ] = "table",
    time: Annotated[
        float | None,
        typer.Option(
            parser=console.seconds,
            metavar="TIME",
            help="Time limit of the query, e.g. 10s, 5m.",
        ),
    ] = None,
    memory_limit: Annotated[int, typer.Option(min=1, help="Memory limit of the query, in MiB.")] = 2048,
) -> None:
    """Run an SQL query (DuckDB's dialect) over the tables that `warehouse info` lists.

    Example: warehouse query "SELECT measure, count(*) AS n, avg(value) FROM evaluations GROUP BY measure"
    """
    write = {"table": _to_text, "json": lambda rows: _to_json(_records(rows)), "csv": _to_csv}[output]
    opened = Warehouse.open(warehouse, version=version)
    memory = memory_limit * 2**20
    # DuckDB can't be interrupted within a row that takes long.
    killed = nullcontext() if time is None else after(time + 1, partial(_end, time))
    with killed, _limited_memory(3 * memory):  # for DuckDB, the rows, and their text
        text = _written(opened.limited_query(sql, seconds=time, memory=memory), write)
    print(text, end="" if output == "csv" else "\n")


@app.command()
def export(
    destination: Annotated[
        str,
        typer.Argument(
            metavar="DESTINATION",
            help="New directory, or s3://BUCKET/PATH; with --table a .csv or .parquet file.",
        ),
    ],
    table: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Export only this table, to a file."),
    ] = None,
    warehouse: WarehouseOption = None,
    version: VersionOption = None,
) -> None:
    """Copy the newest version of the warehouse to a directory, compacted; or export one table to a file.

    Example: warehouse export copy/

    Example: warehouse export s3://bucket/runs

    Example: warehouse export runs.csv --table runs
    """
    store = Warehouse.open(warehouse, version=version)
    if table is None:
        copy = store.export(destination)
        print(f"{copy.location}: version {copy.version}, fingerprint {copy.fingerprint}")
        return
    if table not in TABLES:
        raise UnknownName(f"there is no table {table!r}; tables: {', '.join(TABLES)}")
    writers = {".csv": pa_csv.write_csv, ".parquet": pq.write_table}
    suffix = Path(destination).suffix
    if suffix not in writers or is_url(destination):
        raise BadOption(f"cannot tell a format from {destination}; name a file .csv or .parquet")
    rows = store.arrow(f"SELECT * FROM {table}")
    content = io.BytesIO()
    writers[suffix](rows, content)
    write_bytes(Path(destination), content.getvalue())
    print(f"{destination}: {counted(rows.num_rows, 'rows')}")


@app.command()
def merge(
    other: Annotated[str, typer.Argument(metavar="OTHER", help="Warehouse to read from.")],
    warehouse: WarehouseOption = None,
    wait: WaitOption = None,  # noqa: ARG001 (its callback has done it)
    output: JsonOption = "table",
) -> None:
    """Add the runs of another warehouse, with their datasets, flows and setups.

    Merges all or nothing: nothing if the two contradict each other, as in the content of a dataset, the
    hyperparameters of a setup or the values of a run. Merging the same again changes nothing.

    Example: warehouse merge colleague/ --warehouse runs/
    """
    Warehouse.open(other)  # fails before anything is created
    commit = Warehouse.create(warehouse).merge(other)
    if output == "json":
        print(_to_json({"version": commit.version, "added": commit.added, "changed": commit.changed}))
        return
    print(f"{other}: {console.rows_written(commit.added, commit.changed)}")
    print(f"warehouse version {commit.version}")


@app.command()
def verify(
    warehouse: WarehouseOption = None,
    deep: Annotated[bool, typer.Option("--deep", help="Read every byte and compare checksums.")] = False,
    output: JsonOption = "table",
) -> None:
    """Look for damage: lost, foreign and altered files, gaps in logs, missing commits.

    The exit code is 1 if there is damage. Jobs that write need not be stopped.

    Example: warehouse verify --deep
    """
    found = Warehouse.verify(warehouse, deep=deep)
    if output == "json":
        print(_to_json(verification.as_record(found)))
    else:
        _print_findings(found.findings)
        print(
            f"version {found.version}: {counted(found.files, 'files')} with {found.bytes / 1e6:,.1f} MB "
            f"{'read' if deep else 'looked at'} in {found.seconds:.1f} s, "
            + (f"{len(found.damage)} damaged" if found.damage else "no damage")
        )
    if found.damage:
        raise typer.Exit(1)


@app.command()
def repair(
    warehouse: WarehouseOption = None,
    wait: WaitOption = None,  # noqa: ARG001 (its callback has done it)
) -> None:
    """Repair the damage found by `verify --deep`, as far as copies of the content exist.

    Writes logs and the record of commits again. Takes rows of a damaged file from older files that contain
    them, moves the file to the folder `damaged`, and reports missing rows. A warehouse in object storage
    can't be repaired: export it to a new place on a machine that has read it before.

    Example: warehouse repair --warehouse runs/
    """
    done = Warehouse.repair(warehouse)
    for path in done.mended:
        print(f"mended   {path}")
    for one in done.damaged:
        commit = "" if one.version is None else f", of version {one.version}"
        print(f"damaged  {one.path}: {counted(one.rows, 'rows')} of {one.table}{commit}")
    for table, rows in done.recovered.items():
        held = sum(one.rows for one in done.damaged if one.table == table)
        print(
            f"{table}: {rows:,} of these {held:,} rows came from older files; ingest the missing rows again,"
            " from OpenML with --refresh"
        )
    left = [finding for finding in done.findings if finding.is_damage]
    _print_findings(left)
    if not (done.mended or done.damaged or left):
        print("nothing was damaged")
    print(f"warehouse version {done.version}")
    if left:
        raise typer.Exit(1)


@app.command()
def restore(
    version: Annotated[int, typer.Option("--version", metavar="N", help="Version to restore.")],
    warehouse: WarehouseOption = None,
    wait: WaitOption = None,  # noqa: ARG001 (its callback has done it)
) -> None:
    """Commit the content of an older version as the newest one; later versions stay in the history.

    Example: warehouse restore --version 12 --warehouse runs/
    """
    store = Warehouse.open(warehouse)
    store.restore(version)
    print(f"warehouse version {store.version}, with the content of version {version}")


def _print_findings(findings: Sequence[Finding]) -> None:
    """Print a line for each finding, with advice for the first of each kind."""
    advised = set()
    for one in findings:
        commit = "" if one.version is None else f" (version {one.version})"
        advice = "" if one.advice in advised else f"; {one.advice}"
        advised.add(one.advice)
        word = "damage" if one.is_damage else "note  "
        print(f"{word}  {one.path}{commit}: {one.message}{advice}")


def _print_info(summary: dict[str, Any]) -> None:
    access = " (read-only)" if summary["read_only"] else ""
    print(f"path         {summary['path']}{access}")
    print(f"version      {summary['version']}")
    print(f"fingerprint  {summary['fingerprint']}")
    print()
    print(_to_text(pa.table({"table": list(summary["rows"]), "rows": list(summary["rows"].values())})))
    if summary["flows"]:
        print()
        print(_to_text(pa.Table.from_pylist(summary["flows"][:_FLOWS_SHOWN])))
        more = len(summary["flows"]) - _FLOWS_SHOWN
        if more > 0:
            print(f"{counted(more, 'more flows')}; --format json lists them")
        for line in _coverage(summary):
            print(line)
    earlier = len(summary["commits"]) - _COMMITS_SHOWN
    if earlier > 0:
        print(f"\n{counted(earlier, 'earlier commits')}; --format json lists them")
    for commit in summary["commits"][-_COMMITS_SHOWN:]:
        added = ", ".join(counted(count, table) for table, count in commit["added"].items())
        changed = ", ".join(counted(count, table) for table, count in commit["changed"].items())
        origin = (
            commit["source"] if commit["location"] is None else f"{commit['source']} {commit['location']}"
        )
        print()
        print(f"version {commit['version']}, {commit['finished']:%Y-%m-%d %H:%M} UTC: {origin}")
        print(f"  added {added or 'nothing'}" + (f"; changed {changed}" if changed else ""))


def _coverage(summary: dict[str, Any]) -> Iterator[str]:
    """Lines on the runs' coverage: datasets with sizes and domains, training sizes, failures."""
    known = summary["coverage"]
    if not known["datasets"]:
        return
    yield (
        f"\nruns on {counted(known['datasets'], 'datasets')} of {counted(known['families'], 'families')}"
        + (f" and {counted(known['domains'], 'domains')}" if known["domains"] else "")
    )
    for what in ("rows", "features", "classes"):
        if known[what] is not None:
            least, low, median, high, most = (f"{value:,.0f}" for value in known[what])
            yield f"  {what:9} {least} to {most}; half of them {low} to {high}, median {median}"
    if summary["domains"]:
        yield "  domains   " + ", ".join(f"{row['domain']} {row['datasets']}" for row in summary["domains"])
    yield "\n" + _to_text(pa.Table.from_pylist(summary["fidelities"]))
    yield "most_train_rows: largest number of training rows of the runs; empty = all rows"
    if summary["failures"]:
        failed = sum(row["runs"] for row in summary["failures"])
        reasons = ", ".join(
            f"{row['runs']:,} {row['algorithm']} {row['outcome']}" for row in summary["failures"]
        )
        yield f"\n{failed:,} of {counted(summary['rows']['runs'], 'runs')} failed: {reasons}"


def _end(seconds: float) -> None:
    os.write(2, f"error: the query was stopped after {seconds:g} s\n".encode())
    os._exit(Failed.exit_code)


@contextmanager
def _limited_memory(size: int) -> Iterator[None]:
    """Limit this process to `size` further bytes of memory, where the system supports it (Linux)."""
    import psutil

    own = getattr(psutil.Process().memory_info(), "data", None)
    if own is None:
        yield
        return
    import resource

    before = resource.getrlimit(resource.RLIMIT_DATA)
    hard = before[1]
    soft = own + size if hard == resource.RLIM_INFINITY else min(own + size, hard)
    resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, before)


def _written(rows: pa.Table, write: Callable[[pa.Table], str]) -> str:
    """The rows as text; refuses dates and times beyond Python's range of years."""
    try:
        for column in rows.columns:
            if pa.types.is_timestamp(column.type) or pa.types.is_date(column.type):
                pc.min_max(column).as_py()
        return write(rows)
    except (pa.ArrowNotImplementedError, ValueError, OverflowError, NotImplementedError) as error:
        raise BadOption(
            "the result has a value that can't be printed, such as a date after the year 9999;"
            " CAST its column to VARCHAR"
        ) from error
    except MemoryError as error:
        raise Failed("the result is too large to be printed; select less, or raise --memory-limit") from error


def _records(rows: pa.Table) -> list[dict[str, Any]]:
    names = rows.column_names
    twice = {name for name in names if names.count(name) > 1}
    if twice:
        raise BadOption(f"two columns are named {twice.pop()}; rename one with AS")
    records: list[dict[str, Any]] = rows.to_pylist()
    return records


def _to_json(content: Any) -> str:
    return json.dumps(_plain(content), indent=1, ensure_ascii=False, allow_nan=False)


def _plain(value: Any) -> Any:
    """`value` as JSON types: NaN and infinity as null, decimals as numbers, times as ISO 8601 text."""
    if isinstance(value, dict):
        return {str(key): _plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(entry) for entry in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    if isinstance(value, datetime | date):
        return value.isoformat()
    return value if isinstance(value, bool | int | str | None) else str(value)


def _to_csv(rows: pa.Table) -> str:
    frame: pd.DataFrame = rows.to_pandas()
    return frame.to_csv(index=False)


def _to_text(rows: pa.Table) -> str:
    # pandas would print None for columns without any value, as they have no type.
    typed = [field.with_type(pa.string()) if pa.types.is_null(field.type) else field for field in rows.schema]
    frame: pd.DataFrame = rows.cast(pa.schema(typed)).to_pandas()
    if frame.empty:
        return "(no rows)"
    with pd.option_context("display.width", None, "display.max_colwidth", 80):
        return frame.to_string(index=False, max_rows=1000, na_rep="")


main = partial(console.main, app)
