"""Own experiments: what is run, what is stored, and going on after a stop."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from ingest import experiments
from ingest.dataset_files import find_datasets
from ingest.evaluation import MEASURES
from ingest.experiments import Progress, run_experiments
from ingest.plan import Plan, design_plan
from warehouse.errors import BadInput
from warehouse.store import Warehouse

FLOWS = ("decision_tree", "naive_bayes")
RUNS_PER_DATASET = 2 * (2 + 1)


def write_dataset(path: Path, rows: int, target: str = "kind") -> None:
    rng = np.random.default_rng(rows)
    kind = np.arange(rows) % 2
    pd.DataFrame(
        {target: np.where(kind, "b", "a"), "x": kind + rng.normal(0, 0.3, rows), "z": rng.normal(size=rows)}
    ).to_csv(path, index=False)


def plan(source: Path, configurations: int = 2) -> Plan:
    """Every dataset of a directory, with so many configurations of each flow beside its default."""
    return design_plan(find_datasets(source), FLOWS, configurations)


@pytest.fixture
def datasets(tmp_path: Path) -> Path:
    folder = tmp_path / "datasets"
    folder.mkdir()
    write_dataset(folder / "large.csv", 120)
    write_dataset(folder / "small.csv", 60)
    (folder / "index.csv").write_text("name,target\nlarge,kind\nsmall.csv,kind\n")
    return folder


@pytest.fixture
def warehouse(tmp_path: Path) -> Warehouse:
    return Warehouse.create(tmp_path / "warehouse")


def test_index_gives_targets_and_the_smallest_dataset_comes_first(datasets: Path) -> None:
    for source in (datasets, datasets / "index.csv"):
        assert [(file.path.name, file.target) for file in find_datasets(source)] == [
            ("small.csv", "kind"),
            ("large.csv", "kind"),
        ]


def test_datasets_below_a_directory_are_found_without_an_index(datasets: Path) -> None:
    (datasets / "index.csv").unlink()
    (datasets / "more").mkdir()
    write_dataset(datasets / "more" / "tiny.csv", 30)
    assert [file.path.name for file in find_datasets(datasets)] == ["tiny.csv", "small.csv", "large.csv"]


@pytest.mark.parametrize(
    ("index", "reason"),
    [("name\nnowhere\n", "lists 'nowhere'"), ("title\nx\n", "needs a column `name`"), ("", "not readable")],
)
def test_unusable_index_is_refused(tmp_path: Path, index: str, reason: str) -> None:
    (tmp_path / "index.csv").write_text(index)
    with pytest.raises(BadInput, match=reason):
        find_datasets(tmp_path / "index.csv")


def test_directory_without_datasets_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="no dataset files"):
        find_datasets(tmp_path)
    with pytest.raises(BadInput, match="neither a directory"):
        find_datasets(tmp_path / "nowhere")


def test_every_dataset_gets_the_same_configurations(datasets: Path, warehouse: Warehouse) -> None:
    counts = run_experiments(warehouse, plan(datasets), jobs=2)
    assert counts["success"] == 2 * RUNS_PER_DATASET
    matrix = warehouse.performance_matrix("predictive_accuracy")
    assert matrix.shape == (RUNS_PER_DATASET, 2)
    assert matrix.notna().all(axis=None)
    assert warehouse.sql("SELECT count(DISTINCT measure) AS n FROM evaluations")["n"].item() == len(MEASURES)
    assert warehouse.metafeatures()["NumberOfInstances"].tolist() == [120, 60]


def test_second_run_of_the_same_plan_runs_nothing(datasets: Path, warehouse: Warehouse) -> None:
    run_experiments(warehouse, plan(datasets))
    version = warehouse.version
    counts = run_experiments(warehouse, plan(datasets))
    assert counts == {"success": 0, "timeout": 0, "memout": 0, "crash": 0, "skipped": 2 * RUNS_PER_DATASET}
    assert warehouse.version == version


def test_descriptions_of_datasets_are_brought_up_to_date_when_nothing_is_left_to_run(
    datasets: Path, warehouse: Warehouse
) -> None:
    run_experiments(warehouse, plan(datasets))
    old = warehouse.sql("SELECT * EXCLUDE ingest FROM qualities").assign(value=-1.0, extractor="old")
    warehouse.write({"qualities": old}, source="test")
    run_experiments(warehouse, plan(datasets))
    assert warehouse.metafeatures()["NumberOfInstances"].tolist() == [120, 60]


def test_longer_plan_runs_only_what_is_new(datasets: Path, warehouse: Warehouse) -> None:
    run_experiments(warehouse, plan(datasets))
    counts = run_experiments(warehouse, plan(datasets, configurations=3))
    assert (counts["success"], counts["skipped"]) == (4, 2 * RUNS_PER_DATASET)


def test_interrupted_job_keeps_what_it_finished_and_goes_on(datasets: Path, warehouse: Warehouse) -> None:
    def interrupt(progress: Progress) -> None:
        if progress.done == 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_experiments(warehouse, plan(datasets), report=interrupt)
    counts = run_experiments(Warehouse.open(warehouse.path), plan(datasets))
    assert counts["skipped"] == 4
    assert counts["success"] == 2 * RUNS_PER_DATASET - 4


def test_killed_job_repeats_no_run_that_it_finished(
    datasets: Path, warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Stands in for `kill -9`: nothing is committed on the way out, and the last line is cut off."""

    def die_after_four(progress: Progress) -> None:
        if progress.done == 4:
            raise SystemExit

    with monkeypatch.context() as patched:
        patched.setattr(experiments._Batch, "commit", lambda _: None)
        with pytest.raises(SystemExit):
            run_experiments(warehouse, plan(datasets), report=die_after_four)
    assert warehouse.sql("SELECT * FROM runs").empty
    (journal,) = (warehouse.path / "journals").iterdir()
    with journal.open("ab") as file:
        file.write(b'\n{"run": "own:abc", "outco')
    counts = run_experiments(Warehouse.open(warehouse.path), plan(datasets))
    assert counts["skipped"] == 4
    assert counts["success"] == 2 * RUNS_PER_DATASET - 4
    assert not journal.exists()


def test_failed_run_is_stored_with_its_reason(tmp_path: Path, warehouse: Warehouse) -> None:
    write_dataset(tmp_path / "short.csv", 60)
    hasty = design_plan(find_datasets(tmp_path), ["mlp"], 0, seconds=0.001)
    counts = run_experiments(warehouse, hasty)
    assert counts["timeout"] == 1
    outcome, message = warehouse.sql("SELECT outcome, message FROM runs").iloc[0]
    assert outcome == "timeout"
    assert message.startswith("stopped after")
    assert run_experiments(warehouse, hasty)["skipped"] == 1


def test_unreadable_dataset_is_passed_over(datasets: Path, warehouse: Warehouse) -> None:
    (datasets / "broken.csv").write_bytes(b"")
    counts = run_experiments(warehouse, plan(datasets))
    assert counts["success"] == 2 * RUNS_PER_DATASET


def test_copy_of_a_dataset_is_passed_over(
    datasets: Path, warehouse: Warehouse, caplog: pytest.LogCaptureFixture
) -> None:
    write_dataset(datasets / "twin.csv", 60)
    (datasets / "index.csv").write_text("name,target\nlarge,kind\nsmall,kind\ntwin,kind\n")
    counts = run_experiments(warehouse, plan(datasets))
    assert counts["success"] == 2 * RUNS_PER_DATASET
    assert "passed over" in caplog.text
    assert "twin.csv: the warehouse has the same data as local:small-" in caplog.text


def test_numeric_target_is_binarized_and_marked_so(tmp_path: Path, warehouse: Warehouse) -> None:
    rng = np.random.default_rng(0)
    pd.DataFrame({"x": rng.normal(size=80), "y": rng.normal(size=80)}).to_csv(
        tmp_path / "price.csv", index=False
    )
    run_experiments(warehouse, plan(tmp_path))
    row = warehouse.sql("SELECT classes, note FROM datasets").iloc[0]
    assert row["classes"] == 2
    assert "binarized at its mean" in row["note"]
