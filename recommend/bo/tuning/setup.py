"""Setup of a search: known runs, the first configurations, and the optimizer."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial

import numpy as np
import pandas as pd

from ingest.flows import Flow, get_flow, with_preprocessing
from ingest.keys import setup_of
from ingest.reading.datasets import Dataset
from ingest.running.resampling import Resampling
from metalearners.encoding.training_data import without_datasets
from recommend.bo.acquisition import TIMED
from recommend.bo.candidates import SpaceCandidates
from recommend.bo.optimizer import AskTell
from recommend.bo.reference_trials import anchors, best_on_average
from recommend.bo.scoring import CandidateScorer
from recommend.bo.strategies import SearchInputs, get_strategy
from recommend.bo.surrogates import SurrogateInputs, get_surrogate
from recommend.bo.tuning.deadline import trial_limit
from recommend.bo.tuning.settings import USUAL_SECONDS, Budget, Search
from recommend.bo.warmstart import FROM_FILE, NO_START, first_choices, get_start
from recommend.ranking.averaging import MEMBERS, weights_of
from recommend.ranking.candidates import Candidates, find_candidates
from recommend.ranking.choice import Forecast, choose, forecast
from recommend.ranking.fit_cost import trial_seconds
from recommend.ranking.knowledge import Knowledge, describe, fit_times_for, model_for, runs_that_count
from recommend.ranking.task import RankingTask, describe_task
from recommend.space import Space
from warehouse.store import Warehouse
from warehouse.support.arrays import Floats
from warehouse.support.errors import BadOption, TooFewRuns
from warehouse.vocabulary.configuration import Configuration
from warehouse.vocabulary.table import ConfigurationTable, joint_name

FITTED = 0.5
"""Share of a search's time that fits of the first model may take; a heuristic."""
QUICK = (0.05, 0.01)
"""Shares of a search's time that fits of spares may be expected to take, but for the quickest."""


def task_of(dataset: Dataset, search: Search, warehouse: Warehouse | None) -> RankingTask:
    """The task of a search, for which runs on the dataset itself are not learned from."""
    return describe_task(
        dataset,
        warehouse=warehouse,
        flows=search.flows,
        measure=search.measure,
        learner=_learner_of(search),
    )


@dataclass(frozen=True)
class Firsts:
    """What a search begins with."""

    members: list[Configuration]
    """Configurations whose average is the first model, the best first."""
    spares: list[Configuration]
    """Configurations to fit where the first of these fails, each quicker than the one before."""


def first_configurations(
    search: Search, known: Knowledge | None, candidates: Candidates | None, seconds: float | None
) -> Firsts:
    """The configurations that a search begins with: those of its seeds, of `recommend`, or defaults.

    Args:
        known: None = nothing is learned from other datasets.
        seconds: of the search; None = no limit.
    """
    defaults = [Configuration(flow.name, flow.default()) for flow in searched_flows(search)]
    if search.seeds:
        return Firsts([*search.seeds[:MEMBERS]], defaults)
    if known is None or candidates is None or not _has_start(search):
        return Firsts(defaults[:1], defaults[1:])
    expected = forecast(known, candidates)
    took = expected.fits.seconds
    limit = None if seconds is None or np.isnan(took).all() else FITTED * seconds
    try:
        chosen = choose(known, expected, MEMBERS, budget=limit)
    except BadOption:  # nothing is that quick
        quickest = _spares(expected, None, 0.0)
        return Firsts(quickest, [])
    members = [*weights_of([candidates.configurations[place] for place in chosen.positions])]
    return Firsts(members, _spares(expected, members[0].algorithm, seconds or USUAL_SECONDS))


def _spares(expected: Forecast, first: str | None, seconds: float) -> list[Configuration]:
    """The most promising of the candidates that take small shares of the time, and the quickest of all.

    Args:
        first: the algorithm whose fit may fail; spares are of others, where there are some, since an
            algorithm that is slower than expected on a dataset mostly is with all its configurations.
    """
    took = np.nan_to_num(expected.fits.seconds, nan=np.inf)
    algorithms = np.array([one.algorithm for one in expected.candidates.configurations])
    others = algorithms != first
    places = []
    for share in QUICK:
        quick = np.flatnonzero((took <= share * seconds) & others)
        if len(quick):
            places.append(int(quick[np.argmax(expected.scores.mean[quick])]))
            others &= algorithms != algorithms[places[-1]]
    places.append(int(np.argmin(took)))
    return [expected.candidates.configurations[place] for place in dict.fromkeys(places)]


def seconds_by_rows(known: Knowledge | None) -> Callable[[Configuration, int], float]:
    """A function of a configuration and a number of rows: expected seconds of one fit, NaN where unknown.

    They are those of a machine like those of the known runs.
    """
    if known is None or known.fit_times is None:
        return lambda _, __: np.nan
    times, metafeatures = known.fit_times, known.metafeatures

    @cache  # a session asks for the same configurations again and again
    def seconds(configuration: Configuration, rows: int) -> float:
        index = pd.Index([setup_of(configuration)])
        algorithm = configuration.algorithm
        values = {joint_name(algorithm, name): value for name, value in configuration.values.items()}
        table = ConfigurationTable(
            pd.Series([algorithm], index=index), pd.DataFrame([values], index=index), joint=True
        )
        return float(times.seconds(table, metafeatures, rows)[0])

    return seconds


def _learner_of(search: Search) -> str | None:
    """The meta-learner that surrogate and start rest on; None where they rest on none."""
    usual = get_surrogate(search.surrogate).learner
    if usual is None and search.start not in (NO_START, FROM_FILE):
        usual = get_start(search.start).learner
    return usual and (search.metalearner or usual)


def searched_flows(search: Search) -> list[Flow]:
    """The flows of a search, with decisions of preprocessing where it makes them."""
    flows = [get_flow(name) for name in search.flows]
    return [with_preprocessing(flow) for flow in flows] if search.preprocessing else flows


def new_search(
    task: RankingTask,
    known: Knowledge | None,
    search: Search,
    resampling: Resampling,
    firsts: Sequence[Configuration] = (),
    budget: Budget | None = None,
) -> tuple[AskTell, SpaceCandidates]:
    """The search by asking and telling, and the configurations that it chooses among.

    Args:
        known: None = nothing is learned from other datasets.
        resampling: of the trials.
        firsts: configurations to try before those of the search's start.
        budget: of the search; None = no limit.
    """
    n_features = task.part.features.shape[1]
    space = Space(searched_flows(search), n_features=n_features)
    candidates = SpaceCandidates(space, seed=search.seed)
    metafeatures = describe(task.part) if known is None else known.metafeatures
    method = get_surrogate(search.surrogate)
    model = known.model.fitted if known is not None and method.learner is not None else None
    transferred = None
    if method.transfer is not None:
        _, runs = runs_that_count(task)
        others = without_datasets(runs, task.left_out.keys())
        transferred = method.transfer(others, task.warehouse.metafeatures())
    inputs = SurrogateInputs(space.examples(search.seed), metafeatures, model, transferred)
    usual = method.new(inputs).acquisition
    acquisition = search.acquisition or ("ei-per-second" if usual == "ei" else usual)
    times = known.fit_times if known is not None else fit_times_for(task)
    if times is None and acquisition in TIMED:
        if search.acquisition in TIMED:
            raise TooFewRuns(f"{acquisition} needs running times, and the warehouse has none")
        acquisition = usual
    fitted_on, _ = resampling.sizes(len(task.part.features))
    seconds = partial(trial_seconds, times, metafeatures=metafeatures, rows=fitted_on, fits=resampling.folds)
    budget = budget or Budget()
    longest = trial_limit(search.trial_seconds, budget.seconds)

    def new_scorer() -> CandidateScorer:
        surrogate = method.new(inputs)
        return CandidateScorer(
            surrogate, acquisition=acquisition, seconds=seconds if acquisition in TIMED else None
        )

    starts: list[Configuration] = []
    best = None
    if known is not None and (search.anchors or _has_start(search)):
        of_warehouse = find_candidates(known)
        starts = [*_starts(known, of_warehouse, search, seconds, longest)] if _has_start(search) else []
        best = best_on_average(known, of_warehouse) if search.anchors else None
    search_inputs = SearchInputs(
        candidates,
        new_scorer,
        starts=[candidates.of(configuration) for configuration in [*search.seeds, *firsts, *starts]],
        anchors=[*anchors(best, candidates, search.seed)] if search.anchors else [],
        random_every=search.random_every,
        trials=budget.trials,
        seed=search.seed,
    )
    return get_strategy(search.strategy).new(search_inputs), candidates


def _has_start(search: Search) -> bool:
    """Whether first configurations are chosen by runs on other datasets."""
    return search.start not in (NO_START, FROM_FILE)


def _starts(
    known: Knowledge,
    known_candidates: Candidates,
    search: Search,
    seconds_of: Callable[[ConfigurationTable], Floats],
    longest: float,
) -> Iterator[Configuration]:
    """The first configurations to try; one that comes twice is tried once.

    Those that are expected to take longer than a trial may are left out, unless all are.

    Args:
        longest: seconds that a trial may take.
    """
    start = get_start(search.start)
    name = start.learner if start.settings else search.metalearner or start.learner
    model = model_for(known.task, known.only, name, start.settings).fitted
    flows = {flow.name: flow for flow in searched_flows(search)}
    # Earlier searches may have tried decisions of preprocessing that this one does not make.
    candidates = {
        setup: one
        for setup, one in zip(known_candidates.table.setups, known_candidates.configurations, strict=True)
        if flows[one.algorithm].searches(one.values)
    }
    table = known_candidates.table.of_setups(candidates)
    seconds = seconds_of(table)
    late = seconds > longest
    if not late.all():
        table, seconds = table.take(~late), seconds[~late]
    positions = first_choices(start.choice, model, table, known.metafeatures, start.n, seconds)
    yield from (candidates[setup] for setup in table.setups[positions])
