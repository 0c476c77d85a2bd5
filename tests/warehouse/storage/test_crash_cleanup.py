"""The next commit removes the files of a killed writer, and nothing else."""

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from tests.warehouse.worlds import Killed, runs
from warehouse.storage import manifests, ordered_files
from warehouse.store import Warehouse
from warehouse.support.errors import RefusedRows

ROWS = "part-00000-0b5d94c1-6d4c-4c2b-9d1c-6f2f4cd0f7a8-c000.zstd.parquet"


@pytest.fixture
def warehouse(tmp_path: Path) -> Warehouse:
    warehouse = Warehouse.create(tmp_path / "warehouse")
    warehouse.write(runs(name="first"), source="test")
    return warehouse


def names(warehouse: Warehouse) -> set[str]:
    return {path.relative_to(warehouse.path).as_posix() for path in warehouse.path.rglob("*")}


def killed_while_writing(warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """Files and folders left by a write that was killed after its first data files."""

    def dies(*_: Any) -> None:
        (warehouse.path / "runs" / ROWS).write_bytes(b"rows")
        (warehouse.path / "runs" / f"{ROWS}#1").write_bytes(b"ro")
        (warehouse.path / manifests.FOLDER / ".0123456789abcdef").write_bytes(b"")
        (warehouse.path / ".merging" / "more").mkdir(parents=True)
        raise Killed

    before = names(warehouse)
    with monkeypatch.context() as patch, pytest.raises(Killed):
        patch.setattr(ordered_files, "append_table", dies)
        warehouse.write(runs(name="second"), source="test")
    return names(warehouse) - before


def test_the_next_write_removes_what_a_killed_one_left(
    warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    left = killed_while_writing(warehouse, monkeypatch)
    assert {f"runs/{ROWS}", f"runs/{ROWS}#1", ".merging"} < left
    warehouse.write(runs(name="second"), source="test")
    assert not left & names(warehouse)
    assert Warehouse.verify(warehouse.path, deep=True).findings == []
    assert len(warehouse.sql("SELECT * FROM runs")) == 2


def test_files_of_others_stay(warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch) -> None:
    others = {"notes.txt", "runs/mine.parquet", f"jobs/{ROWS}", "models/.0123456789abcdef"}
    for name in others:
        (warehouse.path / name).parent.mkdir(exist_ok=True)
        (warehouse.path / name).write_bytes(b"mine")
    killed_while_writing(warehouse, monkeypatch)
    warehouse.write(runs(name="second"), source="test")
    assert others <= names(warehouse)


def test_nothing_is_removed_from_a_damaged_warehouse_until_it_is_repaired(
    warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    killed_while_writing(warehouse, monkeypatch)
    (log,) = (warehouse.path / "setups" / "_delta_log").glob(f"{1:020}.json")
    log.unlink()  # its files look like leftovers now
    assert Warehouse.verify(warehouse.path).damage
    Warehouse.repair(warehouse.path)
    assert f"runs/{ROWS}" not in names(warehouse)
    assert Warehouse.verify(warehouse.path, deep=True).findings == []
    assert len(warehouse.sql("SELECT * FROM setups")) == 1


def test_committed_rows_without_checksums_are_not_leftovers(
    warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A writer killed between its record and its manifest has committed."""
    killed_while_writing(warehouse, monkeypatch)
    manifests.path_of(warehouse.path, 1).unlink()
    warehouse.write(runs(name="second"), source="test")
    assert len(warehouse.sql("SELECT * FROM runs")) == 2
    assert Warehouse.verify(warehouse.path, deep=True).findings == []


def test_leftovers_of_a_refused_write_are_removed(warehouse: Warehouse) -> None:
    def refused(_: Warehouse) -> dict[str, pd.DataFrame]:
        raise RefusedRows("they contradict each other")

    before = names(warehouse)
    with pytest.raises(RefusedRows):
        warehouse.write(refused, source="test")
    warehouse.write(runs(name="first"), source="test")
    assert names(warehouse) == before
