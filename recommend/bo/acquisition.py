"""Acquisition functions: the value of trying a configuration next, given a surrogate's prediction.

Notation
    m, s     (n,) mean and standard deviation of the score, larger is better
    f        the score to beat: the highest mean among the tried configurations
    c        the score of a typical candidate: the median
    xi       required improvement over f, in the unit of the scores
    t        (n,) predicted seconds of a trial
    z        (m - f - xi) / s

For every criterion, larger is better.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from metalearners.predictions import Prediction
from warehouse.support.arrays import Floats
from warehouse.support.errors import BadOption, look_up

XI = 0.01  # in standard scores; the default of scikit-optimize
KAPPA = 1.0
"""Standard deviations that the upper confidence bound adds."""


@dataclass(frozen=True)
class Situation:
    """Inputs of a criterion besides the prediction."""

    best: float
    """f"""
    xi: float = XI
    seconds: Floats | None = None
    """t; None if there is no prediction."""
    usual: float | None = None
    """c; None = the median of the given candidates."""


Acquisition = Callable[[Prediction, Situation], Floats]


def improvement(predicted: Prediction, situation: Situation) -> Floats:
    """Expected improvement over the score to beat (Jones, Schonlau and Welch 1998)."""
    return expected_improvement(predicted.mean, _std(predicted), situation.best, situation.xi)


def expected_improvement(mean: Floats, std: Floats, best: float, xi: float = XI) -> Floats:
    """(n,) expectation of max(f - best - xi, 0) for f normal with this mean and standard deviation.

    Jones, Schonlau and Welch (1998), equation 15. If `std` is 0 it is the improvement itself.
    """
    from scipy.special import ndtr

    better = mean - best - xi
    with np.errstate(divide="ignore", invalid="ignore"):
        z = better / std
        expected = better * ndtr(z) + std * np.exp(-0.5 * z * z) / np.sqrt(2 * np.pi)
    improvement: Floats = np.where(std > 0, expected, np.maximum(better, 0))
    return improvement


def improvement_per_second(predicted: Prediction, situation: Situation) -> Floats:
    """Expected improvement divided by log(1 + t), where t is the predicted seconds of a trial (SMAC's EIPS).

    With the logarithm, ten times as long is not ten times worse.
    """
    per_second: Floats = improvement(predicted, situation) / _log_time(situation)
    return per_second


def probability_of_improvement(predicted: Prediction, situation: Situation) -> Floats:
    """Probability of exceeding the score to beat, Phi(z) (Kushner 1964)."""
    from scipy.special import ndtr

    std = _std(predicted)
    gain = predicted.mean - situation.best - situation.xi
    with np.errstate(divide="ignore", invalid="ignore"):
        probability: Floats = np.where(std > 0, ndtr(gain / std), gain > 0)
    return probability


def upper_confidence_bound(predicted: Prediction, situation: Situation) -> Floats:  # noqa: ARG001
    """Mean plus kappa standard deviations, m + kappa s (Srinivas et al. 2010)."""
    bound: Floats = predicted.mean + KAPPA * _std(predicted)
    return bound


def value(predicted: Prediction, situation: Situation) -> Floats:  # noqa: ARG001
    """The prediction itself, v: the criterion of surrogates that predict a high quantile (thesis, section
    5.3)."""
    return predicted.mean


def value_per_second(predicted: Prediction, situation: Situation) -> Floats:
    """Gain over a typical candidate by log time, (v - c) / log(1 + t) (thesis, equation 5.2).

    The thesis has log t, which is negative below a second.
    """
    usual = np.median(predicted.mean) if situation.usual is None else situation.usual
    per_second: Floats = (predicted.mean - usual) / _log_time(situation)
    return per_second


ACQUISITIONS: dict[str, Acquisition] = {
    "ei": improvement,
    "ei-per-second": improvement_per_second,
    "pi": probability_of_improvement,
    "ucb": upper_confidence_bound,
    "value": value,
    "value-per-second": value_per_second,
}
TIMED = frozenset({"ei-per-second", "value-per-second"})
"""Criteria that need predicted running times."""
UNCERTAIN = frozenset({"ei", "ei-per-second", "pi", "ucb"})
"""Criteria that need a standard deviation."""


def get_acquisition(name: str) -> Acquisition:
    """The criterion of this name.

    Raises:
        BadInput: there is none; the message lists the known ones.
    """
    return look_up(name, ACQUISITIONS, "acquisition function")


def _std(predicted: Prediction) -> Floats:
    if predicted.std is None:
        raise BadOption("this surrogate has no uncertainty: use the acquisition function `value`")
    return predicted.std


def _log_time(situation: Situation) -> Floats:
    if situation.seconds is None:
        raise BadOption("this acquisition function needs predicted running times, and the warehouse has none")
    return np.log1p(situation.seconds)
