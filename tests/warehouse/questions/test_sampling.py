"""Run tables of warehouses larger than memory are samples, and labelled as such."""

import logging
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from warehouse.questions import sampling
from warehouse.store import Warehouse

RUNS = 400


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of a warehouse to copy."""
    numbers = np.arange(RUNS)
    names = np.char.add("openml:", numbers.astype(str))
    flows = np.where(numbers % 4, "openml:2", "openml:1")
    warehouse = Warehouse.create(tmp_path_factory.mktemp("large") / "warehouse")
    warehouse.write(world(names, flows, np.where(numbers < 390, "large", "small")), source="openml")
    own = np.array(["mine-1", "mine-2", "mine-3"] * 20, dtype=object) + np.repeat(np.arange(20), 3).astype(
        str
    )
    warehouse.write(world(own, np.repeat("openml:1", len(own)), np.repeat("own", len(own))), source="tune")
    return warehouse.path


@pytest.fixture
def large(written: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Warehouse:
    """Two flows, the second with three times as many runs, on a large, a small and an own dataset."""
    for limit, runs in (("MOST_RUNS", 100), ("MOST_LEARNED", 100), ("SAMPLED_RUNS", 60)):
        monkeypatch.setattr(sampling, limit, runs)
    return Warehouse.open(shutil.copytree(written, tmp_path / "large"))


def world(runs: np.ndarray, flows: np.ndarray, datasets: np.ndarray) -> dict[str, pd.DataFrame]:
    """A setup per run, with one hyperparameter."""
    return {
        "datasets": pd.DataFrame({"dataset": np.unique(datasets), "name": "d"}),
        "tasks": pd.DataFrame(
            {
                "task": np.unique(datasets),
                "dataset": np.unique(datasets),
                "task_type": "supervised_classification",
            }
        ),
        "flows": pd.DataFrame({"flow": np.unique(flows), "name": "f"}),
        "setups": pd.DataFrame({"setup": runs, "flow": flows, "configuration": runs}),
        "hyperparameters": pd.DataFrame({"setup": runs, "parameter": "p", "value": "1"}),
        "runs": pd.DataFrame({"run": runs, "task": datasets, "setup": runs, "outcome": "success"}),
        "evaluations": pd.DataFrame(
            {"run": runs, "measure": "predictive_accuracy", "value": 0.5, "flow": flows}
        ),
    }


def runs_of(warehouse: Warehouse, flow: str | None = None) -> pd.DataFrame:
    return warehouse.run_table(flow, "predictive_accuracy").runs


def test_datasets_have_about_equally_many_runs_and_small_ones_all(large: Warehouse) -> None:
    amounts = runs_of(large)["dataset"].value_counts()
    assert amounts["small"] == 10
    assert amounts["large"] == 20


def test_all_runs_of_a_users_own_search_are_there(large: Warehouse) -> None:
    assert (runs_of(large)["dataset"] == "own").sum() == 60


def test_the_sample_is_always_the_same(large: Warehouse) -> None:
    assert runs_of(Warehouse.open(large.path))["run"].tolist() == runs_of(large)["run"].tolist()


def test_the_sample_is_reported(large: Warehouse, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO):
        runs_of(large)
    assert caplog.messages == [
        "the warehouse has 460 runs with a value of predictive_accuracy, too many to learn from all of them:"
        " using a sample of 90 on 3 datasets, of the 90 configurations with the most runs, of 2 of 2 flows"
    ]


def test_with_too_many_configurations_times_hyperparameters_the_most_run_flows_are_kept(
    large: Warehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Flows of the user's searches are kept, too."""
    monkeypatch.setattr(sampling, "SAMPLED_CELLS", 1)
    assert set(runs_of(large)["flow"]) == {"openml:1", "openml:2"}
    monkeypatch.setattr(sampling, "SEARCHES", ())
    assert set(runs_of(large)["flow"]) == {"openml:2"}


def test_recommendable_flows_come_before_more_frequently_run_ones(
    large: Warehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sampling, "SAMPLED_CELLS", 1)
    monkeypatch.setattr(sampling, "SEARCHES", ())
    known = pd.DataFrame({"flow": ["openml:1"], "name": "f", "algorithm": "random_forest"})
    large.write({"flows": known}, source="openml")
    assert set(runs_of(large)["flow"]) == {"openml:1"}


def test_the_most_run_datasets_and_configurations_are_kept(
    large: Warehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The user's own come first."""
    monkeypatch.setattr(sampling, "SAMPLED_DATASETS", 2)
    assert set(runs_of(large)["dataset"]) == {"own", "large"}
    again = world(np.array(["again-1", "again-2"]), np.repeat("openml:1", 2), np.array(["large", "large"]))
    again["runs"] = again["runs"].assign(setup="openml:7")
    large.write({name: again[name] for name in ("runs", "evaluations")}, source="openml")
    monkeypatch.setattr(sampling, "SAMPLED_SETUPS", 1)
    runs = runs_of(large)
    assert set(runs["setup"][runs["dataset"] == "large"]) == {"openml:7"}
