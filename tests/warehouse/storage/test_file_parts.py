"""Rows that are parts of others: knowledge about the wholes saves reading, and never duplicates a row."""

from pathlib import Path

import pandas as pd
import pytest

from tests.warehouse.worlds import FOREST, runs
from warehouse.storage import delta, writing
from warehouse.store import Warehouse

TWO = {"openml:1": 0.9, "openml:2": 0.8}


def evaluations(warehouse: Warehouse) -> int:
    return len(warehouse.sql("SELECT run, measure FROM evaluations"))


def has_no_orphans(warehouse: Warehouse) -> bool:
    return delta.has_no_orphans(delta.open_version(warehouse.path / "evaluations"))


def only(rows: dict[str, pd.DataFrame], *tables: str) -> dict[str, pd.DataFrame]:
    return {name: rows[name] for name in tables}


def test_parts_of_new_rows_are_not_compared_with_stored_rows(
    warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    warehouse.write(runs(), source="test")
    compared, original = [], writing.compare
    monkeypatch.setattr(writing, "compare", lambda *rest: compared.append(rest[1].name) or original(*rest))
    done = warehouse.write(runs(name="b"), source="test")
    assert done.added["evaluations"] == 1
    assert "runs" in compared
    assert not {"evaluations", "hyperparameters"} & set(compared)


def test_parts_of_known_rows_are_compared(warehouse: Warehouse) -> None:
    warehouse.write(runs(), source="test")
    assert warehouse.write(runs(accuracies=TWO), source="test").added["evaluations"] == 1
    assert warehouse.write(runs(accuracies=TWO), source="test").ingest is None
    changed = only(runs(accuracies={"openml:1": 0.5}), "evaluations")
    assert warehouse.write(changed, source="test").changed["evaluations"] == 1
    assert has_no_orphans(warehouse)


def test_a_run_written_after_its_evaluations_does_not_duplicate_them(warehouse: Warehouse) -> None:
    rows = runs(accuracies=TWO)
    warehouse.write(only(rows, "evaluations"), source="test")
    assert not has_no_orphans(warehouse)
    warehouse.write(rows, source="test")
    assert evaluations(warehouse) == 2


def test_a_warehouse_of_an_older_headstart_is_compared_completely(warehouse: Warehouse) -> None:
    delta.admit_orphans(delta.open_version(warehouse.path / "evaluations"))
    rows = runs(accuracies=TWO)
    warehouse.write(only(rows, "evaluations"), source="test")
    warehouse.write(rows, source="test")
    assert evaluations(warehouse) == 2


@pytest.mark.parametrize("orphans", [True, False])
def test_an_export_marks_its_parts(warehouse: Warehouse, tmp_path: Path, orphans: bool) -> None:
    rows = runs(accuracies=TWO)
    warehouse.write(only(rows, "evaluations") if orphans else rows, source="test")
    copy = warehouse.export(tmp_path / "copy")
    assert has_no_orphans(copy) != orphans
    copy.write(rows, source="test")
    assert evaluations(copy) == 2


def test_evaluations_of_runs_lost_to_damage_are_not_duplicated(warehouse: Warehouse) -> None:
    rows = runs(flow=FOREST, accuracies=TWO)
    warehouse.write(rows, source="test")
    (file,) = (warehouse.path / "runs").glob("*.parquet")
    file.write_bytes(b"")
    Warehouse.repair(warehouse.path)
    mended = Warehouse.open(warehouse.path)
    assert not len(mended.sql("SELECT run FROM runs"))
    mended.write(rows, source="test")
    assert evaluations(mended) == 2
