"""Posterior of a meta-learner's prediction, given trials on the new dataset.

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

WIDTHS = (0.5, 1.0, 2.0)  # half, as stated, twice
_NOISES = (0.02, 0.1, 0.3)  # variance of a run's noise, from small to large
_SPREADS = np.exp(np.linspace(-1.2, 1.2, 9))
"""Spreads that are thought possible, as multiples of the trials' own standard deviation."""
_UNLIKELY = 1e-4
"""Share of the likeliest case's weight below which a case is left out."""
_MINOR = 0.01
"""Share of the weight of all cases below which those with the same covariance are left out."""
_NEGLIGIBLE = 1e-2
"""Variance over that of the noise below which a coordinate is left out."""

_JITTER = 1e-6
"""Share of the prior's variance that is added where values are drawn, to keep a covariance invertible."""


@dataclass(frozen=True)
class Prior(Rows):
    """What a learner knows of n configurations on one dataset before any trial, in standard scores.

    Numbers in single precision are predicted from in single precision.
    """

    mean: Floats
    """(n,)"""
    factor: Floats
    """(n, r): factor factor' is the covariance of the true scores."""
    points: Floats | None = None
    """(n, J) between which distances can be measured, so that a Matern kernel of length 1 is plausible."""
    known_variance: Floats | None = None
    """(n,) `variance`, where it was computed before."""

    @cached_property
    def variance(self) -> Floats:
        """(n,) variance of the true scores."""
        return (
            np.asarray((self.factor**2).sum(axis=1)) if self.known_variance is None else self.known_variance
        )


@dataclass(frozen=True)
class PosteriorExplanation:
    """What scores may be: a mean, and a process around it whose covariance is known up to its width."""

    expects: bool
    """Whether the mean is what the learner expects, or 0."""
    stretch: float | None
    """None: the covariance is the learner's. Else it is a Matern kernel (nu = 5/2) of the points, with
    distances stretched by so much."""
    odds: float = 1.0
    """How likely it is before the trials, in proportion to the others."""


LEARNED = PosteriorExplanation(expects=True, stretch=None)
"""The learner's prior."""


class HasPrior(Predictor, Protocol):
    """A predictor that can be conditioned on trials by its prior."""

    def prior(self, configurations: ConfigurationTable, metafeatures: pd.Series) -> Prior:
        """What it expects of `configurations` on the dataset with these meta-features."""

    def targets_of(self, values: Floats) -> Floats:
        """(t,) values of trials on one dataset in the form that the learner learned from, up to level and
        spread."""


class Posterior:
    """Scores of configurations after trials on one dataset.

    Level and spread of the dataset are unknown: the level drops out of the contrasts between trials, and the
    spread is one of several. Values that are all equal do not tell it: then it is about 1, as in scores.

    Notation
        B, l      (t, t - 1) orthonormal contrasts, B' 1 = 0, that diagonalize the covariance C among trials:
                  B' C B = diag(l)
        c         (t - 1,) a l + v, variance of the trials in these coordinates
        A         (t - 1, S) coefficients of the trials: k B A is what they add to the mean, one column for
                  each of the S cases (a, v, b) that are likely enough
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
        """What the trials teach.

        Args:
            of_trials: the prior of the configurations that were tried, one or more.
            y: (t,) their values.
            explanations: what is thought possible.
            widths: how much wider than stated a covariance may be.
            noise: variance of a value that is known, in the unit of `y`; others are added to it.
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

    def predict(self, prior: Prior, *, of_runs: bool = False) -> Prediction:
        """Scores of the configurations of `prior`.

        Args:
            of_runs: whether the standard deviation is that of a run's score, or, without the noise, of the
                true score.
        """
        mixture = _Mixture(len(prior.mean))
        with_trials = _Covariances(prior, self._of_trials)
        for cases in self._by_covariance():
            stretch, tells = cases[0].explanation.stretch, _telling(cases)
            P = with_trials.times(cases[0].B[:, tells], stretch)  # (n, at most t - 1)
            variance = _variance(prior, stretch)
            explained = np.zeros(P.shape[1])
            for case in cases:
                weight = float(case.weights.sum())
                mixture.within += weight * (case.a * variance + case.v * of_runs)
                explained += weight * case.a**2 / case.c[tells]
            mixture.explain(P, explained)
            coefficients = [np.vstack([case.A[tells], case.expected()]) for case in cases]
            mixture.add(P, prior.mean, np.hstack(coefficients), _weights(cases))
        return mixture.prediction()

    def compare(self, prior: Prior, *, of_runs: bool = False) -> Prediction:
        """How far the true values of the configurations of `prior` are above the mean of the trials' own.

        In the unit of the values. What the trials can't tell, the level and, where they are few, the spread,
        is the same for all configurations: here it does not make them look uncertain, as it does in scores.

        Args:
            of_runs: as in `predict`.
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
                mixture.within += weight * (case.a * gap + case.v * of_runs)
                explained += weight * case.a**2 / case.c[tells]
            mixture.explain(P, explained)
            coefficients = [case.spreads * np.vstack([case.A[tells], case.expected()]) for case in cases]
            expected = prior.mean - self._of_trials.mean.mean()
            mixture.add(P, expected, np.hstack(coefficients), _weights(cases))
        return mixture.prediction()

    def draw(self, prior: Prior, random: np.random.Generator) -> Floats:
        """(n,) one draw from the joint distribution of what `compare` states means and deviations of.

        One case is drawn by the weights; given the case, the values are normal with its covariance.
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
        """Covariances of values with B, less those of the mean of the trials, u'f; with it; its variance."""
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
    """One explanation at one width a and noise v, for the spreads that are likely enough."""

    explanation: PosteriorExplanation
    a: float
    v: float
    c: Floats
    B: Floats
    A: Floats
    spreads: Floats
    weights: Floats

    def expected(self) -> Floats:
        """(1, spreads) how much of the learner's mean it takes over."""
        return np.full((1, len(self.spreads)), float(self.explanation.expects))


@dataclass(frozen=True)
class _Explained:
    """How likely the trials are by one explanation, at all widths, noises and spreads."""

    explanation: PosteriorExplanation
    widths_and_noises: Floats
    """(w, 2) a and v."""
    c: Floats
    """(w, t - 1)"""
    B: Floats
    missed: Floats
    """(t - 1, spreads) what the trials are above what is expected, along B."""
    spreads: Floats
    log_weights: Floats
    """(w, spreads) log likelihood."""

    def cases(self, likeliest: float) -> Iterator[_Case]:
        """The cases whose weight can be seen beside that of the likeliest."""
        weights = np.exp(self.log_weights - likeliest)
        for (a, v), c, of_spreads in zip(self.widths_and_noises.tolist(), self.c, weights, strict=True):
            seen = of_spreads > _UNLIKELY
            if seen.any():
                A = a * self.missed[:, seen] / c[:, None]
                yield _Case(self.explanation, a, v, c, self.B, A, self.spreads[seen], of_spreads[seen])


class _Mixture:
    """Mean and variance of n configurations over the cases, summed up covariance by covariance."""

    def __init__(self, n: int) -> None:
        self._mean, self._square = np.zeros(n), np.zeros(n)
        self.within = np.zeros(n)
        """(n,) mean variance of a case."""

    def add(self, P: Floats, m: Floats, coefficients: Floats, weights: Floats) -> None:
        """Cases that expect [P m] coefficients.

        Args:
            P: (n, k)
            m: (n,)
            coefficients: (k + 1, S)
            weights: (S,)
        """
        scaled = coefficients * np.sqrt(weights)
        if scaled.shape[1] > len(scaled):  # as many columns with the same sum of squares are enough
            scaled = np.asarray(np.linalg.qr(scaled.T, mode="r")).T
        means = np.column_stack([coefficients @ weights, scaled]).astype(P.dtype)
        expected = P @ means[:-1] + m[:, None] * means[-1]
        self._mean += expected[:, 0]
        self._square += (expected[:, 1:] ** 2).sum(axis=1)

    def explain(self, P: Floats, explained: Floats) -> None:
        """Take off what trials tell of the variance: (k,) of the squares of each coordinate."""
        self.within -= P**2 @ explained.astype(P.dtype)

    def prediction(self) -> Prediction:
        between = np.maximum(self._square - self._mean**2, 0)
        return Prediction(self._mean, np.sqrt(np.maximum(self.within, 0) + between))


class _Covariances:
    """Between the configurations of two priors, as precise as the numbers of the first."""

    def __init__(self, a: Prior, b: Prior) -> None:
        self._a, self._b = a, b

    def at(self, stretch: float | None) -> Floats:
        """(n, n') the learner's covariance (None), or a Matern kernel of distances stretched by so much."""
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
    """Fit of each explanation to the trials.

    Args:
        explanations: one or more of the same stretch, so that they share the covariance.
    """
    C = among_trials.at(explanations[0].stretch)
    # Without the level, 1 is an eigenvector of eigenvalue 0. Made the largest of all, it is the last one.
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
    """The same cases with weights whose sum is 1."""
    total = sum(float(case.weights.sum()) for case in cases)
    return [replace(case, weights=case.weights / total) for case in cases]


def _telling(cases: Sequence[_Case]) -> Flags:
    """(t - 1,) coordinates whose variance can be seen beside the noise; there are many others."""
    telling: Flags = np.max([case.c / case.v - 1 for case in cases], axis=0) > _NEGLIGIBLE
    return telling


def _weights(cases: Sequence[_Case]) -> Floats:
    return np.concatenate([case.weights for case in cases])


def _variance(prior: Prior, stretch: float | None) -> Floats:
    return prior.variance if stretch is None else np.ones(len(prior.mean))
