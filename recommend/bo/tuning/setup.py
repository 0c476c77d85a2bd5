"""Setup of a search: rows to tune on, known runs, and the optimizer."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

import numpy as np

from ingest.flows import Flow, get_flow, with_preprocessing
from ingest.reading.datasets import Dataset
from ingest.running.blocks import Split
from ingest.running.resampling import Resampling
from ingest.running.scorer import scorer_of
from ingest.running.splitting import hold_out_rows
from ingest.running.splitting import splits_of as splits_of_dataset
from metalearners.encoding.training_data import without_datasets
from recommend.bo.acquisition import TIMED
from recommend.bo.candidates import SpaceCandidates
from recommend.bo.optimizer import ALL_ROWS, AskTell
from recommend.bo.reference_trials import anchors, best_on_average
from recommend.bo.scoring import CandidateScorer
from recommend.bo.strategies import SearchInputs, get_strategy
from recommend.bo.surrogates import SurrogateInputs, get_surrogate
from recommend.bo.tuning.settings import Search
from recommend.bo.warmstart import FROM_FILE, NO_START, first_choices, get_start
from recommend.ranking.candidates import Candidates, find_candidates
from recommend.ranking.fit_cost import trial_seconds
from recommend.ranking.knowledge import (
    Knowledge,
    describe,
    fit_times_for,
    gather,
    model_for,
    runs_that_count,
)
from recommend.ranking.task import RankingTask, describe_task
from recommend.space import Space
from warehouse.store import Warehouse
from warehouse.support.arrays import Floats
from warehouse.support.errors import TooFewRuns, UnusableDataset
from warehouse.support.text import counted
from warehouse.vocabulary.configuration import Configuration
from warehouse.vocabulary.table import ConfigurationTable

HELD_OUT = 4
"""Rows for one held-out row."""


def split_rows(dataset: Dataset, search: Search) -> tuple[np.ndarray, np.ndarray]:
    """Rows to tune on, rows held out: drawn at random, or the last ones, or whole groups.

    Raises:
        BadInput: the rows do not suffice for the folds of the trials, or of the leaders' second try.
    """
    strata = scorer_of(dataset).strata(dataset.target)
    train, test = hold_out_rows(dataset, HELD_OUT, search.seed)
    _, in_strata = np.unique(strata[train], return_counts=True)
    # Stratified folds need a row each of the largest stratum.
    if len(in_strata) < 2 or max(in_strata) < search.folds:
        raise TooFewRuns(f"{dataset.name} has too few rows ({len(strata):,}) for {search.folds} folds")
    if dataset.split is not None:
        try:
            for repetition in (0, 1):
                splits_of(dataset.take(train), search, repetition)
        except UnusableDataset as error:
            raise UnusableDataset(f"with {counted(len(test), 'rows')} held out: {error}") from None
    return train, test


def splits_of(part: Dataset, search: Search, repetition: int = 0, *, share: float = ALL_ROWS) -> list[Split]:
    """The splits of a trial; those of another repetition have other folds.

    Args:
        share: of the rows to fit on, of which each stratum keeps its share, and two rows at least. The rows
            to test on stay the same.
    """
    resampling = resampling_of(part, search)
    if share < ALL_ROWS:
        rows, _ = resampling.sizes(len(part.features))
        strata = scorer_of(part).strata(part.target)
        resampling = replace(resampling, train_rows=max(round(share * rows), 2 * (int(strata.max()) + 1)))
    return splits_of_dataset(part, resampling, search.seed, repetition)


def resampling_of(part: Dataset, search: Search) -> Resampling:
    """Resampling of a trial."""
    return Resampling(search.folds, by=part.split and part.split.kind)


def task_of(dataset: Dataset, part: Dataset, search: Search, warehouse: Warehouse | None) -> RankingTask:
    return describe_task(
        dataset,
        warehouse=warehouse,
        flows=search.flows,
        measure=search.measure,
        learner=_learner_of(search),
        part=part,
    )


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
    task: RankingTask, search: Search, trials: int | None = None
) -> tuple[AskTell, SpaceCandidates]:
    """The search by asking and telling, and the configurations that it chooses among.

    Args:
        trials: that are planned in all, for the strategies that need to know.
    """
    n_features = task.part.features.shape[1]
    space = Space(searched_flows(search), n_features=n_features)
    candidates = SpaceCandidates(space, seed=search.seed)
    known = None if task.learner is None else gather(task)
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
    fitted_on, _ = resampling_of(task.part, search).sizes(len(task.part.features))
    seconds = partial(trial_seconds, times, metafeatures=metafeatures, rows=fitted_on, fits=search.folds)

    def new_scorer() -> CandidateScorer:
        surrogate = method.new(inputs)
        return CandidateScorer(
            surrogate, acquisition=acquisition, seconds=seconds if acquisition in TIMED else None
        )

    starts: list[Configuration] = []
    best = None
    if known is not None and (search.anchors or _has_start(search)):
        of_warehouse = find_candidates(known)
        starts = [*_starts(known, of_warehouse, search, seconds)] if _has_start(search) else []
        best = best_on_average(known, of_warehouse) if search.anchors else None
    search_inputs = SearchInputs(
        candidates,
        new_scorer,
        starts=[candidates.of(configuration) for configuration in [*search.seeds, *starts]],
        anchors=[*anchors(best, candidates, search.seed)] if search.anchors else [],
        random_every=search.random_every,
        trials=trials,
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
) -> Iterator[Configuration]:
    """The first configurations to try; one that comes twice is tried once.

    Those that are expected to take longer than a trial may are left out, unless all are.
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
    late = seconds > search.trial_seconds
    if not late.all():
        table, seconds = table.take(~late), seconds[~late]
    positions = first_choices(start.choice, model, table, known.metafeatures, start.n, seconds)
    yield from (candidates[setup] for setup in table.setups[positions])
