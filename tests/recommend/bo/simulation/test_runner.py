"""Searches on left-out toy datasets: their results and training data, and resuming after a kill."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from recommend.bo.simulation.runner import SimulatedSearch, SimulationPlan, simulate
from tests.contracts.meta_learner import Spy, toy_metafeatures, toy_runs
from warehouse.questions.queries import RunTable
from warehouse.support.errors import BadInput
from warehouse.support.journal import Journal

RUNS, METAFEATURES = toy_runs(), toy_metafeatures()
ROWS = 20
TWO = ["toy:3", "toy:4"]


def searched(*methods: str, trials: int = 5, seeds: int = 1, **options: Any) -> list[SimulatedSearch]:
    """Searches, without their times."""
    plan = SimulationPlan(methods, trials=trials, seeds=seeds)
    found = simulate(RUNS, METAFEATURES, plan, **{"datasets": TWO, **options})
    return [replace(one, seconds=0.0) for one in found]


def values_on(dataset: str) -> np.ndarray:
    return RUNS.runs.loc[RUNS.runs["dataset"] == dataset, "value"].to_numpy()


def test_there_is_a_search_for_every_dataset_method_and_seed() -> None:
    found = searched("random", "random-2x", seeds=2)
    assert [(one.dataset, one.method, one.seed) for one in found] == [
        (dataset, method, seed) for dataset in TWO for method in ("random", "random-2x") for seed in (0, 1)
    ]
    for one in found:
        values = values_on(one.dataset)
        assert (one.best, one.worst) == (values.max(), values.min())
        assert one.best_so_far == np.maximum.accumulate(one.best_so_far).tolist()


@pytest.mark.parametrize(
    ("method", "trials"), [("random", ROWS), ("random-2x", ROWS / 2), ("forest+none", ROWS), ("order", ROWS)]
)
def test_a_search_of_all_rows_ends_at_the_best_of_them(method: str, trials: int) -> None:
    for one in searched(method, trials=ROWS + 5):
        assert len(one.best_so_far) == trials
        assert one.best_so_far[-1] == one.best


class Killed(Exception):  # noqa: N818
    """Simulates the end of a simulation."""


def kill_after(datasets: int) -> Callable[[int, int], None]:
    def on_result(done: int, total: int) -> None:  # noqa: ARG001
        if done == datasets:
            raise Killed

    return on_result


def test_a_killed_simulation_continues_where_it_was(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal.jsonl")
    with pytest.raises(Killed):
        searched("random", "gbqr+none", journal=journal, on_result=kill_after(1))
    assert [record["dataset"] for record in journal.records()] == ["toy:3", "toy:3"]
    journal.path.write_bytes(journal.path.read_bytes() + b'\n{"dataset": "toy:4", "met')
    steps: list[tuple[int, int]] = []
    resumed = searched("random", "gbqr+none", journal=journal, on_result=lambda *step: steps.append(step))
    assert steps == [(2, 2)]
    assert resumed == searched("random", "gbqr+none")


def test_a_journal_of_other_runs_or_another_length_is_not_used(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal.jsonl")
    searched("random", trials=2, journal=journal)
    assert [len(one.best_so_far) for one in searched("random", trials=4, journal=journal)] == [4, 4]
    shifted = replace(RUNS, runs=RUNS.runs.assign(value=RUNS.runs["value"] + 1))
    found = simulate(
        shifted, METAFEATURES, SimulationPlan(("random",), trials=2), datasets=TWO, journal=journal
    )
    assert min(one.worst for one in found) > 1


@pytest.mark.parametrize(
    ("plan", "complaint"),
    [
        (SimulationPlan(("nonsense",)), "unknown method 'nonsense'; known are random,"),
        (SimulationPlan(("random", "random+top")), r"unknown method 'random\+top'"),
        (SimulationPlan(("gbqr+nonsense",)), "unknown start 'nonsense'"),
        (SimulationPlan(("smac+nonsense",), kind="model"), "unknown start 'nonsense'"),
        (SimulationPlan(("smac",)), "smac searches a whole space"),
        (SimulationPlan(("optuna-gp+top",)), "optuna-gp searches a whole space"),
        (
            SimulationPlan(("random",), kind="nonsense"),
            "unknown kind of task 'nonsense'; known are table, model",
        ),
    ],
)
def test_unknown_names_are_refused_in_one_line_before_any_work(
    plan: SimulationPlan, complaint: str, tmp_path: Path
) -> None:
    journal = Journal(tmp_path / "journal.jsonl")
    with pytest.raises(BadInput, match=complaint) as refusal:
        simulate(RUNS, METAFEATURES, plan, journal=journal)
    assert "\n" not in str(refusal.value)
    assert not journal.path.exists()


def test_a_dataset_without_runs_is_refused() -> None:
    with pytest.raises(BadInput, match="no run on dataset 'elsewhere'"):
        searched("random", datasets=["elsewhere"])
    alone = replace(RUNS, runs=RUNS.runs[RUNS.runs["dataset"] == "toy:3"])
    with pytest.raises(BadInput, match="two families of datasets or more"):
        simulate(alone, METAFEATURES, SimulationPlan(("random",)), datasets=["toy:3"])


def test_nothing_is_learned_from_the_searched_dataset(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[tuple[set[str], set[str]]] = []
    monkeypatch.setattr("recommend.bo.simulation.runner.new_learner", lambda *_: Spy(seen))
    searched("order", "forest+top", "forest+delta@pmf")
    others = [set(METAFEATURES.index) - {dataset} for dataset in TWO]
    # A learner is trained once for a dataset, whichever methods use it: functional PCA and `pmf` here.
    assert seen == [(rest, rest) for rest in others for _ in range(2)]


def test_the_start_of_a_search_does_not_depend_on_values_of_the_searched_dataset() -> None:
    """All values differ, so the value of the first trial identifies its configuration."""
    mirrored = RUNS.runs["value"].where(RUNS.runs["dataset"] != "toy:3", -RUNS.runs["value"])
    plan = SimulationPlan(("order", "blend+top", "gbqr+nearest-3", "gbqr+delta"), trials=1)
    on = [replace(RUNS, runs=RUNS.runs.assign(value=value)) for value in (RUNS.runs["value"], mirrored)]
    one, other = (simulate(runs, METAFEATURES, plan, datasets=["toy:3"]) for runs in on)
    assert [search.best_so_far[0] for search in one] == [-search.best_so_far[0] for search in other]


def in_pairs() -> RunTable:
    """The toy runs, with 3 and 4 as near copies of each other."""
    return replace(RUNS, runs=RUNS.runs.assign(family=RUNS.runs["family"].replace("toy:4", "toy:3")))


def test_training_leaves_out_the_family_and_its_metafeatures(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[tuple[set[str], set[str]]] = []
    monkeypatch.setattr("recommend.bo.simulation.runner.new_learner", lambda *_: Spy(seen))
    simulate(in_pairs(), METAFEATURES, SimulationPlan(("order",)), datasets=["toy:3"])
    rest = set(METAFEATURES.index) - {"toy:3", "toy:4"}
    assert seen == [(rest, rest)]


def timed(seconds: float = 2.0) -> RunTable:
    """The toy runs, with these seconds per run of gini and half of them for entropy."""
    criterion = RUNS.configurations.parameters["criterion"].reindex(RUNS.runs["setup"]).to_numpy()
    milliseconds = np.where(criterion == "gini", 1000 * seconds, 500 * seconds)
    return replace(RUNS, measure="wall_clock_time_millis", runs=RUNS.runs.assign(value=milliseconds))


def test_by_seconds_a_search_ends_when_its_time_is_spent() -> None:
    """Four usual times are six seconds; the trial that exceeds them is the last."""
    plan = SimulationPlan(("random",), trials=4, by="seconds")
    for one in simulate(RUNS, METAFEATURES, plan, datasets=TWO, times=timed()):
        assert one.trial_seconds is not None
        assert sum(one.trial_seconds) >= 6.0 > sum(one.trial_seconds[:-1])
    with pytest.raises(BadInput, match="the runs on toy:3 have no running time"):
        simulate(RUNS, METAFEATURES, plan, datasets=TWO)


def test_quick_configurations_come_first_if_time_counts() -> None:
    """If gini takes a thousand times as long, a search by improvement per second hardly tries it."""
    slow = timed()
    slow = replace(slow, runs=slow.runs.assign(value=np.where(slow.runs["value"] > 1500, 1e7, 1e4)))
    found = {one.method: one for one in searched("forest", "forest/ei-per-second", trials=12, times=slow)}
    assert sum(found["forest/ei-per-second"].trial_seconds or []) < sum(found["forest"].trial_seconds or [])
    with pytest.raises(BadInput, match="weighs running times, but no run has"):
        searched("forest/ei-per-second")
