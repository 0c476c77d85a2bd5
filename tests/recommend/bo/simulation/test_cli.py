"""`tune simulate`: its comparisons and its history."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from recommend.bo.cli import app
from warehouse.questions.queries import RunTable
from warehouse.store import Warehouse
from warehouse.support.errors import BadInput
from warehouse.vocabulary.task_types import TaskType

Simulate = Callable[..., str]


@pytest.fixture(scope="module")
def datasets(small_world: Path) -> list[str]:
    """Keys of two datasets of the small world."""
    names = Warehouse.open(small_world).sql("SELECT dataset FROM datasets ORDER BY name")
    return [str(key) for key in names["dataset"]][:2]


@pytest.fixture
def simulate(small_world: Path, datasets: list[str], capsys: pytest.CaptureFixture[str]) -> Simulate:
    """Search on the two datasets with three trials each; returns the printed output."""

    def run(*arguments: str | Path, methods: tuple[str, ...] = ("random", "random-2x"), on: int = 2) -> str:
        given = ["simulate", "--warehouse", small_world, "--trials", "3", "--quiet", *arguments]
        given += [part for method in methods for part in ("--method", method)]
        given += [part for dataset in datasets[:on] for part in ("--dataset", dataset)]
        app([str(part) for part in given], standalone_mode=False)
        return capsys.readouterr().out

    return run


def as_json(printed: str) -> Any:
    return json.loads(printed)


def test_the_json_names_the_methods_and_datasets(simulate: Simulate) -> None:
    document = as_json(simulate("--format", "json", "--repeats", "2"))
    assert {name: document[name] for name in ("flow", "measure", "tasks", "datasets", "seeds", "trials")} == {
        "flow": None,
        "measure": "predictive_accuracy",
        "tasks": "table",
        "datasets": 2,
        "seeds": 2,
        "trials": 3,
    }
    assert {one["learner"] for one in document["comparison"]["learners"]} == {"random", "random-2x"}


def test_differences_are_tested_over_all_trials_or_after_some(simulate: Simulate) -> None:
    assert "mean regret over 3 trials on 2 datasets" in simulate()
    assert "regret after 2 on 2 datasets" in simulate("--at", "2")


def test_finished_searches_are_taken_from_the_history(simulate: Simulate, tmp_path: Path) -> None:
    """Measured times are printed, too, and would differ if a search was repeated."""
    keeping = ("--history", tmp_path / "history.jsonl", "--format", "json")
    first = simulate(*keeping)
    kept = (tmp_path / "history.jsonl").read_bytes()
    assert simulate(*keeping) == first
    assert (tmp_path / "history.jsonl").read_bytes() == kept
    simulate(*keeping, "--repeats", "2")
    more = (tmp_path / "history.jsonl").read_bytes()
    assert more.startswith(kept)
    assert (kept.count(b'"dataset"'), more.count(b'"dataset"')) == (4, 8)


def test_searches_are_compared_at_equal_seconds(
    simulate: Simulate, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every second run of the small world takes twice as long."""

    def timed_runs(warehouse: Warehouse, flow: str | None, task_type: TaskType) -> RunTable:
        runs = warehouse.run_table(flow, "predictive_accuracy", task_type=task_type)
        return replace(runs, runs=runs.runs.assign(value=[1000.0 * (1 + row % 2) for row in runs.runs.index]))

    with pytest.raises(BadInput, match="have no running time"):
        simulate("--by", "seconds")
    monkeypatch.setattr("recommend.bo.simulation.times.timed_runs", timed_runs)
    document = as_json(simulate("--by", "seconds", "--format", "json", "--csv", tmp_path / "curves.csv"))
    assert document["by"] == "seconds"
    assert all(one["trial_seconds"] > 0 for one in document["methods"])
    assert (tmp_path / "curves.csv").read_text().startswith("dataset,method,seed,usual_times,")
    assert "mean regret over 3 median run times" in simulate("--by", "seconds")


def test_datasets_are_chosen_by_size_and_half(simulate: Simulate, small_world: Path) -> None:
    rows = Warehouse.open(small_world).metafeatures()["NumberOfInstances"]
    with pytest.raises(BadInput, match="no dataset with runs has this size"):
        simulate("--least-rows", str(int(rows.max()) + 1))
    of_halves = 0
    for half in ("choosing", "reporting"):
        try:
            of_halves += as_json(simulate("--half", half, "--format", "json"))["datasets"]
        except BadInput as error:
            assert "in this half" in str(error)
    assert of_halves == 2
