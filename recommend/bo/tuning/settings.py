"""Settings of a search: space, methods, and limits."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

from ingest.flows import flow_for, get_flow, installed_flows
from ingest.reading.datasets import Dataset
from ingest.running.evaluation import TIMES
from recommend.bo.strategies import DEFAULT_STRATEGY, get_strategy
from recommend.bo.surrogates import DEFAULT_SURROGATE
from recommend.bo.warmstart import DEFAULT_START, FROM_FILE, NO_START, get_start
from recommend.ranking.target_kinds import target_kind
from warehouse.store import Warehouse
from warehouse.support.errors import BadOption, UnfitConfiguration
from warehouse.support.text import LONGEST_SECONDS
from warehouse.vocabulary.configuration import Configuration
from warehouse.vocabulary.measures import canonical_measure
from warehouse.vocabulary.task_types import TaskType

USUAL_SECONDS = 60.0
"""Default time limit of a search, in seconds."""
PICKS = 25
"""Default size of the ensemble."""


@dataclass(frozen=True)
class Search:
    """Settings of a search. Without a time limit, equal searches on equal data have the same trials."""

    flows: tuple[str, ...] = ()
    """Names of flows; empty = all installed ones for the dataset's task type."""
    measure: str = ""
    """A name or an alias of `warehouse.vocabulary.measures`; empty = the default of `recommend` for the
    target."""
    folds: int | None = None
    """Folds of a trial's cross-validation, 1 = one split with a third of the rows as test set; None = by the
    number of rows and the time (`recommend.bo.tuning.resampling`)."""
    start: str = DEFAULT_START
    """A name of `recommend.bo.warmstart`."""
    seeds: tuple[Configuration, ...] = ()
    """Configurations to try before those of `start`."""
    anchors: bool = True
    """Whether a few trials are reference trials (`recommend.bo.reference_trials`)."""
    strategy: str = DEFAULT_STRATEGY
    """A name of `recommend.bo.strategies`."""
    surrogate: str = DEFAULT_SURROGATE
    metalearner: str | None = None
    """None = the surrogate's default."""
    acquisition: str | None = None
    """None = the surrogate's own, but `ei-per-second` instead of `ei` if the warehouse has running times."""
    random_every: int | None = None
    preprocessing: bool = False
    """Whether preprocessing steps are searched, too (`ingest.flows.pipelines`)."""
    ensemble: int = PICKS
    """Size of the greedily selected ensemble; 0 = the best configuration alone."""
    seed: int = 0
    trial_seconds: float | None = None
    """Time limit of a trial; None = `recommend.bo.tuning.deadline.trial_limit`."""
    trial_memory: int = 4096
    """Memory limit of a trial or a fit, in MiB."""

    def description(self) -> dict[str, Any]:
        """The settings that determine the trials, as JSON values."""
        seeds = [[configuration.algorithm, dict(configuration.values)] for configuration in self.seeds]
        described = {**vars(self), "flows": list(self.flows), "seeds": seeds}
        del described["ensemble"]  # it does not affect the trials
        return described


@dataclass(frozen=True)
class Budget:
    """Limits of a search; the first one reached ends it."""

    trials: int | None = None
    """Total number of trials, including those of a continued history. Repeated evaluations of a trial do not
    count."""
    seconds: float | None = None
    """Wall-clock time of the whole search, including the fits of the model."""


def completed(search: Search, dataset: Dataset, warehouse: Warehouse) -> Search:
    """The search with the default flows and measure for the dataset filled in.

    Raises:
        BadInput: it names an unknown flow or measure, or a flow of another task type.
    """
    task_type = dataset.task_type
    names = search.flows or installed_flows(task_type)
    measure = search.measure or target_kind(dataset).default_measure(warehouse)
    flows = dict.fromkeys(flow_for(name, task_type).name for name in names)
    return replace(search, flows=tuple(flows), measure=canonical_measure(measure))


def check(search: Search, budget: Budget, jobs: int, task_type: TaskType) -> None:
    """Refuse invalid settings before any work."""
    measures = (*task_type.measures, *TIMES)
    if search.measure not in measures:
        raise BadOption(
            f"measure {search.measure!r} can't be used to select a model; use one of {', '.join(measures)}"
        )
    if budget.trials is None and budget.seconds is None:
        raise BadOption("a search needs a limit: a number of trials, or a time")
    if search.ensemble < 0:
        raise BadOption(f"ensemble must be 0 or more picks, not {search.ensemble}")
    if search.preprocessing and not any(get_flow(name).further for name in search.flows):
        raise BadOption("preprocessing can't be searched: flows for numeric targets have no such steps")
    get_strategy(search.strategy)
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
    for place, seed in enumerate(search.seeds, start=1):
        try:
            get_flow(seed.algorithm).current(seed.values)
        except UnfitConfiguration as error:
            raise UnfitConfiguration(f"seed {place}: {error}") from None
    for name, number in positive.items():
        if number is not None and not 0 < number < math.inf:
            raise BadOption(f"{name} must be more than 0, not {number}")
    if max(budget.seconds or 0.0, search.trial_seconds or 0.0) > LONGEST_SECONDS:
        raise BadOption(f"times must be at most {LONGEST_SECONDS:g} seconds")
