"""All damage is found, and nothing else is reported as damage."""

import json
import random
import shutil
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.flips import flipped_bit
from tests.warehouse.worlds import runs, written
from warehouse.storage import delta, manifests, ordered_files
from warehouse.storage.verification import Finding
from warehouse.store import STARTER, Warehouse
from warehouse.support.errors import UnusableWarehouse


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A warehouse of three commits, the last of which replaces a row."""
    path = tmp_path_factory.mktemp("damage") / "warehouse"
    warehouse = Warehouse.create(path)
    warehouse.write(runs(name="a"), source="test")
    warehouse.write(runs(name="b"), source="test")
    warehouse.write(runs(name="a", accuracies={"openml:1": 0.8}), source="test")
    return path


def committed_files(folder: Path) -> list[Path]:
    return [path for path in sorted(folder.rglob("*")) if path.is_file() and path.name != ".lock"]


def found(folder: Path, *, deep: bool = True) -> list[Finding]:
    return Warehouse.verify(folder, deep=deep).damage


def test_an_unchanged_warehouse_has_no_findings(folder: Path) -> None:
    result = Warehouse.verify(folder, deep=True)
    assert result.findings == []
    assert result.version == 3
    assert result.files == len(committed_files(folder)) - 4  # except the manifests of versions 0 to 3


def test_the_bundled_starter_is_unchanged() -> None:
    assert Warehouse.verify(STARTER, deep=True).findings == []


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_every_flipped_bit_is_found(folder: Path, data: st.DataObject) -> None:
    with flipped_bit(data, committed_files(folder)):
        assert found(folder)


@pytest.mark.parametrize("deep", [True, False])
def test_every_lost_or_truncated_file_is_found_even_without_reading_it(folder: Path, deep: bool) -> None:
    newest = manifests.path_of(folder, 3)
    for path in random.Random(0).sample(committed_files(folder), 20):
        content = path.read_bytes()
        path.unlink()
        # The newest manifest may be one that was never written; then its commit has no checksums.
        assert found(folder, deep=deep) or path == newest, path
        path.write_bytes(content[:-1])
        assert found(folder, deep=deep), path
        path.write_bytes(content)


def test_a_commit_with_a_removed_record_is_noticed_when_the_warehouse_is_opened(folder: Path) -> None:
    newest = delta.log_entry_path(folder / "ingests", 3)
    content = newest.read_text()
    newest.unlink()
    try:
        with pytest.raises(UnusableWarehouse, match="has lost the record of version 3; `warehouse repair`"):
            Warehouse.open(folder)
        assert {one.kind for one in found(folder)} == {"missing", "record"}
    finally:
        newest.write_text(content)


def test_commits_without_manifests_are_named_but_not_damage(tmp_path: Path) -> None:
    """Older Headstarts write none, and a writer may be killed before it does."""
    warehouse = Warehouse.create(tmp_path / "w")
    warehouse.write(runs(name="a"), source="test")
    manifests.path_of(warehouse.path, 1).unlink()
    result = Warehouse.verify(warehouse.path, deep=True)
    assert [(one.kind, one.message) for one in result.findings] == [
        ("unprotected", "versions 1 to 1 have no checksums")
    ]
    warehouse.write(runs(name="b"), source="test")
    assert Warehouse.verify(warehouse.path, deep=True).findings == []


def test_a_file_that_no_commit_wrote_is_named_but_not_damage(folder: Path) -> None:
    foreign = folder / "runs" / "foreign.parquet"
    foreign.write_bytes(b"x")
    try:
        (finding,) = Warehouse.verify(folder).findings
    finally:
        foreign.unlink()
    assert (finding.kind, finding.path, finding.is_damage) == ("unlisted", "runs/foreign.parquet", False)
    assert "may be deleted" in finding.advice


@pytest.mark.parametrize("file", ["jobs/one/journal.jsonl", "journals/one.jsonl", "models/one/model.json"])
def test_files_of_jobs_are_not_reported(folder: Path, file: str) -> None:
    (folder / file).parent.mkdir(parents=True)
    (folder / file).write_text("{}")
    assert Warehouse.verify(folder).findings == []
    shutil.rmtree(folder / file.partition("/")[0])


def test_leftovers_of_a_killed_writer_are_not_damage(tmp_path: Path) -> None:
    warehouse = Warehouse.create(tmp_path / "w")
    warehouse.write(runs(name="a"), source="test")
    table = delta.open_version(warehouse.path / "flows")
    ordered_files.append_table(
        table, warehouse.path / "flows", warehouse.arrow("SELECT * FROM flows")
    )  # and no record of it
    assert Warehouse.verify(warehouse.path, deep=True).damage == []
    warehouse.write(runs(name="b"), source="test")
    assert Warehouse.verify(warehouse.path, deep=True).damage == []


def test_checkpoints_of_the_logs_are_verified_and_may_be_missing(tmp_path: Path) -> None:
    warehouse = written(tmp_path / "w", *(runs(name=name) for name in "abcde"))  # the last commit compacts
    checkpoints = sorted((warehouse.path / "setups" / "_delta_log").glob("*checkpoint*"))
    assert len(checkpoints) == 2
    assert Warehouse.verify(warehouse.path, deep=True).findings == []
    for path in checkpoints:
        content = path.read_bytes()
        path.write_bytes(content[:-1])
        assert found(warehouse.path), path
        path.write_bytes(content)
    for path in checkpoints:
        path.unlink()
    assert Warehouse.verify(warehouse.path, deep=True).findings == []
    assert Warehouse.open(warehouse.path).version == 5


def log_with(path: str) -> str:
    return json.dumps({"add": {"path": path, "partitionValues": {}, "size": 1, "modificationTime": 0}}) + "\n"


@pytest.mark.parametrize("path", ["../../other.parquet", "/etc/passwd", "file:///etc/passwd", "%2E%2E/x"])
def test_a_log_that_names_a_file_elsewhere_is_refused(tmp_path: Path, path: str) -> None:
    warehouse = Warehouse.create(tmp_path / "w")
    warehouse.write(runs(name="a"), source="test")
    entry = delta.log_entry_path(warehouse.path / "runs", 1)
    metadata = [line for line in entry.read_text().splitlines() if '"add"' not in line]
    entry.write_text("\n".join(metadata) + "\n" + log_with(path))
    with pytest.raises(UnusableWarehouse, match="damaged"):
        Warehouse.open(warehouse.path).sql("SELECT * FROM runs")
    assert found(warehouse.path)
