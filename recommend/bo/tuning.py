"""Searching for the best configuration on a dataset: starts, trials, and what they come to.

A quarter of the rows is held out before anything else: no trial, start or meta-feature sees it. A trial is a
cross-validation on the other rows, in a process of its own with limits. In the end the configuration that
came out best is fitted on those rows and scored on the ones held out, since the best of many scores is partly
luck ("Hyperboost", figure 1, does the same).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from ingest.flows import get_flow, installed_flows
from ingest.keys import digest
from ingest.reading.datasets import Dataset
from ingest.running.cross_validation import MEASURES, class_codes, cross_validate, evaluate_splits
from ingest.running.limits import MEBIBYTE, Outcome, Processes, Trial, run_limited
from ingest.running.resampling import hold_out
from metalearners.base import oriented
from recommend.bo.acquisition import TIMED
from recommend.bo.candidates import SpaceCandidates
from recommend.bo.history import Entry, History
from recommend.bo.optimizer import Optimizer, Proposal
from recommend.bo.runtime import warehouse_times
from recommend.bo.space import KNOWN, Space
from recommend.bo.surrogates import DEFAULT_SURROGATE, LEARNERS_OF, Ingredients, new_surrogate
from recommend.bo.warmstart import FROM_FILE, NO_START, SEEDS, first_choices, get_start
from recommend.ranking import Knowledge, gather
from warehouse.configurations.configuration import Configuration
from warehouse.measures import canonical_measure
from warehouse.store import Warehouse
from warehouse.support.errors import BadInput
from warehouse.support.paths import cache_directory

Submit = Callable[..., Future[Trial]]
"""Begins a trial; the arguments are those of `run_trial`."""
HELD_OUT = 4
"""One row in so many is held out."""


@dataclass(frozen=True)
class Search:
    """What is searched for, and how. Equal searches on equal data have the same trials."""

    flows: tuple[str, ...] = field(default_factory=installed_flows)
    measure: str = "predictive_accuracy"
    """A name or an alias of `warehouse.measures`."""
    folds: int = 3
    """Folds of a trial's cross-validation; 1 = one split with a third of the rows to test on."""
    start: str = "top"
    """A name of `recommend.bo.warmstart`."""
    seeds: tuple[Configuration, ...] = ()
    """Configurations to try before those of `start`."""
    surrogate: str = DEFAULT_SURROGATE
    metalearner: str | None = None
    """None = the one that the surrogate usually rests on."""
    acquisition: str | None = None
    random_every: int | None = None
    seed: int = 0
    trial_seconds: float = 60.0
    trial_memory: int = 4096
    """MiB that a trial may take."""

    def description(self) -> dict[str, Any]:
        """All of it as JSON values."""
        seeds = [[configuration.algorithm, dict(configuration.values)] for configuration in self.seeds]
        return {**vars(self), "flows": list(self.flows), "seeds": seeds}


@dataclass(frozen=True)
class Budget:
    """When to stop: whichever comes first."""

    trials: int | None = None
    """Trials in all, with those of the history that the search goes on from."""
    seconds: float | None = None
    """Time from now on."""


@dataclass(frozen=True)
class Progress:
    """Where a search stands."""

    done: int
    failed: int
    of: int | None
    seconds_left: float | None
    best: float | None
    best_flow: str | None


@dataclass(frozen=True)
class Tuned:
    """What a search came to."""

    dataset: Dataset
    search: Search
    entries: list[Entry]
    """All trials that ended, in the order of their numbers."""
    incumbents: list[Entry]
    """Trials that were better than all before them."""
    held_out: dict[int, float]
    """Number of a trial -> value on the rows held out, of the first and the last incumbent."""
    rows: tuple[int, int]
    """Numbers of rows that were tuned on and that were held out."""
    folder: Path
    interrupted: bool

    @property
    def best(self) -> Entry | None:
        """The best trial; None where none succeeded."""
        return self.incumbents[-1] if self.incumbents else None

    def value(self, entry: Entry) -> float | None:
        """A trial's value of the measure, as it is: smaller is better for costs."""
        return value_of(entry.trial, self.search.measure)


def value_of(trial: Trial | None, measure: str) -> float | None:
    """The value of the measure; None where there is none."""
    if trial is None or trial.outcome is not Outcome.success:
        return None
    value = float(trial.result[measure])
    return value if np.isfinite(value) else None


def score_of(trial: Trial | None, measure: str) -> float | None:
    """As `value_of`, but larger is better."""
    value = value_of(trial, measure)
    return None if value is None else float(oriented(np.array([value]), measure)[0])


def tune(
    dataset: Dataset,
    search: Search | None = None,
    budget: Budget | None = None,
    *,
    warehouse: Warehouse | None = None,
    folder: Path | None = None,
    jobs: int = 1,
    executor: Executor | None = None,
    report: Callable[[Progress], None] = lambda _: None,
) -> Tuned:
    """Search for the best configuration on `dataset`.

    An interrupt (Ctrl-C) ends the trials that run, and what is known by then is returned.

    Args:
        search: None = all flows, starting from what `recommend` would try first.
        budget: None = 50 trials.
        warehouse: what to learn from; None = the user's warehouse, else the bundled starter.
        folder: of the history; None = one in the user's cache that is named after data and search, so the
            same search goes on where it was.
        jobs: trials that run at the same time.
        executor: runs the trials; None = here. A Dask client's `get_executor()` runs them on its workers, and
            again where a worker dies.
        report: told after every trial where the search stands.

    Raises:
        BadInput: a dataset, search, budget or history that can't be used; one line says why.
    """
    search, budget = search or Search(), budget or Budget(trials=50)
    search = replace(search, measure=canonical_measure(search.measure))
    _check(search, budget, jobs)
    train, test = split_rows(dataset, search)
    part = dataset.take(train)
    known = _gather(dataset, part, search, warehouse)
    optimizer, candidates = _optimizer(known, search)
    folder = folder or _default_folder(dataset, search)
    data = {"content_hash": dataset.content_hash, "rows": len(dataset.features)}
    with History(folder, {**search.description(), "data": data}) as history:
        begun = _recalled(history, optimizer, candidates, search)
        with _trials(executor, jobs) as submit:
            loop = _Loop(optimizer, candidates, history, part, search, budget, submit, report)
            interrupted = loop.run(begun, jobs)
        return _result(dataset, search, history, (train, test), interrupted)


def _check(search: Search, budget: Budget, jobs: int) -> None:
    """Refuse what can't work, before any work."""
    if search.measure not in MEASURES:
        raise BadInput(f"a trial does not measure {search.measure}; it measures {', '.join(MEASURES)}")
    if budget.trials is None and budget.seconds is None:
        raise BadInput("a search needs an end: a number of trials, or a time")
    if search.start not in (NO_START, FROM_FILE):
        get_start(search.start)
    positive = {
        "trials": budget.trials,
        "time": budget.seconds,
        "jobs": jobs,
        "folds": search.folds,
        "trial seconds": search.trial_seconds,
        "trial memory": search.trial_memory,
    }
    for name, number in positive.items():
        if number is not None and number <= 0:
            raise BadInput(f"{name} must be more than 0, not {number}")


def split_rows(dataset: Dataset, search: Search) -> tuple[np.ndarray, np.ndarray]:
    """Rows to tune on, rows held out."""
    if not dataset.n_classes:
        return np.arange(len(dataset.features)), np.arange(0)  # `gather` refuses a target without classes
    codes = class_codes(dataset)
    train, test = hold_out(codes, HELD_OUT, search.seed)
    if len(np.unique(codes[train])) < 2 or len(train) < max(2, search.folds):
        raise BadInput(f"{dataset.name} has too few rows ({len(codes):,}) for {search.folds} folds")
    return train, test


def _gather(dataset: Dataset, part: Dataset, search: Search, warehouse: Warehouse | None) -> Knowledge:
    return gather(
        dataset,
        warehouse=warehouse,
        flows=search.flows,
        measure=search.measure,
        metalearner=_learner_of(search),
        part=part,
    )


def _learner_of(search: Search) -> str | None:
    """The meta-learner that surrogate and start rest on; None where they rest on none."""
    usual = LEARNERS_OF.get(search.surrogate)
    if usual is None and search.start not in (NO_START, FROM_FILE):
        usual = get_start(search.start).learner
    return usual and (search.metalearner or usual)


def _optimizer(known: Knowledge, search: Search) -> tuple[Optimizer, SpaceCandidates]:
    n_features = known.part.features.shape[1]
    space = Space([get_flow(name) for name in search.flows], n_features=n_features)
    candidates = SpaceCandidates(space, seed=search.seed)
    sample = space.configurations(space.sample(KNOWN, np.random.default_rng(search.seed)))
    learner = known.model.learner if search.surrogate in LEARNERS_OF else None
    surrogate = new_surrogate(search.surrogate, Ingredients(sample, known.metafeatures, learner))
    timed = (search.acquisition or surrogate.acquisition) in TIMED
    return (
        Optimizer(
            candidates,
            surrogate,
            acquisition=search.acquisition,
            starts=[candidates.of(configuration) for configuration in _starts(known, search)],
            times=warehouse_times(known) if timed else None,
            random_every=search.random_every,
            seed=search.seed,
        ),
        candidates,
    )


def _starts(known: Knowledge, search: Search) -> Iterator[Configuration]:
    """The first configurations to try; where a space is full of them, `Optimizer` takes each once."""
    yield from search.seeds
    if search.start in (NO_START, FROM_FILE):
        return
    start = get_start(search.start)
    name = start.learner if start.settings else search.metalearner or start.learner
    learner = known.trained(name, start.settings).learner
    candidates = list(known.candidates.values())
    for position in first_choices(start.choice, learner, known.configurations, known.metafeatures, SEEDS):
        yield candidates[position]


def _recalled(
    history: History, optimizer: Optimizer, candidates: SpaceCandidates, search: Search
) -> list[Proposal]:
    """Tell the optimizer the trials of `history`; returns those that had begun and did not end."""
    begun = []
    for entry in history.entries:
        proposal = Proposal(entry.number, candidates.of(entry.configuration), entry.origin)
        optimizer.recall(proposal)
        if entry.trial is None:
            begun.append(proposal)
        else:
            _tell(optimizer, entry.number, entry.trial, search.measure)
    return begun


def _tell(optimizer: Optimizer, number: int, trial: Trial, measure: str) -> None:
    optimizer.tell(number, score_of(trial, measure), trial.seconds)


@contextmanager
def _trials(executor: Executor | None, jobs: int) -> Iterator[Submit]:
    """How a trial is begun: on the executor, or else here, where its process ends with the search.

    Threads are enough here: they only wait, each trial has a process of its own.
    """
    if executor is not None:
        yield lambda *trial: executor.submit(run_trial, *trial)
        return
    with ThreadPoolExecutor(jobs) as pool, Processes() as processes:
        try:
            yield partial(pool.submit, partial(run_trial, processes=processes))
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


@dataclass
class _Loop:
    """Asks, runs and tells until the budget is used up."""

    optimizer: Optimizer
    candidates: SpaceCandidates
    history: History
    part: Dataset
    search: Search
    budget: Budget
    submit: Submit
    report: Callable[[Progress], None]
    began: float = field(default_factory=time.monotonic)

    def run(self, begun: list[Proposal], jobs: int) -> bool:
        """Whether the user interrupted it."""
        waiting: dict[Future[Trial], Proposal] = {}
        try:
            while True:
                while len(waiting) < jobs and (proposal := self._next(begun)) is not None:
                    waiting[self._submitted(proposal)] = proposal
                if not waiting:
                    return False
                done = wait(waiting, return_when=FIRST_COMPLETED).done
                for future in sorted(done, key=lambda future: waiting[future].number):
                    self._ended(waiting.pop(future).number, future.result())
        except KeyboardInterrupt:
            for future in waiting:
                future.cancel()
            return True

    def _next(self, begun: list[Proposal]) -> Proposal | None:
        """What to run next; None where the budget is used up or nothing is left."""
        if begun:
            return begun.pop(0) if self._seconds_left() > 0 else None
        full = self.budget.trials is not None and len(self.history.entries) >= self.budget.trials
        if full or self._seconds_left() <= 0:
            return None
        proposal = self.optimizer.ask()
        if proposal is not None:
            configuration = self.candidates.configuration_of(proposal.candidate)
            self.history.begin(Entry(proposal.number, configuration, proposal.origin))
        return proposal

    def _submitted(self, proposal: Proposal) -> Future[Trial]:
        configuration = self.history.entries[proposal.number].configuration
        limit = min(self.search.trial_seconds, self._seconds_left())
        return self.submit(configuration, self.part, self.search, limit)

    def _ended(self, number: int, trial: Trial) -> None:
        cut_off = trial.outcome is Outcome.timeout and trial.seconds < self.search.trial_seconds
        if cut_off:  # by the end of the budget, which says nothing about the configuration
            return
        self.history.end(number, trial)
        _tell(self.optimizer, number, trial, self.search.measure)
        self._report()

    def _report(self) -> None:
        ended = [entry for entry in self.history.entries if entry.trial is not None]
        best = incumbents(ended, self.search.measure)[-1:]
        spent = time.monotonic() - self.began
        left = None if self.budget.seconds is None else max(self.budget.seconds - spent, 0.0)
        self.report(
            Progress(
                done=len(ended),
                failed=sum(value_of(entry.trial, self.search.measure) is None for entry in ended),
                of=self.budget.trials,
                seconds_left=left,
                best=value_of(best[0].trial, self.search.measure) if best else None,
                best_flow=best[0].configuration.algorithm if best else None,
            )
        )

    def _seconds_left(self) -> float:
        if self.budget.seconds is None:
            return np.inf
        return self.budget.seconds - (time.monotonic() - self.began)


def run_trial(
    configuration: Configuration,
    part: Dataset,
    search: Search,
    seconds: float,
    processes: Processes | None = None,
) -> Trial:
    """One trial, in a process of its own that ends after `seconds`, or with the owner of `processes`."""
    return run_limited(
        cross_validate,
        configuration.algorithm,
        dict(configuration.values),
        part,
        folds=search.folds,
        seed=search.seed,
        seconds=seconds,
        memory=search.trial_memory * MEBIBYTE,
        processes=processes,
    )


def incumbents(entries: Sequence[Entry], measure: str) -> list[Entry]:
    """The trials, in order, that were better than all before them."""
    found: list[Entry] = []
    best = -np.inf
    for entry in entries:
        score = score_of(entry.trial, measure)
        if score is not None and score > best:
            found.append(entry)
            best = score
    return found


def _result(
    dataset: Dataset,
    search: Search,
    history: History,
    rows: tuple[np.ndarray, np.ndarray],
    interrupted: bool,
) -> Tuned:
    ended = [entry for entry in history.entries if entry.trial is not None]
    better = incumbents(ended, search.measure)
    scores: dict[int, float | None] = {}
    if len(rows[1]) and not interrupted:
        judged = {entry.number: entry.configuration for entry in better[:1] + better[-1:]}
        scores = {
            number: held_out_value(dataset, configuration, search, rows)
            for number, configuration in judged.items()
        }
    return Tuned(
        dataset=dataset,
        search=search,
        entries=ended,
        incumbents=better,
        held_out={number: score for number, score in scores.items() if score is not None},
        rows=(len(rows[0]), len(rows[1])),
        folder=history.folder,
        interrupted=interrupted,
    )


def held_out_value(
    dataset: Dataset, configuration: Configuration, search: Search, rows: tuple[np.ndarray, np.ndarray]
) -> float | None:
    """The value on the rows held out of the configuration fitted on the others."""
    trial = run_limited(
        evaluate_splits,
        configuration.algorithm,
        dict(configuration.values),
        dataset,
        [rows],
        seed=search.seed,
        seconds=search.trial_seconds,
        memory=search.trial_memory * MEBIBYTE,
    )
    return value_of(trial, search.measure)


def _default_folder(dataset: Dataset, search: Search) -> Path:
    key = digest(dataset.content_hash, repr(sorted(search.description().items())))
    return cache_directory() / "tune" / f"{dataset.name}-{key}"
