"""What a search begins with: rows to tune on, what is known, and the optimizer."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from ingest.flows import Flow, get_flow, with_preprocessing
from ingest.reading.datasets import Dataset
from ingest.running.resampling import Resampling, Split
from ingest.running.scorer import scorer_of
from ingest.running.splitting import hold_out_rows
from ingest.running.splitting import splits_of as splits_of_dataset
from metalearners.encoding.training_data import without_datasets
from recommend.bo.acquisition import TIMED
from recommend.bo.anchors import anchors
from recommend.bo.candidates import SpaceCandidates
from recommend.bo.optimizer import ALL_ROWS, AskTell
from recommend.bo.runtime import RunningTimes, warehouse_times
from recommend.bo.scoring import Scorer
from recommend.bo.selection import Parts, get_strategy
from recommend.bo.surrogates import LEARNERS_OF, TRANSFERRING, Ingredients, new_surrogate
from recommend.bo.transfer.prior_tasks import PriorTasks
from recommend.bo.tuning.specification import Search
from recommend.bo.warmstart import FROM_FILE, NO_START, first_choices, get_start
from recommend.context import RankingContext, ranking_context
from recommend.cost import usual_fit_seconds
from recommend.space import Space
from warehouse.configurations.configuration import Configuration
from warehouse.configurations.table import ConfigurationTable
from warehouse.store import Warehouse
from warehouse.support.arrays import Positions
from warehouse.support.errors import TooFewRuns, UnusableDataset
from warehouse.support.text import counted

HELD_OUT = 4
"""How many rows there are for one that is held out."""


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
            raise UnusableDataset(f"beside {counted(len(test), 'rows')} held out: {error}") from None
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
    """How a trial splits its rows."""
    return Resampling(search.folds, by=part.split and part.split.kind)


def context_of(
    dataset: Dataset, part: Dataset, search: Search, warehouse: Warehouse | None
) -> RankingContext:
    return ranking_context(
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


def searched_flows(search: Search) -> list[Flow]:
    """The flows of a search, with decisions of preprocessing where it makes them."""
    flows = [get_flow(name) for name in search.flows]
    return [with_preprocessing(flow) for flow in flows] if search.preprocessing else flows


def new_search(
    known: RankingContext, search: Search, trials: int | None = None
) -> tuple[AskTell, SpaceCandidates]:
    """The search by asking and telling, and the configurations that it chooses among.

    Args:
        trials: that are planned in all, for the strategies that need to know.
    """
    n_features = known.part.features.shape[1]
    space = Space(searched_flows(search), n_features=n_features)
    candidates = SpaceCandidates(space, seed=search.seed)
    model = known.model().fitted if search.surrogate in LEARNERS_OF else None
    tasks = prior_tasks(known) if search.surrogate in TRANSFERRING else None
    ingredients = Ingredients(space.examples(search.seed), known.metafeatures(), model, tasks)
    usual = new_surrogate(search.surrogate, ingredients).acquisition
    acquisition = search.acquisition or ("ei-per-second" if usual == "ei" else usual)
    times = _times_of(known, search) if acquisition in TIMED or _starts_quickly(search) else None
    if times is None and acquisition in TIMED:
        acquisition = usual

    def new_scorer() -> Scorer:
        surrogate = new_surrogate(search.surrogate, ingredients)
        return Scorer(surrogate, acquisition=acquisition, times=times if acquisition in TIMED else None)

    parts = Parts(
        candidates,
        new_scorer,
        starts=[candidates.of(configuration) for configuration in _starts(known, search, times)],
        anchors=[*anchors(known, candidates, search.seed)] if search.anchors else [],
        random_every=search.random_every,
        trials=trials,
        seed=search.seed,
    )
    return get_strategy(search.strategy).new(parts), candidates


def _starts_quickly(search: Search) -> bool:
    """Whether the first choices go by running times."""
    return search.start not in (NO_START, FROM_FILE) and get_start(search.start).choice == "quick"


def _times_of(known: RankingContext, search: Search) -> RunningTimes | None:
    """Running times as the warehouse's runs know them; None: no run does.

    Raises:
        BadInput: no run does, and the search asks for a criterion that needs them.
    """
    try:
        return warehouse_times(known)
    except TooFewRuns:
        if search.acquisition in TIMED:
            raise
        return None


def prior_tasks(known: RankingContext) -> PriorTasks:
    """Base models of the datasets that are not this one or nearly a copy of it."""
    others = without_datasets(known.all_runs, known.left_out.keys())
    return PriorTasks(others, known.warehouse.metafeatures())


def _starts(known: RankingContext, search: Search, times: RunningTimes | None) -> Iterator[Configuration]:
    """The first configurations to try; one that comes twice is tried once."""
    yield from search.seeds
    if search.start in (NO_START, FROM_FILE):
        return
    start = get_start(search.start)
    name = start.learner if start.settings else search.metalearner or start.learner
    model = known.trained(name, start.settings).fitted
    flows = {flow.name: flow for flow in searched_flows(search)}
    # Earlier searches may have tried decisions of preprocessing that this one does not make.
    candidates = {
        setup: one for setup, one in known.candidates.items() if flows[one.algorithm].searches(one.values)
    }
    table = known.configurations.of_setups(candidates)
    table = table.take(_in_time(known, search, table))
    log_seconds = None
    if times is not None and start.choice == "quick":
        log_seconds = times.log_seconds(times.encode_table(table))
    positions = first_choices(start.choice, model, table, known.metafeatures(), start.n, log_seconds)
    yield from (candidates[setup] for setup in table.setups[positions])


def _in_time(known: RankingContext, search: Search, table: ConfigurationTable) -> Positions:
    """Positions of what is expected to be tried in the time that a trial has; of all, where nothing is.

    What takes an unknown time is in time. Times are those of the machine that the warehouse's runs were made
    on: how fast this one is now must not decide what equal searches try.
    """
    rows = len(known.part.features)
    fitted_on, _ = resampling_of(known.part, search).sizes(rows)
    of_all_rows, _ = usual_fit_seconds(known.warehouse, table, known.metafeatures())
    late = of_all_rows * search.folds * fitted_on / rows > search.trial_seconds
    return np.arange(len(table)) if late.all() else np.flatnonzero(~late)
