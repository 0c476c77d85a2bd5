"""SQL queries: parameters, types, and no access to anything else."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.warehouse.worlds import runs
from warehouse.store import Warehouse
from warehouse.support.errors import BadInput, Failed


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Warehouse:
    warehouse = Warehouse.create(tmp_path_factory.mktemp("it's") / "warehouse")
    warehouse.write(runs(accuracies={"openml:1": 0.9, "openml:2": 0.8}), source="test")
    return warehouse


def test_parameters_are_bound_by_position_and_by_name(warehouse: Warehouse) -> None:
    hostile = "'; DROP TABLE runs; --"
    assert warehouse.sql("SELECT ? AS text", [hostile])["text"].tolist() == [hostile]
    found = warehouse.sql("SELECT task FROM tasks WHERE dataset = $dataset", {"dataset": "openml:2"})
    assert found["task"].tolist() == ["openml:2/cv3"]


def test_arrow_rows_distinguish_null_from_nan_and_keep_integers(warehouse: Warehouse) -> None:
    rows = warehouse.arrow("SELECT 1 AS one, NULL::BIGINT AS nothing, 'nan'::DOUBLE AS nan")
    [row] = rows.to_pylist()
    assert (row["one"], row["nothing"]) == (1, None)
    assert row["nan"] != row["nan"]


@pytest.mark.parametrize(
    "query",
    [
        "WITH t AS (SELECT * FROM runs) SELECT count(*) FROM t",
        "DESCRIBE runs",
        "SHOW TABLES",
        "FROM runs LIMIT 1",
        "PIVOT runs ON outcome IN ('success', 'crash') USING count(*)",
    ],
)
def test_every_kind_of_query_is_answered(warehouse: Warehouse, query: str) -> None:
    assert len(warehouse.sql(query))


@pytest.mark.parametrize(
    "query",
    [
        "",
        "SELEC 1",
        "SELECT nothing FROM runs",
        "SELECT * FROM elsewhere",
        "SELECT 1; SELECT 2",
        "SELECT ?",
        "SELECT 1/",
        "SELECT 'a'::INT",
    ],
)
def test_bad_query_is_refused_in_one_line(warehouse: Warehouse, query: str) -> None:
    with pytest.raises(BadInput) as caught:
        warehouse.sql(query)
    assert "\n" not in str(caught.value)


def _statements(file: Path, outside: Path) -> list[str]:
    own, other = str(file).replace("'", "''"), str(outside).replace("'", "''")
    return [
        f"COPY (SELECT 1) TO '{other}'",
        f"COPY (SELECT 1) TO '{own}'",
        f"EXPLAIN ANALYZE COPY (SELECT 1) TO '{own}'",
        f"COPY (PIVOT runs ON outcome USING count(*)) TO '{own}'",
        f"EXPORT DATABASE '{other}'",
        f"ATTACH '{other}'",
        f"SELECT * FROM read_text('{other}')",
        f"SELECT * FROM read_csv('{other}')",
        f"SELECT * FROM '{other}'",
        "SELECT * FROM read_text('/etc/passwd')",
        "SELECT * FROM glob('/*')",
        "SELECT * FROM query('COPY (SELECT 1) TO ''/tmp/x''')",
        "INSTALL httpfs",
        "LOAD httpfs",
        "SET enable_external_access = true",
        "PRAGMA enable_external_access",
        "CREATE TABLE mine (i INT)",
        "DROP VIEW runs",
        "DELETE FROM runs",
        "INSERT INTO ingests SELECT * FROM ingests",
        "CALL pragma_version()",
        "SELECT * FROM outside",
    ]


def test_no_query_writes_or_reads_anything_but_the_warehouse(warehouse: Warehouse, tmp_path: Path) -> None:
    outside = tmp_path / "outside.csv"
    outside.write_text("secret\n1\n")
    file = next((warehouse.path / "runs").glob("*.parquet"))
    before = file.read_bytes()
    for statement in _statements(file, outside):
        with pytest.raises(BadInput) as caught:
            warehouse.sql(statement)
        assert "\n" not in str(caught.value)
    assert file.read_bytes() == before
    assert [entry.name for entry in tmp_path.iterdir()] == ["outside.csv"]
    assert outside.read_text() == "secret\n1\n"
    assert len(warehouse.sql("SELECT * FROM runs")) == 2


ENDLESS = "SELECT count(*) FROM range(10000000) a, range(10000000) b WHERE a.range + b.range = 7"


INTERRUPTED = """
import os, signal, sys
from functools import partial
from warehouse.store import Warehouse
from warehouse.support.interrupts import after

signal.signal(signal.SIGINT, signal.default_int_handler)
warehouse = Warehouse.open(sys.argv[1])
try:
    with after(0.2, partial(os.kill, os.getpid(), signal.SIGINT)):
        warehouse.limited_query(sys.argv[2], seconds=60, memory=2**30)
except KeyboardInterrupt:
    print("interrupted")
"""


def test_an_interrupt_ends_a_limited_query(warehouse: Warehouse) -> None:
    command = [sys.executable, "-c", INTERRUPTED, str(warehouse.path), ENDLESS]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert ended.stdout == "interrupted\n", ended.stderr


def test_a_query_that_takes_too_long_is_stopped(warehouse: Warehouse) -> None:
    with pytest.raises(Failed, match=r"the query was stopped after 0.2 s"):
        warehouse.limited_query(ENDLESS, seconds=0.2, memory=2**30)
    (one,) = warehouse.limited_query("SELECT 1 AS one", seconds=60, memory=2**30)["one"].to_pylist()
    assert one == 1


@pytest.mark.parametrize(
    "query",
    ["SELECT range FROM range(1000000000)", "SELECT list(range) FROM range(1000000000)"],
    ids=["many rows", "much work"],
)
def test_a_query_that_needs_too_much_memory_is_stopped(warehouse: Warehouse, query: str) -> None:
    with pytest.raises(
        Failed, match=r"the query needs more than 32 MiB; select less, or raise --memory-limit"
    ):
        warehouse.limited_query(query, seconds=60, memory=2**25)


def test_a_huge_result_is_stopped_when_its_time_is_over(warehouse: Warehouse) -> None:
    with pytest.raises(Failed, match=r"the query was stopped after 0.2 s"):
        warehouse.limited_query("SELECT range FROM range(10000000000)", seconds=0.2, memory=2**40)
