"""Posterior of a meta-learner's prediction, given trials on the new dataset.

A meta-learner states a Gaussian prior over the scores of configurations. Trials show values of the measure:
score times the dataset's spread, plus its level, plus noise. Level and spread of the new dataset and the
error of the prior are unknown; the posterior averages over them, weighted by the likelihood of the trials.

Notation
    t           trials, n configurations
    y           (t,) values of the trials, larger is better
    m, F        (n,) prior mean and (n, r) factor of the prior covariance F F'; m_t, F_t those of the trials
    b           spread of the new dataset
    a, v        factor of the prior covariance, variance of a run's noise in scores
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from typing import Protocol

import numpy as np
import pandas as pd

from metalearners.gp.kernels import matern_at, squared_distances
from metalearners.predictions import Prediction, Predictor
from warehouse.support.arrays import Flags, Floats, Rows
from warehouse.support.eigen import symmetric_eigen
from warehouse.vocabulary.table import ConfigurationTable

WIDTHS = (0.5, 1.0, 2.0)  # factors of the stated covariance
_NOISES = (0.02, 0.1, 0.3)  # variance of a run's noise, from small to large
_SPREADS = np.exp(np.linspace(-1.2, 1.2, 9))
"""Possible spreads, as multiples of the trials' standard deviation."""
_UNLIKELY = 1e-4
"""Cases with less than this share of the likeliest case's weight are dropped."""
_MINOR = 0.01
"""Covariances whose cases together have less than this share of all weight are dropped."""
_NEGLIGIBLE = 1e-2
"""Coordinates whose variance is less than this share of the noise are dropped."""
_JITTER = 1e-6
"""Share of the prior's variance added in draws, so that covariances stay invertible."""


@dataclass(frozen=True)
class Prior(Rows):
    """Prior of a learner for n configurations on one dataset, in standard scores.

    Predictions from arrays in single precision are computed in single precision.
    """

    mean: Floats
    """(n,)"""
    factor: Floats
    """(n, r): factor factor' is the covariance of the true scores."""
    points: Floats | None = None
    """(n, J) points for distances on which a Matern kernel of length 1 is plausible."""
    known_variance: Floats | None = None
    """(n,) `variance`, if already computed."""

    @cached_property
    def variance(self) -> Floats:
        """(n,) variance of the true scores."""
        return (
            np.asarray((self.factor**2).sum(axis=1)) if self.known_variance is None else self.known_variance
        )


@dataclass(frozen=True)
class PosteriorExplanation:
    """A hypothesis about the scores: a mean, and a process around it with covariance known up to a factor."""

    expects: bool
    """Whether the mean is that of the learner, or 0."""
    stretch: float | None
    """None: the covariance is the learner's. Else it is a Matern kernel (nu = 5/2) of the points, with
    distances multiplied by this."""
    odds: float = 1.0
    """Prior probability, relative to the other hypotheses."""


LEARNED = PosteriorExplanation(expects=True, stretch=None)
"""The learner's prior."""


class HasPrior(Predictor, Protocol):
    """A predictor with a prior that can be conditioned on trials."""

    def prior(self, configurations: ConfigurationTable, metafeatures: pd.Series) -> Prior:
        """Prior of `configurations` on the dataset with these meta-features."""

    def targets_of(self, values: Floats) -> Floats:
        """(t,) values of trials on one dataset, transformed as for training, up to level and spread."""


class Posterior:
    """Scores of configurations after trials on one dataset.

    Level and spread of the dataset are unknown: contrasts between trials eliminate the level, and the spread
    is one of several values. If all trials are equal, it is assumed to be about 1, as in scores.

    Notation
        B, l      (t, t - 1) orthonormal contrasts, B' 1 = 0, that diagonalize the covariance C among trials:
                  B' C B = diag(l)
        c         (t - 1,) a l + v, variance of the trials in these coordinates
        A         (t - 1, S) coefficients of the trials: they add k B A to the mean, one column for each of
                  the S cases (a, v, b) that are likely enough
        k         (n, t) covariance between configurations and trials
    """

    def __init__(
        self,
        of_trials: Prior,
        y: Floats,
        explanations: Sequence[PosteriorExplanation] = (LEARNED,),
        widths: Sequence[float] = WIDTHS,
        noise: float = 0.0,
    ) -> None:
        """Condition on the trials.

        Args:
            of_trials: prior of the tried configurations, one or more.
            y: (t,) their values.
            explanations: possible hypotheses.
            widths: possible factors of the covariance.
            noise: known variance of a value, in the squared unit of `y`; unknown noise is added.
        """
        spreads = (float(y.std()) or 1.0) * _SPREADS
        known_noise = noise / (float(y.var()) or 1.0)
        noises = [known_noise + unknown for unknown in _NOISES]
        among_trials = _Covariances(of_trials, of_trials)
        explained = [
            one
            for stretch in dict.fromkeys(explanation.stretch for explanation in explanations)
            for one in _explained(
                of_trials,
                among_trials,
                y,
                spreads,
                [explanation for explanation in explanations if explanation.stretch == stretch],
                list(product(widths, noises)),
            )
        ]
        likeliest = max(one.log_weights.max() for one in explained)
        cases = _normalized([case for one in explained for case in one.cases(likeliest)])
        shares: dict[float | None, float] = defaultdict(float)
        for case in cases:
            shares[case.explanation.stretch] += float(case.weights.sum())
        self._of_trials, self._among_trials = of_trials, among_trials
        self._cases = _normalized([case for case in cases if shares[case.explanation.stretch] >= _MINOR])

    def predict(self, prior: Prior) -> Prediction:
        """Predict the score of a run, with its noise, of each configuration of `prior`."""
        mixture = _Mixture(len(prior.mean))
        with_trials = _Covariances(prior, self._of_trials)
        for cases in self._by_covariance():
            stretch, tells = cases[0].explanation.stretch, _telling(cases)
            P = with_trials.times(cases[0].B[:, tells], stretch)  # (n, at most t - 1)
            variance = _variance(prior, stretch)
            explained = np.zeros(P.shape[1])
            for case in cases:
                weight = float(case.weights.sum())
                mixture.within += weight * (case.a * variance + case.v)
                explained += weight * case.a**2 / case.c[tells]
            mixture.explain(P, explained)
            coefficients = [np.vstack([case.A[tells], case.expected()]) for case in cases]
            mixture.add(P, prior.mean, np.hstack(coefficients), _weights(cases))
        return mixture.prediction()

    @property
    def run_variance(self) -> float:
        """Variance of a run's noise, in the squared unit of the values."""
        return sum(case.v * float(case.weights @ case.spreads**2) for case in self._cases)

    def compare(self, prior: Prior) -> Prediction:
        """Predict the true values of the configurations of `prior` minus the mean true value of the trials.

        In the unit of the values. Unlike in scores, the level and spread do not add to the uncertainty: they
        are the same for all configurations.
        """
        mixture = _Mixture(len(prior.mean))
        with_trials = _Covariances(prior, self._of_trials)
        for cases in self._by_covariance():
            tells = _telling(cases)
            P, k_u, of_mean = self._against_trials(with_trials, cases[0], tells)
            gap = _variance(prior, cases[0].explanation.stretch) - 2 * k_u + of_mean
            explained = np.zeros(P.shape[1])
            for case in cases:
                # var(f - u'f) = var f - 2 cov(f, u'f) + var u'f, each after the trials
                weight = float(case.weights @ case.spreads**2)
                mixture.within += weight * case.a * gap
                explained += weight * case.a**2 / case.c[tells]
            mixture.explain(P, explained)
            coefficients = [case.spreads * np.vstack([case.A[tells], case.expected()]) for case in cases]
            expected = prior.mean - self._of_trials.mean.mean()
            mixture.add(P, expected, np.hstack(coefficients), _weights(cases))
        return mixture.prediction()

    def draw(self, prior: Prior, random: np.random.Generator) -> Floats:
        """(n,) a draw from the joint distribution whose mean and standard deviation `compare` returns.

        A case is drawn by weight; given the case, the values are normal with its covariance.
        """
        weights = np.concatenate([case.weights for case in self._cases])
        drawn = int(random.choice(len(weights), p=weights / weights.sum()))
        case, place = [(case, place) for case in self._cases for place in range(len(case.weights))][drawn]
        stretch = case.explanation.stretch
        everywhere = np.ones(len(case.c), dtype=bool)
        P, k_u, of_mean = self._against_trials(_Covariances(prior, self._of_trials), case, everywhere)
        expected = (prior.mean - self._of_trials.mean.mean()) * case.explanation.expects
        gap = _Covariances(prior, prior).at(stretch) - k_u - k_u[:, None] + of_mean
        covariance = case.a * (gap + _JITTER * np.eye(len(gap))) - (P * (case.a**2 / case.c)) @ P.T
        normal = np.linalg.cholesky(covariance) @ random.standard_normal(len(gap))
        value: Floats = case.spreads[place] * (P @ case.A[:, place] + expected + normal)
        return value

    def _against_trials(
        self, with_trials: _Covariances, case: _Case, tells: Flags
    ) -> tuple[Floats, Floats, float]:
        """Covariances with B minus those of the trials' mean u'f; covariances with u'f; variance of u'f."""
        t = len(self._of_trials.mean)
        u = np.full((t, 1), 1 / t)
        B, stretch = case.B[:, tells], case.explanation.stretch
        P = with_trials.times(np.hstack([B, u]), stretch)
        among = self._among_trials.times(u, stretch)[:, 0]  # K u
        return P[:, :-1] - (B.T @ among).astype(P.dtype), P[:, -1], float(among.mean())

    def _by_covariance(self) -> list[list[_Case]]:
        stretches = dict.fromkeys(case.explanation.stretch for case in self._cases)
        return [[case for case in self._cases if case.explanation.stretch == one] for one in stretches]


@dataclass(frozen=True)
class _Case:
    """One hypothesis with factor a and noise v, for the spreads that are likely enough."""

    explanation: PosteriorExplanation
    a: float
    v: float
    c: Floats
    B: Floats
    A: Floats
    spreads: Floats
    weights: Floats

    def expected(self) -> Floats:
        """(1, spreads) coefficient of the learner's mean."""
        return np.full((1, len(self.spreads)), float(self.explanation.expects))


@dataclass(frozen=True)
class _Explained:
    """Likelihood of the trials under one hypothesis, for all factors, noises and spreads."""

    explanation: PosteriorExplanation
    widths_and_noises: Floats
    """(w, 2) a and v."""
    c: Floats
    """(w, t - 1)"""
    B: Floats
    missed: Floats
    """(t - 1, spreads) trials minus the expected values, along B."""
    spreads: Floats
    log_weights: Floats
    """(w, spreads) log likelihood."""

    def cases(self, likeliest: float) -> Iterator[_Case]:
        """The cases whose weight is not negligible beside that of the likeliest."""
        weights = np.exp(self.log_weights - likeliest)
        for (a, v), c, of_spreads in zip(self.widths_and_noises.tolist(), self.c, weights, strict=True):
            seen = of_spreads > _UNLIKELY
            if seen.any():
                A = a * self.missed[:, seen] / c[:, None]
                yield _Case(self.explanation, a, v, c, self.B, A, self.spreads[seen], of_spreads[seen])


class _Mixture:
    """Mean and variance of n configurations over the cases, accumulated over covariances."""

    def __init__(self, n: int) -> None:
        self._mean, self._square = np.zeros(n), np.zeros(n)
        self.within = np.zeros(n)
        """(n,) mean variance within a case."""

    def add(self, P: Floats, m: Floats, coefficients: Floats, weights: Floats) -> None:
        """Add cases with the means [P m] coefficients.

        Args:
            P: (n, k)
            m: (n,)
            coefficients: (k + 1, S)
            weights: (S,)
        """
        scaled = coefficients * np.sqrt(weights)
        if scaled.shape[1] > len(scaled):  # fewer columns with the same sum of squares suffice
            scaled = np.asarray(np.linalg.qr(scaled.T, mode="r")).T
        means = np.column_stack([coefficients @ weights, scaled]).astype(P.dtype)
        expected = P @ means[:-1] + m[:, None] * means[-1]
        self._mean += expected[:, 0]
        self._square += (expected[:, 1:] ** 2).sum(axis=1)

    def explain(self, P: Floats, explained: Floats) -> None:
        """Subtract the variance explained by trials: (k,) per squared coordinate."""
        self.within -= P**2 @ explained.astype(P.dtype)

    def prediction(self) -> Prediction:
        between = np.maximum(self._square - self._mean**2, 0)
        return Prediction(self._mean, np.sqrt(np.maximum(self.within, 0) + between))


class _Covariances:
    """Covariances between the configurations of two priors, in the precision of the first."""

    def __init__(self, a: Prior, b: Prior) -> None:
        self._a, self._b = a, b

    def at(self, stretch: float | None) -> Floats:
        """(n, n') the learner's covariance (None), or a Matern kernel of distances times `stretch`."""
        if stretch is None:
            return self._a.factor @ self._b.factor.T.astype(self._a.factor.dtype)
        return matern_at(self._squared_distances, stretch)

    def times(self, B: Floats, stretch: float | None) -> Floats:
        """(n, any) the covariance times B."""
        if stretch is None:
            return self._a.factor @ (self._b.factor.T @ B).astype(self._a.factor.dtype)
        k = self.at(stretch)
        product: Floats = k @ B.astype(k.dtype)
        return product

    @cached_property
    def _squared_distances(self) -> Floats:
        if self._a.points is None or self._b.points is None:
            raise ValueError("this prior has no points to measure distances between")
        return squared_distances(self._a.points, self._b.points.astype(self._a.points.dtype))


def _explained(
    of_trials: Prior,
    among_trials: _Covariances,
    y: Floats,
    spreads: Floats,
    explanations: Sequence[PosteriorExplanation],
    widths_and_noises: Sequence[tuple[float, float]],
) -> Iterator[_Explained]:
    """Fit of each hypothesis to the trials.

    Args:
        explanations: one or more with the same stretch, so that they share the covariance.
    """
    C = among_trials.at(explanations[0].stretch)
    # Centring makes 1 an eigenvector with eigenvalue 0; it is made the largest, so that it comes last.
    contrasts = C - C.mean(axis=0) - C.mean(axis=1)[:, None] + C.mean() + (np.trace(C) + 1) / len(y)
    eigenvalues, B = (part[..., :-1] for part in symmetric_eigen(contrasts))
    a_and_v = np.array(widths_and_noises)
    c = np.outer(a_and_v[:, 0], np.maximum(eigenvalues, 0)) + a_and_v[:, 1:]
    values = (B.T @ y)[:, None] / spreads  # (t - 1, spreads)
    expected = (B.T @ of_trials.mean)[:, None]
    for explanation in explanations:
        missed = values - expected * explanation.expects
        logs = -0.5 * ((1 / c) @ missed**2 + np.log(c).sum(axis=1)[:, None])
        logs += np.log(explanation.odds) - (len(y) - 1) * np.log(_SPREADS)
        yield _Explained(explanation, a_and_v, c, B, missed, spreads, logs)


def _normalized(cases: Sequence[_Case]) -> list[_Case]:
    """The same cases with weights that add up to 1."""
    total = sum(float(case.weights.sum()) for case in cases)
    return [replace(case, weights=case.weights / total) for case in cases]


def _telling(cases: Sequence[_Case]) -> Flags:
    """(t - 1,) coordinates whose variance is not negligible beside the noise; most others are dropped."""
    telling: Flags = np.max([case.c / case.v - 1 for case in cases], axis=0) > _NEGLIGIBLE
    return telling


def _weights(cases: Sequence[_Case]) -> Floats:
    return np.concatenate([case.weights for case in cases])


def _variance(prior: Prior, stretch: float | None) -> Floats:
    return prior.variance if stretch is None else np.ones(len(prior.mean))
