"""What trials on the new dataset teach, on top of what a meta-learner expected of it.

A meta-learner states a Gaussian prior over the scores of configurations. Trials show values of the measure:
score times the dataset's spread, plus its level, plus noise. Level and spread of the new dataset are unknown,
and so is how far the prior may be off; the posterior is the average over all of them, each weighted by how
likely it makes the trials.

Notation
    t           trials, n configurations
    y           (t,) values of the trials, larger is better
    m, F        (n,) prior mean and (n, r) factor of the prior covariance F F'; m_t, F_t those of the trials
    b           spread of the new dataset
    a, v        how much wider than stated the prior is, variance of a run's noise in scores
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Protocol, Self

import numpy as np
import numpy.typing as npt
import pandas as pd

from metalearners.base import Observations, Prediction

Floats = npt.NDArray[np.float64]

_DRAWS = 500
_WIDTHS = (0.5, 1.0, 2.0)
_NOISES = (0.02, 0.1, 0.3)
_SPREADS = np.exp(np.linspace(-1.2, 1.2, 9))
"""Spreads that are thought possible, as multiples of the trials' own standard deviation."""
_LEVEL_VARIANCE = 100.0
"""Of the level, in squared scores: so wide that the trials alone tell it."""


@dataclass(frozen=True)
class Prior:
    """What a learner knows of n configurations on one dataset before any trial, in standard scores."""

    mean: Floats
    """(n,)"""
    factor: Floats
    """(n, r): factor factor' is the covariance of the true scores."""


class HasPrior(Protocol):
    """A trained learner that can be conditioned on trials."""

    def predict(self, configurations: pd.DataFrame, metafeatures: pd.Series) -> Prediction:
        """As `MetaLearner.predict`."""
        ...

    def prior(self, configurations: pd.DataFrame, metafeatures: pd.Series) -> Prior:
        """What it expects of `configurations` on the dataset with these meta-features."""
        ...

    def targets_of(self, values: Floats) -> Floats:
        """(t,) values of trials on one dataset in the form that the learner learned from, up to level and
        spread."""
        ...


@dataclass(frozen=True)
class Conditioned:
    """A learner that also knows trials on the new dataset."""

    learner: HasPrior
    trials: Observations

    def predict(self, configurations: pd.DataFrame, metafeatures: pd.Series) -> Prediction:
        """As `MetaLearner.predict`; `metafeatures` are those of the dataset of the trials."""
        from threadpoolctl import threadpool_limits

        values = self.trials.values
        if not len(values) or np.ptp(values) == 0:
            # What values that are all equal say can't be told from the unknown level and spread.
            return self.learner.predict(configurations, metafeatures)
        with threadpool_limits(1):  # the matrices are small: threads would wait for one another
            prior = self.learner.prior(configurations, metafeatures)
            of_trials = self.learner.prior(self.trials.configurations, metafeatures)
            return posterior(prior, of_trials, self.learner.targets_of(values))

    def condition(self, observations: Observations) -> Self:
        """Knows these trials, too."""
        return type(self)(self.learner, self.trials.with_more(observations))


def best_together(prior: Prior, n: int) -> npt.NDArray[np.intp]:
    """Positions of `n` configurations of which the best is expected to score most.

    The first is the one with the highest mean; each next one raises the expected maximum the most, over
    functions drawn from the prior. Two configurations that are good under the same circumstances gain less
    together than two that are good under different ones.
    """
    draws = np.random.default_rng(0).normal(size=(_DRAWS, prior.factor.shape[1]))
    scores = prior.mean + draws @ prior.factor.T  # (draws, configurations)
    best = np.full(_DRAWS, -np.inf)
    chosen: list[int] = []
    while len(chosen) < min(n, len(prior.mean)):
        expected = np.maximum(scores, best[:, None]).mean(axis=0) if chosen else prior.mean.copy()
        expected[chosen] = -np.inf
        chosen.append(int(expected.argmax()))
        best = np.maximum(best, scores[:, chosen[-1]])
    return np.array(chosen, dtype=np.intp)


def posterior(prior: Prior, of_trials: Prior, y: Floats, *, of_runs: bool = True) -> Prediction:
    """Scores of the configurations of `prior` after trials whose values are `y`, which are not all equal.

    Args:
        of_runs: whether the standard deviation is that of a run's score, or, without the noise, of the true
            score.
    """
    from scipy.linalg import solve_triangular

    own_spread = float(y.std())
    among_trials = of_trials.factor @ of_trials.factor.T
    to_trials = prior.factor @ of_trials.factor.T
    sides = np.column_stack([y - y.mean(), of_trials.mean])
    variance = (prior.factor**2).sum(axis=1)
    log_weights, shifts, variances = [], [], []
    for width, noise in product(_WIDTHS, _NOISES):
        C = width * among_trials + _LEVEL_VARIANCE
        C[np.diag_indices_from(C)] += noise
        L = np.linalg.cholesky(C)
        whitening = solve_triangular(L, np.eye(len(y)), lower=True, check_finite=False)
        whitened = whitening @ sides
        spread = own_spread * _SPREADS
        missed = whitened[:, :1] / spread - whitened[:, 1:]  # (t, spreads): what the prior did not expect
        log_weights.append(
            -0.5 * (missed**2).sum(axis=0) - np.log(np.diag(L)).sum() - len(y) * np.log(spread)
        )
        explained = whitening @ (width * to_trials.T)  # (t, n)
        shifts.append(missed.T @ explained)
        variances.append(width * variance - (explained**2).sum(axis=0) + noise * of_runs)
    weights = np.exp(np.array(log_weights) - np.max(log_weights))
    weights /= weights.sum()  # (widths x noises, spreads)
    shift = np.einsum("cs,csn->n", weights, np.array(shifts))
    between = np.einsum("cs,csn->n", weights, (np.array(shifts) - shift) ** 2)
    within = weights.sum(axis=1) @ np.maximum(np.array(variances), 0)
    return Prediction(prior.mean + shift, np.sqrt(within + between))
