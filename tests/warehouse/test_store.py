"""Writing to a warehouse and reading it back: versions, provenance, and what is refused."""

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from deltalake import DeltaTable

from tests.warehouse.worlds import BOOSTING, FOREST, qualities, runs
from warehouse import delta, store
from warehouse.schema import TABLES
from warehouse.store import Warehouse
from warehouse.support.errors import BadInput, Failed


@pytest.fixture
def warehouse(tmp_path: Path) -> Warehouse:
    return Warehouse.create(tmp_path / "warehouse")


def values(warehouse: Warehouse) -> list[float]:
    return warehouse.sql("SELECT value FROM evaluations ORDER BY run, measure")["value"].tolist()


def test_new_warehouse_is_empty_and_can_be_queried(warehouse: Warehouse) -> None:
    assert (warehouse.version, warehouse.fingerprint, warehouse.read_only) == (0, "empty", False)
    for name, table in TABLES.items():
        rows = warehouse.arrow(f"SELECT * FROM {name}")
        assert rows.num_rows == 0
        assert rows.schema.names == table.schema.names
        assert [field.type for field in rows.schema][:-1] == [field.type for field in table.schema][:-1]


def test_written_rows_come_back_with_types_and_provenance(warehouse: Warehouse) -> None:
    commit = warehouse.write(runs(), source="test", location="here")
    for name, table in TABLES.items():
        rows = warehouse.arrow(f"SELECT * FROM {name}")
        assert rows.schema.names == table.schema.names
        if rows.num_rows:
            assert set(rows["ingest"].to_pylist()) == {commit.ingest}
    [ingest] = warehouse.arrow("SELECT * FROM ingests").to_pylist()
    assert (ingest["version"], ingest["source"], ingest["location"]) == (1, "test", "here")
    assert ingest["started"] <= ingest["finished"]


def test_creating_twice_opens_the_same_warehouse(warehouse: Warehouse) -> None:
    warehouse.write(runs(), source="test")
    again = Warehouse.create(warehouse.path)
    assert (again.version, again.fingerprint) == (1, warehouse.fingerprint)


def test_writing_the_same_again_changes_nothing_and_makes_no_version(warehouse: Warehouse) -> None:
    tables = {
        **runs(),
        "qualities": qualities({"ClassEntropy": None, "MeanKurtosis": 3.0}, source="computed"),
    }
    first = warehouse.write(tables, source="test")
    again = warehouse.write(tables, source="somewhere else")
    assert first.added["runs"] == 1
    assert (again.ingest, again.version) == (None, 1)
    assert not any(again.added.values())
    assert not any(again.changed.values())


def test_only_what_is_new_is_added(warehouse: Warehouse) -> None:
    warehouse.write(runs(accuracies={"openml:1": 0.9}), source="test")
    commit = warehouse.write(runs(accuracies={"openml:1": 0.9, "openml:2": 0.8}), source="test")
    assert (commit.added["runs"], commit.changed["runs"], commit.added["flows"]) == (1, 0, 0)
    assert values(warehouse) == [0.9, 0.8]


def test_a_row_with_a_known_key_and_other_content_replaces_the_old_one(warehouse: Warehouse) -> None:
    warehouse.write(runs(accuracies={"openml:1": 0.9, "openml:2": 0.7}), source="test")
    commit = warehouse.write(runs(accuracies={"openml:1": 0.95}), source="test")
    assert (commit.added["evaluations"], commit.changed["evaluations"]) == (0, 1)
    assert values(warehouse) == [0.95, 0.7]
    ingests = warehouse.sql("SELECT run, ingest FROM evaluations ORDER BY run")["ingest"]
    assert ingests[0] == commit.ingest != ingests[1]


def test_null_becomes_a_value_and_back(warehouse: Warehouse) -> None:
    for value in (None, 1.5, None, float("nan")):
        warehouse.write({"qualities": qualities({"ClassEntropy": value}, source="openml")}, source="test")
    assert warehouse.version == 3
    assert warehouse.arrow("SELECT value FROM qualities")["value"].to_pylist() == [None]


def test_identical_rows_within_a_write_count_once(warehouse: Warehouse) -> None:
    tables = {name: pd.concat([rows, rows]) for name, rows in runs().items()}
    assert set(warehouse.write(tables, source="test").added.values()) == {1, 2}  # 2 hyperparameters
    assert len(warehouse.sql("SELECT * FROM runs")) == 1


def test_rows_that_contradict_each_other_within_a_write_are_refused(warehouse: Warehouse) -> None:
    rows = runs()["evaluations"]
    with pytest.raises(BadInput, match=r"^evaluations: two rows for run='.*', measure='predictive_accuracy'"):
        warehouse.write({"evaluations": pd.concat([rows, rows.assign(value=0.1)])}, source="test")
    assert warehouse.version == 0


@pytest.mark.parametrize(
    ("table", "rows", "reason"),
    [
        ("trials", {"run": ["a"]}, "no table 'trials'"),
        ("ingests", {"ingest": ["a"]}, "no table 'ingests'"),
        ("setups", {"setup": ["a"]}, "setups: missing column flow"),
        ("setups", {"setup": ["a"], "flow": ["b"], "color": ["red"]}, "setups: unknown column color"),
        ("setups", {"setup": ["a", None], "flow": ["b", "b"]}, "setups: row 1 has no setup"),
        ("setups", {"setup": [31], "flow": ["b"]}, "setups: a value does not fit"),
        (
            "runs",
            {"run": ["a"], "task": ["t"], "setup": ["s"], "outcome": ["ok"]},
            "outcome is one of success",
        ),
        ("hyperparameters", {"setup": ["s"], "parameter": ["p"], "value": ["gini"]}, "value is JSON text"),
        ("hyperparameters", {"setup": ["s"], "parameter": ["p"], "value": ["NaN"]}, "value is JSON text"),
        (
            "evaluations",
            {"run": ["r"], "measure": ["m"], "value": [0.5], "flow": [np.nan]},
            "evaluations: row 0 has no flow",
        ),
    ],
)
def test_rows_that_do_not_fit_are_refused_in_one_line(
    warehouse: Warehouse, table: str, rows: dict[str, list[object]], reason: str
) -> None:
    with pytest.raises(BadInput) as caught:
        warehouse.write({table: pd.DataFrame(rows)}, source="test")
    assert reason in str(caught.value)
    assert "\n" not in str(caught.value)


def test_nothing_of_a_write_is_kept_when_one_of_its_tables_is_refused(warehouse: Warehouse) -> None:
    tables = runs()
    with pytest.raises(BadInput):
        warehouse.write(
            {**tables, "evaluations": tables["evaluations"].drop(columns="measure")}, source="test"
        )
    assert Warehouse.open(warehouse.path).sql("SELECT * FROM setups").empty


def test_arrow_and_pandas_rows_mean_the_same(warehouse: Warehouse) -> None:
    tables = runs()
    warehouse.write(tables, source="test")
    arrow = {name: pa.Table.from_pandas(rows, preserve_index=False) for name, rows in tables.items()}
    assert warehouse.write(arrow, source="test").ingest is None


def test_every_version_can_be_opened_again(warehouse: Warehouse) -> None:
    warehouse.write(runs(accuracies={"openml:1": 0.9}), source="test")
    warehouse.write(runs(accuracies={"openml:1": 0.5, "openml:2": 0.6}), source="test")
    assert values(Warehouse.open(warehouse.path)) == [0.5, 0.6]
    assert values(Warehouse.open(warehouse.path, version=2)) == [0.5, 0.6]
    assert values(Warehouse.open(warehouse.path, version=1)) == [0.9]
    empty = Warehouse.open(warehouse.path, version=0)
    assert (empty.version, empty.fingerprint, values(empty)) == (0, "empty", [])
    assert len(Warehouse.open(warehouse.path, version=1).sql("SELECT * FROM ingests")) == 1


@pytest.mark.parametrize("version", [-1, 2])
def test_unknown_version_is_refused_and_the_known_ones_are_named(warehouse: Warehouse, version: int) -> None:
    warehouse.write(runs(), source="test")
    with pytest.raises(BadInput, match=f"no version {version}; it has 0 to 1"):
        Warehouse.open(warehouse.path, version=version)


def test_older_version_cannot_be_written_to(warehouse: Warehouse) -> None:
    warehouse.write(runs(), source="test")
    old = Warehouse.open(warehouse.path, version=0)
    assert old.read_only
    with pytest.raises(BadInput, match="opened at version 0"):
        old.write(runs(), source="test")


def test_tables_whose_columns_were_described_in_other_words_still_take_rows(tmp_path: Path) -> None:
    """A warehouse of an earlier release, whose tables kept the descriptions."""
    folder = tmp_path / "old"
    for name, table in TABLES.items():
        fields = [field.with_metadata({"meaning": "said otherwise"}) for field in table.schema]
        DeltaTable.create(folder / name, pa.schema(fields), partition_by=list(table.partition_by))
    warehouse = Warehouse.open(folder)
    warehouse.write(runs(), source="test")
    changed = runs(accuracies={"openml:1": 0.25})
    warehouse.write(changed, source="test")
    assert values(warehouse) == [0.25]


def test_open_warehouse_does_not_move_while_others_write(warehouse: Warehouse) -> None:
    reader = Warehouse.open(warehouse.path)
    warehouse.write(runs(), source="test")
    assert (reader.version, values(reader)) == (0, [])
    assert (warehouse.version, values(warehouse)) == (1, [0.9])


def test_writer_that_opened_earlier_builds_on_what_others_wrote(warehouse: Warehouse) -> None:
    other = Warehouse.open(warehouse.path)
    warehouse.write(runs(accuracies={"openml:1": 0.9}), source="test")
    commit = other.write(runs(accuracies={"openml:1": 0.9, "openml:2": 0.8}), source="test")
    assert (commit.version, commit.added["runs"]) == (2, 1)


def test_fingerprint_depends_on_content_and_not_on_the_place(tmp_path: Path) -> None:
    here, there, elsewhere = (Warehouse.create(tmp_path / name) for name in ("a", "b", "c"))
    for warehouse in (here, there):
        warehouse.write(runs(), source="test", location=str(warehouse.path))
    elsewhere.write(runs(accuracies={"openml:1": 0.8}), source="test")
    assert here.fingerprint == there.fingerprint != elsewhere.fingerprint


def test_returning_to_old_content_is_a_new_fingerprint(warehouse: Warehouse) -> None:
    seen = {warehouse.fingerprint}
    for accuracy in (0.1, 0.2, 0.1):
        warehouse.write(runs(accuracies={"openml:1": accuracy}), source="test")
        seen.add(warehouse.fingerprint)
    assert len(seen) == 4


@pytest.mark.parametrize(
    "name", ["it's mine", 'a "quoted" name', "données été", "a*b?c", "50%", "#1 & {2}; --"]
)
def test_any_usual_path_works(tmp_path: Path, name: str) -> None:
    warehouse = Warehouse.create(tmp_path / name)
    warehouse.write(runs(), source="test")
    warehouse.write(runs(accuracies={"openml:1": 0.5}), source="test")
    assert values(Warehouse.open(str(warehouse.path))) == [0.5]
    assert values(Warehouse.open(warehouse.path, version=1)) == [0.9]


@pytest.mark.parametrize("name", ["[x]", "a%20b", "a^b", "tab\there"])
def test_path_that_delta_tables_cannot_have_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(BadInput, match="in a path is not supported"):
        Warehouse.create(tmp_path / name)


@pytest.mark.parametrize("flow", ["007", "openml:1", "headstart:svm", "a/b c=d", "50%41", "été"])
def test_flow_names_survive_the_partitioning(warehouse: Warehouse, flow: str) -> None:
    warehouse.write(runs(flow), source="test")
    assert warehouse.arrow("SELECT flow FROM evaluations")["flow"].to_pylist() == [flow]
    assert warehouse.run_table(flow, "predictive_accuracy").runs["flow"].tolist() == [flow]


def test_missing_warehouse_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="there is no warehouse at"):
        Warehouse.open(tmp_path / "nowhere")


def test_other_directory_is_no_warehouse_and_does_not_become_one(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(BadInput, match="is not a warehouse"):
        Warehouse.open(tmp_path)
    with pytest.raises(BadInput, match="holds other files"):
        Warehouse.create(tmp_path)
    with pytest.raises(BadInput, match="is a file"):
        Warehouse.create(tmp_path / "notes.txt")


def test_the_warehouse_named_by_the_environment_is_opened(
    warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEADSTART_WAREHOUSE", str(warehouse.path))
    assert Warehouse.open().path == warehouse.path
    assert Warehouse.create().path == warehouse.path


def test_without_a_path_the_users_own_begins_as_a_copy_of_the_starter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    starter = Warehouse.create(tmp_path / "starter")
    starter.write(runs(), source="test")
    monkeypatch.setattr(store, "STARTER", starter.path)
    monkeypatch.delenv("HEADSTART_WAREHOUSE", raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "share"))
    assert Warehouse.open().path == starter.path
    own = Warehouse.create()
    assert own.path == tmp_path / "share" / "headstart" / "warehouse"
    assert own.fingerprint == starter.fingerprint
    own.write(runs(FOREST, name="b"), source="test")
    assert Warehouse.open().path == Warehouse.create().path == own.path
    assert values(own) == [0.9, 0.9]


def test_first_writes_at_the_same_time_are_all_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    starter = Warehouse.create(tmp_path / "starter")
    starter.write(runs(name="starter"), source="test")
    monkeypatch.setattr(store, "STARTER", starter.path)
    monkeypatch.delenv("HEADSTART_WAREHOUSE", raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "share"))

    def first_write(number: int) -> None:
        Warehouse.create().write(runs(name=f"mine-{number}"), source="test")

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(first_write, range(6)))
    known = Warehouse.open().sql("SELECT DISTINCT setup FROM runs")["setup"]
    mine = {f"{FOREST}/mine-{number}" for number in range(6)}
    assert set(known) == {f"{FOREST}/starter"} | mine


def test_an_export_leaves_alone_what_came_to_its_destination_meanwhile(
    warehouse: Warehouse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    warehouse.write(runs(), source="test")
    mine = tmp_path / "copy" / "mine.txt"

    def somebody_writes(*_: object) -> None:
        mine.parent.mkdir()
        mine.write_text("mine")

    monkeypatch.setattr(Warehouse, "_copy_content", somebody_writes)
    with pytest.raises(Failed, match="cannot export to"):
        warehouse.export(mine.parent)
    assert mine.read_text() == "mine"


def test_starter_is_read_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Warehouse.create(tmp_path / "starter").write(runs(), source="test")
    monkeypatch.setattr(store, "STARTER", tmp_path / "starter")
    starter = Warehouse.open(tmp_path / "starter")
    assert starter.read_only
    with pytest.raises(BadInput, match="starter warehouse is read-only; name a warehouse of your own"):
        starter.write(runs(FOREST, name="b"), source="test")
    assert values(starter) == [0.9]


def test_directory_without_write_permission_can_be_read_only(
    warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    warehouse.write(runs(), source="test")
    monkeypatch.setattr(os, "access", lambda _, mode: not mode & os.W_OK)
    reader = Warehouse.open(warehouse.path)
    assert values(reader) == [0.9]
    with pytest.raises(BadInput, match="is read-only for you"):
        reader.write(runs(BOOSTING, None), source="test")


def test_many_small_commits_end_in_few_files_and_every_version_stays_readable(
    warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(delta, "_SMALL_FILES", 3)
    for n in range(8):
        warehouse.write({"setups": pd.DataFrame({"setup": [f"s{n}"], "flow": FOREST})}, source="test")
    folder = warehouse.path / "setups"
    assert len(delta.files(folder, delta.open_version(folder))) <= 4
    for version in range(9):
        setups = Warehouse.open(warehouse.path, version=version).sql(
            "SELECT setup FROM setups ORDER BY setup"
        )
        assert setups["setup"].tolist() == [f"s{n}" for n in range(version)]


def test_first_version_outlives_the_checkpoints_of_the_log(tmp_path: Path) -> None:
    folder, table = tmp_path / "setups", TABLES["setups"]
    delta.create(folder, table)
    rows = pa.Table.from_pylist([{"setup": "a", "flow": "f", "ingest": "i"}], schema=table.schema)
    for _ in range(105):  # a checkpoint comes every 100 commits
        delta.append(delta.open_version(folder), rows)
    assert any((folder / "_delta_log").glob("*.checkpoint.parquet"))
    assert len(delta.files(folder, delta.open_version(folder, 1))) == 1
