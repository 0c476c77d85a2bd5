"""Runner of simulated searches on held-out datasets of the warehouse.

`simulation/methods.py` describes the names of methods.
"""

from __future__ import annotations

import json
import time
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import asdict, dataclass
from functools import cached_property, partial
from typing import Any, cast

import numpy as np
import pandas as pd

from metalearners import DEFAULT_LEARNER, new_learner
from metalearners.encoding.training_data import runs_checksum, without_datasets
from metalearners.evaluation.folds import families_of, folds_of
from metalearners.evaluation.protocol import kendall_tau
from metalearners.fit_times import FitTimes, learn_fit_times
from metalearners.learners.base import Model
from metalearners.learners.neighbours import OrderedFirst
from metalearners.published.factorization.model import Factorization
from recommend.bo.acquisition import TIMED
from recommend.bo.optimizer import ALL_ROWS
from recommend.bo.scoring import CandidateScorer
from recommend.bo.simulation.factorization import PAPER, FactorizationSearch
from recommend.bo.simulation.methods import ORDER, PMF, RANDOM, WHOLE, By, check, needs_times, parse
from recommend.bo.simulation.peers import PEERS, new_peer
from recommend.bo.simulation.searches import OrderedSearch, OwnSearch, RandomSearch, SearchMethod
from recommend.bo.simulation.tasks import ModelTask, TableTask, Task
from recommend.bo.simulation.tiers import TieredTask, came_of, every_size
from recommend.bo.simulation.times import seconds_of, timed_trials
from recommend.bo.strategies import SearchInputs, get_strategy
from recommend.bo.surrogates import SurrogateInputs, SurrogateMethod, get_surrogate
from recommend.bo.warmstart import (
    NO_START,
    OPTIMAL,
    ORACLE,
    SEEDS,
    first_choices,
    get_start,
)
from warehouse.questions.queries import RunTable
from warehouse.support.arrays import Floats, Positions
from warehouse.support.errors import TooFewRuns, look_up
from warehouse.support.journal import Journal
from warehouse.support.parallel import one_thread, side_by_side
from warehouse.vocabulary.table import ConfigurationTable

TASKS: dict[str, type[Task]] = {
    "table": TableTask,
    "model": ModelTask,
    "tiers": TieredTask,
}
ROUNDED = 1e-9
"""Relative rounding error of a sum of shares or seconds."""
MOST = 10
"""Most trials of a search by seconds, as a multiple of the requested number."""


@dataclass(frozen=True)
class SimulationPlan:
    """Methods, tasks and seeds of a simulation."""

    methods: tuple[str, ...]
    trials: int = 50
    seeds: int = 1
    kind: str = "table"
    """One of `TASKS`."""
    folds: int = 0
    """Number of folds of families, which are held out in turn; 0 = hold out each family alone."""
    by: By = "trials"


@dataclass(frozen=True)
class SimulatedSearch:
    """One search of one method on one dataset."""

    dataset: str
    method: str
    seed: int
    best_so_far: list[float]
    """Highest value on all rows after each trial, and the worst before the first trial on all rows; fewer
    than requested if a table has no more rows."""
    best: float
    """Highest known value of the task."""
    worst: float
    seconds: float
    """Time for choosing all configurations, without evaluating them."""
    trial_seconds: list[float] | None = None
    """Seconds of each trial; None = unknown."""
    usual_seconds: float | None = None
    """Median of the dataset's runs."""
    shares: list[float] | None = None
    """Share of the rows of each trial; None = all rows."""


def simulate(
    runs: RunTable,
    metafeatures: pd.DataFrame,
    plan: SimulationPlan,
    *,
    times: RunTable | None = None,
    datasets: Sequence[str] | None = None,
    jobs: int = 1,
    executor: Executor | None = None,
    journal: Journal | None = None,
    on_result: Callable[[int, int], None] | None = None,
) -> list[SimulatedSearch]:
    """Search each dataset with each method and seed, learning from other families only.

    Args:
        times: the same runs with their milliseconds (`recommend.bo.simulation.times`); None = unknown.
        datasets: None = all with enough runs for a task.
        jobs: number of folds searched in parallel, each in a process; the result does not depend on it.
        executor: searches the folds; None = processes on this machine.
        journal: stores each search when it ends (with an `executor`, each fold); stored ones are not
            repeated.
        on_result: called with the number of datasets done and their total.

    Raises:
        BadInput: an unknown method or kind of task, a dataset without runs, or fewer than two datasets.
    """
    suited = datasets_of(plan.kind, runs)
    for method in plan.methods:
        check(method, plan.kind)
        if times is None and method not in WHOLE and needs_times(parse(method)):
            raise TooFewRuns(f"{method} weighs running times, but no run has one")
    families, fold_of = families_of(runs), folds_of(runs, plan.folds)
    with_runs = set(families.index)
    wanted = [dataset for dataset in families.index if dataset in suited] if datasets is None else [*datasets]
    strangers = [dataset for dataset in wanted if dataset not in with_runs]
    if strangers:
        raise TooFewRuns(f"no run on dataset {strangers[0]!r} has {runs.measure}")
    if fold_of.nunique() < 2:
        raise TooFewRuns("leaving out the searched family needs runs on two families of datasets or more")
    if not wanted:
        raise TooFewRuns(f"no dataset has the runs for a task of the kind {plan.kind}")
    if plan.by == "seconds":
        _check_times(times, wanted)
    of_plan = _of_plan(plan, runs, times)
    kept = {} if journal is None else dict(_kept(journal, of_plan))
    keep = partial(_keep, journal, of_plan)
    at_once = keep if executor is None else None  # other machines do not have the journal
    known = KnownRuns(runs, metafeatures, times)
    on_fold = partial(_on_fold, known, plan, frozenset(kept), at_once)
    left = [dataset for dataset in wanted if any(key not in kept for key in _keys(dataset, plan))]
    done = len(wanted) - len(left)
    folds = [
        _Fold(
            left_out=fold_of.index[(fold_of == fold).to_numpy()].tolist(),
            searched=[dataset for dataset in left if fold_of[dataset] == fold],
        )
        for fold in fold_of[left].unique()
    ]
    for found in side_by_side(on_fold, folds, jobs, executor):
        if at_once is None:
            for one in found:
                keep(one)
        kept |= {(one.dataset, one.method, one.seed): one for one in found}
        done += len({one.dataset for one in found})
        if on_result is not None:
            on_result(done, len(wanted))
    return [kept[key] for dataset in wanted for key in _keys(dataset, plan)]


def datasets_of(kind: str, runs: RunTable) -> set[str]:
    """Datasets that have a task of this kind.

    Raises:
        BadInput: there is no such kind.
    """
    return look_up(kind, TASKS, "kind of task").datasets(runs)


_Key = tuple[str, str, int]  # dataset, method, seed


def _keys(dataset: str, plan: SimulationPlan) -> list[_Key]:
    return [(dataset, method, seed) for method in plan.methods for seed in range(plan.seeds)]


def _of_plan(plan: SimulationPlan, runs: RunTable, times: RunTable | None) -> dict[str, Any]:
    """Settings of a search besides dataset, method and seed; records of earlier versions lack some."""
    if plan.kind == "tiers":
        runs, times = every_size(runs), times and every_size(times)
    return {
        "kind": plan.kind,
        "trials": plan.trials,
        "folds": plan.folds,
        "by": plan.by,
        "runs": runs_checksum(runs),
        "times": None if times is None else runs_checksum(times),
    }


def _keep(journal: Journal | None, of_plan: Mapping[str, Any], one: SimulatedSearch) -> None:
    if journal is not None:
        journal.append({**of_plan, **asdict(one)})


def _kept(journal: Journal, of_plan: Mapping[str, Any]) -> Iterator[tuple[_Key, SimulatedSearch]]:
    """Searches in `journal` with the same runs and plan."""
    for record in journal.records():
        if {name: record.pop(name, "") for name in of_plan} == of_plan:
            one = SimulatedSearch(**record)
            yield (one.dataset, one.method, one.seed), one


def _check_times(times: RunTable | None, datasets: Sequence[str]) -> None:
    """Refuse datasets without a timed run."""
    timed = set() if times is None else set(times.runs["dataset"])
    for dataset in datasets:
        if dataset not in timed:
            raise TooFewRuns(
                f"the runs on {dataset} have no running time, so it can't be searched by seconds"
            )


@dataclass(frozen=True)
class _Fold:
    left_out: list[str]
    searched: list[str]
    """Datasets of the fold to search on."""


@dataclass(frozen=True)
class KnownRuns:
    """Runs on datasets with meta-features."""

    runs: RunTable
    metafeatures: pd.DataFrame
    times: RunTable | None
    """The same runs with their milliseconds; None = unknown."""

    def without(self, datasets: Sequence[str]) -> KnownRuns:
        """The runs on other datasets."""
        return KnownRuns(
            without_datasets(self.runs, datasets),
            self.metafeatures.drop(index=datasets, errors="ignore"),
            None if self.times is None else without_datasets(self.times, datasets),
        )


def _on_fold(
    known: KnownRuns,
    plan: SimulationPlan,
    kept: frozenset[_Key],
    keep: Callable[[SimulatedSearch], None] | None,
    fold: _Fold,
) -> list[SimulatedSearch]:
    """All searches on the datasets of one fold that are not `kept`."""
    others = TrainedModels(known.without(fold.left_out))
    seconds = None if known.times is None else seconds_of(known.times)
    found = []
    with one_thread():  # folds run in parallel
        for dataset in fold.searched:
            task = TASKS[plan.kind](known.runs, known.metafeatures, dataset, seconds)
            for key in _keys(dataset, plan):
                if key not in kept:
                    _, method, seed = key
                    one = _searched(task, others, method, seed, plan)
                    found.append(one)
                    if keep is not None:
                        keep(one)
    return found


def _searched(
    task: Task, others: TrainedModels, method: str, seed: int, plan: SimulationPlan
) -> SimulatedSearch:
    random = np.random.default_rng([seed, zlib.crc32(task.dataset.encode())])
    search = _new_search(method, task, others, random, plan.trials)
    best_so_far: list[float] = []
    trial_seconds: list[float] = []
    shares: list[float] = []
    choosing = 0.0

    def goes_on() -> bool:
        if plan.by == "trials" or task.usual_seconds is None:
            return sum(shares) < plan.trials * (1 - ROUNDED)
        left = sum(trial_seconds) < plan.trials * task.usual_seconds
        return left and len(best_so_far) < MOST * plan.trials

    while goes_on():
        start = time.perf_counter()
        asked = search.ask()
        choosing += time.perf_counter() - start
        if not asked:
            break
        value, seconds, share = came_of(asked, search.share, task)
        counted = value if search.share == ALL_ROWS else task.worst
        best_so_far.append(max([counted, *best_so_far[-1:]]))
        shares.append(share)
        trial_seconds += [] if seconds is None else [seconds]
        start = time.perf_counter()
        search.tell(value, seconds)
        choosing += time.perf_counter() - start
    return SimulatedSearch(
        dataset=task.dataset,
        method=method,
        seed=seed,
        best_so_far=best_so_far,
        best=task.best,
        worst=task.worst,
        seconds=choosing,
        trial_seconds=None if task.usual_seconds is None else trial_seconds,
        usual_seconds=task.usual_seconds,
        shares=None if set(shares) <= {ALL_ROWS} else shares,
    )


class TrainedModels:
    """Meta-learners trained on the datasets of other folds, lazily."""

    def __init__(self, known: KnownRuns) -> None:
        self._known = known
        self._models: dict[tuple[str, str], Model] = {}
        self._transferred: dict[object, Any] = {}

    def model(self, name: str, settings: Mapping[str, Any] | None = None) -> Model:
        """The model of the learner with this name and these settings, trained once."""
        key = (name, json.dumps(settings or {}, sort_keys=True))
        if key not in self._models:
            self._models[key] = new_learner(name, settings).fit(self._known.runs, self._known.metafeatures)
        return self._models[key]

    @cached_property
    def times(self) -> FitTimes:
        """The model of running times of trials (whole runs), trained on other datasets."""
        if self._known.times is None:
            raise TooFewRuns("no run has a running time")
        return learn_fit_times(timed_trials(self._known.times), self._known.metafeatures)

    def transferred(self, surrogate: SurrogateMethod) -> Any:
        """The knowledge that a surrogate transfers from other datasets, learned once; None = none."""
        transfer = surrogate.transfer
        if transfer is not None and transfer not in self._transferred:
            self._transferred[transfer] = transfer(self._known.runs, self._known.metafeatures)
        return self._transferred.get(transfer)


def _new_search(
    method: str, task: Task, others: TrainedModels, random: np.random.Generator, trials: int
) -> SearchMethod:
    if method in RANDOM:
        return RandomSearch(task.candidates(0), RANDOM[method], random)
    if method == ORDER:
        expected = others.model(DEFAULT_LEARNER).predict(task.known.table, task.metafeatures).mean
        return OrderedSearch(task, np.argsort(-expected, kind="stable").tolist())
    if method == PMF:
        return FactorizationSearch(task, cast("Factorization", others.model("pmf", PAPER)))
    seed = int(random.integers(2**31))
    asked = parse(method)
    starts = [task.start(position) for position in _first(asked.start, task, others)]
    if asked.strategy in PEERS:  # `check` has verified the kind of tasks
        return new_peer(asked.strategy, cast("ModelTask", task).space, starts, seed, trials)
    surrogate = get_surrogate(asked.surrogate)
    model = None if surrogate.learner is None else others.model(surrogate.learner)
    inputs = SurrogateInputs(task.known, task.metafeatures, model, others.transferred(surrogate))
    seconds = None
    if asked.acquisition in TIMED:
        seconds = partial(others.times.seconds, metafeatures=task.metafeatures, rows=task.train_rows)
    search_inputs = SearchInputs(
        task.candidates(seed),
        lambda: CandidateScorer(surrogate.new(inputs), acquisition=asked.acquisition, seconds=seconds),
        starts=starts,
        random_every=asked.random_every,
        trials=trials,
        seed=seed,
    )
    return OwnSearch(get_strategy(asked.strategy).new(search_inputs))


def _first(start: str, task: Task, others: TrainedModels) -> list[int]:
    """Positions in `task.known` of the configurations to start with."""
    if start == NO_START:
        return []
    if start == ORACLE:
        return task.best_of_known(SEEDS)
    if start == OPTIMAL:
        runs = cast("OrderedFirst", others.model("nearest-25", {"datasets": SEEDS}))
        best = choices_of_most_correlated(runs, task.known.table, task.metafeatures, task.values)
        return [int(position) for position in best]
    chosen = get_start(start)
    model = others.model(chosen.learner, chosen.settings)
    table = task.known.table
    seconds = None
    if chosen.choice == "quick":
        seconds = others.times.seconds(table, task.metafeatures, task.train_rows)
    positions = first_choices(chosen.choice, model, table, task.metafeatures, chosen.n, seconds)
    return [int(position) for position in positions]


def choices_of_most_correlated(
    model: OrderedFirst, table: ConfigurationTable, metafeatures: pd.Series, values: Floats
) -> Positions:
    """Positions of the best configurations of the three datasets with the most similar rankings of `table`
    (OPT-3).

    Thesis, section 6.5. Rankings are compared by its Kendall's tau (eq. 6.1). A configuration without a run
    on another dataset has there the mean value of the five nearest runs, weighted by 1 / distance.

    Args:
        values: (len(table),) true values on the dataset, larger is better.
    """
    x = model.points(table, metafeatures)
    taus = np.array(
        [kendall_tau(model.function(dataset, model.scores, x), values) for dataset in range(len(model.ends))]
    )
    return model.choose_for(x, np.argsort(-taus, kind="stable")[:SEEDS], SEEDS)
