"""A search for configurations beyond a plan's pool, which makes the pool better.

On some of the plan's datasets, Bayesian optimization goes on from the runs of the pool. What it tries is run
as the plan runs its first tier, on the same splits, so that it can be compared with the pool. What beat the
whole pool on one dataset may be good on others like it, and joins the pool, to be run on all datasets. The
portfolio of TabRepo (Salinas and Erickson 2023) came about from such per-dataset bests, too.

Notation
    gain    (best searched run - best run of the pool) / standard deviation of the pool's runs, on one dataset
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import pandas as pd

from ingest.flows import get_flow
from ingest.keys import setup_of
from ingest.reading.datasets import Dataset
from ingest.running.experiments import load_source, planned_runs, run_experiments, task_of
from ingest.running.plan import Plan, Source
from ingest.running.pool import Member
from metalearners import DEFAULT_LEARNER, new_learner
from metalearners.encoding.scores import oriented
from metalearners.encoding.training_data import runs_on, select_runs, without_datasets
from recommend.bo.candidates import Candidate, SpaceCandidates
from recommend.bo.optimizer import Optimizer, Proposal
from recommend.bo.scoring import Scorer
from recommend.bo.surrogates import DEFAULT_SURROGATE, SURROGATES, SurrogateInputs
from recommend.space import Space
from warehouse.configurations.configuration import Configuration
from warehouse.measures import ACCURACY
from warehouse.queries import RunTable
from warehouse.store import Warehouse
from warehouse.support.errors import UnfitConfiguration

logger = logging.getLogger(__name__)

BATCH = 4
"""Trials that are proposed together, so that a commit has more than one run."""

_SETUPS = "SELECT DISTINCT setup FROM runs WHERE task = $task"
_VALUE = "SELECT value FROM evaluations WHERE run = $run AND measure = $measure"


@dataclass(frozen=True)
class Winner:
    """A configuration that was better than the whole pool on a dataset."""

    configuration: Configuration
    dataset: str
    """Name of the dataset."""
    gain: float


def search_beyond_pool(
    warehouse: Warehouse,
    plan: Plan,
    *,
    every: int = 3,
    trials: int = 20,
    jobs: int = 1,
    report: Callable[[str, int, int], None] = lambda *_: None,
) -> None:
    """Try configurations that are not in the pool on some datasets of `plan`, into `warehouse`.

    What was tried before, on the same dataset at the same tier, counts as a trial: a search that was stopped
    goes on where it was.

    Args:
        every: one dataset of the plan in so many is searched on, beginning with the first.
        trials: on each of them.
        jobs: runs at a time.
        report: told the name of a dataset, its trials so far, and the number of datasets that are left.

    Raises:
        BadInput: the warehouse has no run to learn from.
    """
    runs = warehouse.run_table(None, ACCURACY)
    known = set(runs.runs["dataset"])
    sources = list(plan.datasets)[::every]
    for place, source in enumerate(sources):
        dataset = load_source(source, warehouse)
        if dataset is None:
            continue
        if dataset.key not in known:
            logger.warning("passed over %s: none of the pool was run on it", dataset.name)
            continue
        done = _tried_before(warehouse, plan, dataset)
        if done < trials:
            search = _PoolSearch(warehouse, plan, source, dataset, runs)
            for begun in range(done, trials, BATCH):
                report(dataset.name, begun, len(sources) - place)
                search.run(min(BATCH, trials - begun), jobs)


def find_winners(warehouse: Warehouse, plan: Plan, most: int) -> list[Winner]:
    """The best searched configuration of each task where it has a gain: each once, the largest gain first.

    Args:
        most: number of winners.
    """
    table = warehouse.run_table(None, ACCURACY)
    of_pool = _setups(plan)
    names = dict(warehouse.sql("SELECT dataset, name FROM datasets").itertuples(index=False, name=None))
    found: dict[str, Winner] = {}
    for _, runs in table.runs.groupby("task", sort=True):
        values = pd.Series(oriented(runs["value"].to_numpy(), table.measure), index=runs["setup"])
        is_pool = values.index.isin(of_pool)
        pool, searched = values[is_pool], values[~is_pool]
        if len(pool) < 2 or searched.empty or not pool.std(ddof=0) > 0:
            continue
        setup = str(searched.idxmax())
        gain = float((searched[setup] - pool.max()) / pool.std(ddof=0))
        if gain > 0 and (setup not in found or found[setup].gain < gain):
            configuration = table.configurations.of_setups([setup]).configurations()[0]
            found[setup] = Winner(configuration, str(names[runs["dataset"].iloc[0]]), gain)
    return sorted(found.values(), key=lambda winner: -winner.gain)[:most]


def with_winners(pool: Sequence[Member], winners: Sequence[Winner]) -> list[Member]:
    """The pool, and the winners at its end."""
    return [*pool, *(Member(winner.configuration, f"search on {winner.dataset}") for winner in winners)]


def _tried_before(warehouse: Warehouse, plan: Plan, dataset: Dataset) -> int:
    """Configurations outside the pool that were run on the dataset at the first tier, whatever came of it."""
    tried = warehouse.sql(_SETUPS, {"task": task_of(dataset, plan, plan.tiers[0])})["setup"]
    return int((~tried.isin(_setups(plan))).sum())


def _setups(plan: Plan) -> set[str]:
    """Keys in the warehouse of the pool."""
    return {setup_of(member.configuration) for member in plan.pool}


class _PoolSearch:
    """The search on one dataset, which begins with what the warehouse knows of it."""

    def __init__(
        self, warehouse: Warehouse, plan: Plan, source: Source, dataset: Dataset, runs: RunTable
    ) -> None:
        self._warehouse = warehouse
        self._plan = replace(plan, datasets=[source], tiers=plan.tiers[:1], block=None, give_up_after=None)
        self._dataset = dataset
        self._task = task_of(dataset, plan, plan.tiers[0])
        self._candidates, self._optimizer = self._begun(runs)

    def run(self, n: int, jobs: int) -> None:
        """Run the next `n` configurations, or as many as there are."""
        proposals = [proposal for _ in range(n) if (proposal := self._optimizer.ask()) is not None]
        members = [Member(configuration, "search") for configuration in map(self._configuration, proposals)]
        run_experiments(self._warehouse, replace(self._plan, pool=members), jobs=jobs)
        for proposal, member in zip(proposals, members, strict=True):
            self._optimizer.tell(proposal.number, self._value(member))

    def _configuration(self, proposal: Proposal) -> Configuration:
        return self._candidates.configuration_of(proposal.candidate)

    def _value(self, member: Member) -> float | None:
        """What came of a run, larger is better; None where it failed, or has too few rows to be run."""
        planned = planned_runs(self._dataset, self._plan, self._plan.tiers[0], [member])
        key = planned[0].run if planned else None
        found = self._warehouse.sql(_VALUE, {"run": key, "measure": ACCURACY})["value"]
        return float(oriented(found.to_numpy(), ACCURACY)[0]) if len(found) else None

    def _begun(self, runs: RunTable) -> tuple[SpaceCandidates, Optimizer]:
        """An optimizer that was told of the runs on this dataset, and has learned from those on others."""
        metafeatures = self._warehouse.metafeatures()
        # What searches chose because it looked good says little about how good it is elsewhere.
        of_pool = select_runs(runs, runs.runs["setup"].isin(_setups(self._plan)).to_numpy())
        surrogate = SURROGATES[DEFAULT_SURROGATE]
        learned = new_learner(surrogate.learner or DEFAULT_LEARNER).fit(
            without_datasets(of_pool, [self._dataset.key]), metafeatures.drop(index=self._dataset.key)
        )
        names = dict.fromkeys(member.configuration.algorithm for member in self._plan.pool)
        flows = [flow for flow in map(get_flow, names) if flow.installed]
        space = Space(flows, n_features=self._dataset.features.shape[1])
        candidates = SpaceCandidates(space, seed=self._plan.seed)
        inputs = SurrogateInputs(space.examples(self._plan.seed), metafeatures.T[self._dataset.key], learned)
        optimizer = Optimizer(candidates, Scorer(surrogate.new(inputs)), seed=self._plan.seed)
        for number, (candidate, value) in enumerate(self._known(runs, candidates)):
            optimizer.recall(Proposal(number, candidate, "start"))
            optimizer.tell(number, value)
        return candidates, optimizer

    def _known(self, runs: RunTable, candidates: SpaceCandidates) -> Iterator[tuple[Candidate, float]]:
        """Successful runs of the task whose configurations the space has, with their values."""
        own = select_runs(runs, (runs.runs["task"] == self._task).to_numpy())
        table, values = runs_on(own, self._dataset.key)
        for configuration, value in zip(table.configurations(), values.tolist(), strict=True):
            try:
                yield candidates.of(configuration), value
            except UnfitConfiguration:
                continue  # of a flow that is not installed
