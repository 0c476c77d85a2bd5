"""Setup of a search: known runs, the first configurations, and the optimizer."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cache

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
from recommend.bo.tuning.deadline import FIRST_SHARE, trial_limit
from recommend.bo.tuning.resampling import fits_of_trial, least_rows
from recommend.bo.tuning.settings import Budget, Search
from recommend.bo.warmstart import FROM_FILE, NO_START, first_choices, get_start
from recommend.ranking.averaging import MEMBERS, weights_of
from recommend.ranking.candidates import Candidates
from recommend.ranking.choice import Forecast, choose, forecast
from recommend.ranking.knowledge import Knowledge, describe, fit_times_for, model_for, runs_that_count
from recommend.ranking.task import RankingTask, describe_task
from recommend.space import Space
from warehouse.store import Warehouse
from warehouse.support.arrays import Floats, Positions
from warehouse.support.errors import TooFewRuns
from warehouse.vocabulary.configuration import Configuration
from warehouse.vocabulary.table import ConfigurationTable, joint_name

QUICK = 0.5
"""Seconds of a quick fit."""
HALVING = 0.3
"""Standard scores lost by halving the rows. With 1.4 s for the first fit, 12 of 30 tables of the choosing
half (4,000 to 20,000 rows) begin with a different configuration than with .1; it is better on 11 of them."""


def task_of(dataset: Dataset, search: Search, warehouse: Warehouse) -> RankingTask:
    """The task of a search, which ignores runs on the dataset itself."""
    return describe_task(
        dataset,
        warehouse=warehouse,
        flows=search.flows,
        measure=search.measure,
        learner=_learner_of(search),
    )


@dataclass(frozen=True)
class Firsts:
    """The first configurations of a search."""

    members: list[Configuration]
    """Configurations whose average is the first model, the best first."""
    fallbacks: list[Configuration]
    """Configurations to fit if all of these fail."""


def first_configurations(
    search: Search, known: Knowledge | None, candidates: Candidates | None, seconds: float | None
) -> Firsts:
    """The first configurations of a search: its seeds, the recommendation, or defaults.

    Args:
        known: None = do not learn from other datasets.
        seconds: time left of the search; None = no limit.
    """
    defaults = [Configuration(flow.name, flow.default()) for flow in searched_flows(search)]
    if search.seeds:
        return Firsts([*search.seeds[:MEMBERS]], defaults)
    if known is None or candidates is None or not _has_start(search):
        return Firsts(defaults[:1], defaults[1:])
    expected = all_expected = forecast(known, candidates)
    took = expected.fits.seconds
    if seconds is not None and not np.isnan(took).all():
        allowed = max(FIRST_SHARE * seconds, QUICK)
        kept = np.flatnonzero(took <= max(took[_best_within(known, allowed, expected)], allowed))
        candidates = candidates.take(kept)
        expected = forecast(known, candidates)
    chosen = choose(known, expected, MEMBERS)
    members = [*weights_of([candidates.configurations[place] for place in chosen.positions])]
    return Firsts(members, _fallbacks(known, all_expected, {one.algorithm for one in members}))


def _best_within(known: Knowledge, seconds: float, expected: Forecast, among: Positions | None = None) -> int:
    """Position of the candidate with the best expected score on as many rows as these seconds allow.

    Args:
        among: positions of the candidates to choose from; None = all.
    """
    value = expected.scores.mean - HALVING * _halvings(known, seconds, expected.candidates.table)
    among = np.arange(len(value)) if among is None else among
    return int(among[np.argmax(value[among])])


def _halvings(known: Knowledge, seconds: float, table: ConfigurationTable) -> Floats:
    """(n,) number of halvings of the rows until a fit of each configuration is expected to take these
    seconds.

    A configuration that takes longer even on the fewest rows has one more for each doubling of the time.
    """
    part, halvings = known.task.dataset, np.zeros(len(table))
    rows, fewest = len(part.features), least_rows(part)

    def seconds_on(rows: int) -> Floats:
        if known.fit_times is None:
            return np.zeros(len(table))
        return np.nan_to_num(known.fit_times.seconds(table, rows), nan=np.inf)

    took = seconds_on(rows)
    while rows > fewest and (late := took > seconds).any():
        fewer = max(rows // 2, fewest)
        halvings[late] += np.log2(rows / fewer)
        took[late] = seconds_on(fewer)[late]
        rows = fewer
    return halvings + np.log2(np.maximum(took / seconds, 1.0))


def _fallbacks(known: Knowledge, expected: Forecast, algorithms: Collection[str]) -> list[Configuration]:
    """A quick and good configuration of another algorithm than these; empty if there is none."""
    configurations = expected.candidates.configurations
    others = np.array([place for place, one in enumerate(configurations) if one.algorithm not in algorithms])
    return [configurations[_best_within(known, QUICK, expected, others)]] if len(others) else []


def seconds_by_rows(known: Knowledge | None) -> Callable[[Configuration, int], float]:
    """A function of a configuration and a number of rows: expected seconds of one fit, NaN = unknown.

    They are for a machine like those of the known runs.
    """
    if known is None or known.fit_times is None:
        return lambda _, __: np.nan
    times = known.fit_times

    @cache  # a session asks for the same configurations repeatedly
    def seconds(configuration: Configuration, rows: int) -> float:
        index = pd.Index([setup_of(configuration)])
        algorithm = configuration.algorithm
        values = {joint_name(algorithm, name): value for name, value in configuration.values.items()}
        table = ConfigurationTable(
            pd.Series([algorithm], index=index), pd.DataFrame([values], index=index), joint=True
        )
        return float(times.seconds(table, rows)[0])

    return seconds


def _learner_of(search: Search) -> str | None:
    """The meta-learner used by surrogate and start; None if they use none."""
    usual = get_surrogate(search.surrogate).learner
    if usual is None and _has_start(search):
        usual = get_start(search.start).learner
    return usual and (search.metalearner or usual)


def searched_flows(search: Search) -> list[Flow]:
    """The flows of a search, with preprocessing steps if it searches them."""
    flows = [get_flow(name) for name in search.flows]
    return [with_preprocessing(flow) for flow in flows] if search.preprocessing else flows


def new_search(
    task: RankingTask,
    known: Knowledge | None,
    known_candidates: Candidates | None,
    search: Search,
    resampling: Resampling,
    firsts: Sequence[Configuration],
    budget: Budget,
) -> tuple[AskTell, SpaceCandidates]:
    """The ask-and-tell search, and its candidates.

    Args:
        known: None = do not learn from other datasets.
        known_candidates: the configurations with runs on other datasets; None as for `known`.
        resampling: of the trials.
        firsts: configurations to try before those of the search's start.
    """
    n_features = task.dataset.features.shape[1]
    space = Space(searched_flows(search), n_features=n_features)
    candidates = SpaceCandidates(space, seed=search.seed)
    metafeatures = describe(task.dataset) if known is None else known.metafeatures
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
    times = known.fit_times if known is not None else fit_times_for(task, metafeatures)
    if times is None and acquisition in TIMED:
        if search.acquisition in TIMED:
            raise TooFewRuns(f"{acquisition} needs running times, and the warehouse has none")
        acquisition = usual

    fitted_on, _ = resampling.sizes(len(task.dataset.features))

    def seconds(table: ConfigurationTable) -> Floats:
        """Seconds of a trial on a machine like those of the known runs; the speed of this one is
        irrelevant."""
        if times is None:
            return np.full(len(table), np.nan)
        return times.seconds(table, fitted_on) * fits_of_trial(resampling)

    longest = trial_limit(search.trial_seconds, budget.seconds)

    def new_scorer() -> CandidateScorer:
        surrogate = method.new(inputs)
        return CandidateScorer(
            surrogate, acquisition=acquisition, seconds=seconds if acquisition in TIMED else None
        )

    starts: list[Configuration] = []
    best = None
    if known is not None and known_candidates is not None:
        starts = [*_starts(known, known_candidates, search, seconds, longest)] if _has_start(search) else []
        best = best_on_average(known, known_candidates) if search.anchors else None
    search_inputs = SearchInputs(
        candidates,
        new_scorer,
        starts=[candidates.of(configuration) for configuration in [*search.seeds, *firsts, *starts]],
        anchors=[*anchors(best, candidates, search.seed)] if search.anchors else [],
        random_every=search.random_every,
        trials=planned_trials(budget, seconds, inputs.known.table),
        seed=search.seed,
    )
    return get_strategy(search.strategy).new(search_inputs), candidates


def planned_trials(
    budget: Budget, seconds_of: Callable[[ConfigurationTable], Floats], table: ConfigurationTable
) -> int | None:
    """Number of trials in a budget: as requested, or as many as its time allows; None = unknown.

    Args:
        seconds_of: expected seconds of trials, NaN = unknown.
        table: configurations whose median time is that of a typical trial.
    """
    if budget.trials is not None or budget.seconds is None:
        return budget.trials
    seconds = seconds_of(table)
    return None if np.isnan(seconds).all() else max(int(budget.seconds / np.nanmedian(seconds)), 1)


def _has_start(search: Search) -> bool:
    """Whether first configurations are learned from runs on other datasets."""
    return search.start not in (NO_START, FROM_FILE)


def _starts(
    known: Knowledge,
    known_candidates: Candidates,
    search: Search,
    seconds_of: Callable[[ConfigurationTable], Floats],
    longest: float,
) -> Iterator[Configuration]:
    """The first configurations to try, possibly with duplicates.

    Those expected to exceed the time limit of a trial are left out, unless all are.

    Args:
        longest: time limit of a trial in seconds.
    """
    start = get_start(search.start)
    name = start.learner if start.settings else search.metalearner or start.learner
    model = model_for(known.task, known.only, name, start.settings).fitted
    flows = {flow.name: flow for flow in searched_flows(search)}
    # Earlier searches may have tried preprocessing steps that this one lacks.
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
