"""The loop of a search: budgets, failures and interruptions."""

import json
import os
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest
from recommend.bo.tuning.loop import Loop

from ingest.flows import FLOWS
from ingest.reading.datasets import Dataset
from ingest.running.evaluation import Evaluation, Limits
from ingest.running.limits import Outcome
from recommend.bo.candidates import SpaceCandidates
from recommend.bo.optimizer import Optimizer
from recommend.bo.scoring import CandidateScorer
from recommend.bo.tuning import Budget, Progress, Search, tune
from recommend.bo.tuning.deadline import Deadline
from recommend.bo.tuning.history import TrialHistory
from recommend.bo.tuning.proposals import Proposals
from recommend.space import Space
from tests.recommend.bo.toys import PLANE, Recorder
from tests.recommend.bo.tuning.searches import noisy
from warehouse.store import Warehouse
from warehouse.vocabulary.configuration import Configuration
from warehouse.vocabulary.parameters import Number


def test_failures_are_told_and_do_not_end_the_search(world: Warehouse, tmp_path: Path) -> None:
    """A fold has rows for all numbers of neighbours that are searched, and not for twice as many."""
    flow = FLOWS["k_nearest_neighbors"]
    most = int(max(own.high for own in flow.hyperparameters if isinstance(own, Number)))
    many = Configuration(flow.name, {"n_neighbors": 2 * most, "weights": "uniform", "metric": "manhattan"})
    search = Search(flows=(flow.name,), start="file", seeds=(many,), surrogate="gbqr", folds=2)
    tuned = tune(noisy(4 * most), search, Budget(trials=6), folder=tmp_path, warehouse=world)
    first, *others = [entry.evaluation for entry in tuned.trials if entry.evaluation is not None]
    assert first.outcome is Outcome.crash
    assert "n_neighbors" in (first.message or "")
    assert {trial.outcome for trial in others} == {Outcome.success}


@dataclass
class Bench:
    """A loop on a plane without any data: trials end at once, and as they are told to."""

    folder: Path
    outcome: Callable[[int, float], Evaluation]
    """(number of the trial, seconds that it may take) -> what comes of it."""
    limits: list[float] = field(default_factory=list)
    """Seconds that each trial was given."""
    progress: list[Progress] = field(default_factory=list)
    deadline: Deadline | None = None
    """None = that of the budget."""
    reserve: float = 0.0
    """Seconds to keep for what comes after the trials."""

    def submit(
        self, _: object, _part: object, _splits: object, limits: Limits, **_seed: int
    ) -> Future[Evaluation]:
        future: Future[Evaluation] = Future()
        self.limits.append(limits.seconds)
        future.set_result(self.outcome(len(self.limits) - 1, limits.seconds))
        return future

    def run(
        self, dataset: Dataset, budget: Budget, jobs: int = 1, *, interrupted: bool = False
    ) -> TrialHistory:
        candidates = SpaceCandidates(Space([PLANE]))
        optimizer = Optimizer(candidates, CandidateScorer(Recorder()), random_every=1)
        search = Search(flows=("plane",), trial_seconds=10.0)
        with TrialHistory(self.folder, {}) as history:
            loop = Loop(
                Proposals(optimizer, candidates, history, search.measure),
                history,
                dataset,
                search,
                budget,
                self.submit,
                self.progress.append,
                self.deadline or Deadline(budget.seconds),
                lambda _: self.reserve,
            )
            assert loop.run(jobs) == interrupted
        return history


def accuracy(value: float) -> Evaluation:
    return Evaluation(Outcome.success, 1.0, {"predictive_accuracy": value})


def test_progress_counts_trials_and_failures_and_knows_the_best(dataset: Dataset, tmp_path: Path) -> None:
    ended = [accuracy(0.5), Evaluation(Outcome.crash, 1.0, message="no"), accuracy(0.7), accuracy(0.6)]
    bench = Bench(tmp_path, lambda number, _: ended[number])
    bench.run(dataset, Budget(trials=4))
    assert [(one.done, one.failed, one.best) for one in bench.progress] == [
        (1, 0, 0.5),
        (2, 1, 0.5),
        (3, 1, 0.7),
        (4, 1, 0.7),
    ]
    last = bench.progress[-1]
    assert (last.of, last.seconds_left, last.best_flow) == (4, None, "plane")


@pytest.mark.parametrize("jobs", [1, 3, 9])
def test_no_more_trials_are_begun_than_the_budget_has(dataset: Dataset, tmp_path: Path, jobs: int) -> None:
    bench = Bench(tmp_path, lambda *_: accuracy(0.5))
    history = bench.run(dataset, Budget(trials=5), jobs)
    assert [entry.number for entry in history.trials] == list(range(5))
    assert bench.limits == [10.0] * 5


def test_a_trial_gets_no_more_time_than_the_budget_has_left(dataset: Dataset, tmp_path: Path) -> None:
    """Its own limit is 10 s. One that the end of the budget cut off is not counted, and may be run again."""

    def cut_off(number: int, seconds: float) -> Evaluation:
        return Evaluation(Outcome.timeout, seconds, message="stopped") if number else accuracy(0.5)

    bench = Bench(tmp_path, cut_off)
    history = bench.run(dataset, Budget(trials=2, seconds=5.0))
    assert all(0 < limit <= 5 for limit in bench.limits)
    assert [entry.evaluation is None for entry in history.trials] == [False, True]
    assert [one.done for one in bench.progress] == [1]


def test_a_trial_that_used_all_of_its_own_time_has_failed(dataset: Dataset, tmp_path: Path) -> None:
    bench = Bench(tmp_path, lambda _, seconds: Evaluation(Outcome.timeout, seconds, message="stopped"))
    history = bench.run(dataset, Budget(trials=2, seconds=500.0))
    assert [entry.evaluation is not None for entry in history.trials] == [True, True]
    assert bench.progress[-1].failed == 2
    assert bench.progress[-1].best is None


def test_trials_end_early_enough_for_what_comes_after_them(dataset: Dataset, tmp_path: Path) -> None:
    """Of 40 s, a trial takes 10; 15 are kept: the third may take 5, and is the last."""
    now = 0.0

    def ten_seconds(_: int, seconds: float) -> Evaluation:
        nonlocal now
        now += min(seconds, 10.0)
        return accuracy(0.5) if seconds >= 10 else Evaluation(Outcome.timeout, seconds, message="stopped")

    bench = Bench(tmp_path, ten_seconds, deadline=Deadline(40.0, lambda: now), reserve=15.0)
    history = bench.run(dataset, Budget(seconds=40.0))
    assert bench.limits == [10.0, 10.0, 5.0]
    assert now == 25
    assert [one.evaluation is None for one in history.trials] == [False, False, True]


def records(folder: Path, kind: str) -> list[dict[str, Any]]:
    lines = (folder / "history.jsonl").read_text().split("\n")
    return [record for line in lines if line and kind in (record := json.loads(line))]


def test_a_search_that_was_killed_goes_on_with_the_same_trials(dataset: Dataset, tmp_path: Path) -> None:
    def kill_at_third(number: int, _: float) -> Evaluation:
        if number == 2:
            os.kill(os.getpid(), signal.SIGKILL)
        return accuracy(0.5)

    bench = Bench(tmp_path / "killed", kill_at_third)
    killed = get_context("fork").Process(target=bench.run, args=(dataset, Budget(trials=6)))
    killed.start()
    killed.join()
    assert killed.exitcode == -signal.SIGKILL
    went_on, straight = (
        Bench(tmp_path / folder, lambda *_: accuracy(0.5)).run(dataset, Budget(trials=6))
        for folder in ("killed", "straight")
    )
    assert [one.configuration for one in went_on.trials] == [one.configuration for one in straight.trials]
    assert [record["ended"] for record in records(tmp_path / "killed", "ended")] == [*range(6)]


@pytest.fixture
def interruptible() -> Iterator[None]:
    """Ctrl-C as usual; a shell's background ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interruptible")
def test_an_interrupt_ends_the_trials_that_run(dataset: Dataset, tmp_path: Path) -> None:
    def interrupt_at_fourth(number: int, _: float) -> Evaluation:
        if number == 3:
            os.kill(os.getpid(), signal.SIGINT)
            return Evaluation(Outcome.memout, 1.0, message="killed with its owner")
        return accuracy(0.5)

    history = Bench(tmp_path, interrupt_at_fourth).run(dataset, Budget(trials=6), interrupted=True)
    assert [one.evaluation is None for one in history.trials] == [False, False, False, True]
    assert history.unfinished() == {3: "ended by us when interrupted"}
    history = Bench(tmp_path, lambda *_: accuracy(0.5)).run(dataset, Budget(trials=6))
    assert [one.number for one in history.trials if one.evaluation is not None] == [*range(6)]
