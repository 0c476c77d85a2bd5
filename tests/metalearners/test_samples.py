"""Samples of large warehouses: drawn once, stored beside the models, and read back unchanged."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from metalearners.model_pruning import superfluous_models
from metalearners.model_store import trained_model
from metalearners.samples import learned_runs
from tests.warehouse.worlds import BOOSTING, FOREST, Templates, runs
from warehouse.questions import sampling
from warehouse.questions.queries import RunTable
from warehouse.store import Warehouse

MEASURE = "predictive_accuracy"


@pytest.fixture
def large(templates: Templates, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Warehouse:
    """Four configurations, each run on thirty datasets."""
    writes = []
    for number in range(4):
        accuracies = {f"openml:{n}": 0.5 + 0.01 * ((n * number) % 7) for n in range(30)}
        values = {"max_features": number / 4, "bootstrap": None, "criterion": "gini"}
        writes.append(runs(values=values, accuracies=accuracies, name=f"s{number}"))
    warehouse = templates.copy(tmp_path / "large", *writes)
    monkeypatch.setattr(sampling, "MOST_LEARNED", 50)
    monkeypatch.setattr(sampling, "SAMPLED_RUNS", 40)
    monkeypatch.setattr(sampling, "SAMPLED_DATASETS", 20)
    return warehouse


def never(*_: object, **__: object) -> None:
    raise AssertionError("the runs were read again")


def assert_equal(one: RunTable, other: RunTable) -> None:
    for name in ("runs", "larger", "smaller", "related"):
        pd.testing.assert_frame_equal(getattr(one, name), getattr(other, name))
    assert one.configurations.configurations() == other.configurations.configurations()
    assert (one.flow, one.measure, one.scales) == (other.flow, other.measure, other.scales)


def test_a_stored_sample_is_read_back_unchanged(large: Warehouse, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = learned_runs(large, None, MEASURE)
    assert len(drawn.runs) == 40
    assert_equal(drawn, large.run_table(None, MEASURE))
    monkeypatch.setattr(Warehouse, "run_answers", never)
    assert_equal(learned_runs(large, None, MEASURE), drawn)
    assert learned_runs(large, None, MEASURE, related=False).related.empty


def test_training_stores_it_beside_the_model(large: Warehouse, monkeypatch: pytest.MonkeyPatch) -> None:
    model = trained_model(large, "average-rank")
    assert model.runs == 40
    assert len(list((large.path / "models").glob("sample.*"))) == 1
    monkeypatch.setattr(Warehouse, "run_answers", never)
    assert set(learned_runs(large, None, MEASURE).runs["dataset"]) == set(model.runs_on)


def test_another_version_has_another_sample(large: Warehouse) -> None:
    learned_runs(large, None, MEASURE)
    large.write(runs(name="new", accuracies={f"openml:{n}": 0.9 for n in range(30)}), source="openml")
    assert_equal(learned_runs(large, None, MEASURE), large.run_table(None, MEASURE))


def test_a_sample_of_an_earlier_version_is_removable(large: Warehouse) -> None:
    learned_runs(large, None, MEASURE)
    assert superfluous_models(large) == []
    large.write(runs(name="new"), source="openml")
    (found,) = superfluous_models(large)
    assert found.reason == "of an earlier version of the warehouse"


def test_a_damaged_sample_is_drawn_again(large: Warehouse, caplog: pytest.LogCaptureFixture) -> None:
    drawn = learned_runs(large, None, MEASURE)
    (kept,) = (large.path / "models").glob("sample.*")
    (kept / "arrays.npz").write_bytes(np.random.default_rng(0).bytes(100))
    assert_equal(learned_runs(large, None, MEASURE), drawn)
    assert "drawing the sample again" in caplog.text
    caplog.clear()
    assert_equal(learned_runs(large, None, MEASURE), drawn)
    assert "drawing the sample again" not in caplog.text


def test_the_joint_table_of_some_flows_is_stored_separately(
    large: Warehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    accuracies = {f"openml:{n}": 0.5 for n in range(60)}
    large.write(runs(BOOSTING, "gradient_boosting", accuracies=accuracies), source="openml")
    drawn = learned_runs(large, None, MEASURE, only=["gradient_boosting"])
    assert set(drawn.runs["flow"]) == {BOOSTING}
    assert drawn.is_sample
    assert drawn.configurations.joint
    learned_runs(large, None, MEASURE)
    monkeypatch.setattr(Warehouse, "run_answers", never)
    assert_equal(learned_runs(large, None, MEASURE, only=["gradient_boosting"]), drawn)


def test_own_experiments_on_a_dataset_follow_a_sample(large: Warehouse) -> None:
    """Only those of the sample's flows are added, without duplicates."""
    values = {"max_features": 0.9, "bootstrap": True}
    accuracies = {"openml:1": 0.7, "openml:29": 0.6}
    large.write(runs(values=values, accuracies=accuracies, name="own"), source="experiments")
    drawn = learned_runs(large, None, MEASURE)
    completed = learned_runs(large, None, MEASURE, experiments_on=["openml:1"])
    own = completed.runs[completed.runs["setup"] == f"{FOREST}/own"]
    assert own["value"][own["dataset"] == "openml:1"].tolist() == [0.7]
    assert completed.runs["run"].is_unique
    assert len(completed.runs) - len(drawn.runs) in (0, 1)
    configuration = dict(
        zip(completed.configurations.setups, completed.configurations.configurations(), strict=True)
    )[f"{FOREST}/own"]
    assert configuration.values == values
    assert_equal(learned_runs(large, None, MEASURE, experiments_on=["openml:2"]), drawn)
