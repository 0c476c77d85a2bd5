"""What was reported as written is on disk, and a record never gets there before its rows."""

import os
from pathlib import Path

import pytest

from tests.warehouse.worlds import runs
from warehouse.storage import delta
from warehouse.store import Warehouse
from warehouse.support.errors import Unwritable


@pytest.fixture
def warehouse(tmp_path: Path) -> Warehouse:
    return Warehouse.create(tmp_path / "warehouse")


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="needs /proc to tell what is synced")
def test_rows_are_on_disk_before_their_record_and_the_record_before_the_write_returns(
    warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    record = delta.log_entry_path(warehouse.path / "ingests", 1)
    synced: dict[bool, set[Path]] = {False: set(), True: set()}
    sync = os.fsync

    def watched(handle: int) -> None:
        synced[record.exists()].add(Path(f"/proc/self/fd/{handle}").readlink())
        sync(handle)

    monkeypatch.setattr(os, "fsync", watched)
    warehouse.write(runs(), source="test")
    written = {path for path in warehouse.path.rglob("*") if path.is_file() and path.name != ".lock"}
    new = {path for path in written if path.stem != f"{0:020}" and path.parent.name != "commits"}
    of_record = {path for path in new if (warehouse.path / "ingests") in path.parents}
    assert new - of_record <= synced[False]
    assert {path.parent for path in new - of_record} <= synced[False]
    assert of_record | {path.parent for path in of_record} <= synced[True]
    assert warehouse.path / "commits" in synced[True]


def test_a_disk_that_does_not_take_the_rows_fails_the_write_and_leaves_no_record(
    warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuses(_: int) -> None:
        raise OSError(5, "Input/output error")

    with (
        monkeypatch.context() as patch,
        pytest.raises(Unwritable, match=r"json can't be written: Input/output error"),
    ):
        patch.setattr(os, "fsync", refuses)
        warehouse.write(runs(), source="test")
    assert Warehouse.open(warehouse.path).version == 0
    assert warehouse.write(runs(), source="test").version == 1
    assert Warehouse.verify(warehouse.path, deep=True).damage == []
