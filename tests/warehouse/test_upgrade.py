"""Warehouses of older Headstarts are read unchanged, and upgraded by the first write."""

from pathlib import Path

import pyarrow as pa
import pytest

from tests.warehouse.worlds import FOREST, another_headstart, runs
from warehouse.store import Warehouse
from warehouse.vocabulary.schema import TABLES

NEW_COLUMNS = ("raw", "component", "is_default", "tunable")


@pytest.fixture
def old(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A warehouse from when hyperparameters had only a value, and components were unknown."""
    path = tmp_path / "warehouse"
    table = TABLES["hyperparameters"]
    fewer = pa.schema([column for column in table.schema if column.name not in NEW_COLUMNS])
    older = type(table)(table.name, fewer, table.key, table.sort_by, table.checks)
    tables = {name: known for name, known in TABLES.items() if name != "components"}
    with monkeypatch.context() as patch:
        another_headstart(patch, {**tables, "hyperparameters": older})
        Warehouse.create(path).write(runs(name="old"), source="test")
    assert not (path / "components").exists()
    return path


def test_new_columns_are_null(old: Path) -> None:
    warehouse = Warehouse.open(old)
    rows = warehouse.arrow("SELECT * FROM hyperparameters")
    assert rows.column_names == TABLES["hyperparameters"].schema.names
    assert rows.num_rows == 2
    assert all(rows[name].null_count == 2 for name in NEW_COLUMNS)
    assert warehouse.sql("SELECT * FROM components").empty
    assert len(warehouse.run_table(FOREST, "predictive_accuracy").runs) == 1


def test_reading_changes_nothing(old: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in old.rglob("*")}
    Warehouse.open(old).sql("SELECT count(*) FROM hyperparameters")
    assert {path: path.stat().st_mtime_ns for path in old.rglob("*")} == before


def test_the_first_write_adds_the_new_columns(old: Path) -> None:
    warehouse = Warehouse.open(old)
    tables = runs(name="new")
    tables["hyperparameters"] = tables["hyperparameters"].assign(raw="0.5", tunable=True)
    assert warehouse.write(tables, source="test").added["hyperparameters"] == 2
    found = warehouse.sql("SELECT setup, raw FROM hyperparameters ORDER BY setup")
    assert found["raw"].tolist()[:2] == ["0.5", "0.5"]
    assert found["raw"].isna().tolist() == [False, False, True, True]
    again = Warehouse.open(old)
    assert again.version == 2
    assert (old / "components").is_dir()
    assert Warehouse.open(old, version=1).sql("SELECT * FROM hyperparameters")["raw"].isna().all()
