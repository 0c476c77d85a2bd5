"""The average of the first recommendations: its members, their weights, and its expected value.

The average of three models' probabilities is better than the first model alone on most datasets, and needs no
validation. The first counts twice: with equal weights the mean gain is the same, but where the others are
clearly worse the average falls behind the first. Three complementary configurations
(`recommend.ranking.choice`) do as well as other members.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ingest.flows import find_flow
from metalearners.encoding.links import LINKS
from metalearners.encoding.scores import oriented
from recommend.ranking.performance_forecast import PerformanceForecast
from warehouse.support.arrays import Floats
from warehouse.vocabulary.configuration import Configuration
from warehouse.vocabulary.measures import ACCURACY, AUC, LOG_LOSS, MEASURES, RAE, RRSE

SHARES = (2, 1, 1)
"""Shares of the averaged configurations, in the order to try them in; more gain little and take longer."""
MEMBERS = len(SHARES)
GAINS: Mapping[str, float] = {
    ACCURACY: 0.017,
    AUC: 0.043,
    LOG_LOSS: 0.0225,
    RRSE: 0.028,
    RAE: 0.028,
}
"""Measure -> usual gain of the average over its members' weighted mean, on the scale of the measure's link.

Means over 26 tables with classes, and medians over 24 with numbers, where one member may solve a table alone,
were measured with equal weights. They are multiplied by 15/16: the gain is proportional to 1 minus the sum of
the squared weights if all errors are equally correlated (measured on 16 tables with numbers: 0.94 of it).
No gain was found in balanced accuracy, F1 and kappa. To reproduce them, at commit e5e9485:
`python -m tests.benchmarks.real_tables FOLDER --results FILE --half choosing --most-train 1000`, and for
numbers `--task regression --half choosing --most-train 2000`.
"""


@dataclass(frozen=True)
class AveragedRecommendation:
    """The average of the predictions of several recommended configurations: probabilities, or numbers."""

    members: Mapping[Configuration, float]
    """Configuration -> its weight; the weights' sum is 1."""
    expectation: PerformanceForecast | None
    """Its expected result in the unit of the measure; None if only scores are known, or the gain of
    averaging is unknown."""
    fit_seconds: float | None
    """Expected seconds of fitting all members on all rows, one after the other; None = unknown."""
    usually_better: bool
    """Whether averaging is known to improve the measure (`GAINS`)."""

    def __repr__(self) -> str:
        members = ", ".join(f"{weight:.2f} {one.algorithm}" for one, weight in self.members.items())
        return f"AveragedRecommendation({members}; {self.expectation})"


def weights_of(ranked: Sequence[Configuration]) -> dict[Configuration, float]:
    """Weights, with sum 1, of the configurations whose predictions are averaged.

    Args:
        ranked: configurations in the order to try them in, one or more.
    """
    members = list(dict.fromkeys(ranked))[:MEMBERS]
    shares = SHARES[: len(members)]
    return {one: share / sum(shares) for one, share in zip(members, shares, strict=True)}


def average_of(
    ranked: Sequence[Configuration],
    expectations: Sequence[PerformanceForecast] | None,
    seconds: Floats,
    measure: str,
) -> AveragedRecommendation | None:
    """The average of the first of these configurations; None unless Headstart builds two or more.

    Args:
        ranked: (k,) in the order to try them in.
        expectations: (k,) of a run of each; None if only scores are known.
        seconds: (k,) of a fit of each; NaN = unknown.
    """
    weights = weights_of(ranked)
    if len(weights) < 2 or any(find_flow(one.algorithm) is None for one in weights):
        return None
    places = [ranked.index(one) for one in weights]
    took = float(seconds[places].sum())
    promise = None
    if expectations is not None and measure in GAINS:
        members = [expectations[place] for place in places]
        promise = _expectation(members, np.array([*weights.values()]), measure)
    return AveragedRecommendation(weights, promise, None if np.isnan(took) else took, measure in GAINS)


def _expectation(
    members: Sequence[PerformanceForecast], weights: Floats, measure: str
) -> PerformanceForecast:
    """Expected result of the average, from those of its members."""
    link = LINKS[MEASURES[measure].link]

    def averaged(values: Sequence[float]) -> float:
        """Larger is better."""
        z = link.to_z(oriented(np.array(values), measure))
        return float(link.to_values(np.array([weights @ z + GAINS[measure]]))[0])

    value = averaged([one.value for one in members])
    ends = [averaged([one.low for one in members]), averaged([one.high for one in members])]
    low, high = sorted(oriented(np.array(ends), measure).tolist())
    first = members[0]

    def over(gain: float) -> float:
        """The gain over a reference, given that of the first member."""
        return value - (oriented(first.value, measure) - gain)

    return PerformanceForecast(
        oriented(value, measure),
        low,
        high,
        None if first.gain is None else over(first.gain),
        None,
        {flow: over(gain) for flow, gain in first.other_gains.items()},
    )
