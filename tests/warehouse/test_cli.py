"""`warehouse`: its output and failures."""

import json
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from tests.cases import each
from tests.commands import Run
from tests.warehouse.worlds import runs, together
from warehouse.cli import main
from warehouse.store import Warehouse


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("cli") / "w"
    Warehouse.create(path).write(runs(), source="test", location="here.arff")
    return path


@pytest.fixture
def path(template: Path, tmp_path: Path) -> Path:
    """A warehouse with one run, a new one for each test."""
    return shutil.copytree(template, tmp_path / "w")


@pytest.fixture
def run(path: Path, run_command: Run) -> Run:
    """Run `warehouse ARGUMENTS --warehouse PATH`."""
    return lambda *arguments: run_command(main, *arguments, "--warehouse", path)


def test_info_shows_location_content_and_age(run: Run, path: Path) -> None:
    code, out, _ = run("info")
    assert code == 0
    for expected in (str(path), "version      1", "openml:6969", "random_forest", "here.arff"):
        assert expected in out


def test_info_as_json_has_counts_and_commits(run: Run, path: Path) -> None:
    summary = json.loads(run("info", "--format", "json")[1])
    assert (summary["path"], summary["version"], summary["read_only"]) == (str(path), 1, False)
    assert summary["fingerprint"] == Warehouse.open(path).fingerprint
    assert (summary["rows"]["hyperparameters"], summary["rows"]["qualities"]) == (2, 0)
    assert summary["flows"] == [{"flow": "openml:6969", "algorithm": "random_forest", "runs": 1}]
    assert summary["commits"][0]["added"]["runs"] == 1


def with_runs(path: Path, name: str, procedure: str, hours: list[float | None]) -> None:
    """Write a configuration's runs on datasets 1, 2, ..., with these hours if known."""
    tables = runs(name=name, accuracies={f"openml:{number}": 0.9 for number in range(1, len(hours) + 1)})
    for table in ("tasks", "runs"):
        tables[table] = tables[table].assign(task=tables[table]["task"] + procedure)
    tables["tasks"] = tables["tasks"].assign(estimation_procedure=procedure)
    times = tables["evaluations"].assign(
        measure="usercpu_time_millis", value=[None if one is None else one * 3.6e6 for one in hours]
    )
    tables["evaluations"] = pd.concat([tables["evaluations"], times.dropna(subset="value")])
    Warehouse.open(path).write(tables, source="test")


def test_info_shows_the_times_of_runs_by_training_size(run: Run, path: Path) -> None:
    with_runs(path, "b", "cv3-500", [1.0, 2.5])
    with_runs(path, "c", "holdout-2000-10000", [None])

    def told() -> dict[int | None, tuple[int, int, int, float | None]]:
        rows = json.loads(run("info", "--format", "json")[1])["fidelities"]
        return {one.pop("most_train_rows"): tuple(one.values()) for one in rows}

    expected = {500: (2, 1, 2, 3.5), 2000: (1, 1, 1, None), None: (1, 1, 1, None)}
    assert told() == expected
    with_runs(path, "d", "cv3", [4.0, None])
    assert told() == expected | {None: (2, 2, 3, 4.0)}


def test_info_shows_the_flows_with_the_most_runs(run: Run, path: Path) -> None:
    accuracies = {"openml:1": 0.9, "openml:2": 0.8}
    of_flows = together(runs(f"openml:{number}", None, accuracies=accuracies) for number in range(22))
    Warehouse.open(path).write(of_flows, source="test")
    out = run("info")[1]
    assert "3 more flows; --format json lists them" in out
    assert "openml:6969" not in out  # it has one run
    assert "None" not in out
    assert len(json.loads(run("info", "--format", "json")[1])["flows"]) == 23


def test_query_as_json_is_a_list_of_records_and_strict(run: Run) -> None:
    sql = """SELECT setup, 1 AS one, sum(2) AS two, NULL AS none, 'nan'::DOUBLE AS nan, 'inf'::DOUBLE AS inf,
        DATE '2020-01-02' AS day, [1.5, NULL] AS list, {'a': true} AS struct, 0.5::DECIMAL(4,2) AS half
        FROM setups GROUP BY setup"""
    code, out, _ = run("query", sql, "--format", "json")
    assert code == 0
    assert json.loads(out, parse_constant=pytest.fail) == [
        {"setup": "openml:6969/a", "one": 1, "two": 2, "none": None, "nan": None, "inf": None,
         "day": "2020-01-02", "list": [1.5, None], "struct": {"a": True}, "half": 0.5}
    ]  # fmt: skip


def test_query_as_csv_can_be_read_back(run: Run, tmp_path: Path) -> None:
    (tmp_path / "out.csv").write_text(run("query", "SELECT 'a,b' AS x, 1 AS n", "--format", "csv")[1])
    assert pd.read_csv(tmp_path / "out.csv").to_dict("records") == [{"x": "a,b", "n": 1}]


ODD_VALUES = {
    "INTERVAL 1 MONTH": "1 month",
    "union_value(num := 2)": "2",
    "MAP {'a': 1}": "{a=1}",
    "{'a': [MAP {[1]: INTERVAL 1 DAY}]}": "{'a': [{[1]=1 day}]}",
    "'0101'::BIT": "0101",
    "'12:00:00+01'::TIMETZ": "12:00:00+01",
    "340282366920938463463374607431768211455::UHUGEINT": "340282366920938463463374607431768211455",
    "170141183460469231731687303715884105727::HUGEINT": 170141183460469231731687303715884105727,
    "'\\xFF'::BLOB": "\\xFF",
    "TIMESTAMP '200000-01-01'": None,
    "DATE '20000-01-01'": None,
    "'-infinity'::TIMESTAMPTZ": None,
    "[DATE '20000-01-01']": None,
}
"""Values that Python or pandas lack -> their printed form; None = they are refused."""


@each("value, expected", ODD_VALUES.items())
def test_values_that_python_lacks_are_printed_as_texts_or_refused(
    run: Run, value: str, expected: object
) -> None:
    for output in ("json", "csv", "table"):
        code, out, err = run("query", f"SELECT {value} AS x, 1 AS x_ -- odd", "--format", output)
        if expected is None and code:
            assert (code, out, err.count("\n")) == (2, "", 1)
            assert "CAST its column to VARCHAR" in err
        elif output == "json":
            assert json.loads(out) == [{"x": expected, "x_": 1}]
        else:
            assert code == 0
            assert expected is None or str(expected) in out.replace('""', '"')


@pytest.mark.skipif(sys.platform != "linux", reason="the system has to limit a process's memory")
@pytest.mark.parametrize("query", ["repeat('x', 2000000000)", "repeat('x', 100000) FROM range(100000)"])
def test_a_query_ends_at_its_limits_whatever_duckdb_is_doing(path: Path, query: str) -> None:
    """Within a row DuckDB neither counts memory nor can be interrupted."""
    command = [sys.executable, "-m", "warehouse", "query", f"SELECT {query}", "--warehouse", str(path)]
    limits = ["--time", "1s", "--memory-limit", "100"]
    begun = time.monotonic()
    done = subprocess.run([*command, *limits], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1)
    assert "the query was stopped after 1 s" in done.stderr or "needs more than 100 MiB" in done.stderr
    assert time.monotonic() - begun < 300, "a second more than its time, and what the machine takes to begin"


def test_query_can_ask_an_older_version(run: Run) -> None:
    out = run("query", "SELECT count(*) AS n FROM runs", "--version", 0, "--format", "json")[1]
    assert json.loads(out) == [{"n": 0}]


@pytest.mark.parametrize(
    "arguments",
    [
        ("query", "SELEC 1"),
        ("query", "SELECT nothing FROM runs"),
        ("query", "COPY runs TO 'x.csv'"),
        ("query", "SELECT 1", "--format", "xml"),
        ("query", "SELECT 1", "--version", "7"),
        ("query", "SELECT 1 AS a, 2 AS a", "--format", "json"),
        ("query",),
        ("info", "--format", "csv"),
        ("export", "rows.csv", "--table", "trials"),
        ("export", "rows.txt", "--table", "runs"),
        ("export", "rows", "--table", "runs"),
        ("nonsense",),
    ],
)
def test_bad_input_is_one_line_on_stderr_and_exit_code_2(run: Run, arguments: tuple[str, ...]) -> None:
    code, out, err = run(*arguments)
    assert (code, out) == (2, "")
    assert err.startswith("error: ")
    assert err.count("\n") == 1


def test_export_copies_the_warehouse(run: Run, path: Path, tmp_path: Path) -> None:
    assert run("export", tmp_path / "copy")[0] == 0
    assert Warehouse.open(tmp_path / "copy").fingerprint == Warehouse.open(path).fingerprint
    code, _, err = run("export", tmp_path / "copy")
    assert code == 2
    assert "exists already" in err


@pytest.mark.parametrize(("name", "read"), [("rows.csv", pd.read_csv), ("rows.parquet", pd.read_parquet)])
def test_export_of_a_table_writes_one_file(
    run: Run, path: Path, tmp_path: Path, name: str, read: Callable[[Path], pd.DataFrame]
) -> None:
    assert run("export", tmp_path / name, "--table", "evaluations")[1].endswith("1 row\n")
    expected = Warehouse.open(path).sql("SELECT * FROM evaluations")
    pd.testing.assert_frame_equal(read(tmp_path / name), expected, check_dtype=False)


def test_unwritable_file_is_refused_in_one_line(run: Run, tmp_path: Path) -> None:
    code, _, err = run("export", tmp_path / "nowhere" / "rows.csv", "--table", "runs")
    assert code == 2
    assert err.count("\n") == 1
