"""An evaluation as JSON and as a table: means and limits by hand."""

import json
from pathlib import Path
from typing import Any

import pytest

from metalearners.evaluation.protocol import DatasetResult, LearnerEvaluation
from metalearners.evaluation.report import document, table
from tests.contracts.meta_learner import toy_runs
from warehouse.store import Warehouse


def result(dataset: str, tau: float, after_trials: float, coverage: float | None) -> DatasetResult:
    return DatasetResult(
        dataset=dataset,
        runs=20,
        tau=tau,
        regret={1: tau, 3: 0.25, 5: 0.0},
        choices=["setup 3", "setup 1"],
        error=0.5,
        error_in="scores",
        coverage=coverage,
        shots={"random": {0: tau, 5: after_trials}},
    )


TWO = LearnerEvaluation([result("toy:0", 0.25, 0.5, 0.5), result("toy:1", 0.75, 1.0, None)])


@pytest.fixture
def warehouse(tmp_path: Path) -> Warehouse:
    return Warehouse.create(tmp_path / "warehouse")


def reported(evaluation: LearnerEvaluation, warehouse: Warehouse) -> dict[str, Any]:
    return document(evaluation, toy_runs(), "knn", {"datasets": 3}, warehouse)


def test_means_have_the_limits_of_students_t(warehouse: Warehouse) -> None:
    """Of 0.25 and 0.75: mean 0.5, standard error 0.25, and t = 12.706 with one degree of freedom."""
    found = reported(TWO, warehouse)
    limits = pytest.approx({"mean": 0.5, "low": 0.5 - 12.7062 * 0.25, "high": 0.5 + 12.7062 * 0.25}, rel=1e-4)
    assert found["tau"] == limits
    assert found["shots"]["random"]["0"] == limits
    assert found["shots"]["random"]["5"]["mean"] == 0.75


def test_unknown_limits_and_coverage_are_null(warehouse: Warehouse) -> None:
    """One dataset has no interval; JSON has no NaN."""
    one = json.loads(json.dumps(reported(LearnerEvaluation(TWO.per_dataset[1:]), warehouse), allow_nan=False))
    assert one["tau"] == {"mean": 0.75, "low": None, "high": None}
    assert one["coverage"] is None
    both = json.loads(json.dumps(reported(TWO, warehouse), allow_nan=False))
    assert both["coverage"] == {"mean": 0.5, "low": None, "high": None}
    assert [dataset["coverage"] for dataset in both["per_dataset"]] == [0.5, None]


def test_the_table_has_a_line_for_each_mean(warehouse: Warehouse) -> None:
    """A mean over one dataset, such as the coverage here, has no limits."""
    lines = table(TWO, reported(TWO, warehouse)).splitlines()
    assert lines[0].endswith(": 2 datasets, one dataset left out at a time")
    assert lines[1].split() == ["mean", "95", "%", "interval"]
    assert lines[2:] == [
        "tau                0.500   -2.677 to 3.677",
        "regret of top 1    0.500   -2.677 to 3.677",
        "regret of top 3    0.250   0.250 to 0.250",
        "regret of top 5    0.000   0.000 to 0.000",
        "error, scores      0.500   0.500 to 0.500",
        "within 80 % int.   0.500   nan to nan",
        "tau, 0 random      0.500   -2.677 to 3.677",
        "tau, 5 random      0.750   -2.427 to 3.927",
    ]
