"""Contestants of a race: the first recommendations, and usual defaults."""

from __future__ import annotations

from dataclasses import dataclass

from ingest.flows import Flow, get_flow
from ingest.keys import setup_of
from recommend.ranking.candidates import Candidates
from recommend.ranking.fit_cost import fit_seconds, worthwhile
from recommend.ranking.knowledge import Knowledge
from warehouse.vocabulary.configuration import Configuration

HEAD = 8
"""Number of recommended configurations that take part."""
FIRST = 3
"""Recommendations that come before the defaults, should the time not suffice for all."""
DEFAULTS = ("lightgbm", "catboost", "random_forest", "logistic_regression")
"""Algorithms whose defaults enter, as far as they are installed and the warehouse has them."""


@dataclass(frozen=True)
class Contestant:
    """A configuration that takes part."""

    configuration: Configuration
    setup: str
    """Key of the configuration in the warehouse."""
    recommended: int | None
    """Rank in the recommendation before the race; None = takes part as a default only."""
    is_default: bool
    """Whether it is a usual default."""

    @property
    def flow(self) -> Flow:
        """The algorithm with its preprocessing."""
        return get_flow(self.configuration.algorithm)


def choose_entrants(
    known: Knowledge, candidates: Candidates, n: int = HEAD, longest_fit: float | None = None
) -> list[Contestant]:
    """The head of the recommendation and the defaults, the most important first.

    Args:
        n: number of configurations of the recommendation.
        longest_fit: seconds that one fit of these on all rows may be expected to take; None = no limit.
    """
    metafeatures, configurations = known.metafeatures, candidates.table
    predictor = known.predictor
    seconds = fit_seconds(known.fit_times, configurations, metafeatures).seconds
    among = worthwhile(seconds, predictor.predict(configurations, metafeatures).mean)
    if longest_fit is not None and not (seconds[among] > longest_fit).all():
        among = among[~(seconds[among] > longest_fit)]
    best = among[predictor.choose(configurations.take(among), metafeatures, n)]
    defaults = _defaults(known)
    head = [
        Contestant(configuration, setup, place, configuration in defaults)
        for place, (setup, configuration) in enumerate(
            ((configurations.setups[one], candidates.configurations[one]) for one in best), start=1
        )
    ]
    recommended = {entrant.configuration for entrant in head}
    others = [
        Contestant(configuration, setup, None, True)
        for configuration, setup in defaults.items()
        if configuration not in recommended
    ]
    return [*head[:FIRST], *others, *head[FIRST:]]


def _defaults(known: Knowledge) -> dict[Configuration, str]:
    """The defaults that can be fitted here, with their setups."""
    setups = known.all_runs.configurations.setups
    flows = [flow for flow in map(get_flow, DEFAULTS) if flow.installed]
    found = {Configuration(flow.name, flow.default()): "" for flow in flows}
    return {configuration: setup for configuration in found if (setup := setup_of(configuration)) in setups}
