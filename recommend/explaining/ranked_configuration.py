"""A ranked configuration of a recommendation, with its predictions and reasons."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from recommend.explaining.similar_datasets import PastRank
from recommend.ranking.performance_forecast import PerformanceForecast
from warehouse.vocabulary.configuration import Configuration
from warehouse.vocabulary.searched_flow import SearchedFlow


@dataclass(frozen=True)
class RankedConfiguration:
    """One configuration to try."""

    rank: int
    configuration: Configuration
    predicted: float
    """Expected score in standard deviations of the dataset's own runs, 0 = an average configuration."""
    std: float | None
    """Standard deviation of the score around `predicted`, where the learner states one."""
    on_nearest: float | None
    """Its mean standard score on the datasets that count most; None if it was not run there."""
    delta: float | None
    """The delta that chose it (eq. 6.2); None where it was chosen for its prediction alone."""
    on_dataset: float | None
    """Its value of the measure on this very dataset; None if it was not tried there."""
    fit_seconds: float | None
    """Expected seconds of one fit on all rows, on this machine; None = unknown."""
    expectation: PerformanceForecast | None
    """Expected value of a run in the unit of the measure; None where only scores are known."""
    flow: SearchedFlow
    """The algorithm: a `Flow` where Headstart builds it."""
    beats_first: float | None = None
    """Probability of beating the first one, if it was chosen to complement that one; else None."""
    places: Sequence[PastRank] = ()
    """Its ranks on the datasets that speak for it most."""

    def __repr__(self) -> str:
        if self.expectation is None:
            expected = f"score {self.predicted:+.2f}"
        else:
            expected = f"expected {self.expectation.value:.4g}"
        return f"RankedConfiguration({self.rank}, {self.flow.title[:60]!r}, {expected}, {self.configuration})"
