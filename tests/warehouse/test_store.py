"""Writing to a warehouse and reading it back: versions, provenance, and refusals."""

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.warehouse.worlds import BOOSTING, FOREST, runs, values
from warehouse import store
from warehouse.store import Warehouse
from warehouse.support.errors import BadInput, Unwritable
from warehouse.vocabulary.schema import TABLES


def test_new_warehouse_is_empty_and_can_be_queried(warehouse: Warehouse) -> None:
    assert (warehouse.version, warehouse.fingerprint, warehouse.read_only) == (0, "empty", False)
    for name, table in TABLES.items():
        rows = warehouse.arrow(f"SELECT * FROM {name}")
        assert rows.num_rows == 0
        assert rows.schema.names == table.schema.names
        assert [field.type for field in rows.schema][:-1] == [field.type for field in table.schema][:-1]


def test_written_rows_are_read_back_with_types_and_provenance(warehouse: Warehouse) -> None:
    commit = warehouse.write(runs(), source="test", location="here")
    for name, table in TABLES.items():
        rows = warehouse.arrow(f"SELECT * FROM {name}")
        assert rows.schema.names == table.schema.names
        if rows.num_rows:
            assert set(rows["ingest"].to_pylist()) == {commit.ingest}
    [ingest] = warehouse.arrow("SELECT * FROM ingests").to_pylist()
    assert (ingest["version"], ingest["source"], ingest["location"]) == (1, "test", "here")
    assert ingest["started"] <= ingest["finished"]


def test_nothing_of_a_write_is_kept_when_one_of_its_tables_is_refused(warehouse: Warehouse) -> None:
    tables = runs()
    with pytest.raises(BadInput):
        warehouse.write(
            {**tables, "evaluations": tables["evaluations"].drop(columns="measure")}, source="test"
        )
    assert Warehouse.open(warehouse.path).sql("SELECT * FROM setups").empty


def test_every_version_can_be_opened_again(warehouse: Warehouse) -> None:
    warehouse.write(runs(accuracies={"openml:1": 0.9}), source="test")
    warehouse.write(runs(accuracies={"openml:1": 0.5, "openml:2": 0.6}), source="test")
    assert values(Warehouse.open(warehouse.path)) == [0.5, 0.6]
    assert values(Warehouse.open(warehouse.path, version=2)) == [0.5, 0.6]
    assert values(Warehouse.open(warehouse.path, version=1)) == [0.9]
    empty = Warehouse.open(warehouse.path, version=0)
    assert (empty.version, empty.fingerprint, values(empty)) == (0, "empty", [])
    assert len(Warehouse.open(warehouse.path, version=1).sql("SELECT * FROM ingests")) == 1


def test_older_version_cannot_be_written_to(warehouse: Warehouse) -> None:
    warehouse.write(runs(), source="test")
    old = Warehouse.open(warehouse.path, version=0)
    assert old.read_only
    with pytest.raises(BadInput, match="opened at version 0"):
        old.write(runs(), source="test")


def test_an_open_warehouse_stays_at_its_version_while_others_write(warehouse: Warehouse) -> None:
    reader = Warehouse.open(warehouse.path)
    warehouse.write(runs(), source="test")
    assert (reader.version, values(reader)) == (0, [])
    assert (warehouse.version, values(warehouse)) == (1, [0.9])


def test_a_writer_that_opened_earlier_builds_on_later_commits(warehouse: Warehouse) -> None:
    other = Warehouse.open(warehouse.path)
    warehouse.write(runs(accuracies={"openml:1": 0.9}), source="test")
    commit = other.write(runs(accuracies={"openml:1": 0.9, "openml:2": 0.8}), source="test")
    assert (commit.version, commit.added["runs"]) == (2, 1)


def test_missing_warehouse_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="there is no warehouse at"):
        Warehouse.open(tmp_path / "nowhere")


def test_another_directory_is_not_a_warehouse_and_does_not_become_one(tmp_path: Path) -> None:
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


@pytest.fixture
def starter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Warehouse:
    """A starter with one run, and a user without a warehouse."""
    starter = Warehouse.create(tmp_path / "starter")
    starter.write(runs(name="starter"), source="test")
    monkeypatch.setattr(store, "STARTER", starter.path)
    monkeypatch.delenv("HEADSTART_WAREHOUSE", raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "share"))
    return starter


def test_without_a_path_the_users_own_begins_as_a_copy_of_the_starter(
    starter: Warehouse, tmp_path: Path
) -> None:
    assert Warehouse.open().path == starter.path
    own = Warehouse.create()
    assert own.path == tmp_path / "share" / "headstart" / "warehouse"
    assert own.fingerprint == starter.fingerprint
    own.write(runs(FOREST, name="b"), source="test")
    assert Warehouse.open().path == Warehouse.create().path == own.path
    assert values(own) == [0.9, 0.9]


def test_the_models_of_the_starter_are_copied(starter: Warehouse) -> None:
    (starter.path / "models" / "one").mkdir(parents=True)
    (starter.path / "models" / "one" / "model.json").write_text("{}")
    assert (Warehouse.create().path / "models" / "one" / "model.json").read_text() == "{}"


@pytest.mark.usefixtures("starter")
def test_first_writes_at_the_same_time_are_all_kept() -> None:

    def first_write(number: int) -> None:
        Warehouse.create().write(runs(name=f"mine-{number}"), source="test")

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(first_write, range(6)))
    known = Warehouse.open().sql("SELECT DISTINCT setup FROM runs")["setup"]
    mine = {f"{FOREST}/mine-{number}" for number in range(6)}
    assert set(known) == {f"{FOREST}/starter"} | mine


def test_an_export_does_not_overwrite_files_created_meanwhile(
    warehouse: Warehouse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    warehouse.write(runs(), source="test")
    mine = tmp_path / "copy" / "mine.txt"

    def somebody_writes(*_: object) -> None:
        mine.parent.mkdir()
        mine.write_text("mine")

    monkeypatch.setattr(Warehouse, "_copy_content", somebody_writes)
    with pytest.raises(Unwritable, match="cannot export to"):
        warehouse.export(mine.parent)
    assert mine.read_text() == "mine"


def test_starter_is_read_only(starter: Warehouse) -> None:
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
