"""Sessions with simulated fits, trials and clock: nothing is fitted.

The values of a configuration determine its results.
"""

from __future__ import annotations

import math
import os
import signal
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ingest.reading.datasets import Dataset
from ingest.running.blocks import Split
from ingest.running.evaluation import Evaluation
from ingest.running.limits import LimitedCall, Outcome
from ingest.running.resampling import tested_rows
from ingest.running.scorer import scorer_of
from recommend.bo.tuning import Budget, Search
from recommend.bo.tuning.deadline import Deadline
from recommend.bo.tuning.expected_seconds import STARTING
from recommend.bo.tuning.history import TrialHistory
from recommend.bo.tuning.progress import Progress, remarks_on
from recommend.bo.tuning.proposals import Proposed
from recommend.bo.tuning.running import Task
from recommend.bo.tuning.session import Session
from recommend.bo.tuning.trials import Trial
from recommend.ranking.fit_cost import PREDICTING
from warehouse.support.arrays import Floats
from warehouse.vocabulary.configuration import Configuration

ROWS = 160
"""Of the dataset."""
ROUNDS = 1600
"""Of a booster."""
SEARCH = Search(flows=("decision_tree",), measure="predictive_accuracy")


def configuration(
    n: int, seconds: float = 1.0, accuracy: float = 0.7, *, fails: bool = False, right: float = 0.0
) -> Configuration:
    """A configuration whose fit on all rows takes these seconds.

    Args:
        accuracy: the value of its trials.
        fails: whether its fits and trials crash.
        right: share of correctly predicted rows, others being random; 0 = no predictions.
    """
    values = {"n": n, "seconds": float(seconds), "accuracy": float(accuracy), "fails": fails, "right": right}
    return Configuration("decision_tree", values)


def booster(n: int, seconds: float) -> Configuration:
    """A booster whose fit on all rows, with all rounds, takes these seconds."""
    values = configuration(n, seconds).values
    return Configuration("lightgbm", {**values, "n_estimators": ROUNDS, "learning_rate": 0.01})


def told_seconds(one: Configuration, rows: int = ROWS) -> float:
    """Expected seconds of a fit on these rows."""
    share = int(one.values.get("n_estimators") or ROUNDS) / ROUNDS
    return share * float(one.values["seconds"]) * rows / ROWS


def unknown_seconds(_: Configuration, __: int) -> float:
    return math.nan


@dataclass
class Machine:
    """Run tasks on a clock that advances while someone waits for them."""

    part: Dataset
    slower: float = 1.0
    """Factor between actual and expected times of fits and trials."""
    interrupt_at: float = math.inf
    """Time of a Ctrl-C."""
    interrupt_with: signal.Signals = signal.SIGINT
    now: float = 0.0
    begun: list[tuple[float, Task]] = field(default_factory=list)
    """Start time of each task."""
    splits: dict[tuple[int, int], Sequence[Split]] = field(default_factory=dict)
    """(trial, repetition) -> its splits."""
    _ends: dict[Future[Any], tuple[float, Any]] = field(default_factory=dict)

    def clock(self) -> float:
        return self.now

    def begin(self, task: Task, splits: Sequence[Split]) -> Future[Any]:
        future: Future[Any] = Future()
        took = self.seconds(task, splits)
        self.begun.append((self.now, task))
        if task.kind != "fit":
            self.splits[task.number, sum(number == task.number for number, _ in self.splits)] = splits
        self._ends[future] = (self.now + min(took, task.limit), self._outcome(task, splits, took))
        return future

    def wait(self, running: Collection[Future[Any]]) -> Collection[Future[Any]]:
        end = min(self._ends[future][0] for future in running)
        if self.now <= self.interrupt_at < end:
            self.now, self.interrupt_at = self.interrupt_at, math.inf
            os.kill(os.getpid(), self.interrupt_with)
            return []
        self.now = max(self.now, end)
        done = [future for future in running if self._ends[future][0] <= self.now]
        for future in done:
            future.set_result(self._ends[future][1])
        return done

    def seconds(self, task: Task, splits: Sequence[Split] = ()) -> float:
        """Duration of a task without a limit."""
        rows = task.rows if task.kind == "fit" else PREDICTING * sum(len(train) for train, _ in splits)
        return self.slower * told_seconds(task.configuration) * rows / len(self.part.features) + STARTING

    def of(self, kind: str) -> list[tuple[float, Task]]:
        """Tasks of one kind."""
        return [(when, task) for when, task in self.begun if task.kind == kind]

    def _outcome(self, task: Task, splits: Sequence[Split], took: float) -> Any:
        values: Mapping[str, Any] = task.configuration.values
        outcome, message = Outcome.success, None
        if took > task.limit:
            outcome, message = Outcome.timeout, f"stopped after {task.limit:g} s"
        elif values["fails"]:
            outcome, message = Outcome.crash, "ValueError: no"
        seconds = min(took, task.limit)
        if task.kind == "fit":
            pipeline = f"fitted {values['n']}" if outcome is Outcome.success else None
            return LimitedCall(outcome, pipeline, message, seconds)
        if outcome is not Outcome.success:
            return Evaluation(outcome, seconds, message=message)
        fitted_on = np.mean([len(train) for train, _ in splits]) / len(self.part.features)
        fit_seconds = self.slower * values["seconds"] * float(fitted_on)
        accuracy = values["accuracy"]
        measures = {"predictive_accuracy": accuracy, "kappa": 2 * accuracy - 1, "log_loss": 1 - accuracy}
        measures["fit_seconds"] = fit_seconds
        return Evaluation(outcome, seconds, measures, self._predictions(values, splits))

    def _predictions(self, values: Mapping[str, Any], splits: Sequence[Split]) -> Floats | None:
        if not values["right"]:
            return None
        codes = scorer_of(self.part).outcomes(self.part.target)
        random = np.random.default_rng(values["n"])
        said = np.where(random.random(len(codes)) < values["right"], codes, random.integers(0, 2, len(codes)))
        second = np.where(said == 1, 0.8, 0.2)
        return np.column_stack([1 - second, second])[tested_rows(splits)]


@dataclass
class Listed:
    """Propose these configurations in order."""

    configurations: Sequence[Configuration]
    proposed: set[Configuration] = field(default_factory=set)

    def propose(self, trials: Sequence[Trial]) -> Proposed | None:
        taken = {trial.configuration for trial in trials} | self.proposed
        for one in self.configurations:
            if one not in taken:
                self.proposed.add(one)
                return Proposed(one, "model")
        return None


@dataclass
class Simulation:
    """A session and its result."""

    machine: Machine
    session: Session
    history: TrialHistory
    progress: list[Progress]

    @property
    def fitted(self) -> list[Any]:
        """The numbers of the model's configurations, heaviest first."""
        model = self.session.model
        return [] if model is None else [one.values["n"] for one in model.weights]

    @property
    def remarks(self) -> list[str]:
        return remarks_on(self.session)

    @property
    def outcomes(self) -> list[Outcome | None]:
        """Outcome of each trial, None without one."""
        return [trial.evaluation and trial.evaluation.outcome for trial in self.history.trials]


def run(
    machine: Machine,
    firsts: Sequence[Configuration],
    *proposed: Configuration,
    fallbacks: Sequence[Configuration] = (),
    seconds: float | None = None,
    trials: int | None = None,
    search: Search = SEARCH,
    expected: Callable[[Configuration, int], float] = told_seconds,
    jobs: int = 1,
    wants_model: bool = True,
    folder: Path | None = None,
    proposer: Listed | None = None,
) -> Simulation:
    """Run a session to its end; it begins with `firsts`, then tries them and the proposals."""
    progress: list[Progress] = []
    with TrialHistory(folder, {}) as history:
        session = Session(
            dataset=machine.part,
            search=search,
            budget=Budget(trials, seconds),
            deadline=Deadline(seconds, clock=machine.clock),
            history=history,
            firsts=firsts,
            fallbacks=fallbacks,
            fit_seconds=expected,
            proposer=proposer or Listed([*firsts, *proposed]),
            runner=machine,
            jobs=jobs,
            wants_model=wants_model,
            report=progress.append,
        )
        session.run()
    return Simulation(machine, session, history, progress)
