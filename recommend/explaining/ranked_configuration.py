"""A ranked configuration of a recommendation, with its predictions and reasons."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from recommend.explaining.similar_datasets import PastRank
from recommend.ranking.dataset_runs import Measured
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
    """Standard deviation of the score around `predicted`; None if the learner gives none."""
    on_nearest: float | None
    """Its mean standard score on the most similar datasets; None if it was not run there."""
    delta: float | None
    """The delta that selected it (eq. 6.2); None if it was selected for its prediction alone."""
    on_dataset: Measured | None
    """Its measured value on this dataset; None if it was not tried."""
    fit_seconds: float | None
    """Expected seconds of one fit on all rows, on this machine; None = unknown."""
    expectation: PerformanceForecast | None
    """Expected value of a run in the unit of the measure; None if only scores are known."""
    flow: SearchedFlow
    """The algorithm: a `Flow` if Headstart builds it."""
    beats_first: float | None
    """Probability of beating the first one, if it was selected as its complement; else None."""
    places: Sequence[PastRank]
    """Its ranks on the datasets that support it most."""

    def __repr__(self) -> str:
        if self.expectation is None:
            expected = f"score {self.predicted:+.2f}"
        else:
            expected = f"expected {self.expectation.value:.4g}"
        return f"RankedConfiguration({self.rank}, {self.flow.title[:60]!r}, {expected}, {self.configuration})"
