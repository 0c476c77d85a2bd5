"""Settings of a search: space, methods, and limits."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

from ingest.flows import installed_flows
from ingest.running.evaluation import TIMES
from recommend.bo.strategies import DEFAULT_STRATEGY, get_strategy
from recommend.bo.surrogates import DEFAULT_SURROGATE
from recommend.bo.warmstart import DEFAULT_START, FROM_FILE, NO_START, get_start
from warehouse.support.errors import BadOption
from warehouse.support.text import LONGEST_SECONDS
from warehouse.vocabulary.configuration import Configuration
from warehouse.vocabulary.task_types import CLASSIFICATION

LEADERS = 5


@dataclass(frozen=True)
class Search:
    """Settings of a search. Equal searches on equal data have the same trials."""

    flows: tuple[str, ...] = field(default_factory=installed_flows)
    measure: str = "predictive_accuracy"
    """A name or an alias of `warehouse.vocabulary.measures`."""
    folds: int = 3
    """Folds of a trial's cross-validation; 1 = one split with a third of the rows to test on."""
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
    """None = the one that the surrogate usually rests on."""
    acquisition: str | None = None
    """None = the surrogate's own, but `ei-per-second` for `ei` where the warehouse knows of times."""
    random_every: int | None = None
    preprocessing: bool = False
    """Whether decisions of preprocessing are searched, too (`ingest.flows.pipelines`)."""
    seed: int = 0
    trial_seconds: float = 60.0
    trial_memory: int = 4096
    """Memory limit of a trial, in MiB."""

    def description(self) -> dict[str, Any]:
        """All of it as JSON values."""
        seeds = [[configuration.algorithm, dict(configuration.values)] for configuration in self.seeds]
        described = {**vars(self), "flows": list(self.flows), "seeds": seeds}
        if not self.preprocessing:  # histories of searches without it do not name it
            del described["preprocessing"]
        return described


@dataclass(frozen=True)
class Budget:
    """Limits of a search, of which the first to be reached ends it."""

    trials: int | None = None
    """Total number of trials, those of a continued history included."""
    seconds: float | None = None
    """Time from now on, in which the leaders are tried again and scored on the rows held out, too."""


@dataclass(frozen=True)
class Finish:
    """Settings of the steps after a search."""

    leaders: int = LEADERS
    """Best trials that are evaluated again, on other folds, before one is named; fewer than 2: none."""
    ensemble: int = 0
    """Picks of an ensemble of trials; 0 = none."""


def check(search: Search, budget: Budget, finish: Finish, jobs: int) -> None:
    """Refuse what can't work, before any work."""
    measures = (*CLASSIFICATION.measures, *TIMES)
    if search.measure not in measures:
        raise BadOption(
            f"measure {search.measure!r} can't be used to select a model; use one of {', '.join(measures)}"
        )
    if budget.trials is None and budget.seconds is None:
        raise BadOption("a search needs a limit: a number of trials, or a time")
    if finish.ensemble and search.measure in TIMES:
        raise BadOption(f"an ensemble can't be selected by {search.measure}")
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
    for name, number in positive.items():
        if number is not None and not 0 < number < math.inf:
            raise BadOption(f"{name} must be more than 0, not {number}")
    if max(budget.seconds or 0.0, search.trial_seconds) > LONGEST_SECONDS:
        raise BadOption(f"times must be at most {LONGEST_SECONDS:g} seconds")
