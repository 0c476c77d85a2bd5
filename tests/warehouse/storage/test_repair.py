"""A repair restores all committed rows that still exist, and names lost ones."""

import shutil
from pathlib import Path

import pandas as pd
import pytest

from tests.warehouse.worlds import Templates, runs
from warehouse.storage import delta, manifests, ordered_files
from warehouse.store import Warehouse
from warehouse.support.errors import BadInput, UnusableWarehouse


@pytest.fixture
def warehouse(templates: Templates, tmp_path: Path) -> Warehouse:
    """Four commits; the third changes rows of the first."""
    commits = (runs(name="a"), runs(name="b"), runs(name="a", accuracies={"openml:1": 0.8}), runs(name="c"))
    return templates.copy(tmp_path / "warehouse", *commits)


def values(path: Path) -> dict[str, float]:
    rows = Warehouse.open(path).sql("SELECT setup, value FROM evaluations JOIN runs USING (run)")
    return dict(zip(rows["setup"].str[-1], rows["value"], strict=True))


def file_of(warehouse: Warehouse, table: str, version: int) -> Path:
    """The file that this Delta version of a table added."""
    (entry,) = delta.log_entries(warehouse.path / table, version - 1, version)
    (file,) = entry.added
    return warehouse.path / table / file


def test_an_undamaged_warehouse_is_not_changed(warehouse: Warehouse) -> None:
    done = Warehouse.repair(warehouse.path)
    assert (done.version, done.mended, done.damaged, done.findings) == (4, [], [], [])
    assert Warehouse.open(warehouse.path).fingerprint == warehouse.fingerprint


def test_logs_and_the_record_of_commits_are_restored_byte_by_byte(warehouse: Warehouse) -> None:
    wanted = {path: path.read_bytes() for path in warehouse.path.rglob("_delta_log/*.json")}
    wanted |= {path: path.read_bytes() for path in (warehouse.path / "ingests").glob("*.parquet")}
    for place, path in enumerate(wanted):
        path.write_bytes(b"") if place % 2 else path.unlink()
    done = Warehouse.repair(warehouse.path)
    assert sorted(done.mended) == sorted(str(path.relative_to(warehouse.path)) for path in wanted)
    assert {path: path.read_bytes() for path in wanted} == wanted
    assert (done.version, done.damaged, done.findings) == (4, [], [])


def test_rows_of_all_commits_but_the_damaged_one_are_restored(warehouse: Warehouse) -> None:
    damaged = file_of(warehouse, "evaluations", 2)
    damaged.write_bytes(damaged.read_bytes()[:-1] + b"x")
    done = Warehouse.repair(warehouse.path)
    assert [(one.table, one.rows, one.version) for one in done.damaged] == [("evaluations", 1, 2)]
    assert not [one for one in done.findings if one.is_damage]
    assert [one.kind for one in done.findings] == ["lost"]
    assert values(warehouse.path) == {"a": 0.8, "c": 0.9}
    assert (warehouse.path / "damaged" / damaged.relative_to(warehouse.path)).exists()


def test_a_row_whose_change_is_lost_has_its_earlier_value(warehouse: Warehouse) -> None:
    file_of(warehouse, "evaluations", 3).unlink()
    done = Warehouse.repair(warehouse.path)
    assert done.recovered == {"evaluations": 1}
    assert values(warehouse.path) == {"a": 0.9, "b": 0.9, "c": 0.9}


def test_rows_of_a_lost_compacted_file_are_restored_from_its_sources(
    warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(ordered_files, "_SMALL_FILES", ((100, 2),))
        warehouse.write(runs(name="d"), source="test")
    whole = warehouse.sql("SELECT * FROM runs ORDER BY run")
    version = delta.open_version(warehouse.path / "runs").version()
    (compacted,) = delta.files_at(warehouse.path / "runs", version)
    Path(compacted).write_bytes(b"")
    assert Warehouse.repair(warehouse.path).recovered == {"runs": 4}
    pd.testing.assert_frame_equal(
        Warehouse.open(warehouse.path).sql("SELECT * FROM runs ORDER BY run"), whole
    )


def test_lost_rows_can_be_written_again(warehouse: Warehouse) -> None:
    file_of(warehouse, "runs", 2).unlink()
    Warehouse.repair(warehouse.path)
    again = Warehouse.open(warehouse.path)
    assert again.write(runs(name="b"), source="test").added["runs"] == 1
    assert Warehouse.verify(warehouse.path, deep=True).damage == []


@pytest.mark.parametrize("left", [b"", bytes(100), b'{"add":{"path":"par'])
def test_leftovers_of_a_commit_interrupted_by_a_power_cut_are_removed_by_the_next_one(
    warehouse: Warehouse, left: bytes
) -> None:
    """Entries written by deltalake may be empty or torn if their content was not on disk yet."""
    folder = warehouse.path / "runs"
    delta.log_entry_path(folder, delta.open_version(folder).version() + 1).write_bytes(left)
    assert [one.kind for one in Warehouse.verify(warehouse.path).findings] == ["unlisted"]
    assert warehouse.write(runs(name="d"), source="test").version == 5
    assert Warehouse.verify(warehouse.path, deep=True).findings == []


def test_a_torn_record_of_a_commit_is_refused_and_repaired(warehouse: Warehouse) -> None:
    folder = warehouse.path / "ingests"
    delta.log_entry_path(folder, delta.open_version(folder).version() + 1).write_bytes(b"")
    with pytest.raises(BadInput, match=r"json is empty; `warehouse repair` may help"):
        warehouse.write(runs(name="d"), source="test")
    done = Warehouse.repair(warehouse.path)
    assert (done.version, len(done.mended), done.findings) == (4, 1, [])
    assert warehouse.write(runs(name="d"), source="test").version == 5


def test_a_torn_checkpoint_of_an_unfinished_commit_is_removed_by_the_next_one(warehouse: Warehouse) -> None:
    for table in ("runs", "ingests"):
        folder = warehouse.path / table
        delta.open_version(folder).create_checkpoint()
        (checkpoint,) = (folder / "_delta_log").glob("*.checkpoint.parquet")
        later = int(checkpoint.name.partition(".")[0]) + 1
        (folder / "_delta_log" / f"{later:020}.checkpoint.parquet").write_bytes(b"PAR1")
        (folder / "_delta_log" / "_last_checkpoint").write_text(f'{{"version":{later},"size":1}}')
    assert Warehouse.open(warehouse.path).write(runs(name="d"), source="test").version == 5
    assert Warehouse.verify(warehouse.path, deep=True).findings == []


def test_damaged_manifests_are_rewritten(warehouse: Warehouse) -> None:
    manifests.path_of(warehouse.path, 2).write_bytes(b"{}")
    assert Warehouse.repair(warehouse.path).findings == []
    assert manifests.versions(warehouse.path) == [4]
    warehouse.write(runs(name="d"), source="test")
    assert Warehouse.verify(warehouse.path, deep=True).findings == []


def test_a_repair_killed_while_writing_manifests_leaves_no_damage(warehouse: Warehouse) -> None:
    older = {path: path.read_bytes() for path in (warehouse.path / manifests.FOLDER).iterdir()}
    Warehouse.repair(warehouse.path)
    for path, content in older.items():
        if not path.exists():
            path.write_bytes(content)
    assert Warehouse.verify(warehouse.path).findings == []


def test_a_warehouse_without_manifests_gets_them(warehouse: Warehouse) -> None:
    shutil.rmtree(warehouse.path / manifests.FOLDER)
    assert [one.kind for one in Warehouse.verify(warehouse.path).findings] == ["unprotected"]
    assert Warehouse.repair(warehouse.path).findings == []


def test_a_record_of_commits_without_a_copy_is_not_guessed(warehouse: Warehouse) -> None:
    shutil.rmtree(warehouse.path / manifests.FOLDER)
    delta.log_entry_path(warehouse.path / "ingests", 2).write_bytes(b"")
    with pytest.raises(UnusableWarehouse, match=r"the record of commits of .* can't be repaired"):
        Warehouse.repair(warehouse.path)


def test_an_older_version_becomes_the_newest_and_the_history_stays(warehouse: Warehouse) -> None:
    warehouse.restore(2)
    assert warehouse.version == 5
    assert values(warehouse.path) == {"a": 0.9, "b": 0.9}
    assert Warehouse.open(warehouse.path, version=4).version == 4
    assert Warehouse.verify(warehouse.path, deep=True).findings == []
    warehouse.restore(4)
    assert values(warehouse.path) == {"a": 0.8, "b": 0.9, "c": 0.9}


def test_a_version_that_needs_a_damaged_file_is_not_restored(warehouse: Warehouse) -> None:
    file_of(warehouse, "runs", 1).write_bytes(b"")
    with pytest.raises(UnusableWarehouse, match=r"/runs/.* is lost or damaged"):
        warehouse.restore(2)
    with pytest.raises(UnusableWarehouse, match="has no version 9; it has 0 to 4"):
        warehouse.restore(9)
