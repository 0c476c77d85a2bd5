"""Exports of a warehouse: the same content, small, and independent."""

import shutil
from pathlib import Path

import pandas as pd
import pytest

from tests.warehouse.worlds import BOOSTING, runs, written
from warehouse.store import Warehouse
from warehouse.support.errors import BadInput
from warehouse.vocabulary.schema import TABLES


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    commits = (runs(accuracies={"openml:1": accuracy}) for accuracy in (0.1, 0.2, 0.3))
    warehouse = written(tmp_path_factory.mktemp("export") / "warehouse", *commits)
    warehouse.write(runs(BOOSTING, "adaboost"), source="test", location="elsewhere")
    return warehouse.path


@pytest.fixture
def warehouse(template: Path, tmp_path: Path) -> Warehouse:
    """Four commits, a new copy for each test."""
    return Warehouse.open(shutil.copytree(template, tmp_path / "warehouse"))


def test_export_has_the_same_content_version_and_provenance(warehouse: Warehouse, tmp_path: Path) -> None:
    copy = warehouse.export(tmp_path / "copy")
    assert (copy.path, copy.version, copy.fingerprint) == (tmp_path / "copy", 4, warehouse.fingerprint)
    for name in TABLES:
        columns = "* EXCLUDE (tables)" if name == "ingests" else "*"
        query = f"SELECT {columns} FROM {name} ORDER BY ALL"
        pd.testing.assert_frame_equal(copy.sql(query), warehouse.sql(query))
    original, copied = (w.run_table(None, "predictive_accuracy") for w in (warehouse, copy))
    pd.testing.assert_frame_equal(copied.runs, original.runs)
    pd.testing.assert_frame_equal(copied.configurations.parameters, original.configurations.parameters)


def test_export_does_not_contain_its_original_path(warehouse: Warehouse, tmp_path: Path) -> None:
    warehouse.export(tmp_path / "copy")
    logs = [log.read_text(encoding="utf-8") for log in (tmp_path / "copy").rglob("_delta_log/*.json")]
    assert logs
    assert not [log for log in logs if tmp_path.name in log]


def test_export_has_one_file_per_table(warehouse: Warehouse, tmp_path: Path) -> None:
    warehouse.export(tmp_path / "copy")
    files = [path.relative_to(tmp_path / "copy") for path in (tmp_path / "copy").rglob("*.parquet")]
    tables = [path.parts[0] for path in files]
    assert tables.count("evaluations") == tables.count("runs") == tables.count("ingests") == 1
    assert not (tmp_path / "copy" / ".lock").exists()


def test_export_can_be_written_to_independently(warehouse: Warehouse, tmp_path: Path) -> None:
    copy = warehouse.export(tmp_path / "copy")
    assert copy.write(runs(BOOSTING, "adaboost"), source="test").ingest is None
    copy.write(runs(name="new"), source="test")
    assert (copy.version, warehouse.version) == (5, 4)
    assert copy.fingerprint != warehouse.fingerprint


def test_older_versions_of_an_export_are_refused(warehouse: Warehouse, tmp_path: Path) -> None:
    warehouse.export(tmp_path / "copy")
    assert Warehouse.open(tmp_path / "copy", version=4).sql("SELECT * FROM runs").shape[0] == 2
    assert Warehouse.open(tmp_path / "copy", version=0).sql("SELECT * FROM runs").empty
    with pytest.raises(BadInput, match="without the content of version 2"):
        Warehouse.open(tmp_path / "copy", version=2)


def test_an_older_version_can_be_exported(warehouse: Warehouse, tmp_path: Path) -> None:
    copy = Warehouse.open(warehouse.path, version=2).export(tmp_path / "copy")
    assert copy.version == 2
    assert copy.sql("SELECT value FROM evaluations")["value"].tolist() == [0.2]


def test_export_never_overwrites(warehouse: Warehouse, tmp_path: Path) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "notes.txt").write_text("mine")
    (tmp_path / "file").write_text("mine")
    for taken in (tmp_path / "full", tmp_path / "file", warehouse.path):
        with pytest.raises(BadInput, match="exists already"):
            warehouse.export(taken)
    assert {entry.name for entry in tmp_path.iterdir()} == {"warehouse", "full", "file"}
