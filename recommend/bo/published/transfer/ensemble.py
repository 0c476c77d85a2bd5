"""Ensembles of the processes of other datasets and of the trials, one ensemble for each algorithm.

Notation
    n, t, T   candidates, trials, base models of the algorithm with most
    w, mu_i, s_i   weight, mean and standard deviation of a model; the last is the target model, of the trials
    r         columns of the factor of a meta-learner's prior, which may be an additional base model
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np
import pandas as pd

from metalearners.gp.posterior import HasPrior, Prior
from metalearners.predictions import Prediction
from recommend.bo.published.transfer.gaussian_processes import GaussianProcesses
from recommend.bo.published.transfer.prior_tasks import PriorTasks
from recommend.bo.published.transfer.weights import Weighting, differences, epanechnikov
from recommend.bo.surrogates.base import centre_and_spread
from recommend.space import Configurations
from warehouse.support.arrays import Floats, Positions, Rows

SAMPLES = 64
"""Draws from each model's posterior at the trials; set by hand."""


@dataclass(frozen=True)
class BasePredictions(Rows):
    """Candidates, and the predictions of the base models of their algorithm, in standard scores."""

    points: Annotated[Floats, "n J"]
    algorithm: Annotated[Positions, "n"]
    """Position among the algorithms of the prior tasks; -1: none of them."""
    means: Annotated[Floats, "n T"]
    variances: Annotated[Floats, "n T"]
    prior: Prior | None
    """The meta-learner's prior; None if there is none."""


@dataclass(frozen=True)
class _Member:
    """The target model of one algorithm, and the weights of its ensemble."""

    target: GaussianProcesses
    w: Floats
    levels: Floats
    """(M - 1,) mean of each base model and of the meta-learner's prior at the trials."""


class EnsembleSurrogate:
    """Weighted sum of base models and target model (Manolache, equations 7 and 8)."""

    acquisition = "ei"

    def __init__(
        self,
        tasks: PriorTasks,
        metafeatures: pd.Series,
        weighting: Weighting,
        learned: HasPrior | None = None,
    ) -> None:
        """A surrogate for the dataset with these meta-features.

        Args:
            learned: a meta-learner whose prior is an additional base model of each algorithm.
        """
        self._tasks = tasks
        self._learned = learned
        self._metafeatures = metafeatures
        self._weighting = weighting
        self._bases = list(tasks.models.values())
        self._places = {algorithm: place for place, algorithm in enumerate(tasks.models)}

    def encode(self, configurations: Configurations) -> BasePredictions:
        points = self._tasks.points(configurations.table, self._metafeatures)
        names = configurations.table.algorithms
        algorithm = np.array([self._places.get(str(name), -1) for name in names], dtype=np.intp)
        T = max((len(bases) for bases in self._bases if bases is not None), default=0)
        means, variances = np.zeros((len(points), T)), np.ones((len(points), T))
        for place, bases in enumerate(self._bases):
            rows = np.flatnonzero(algorithm == place)
            if bases is not None and len(rows):
                found = bases.predict(points[rows])
                means[rows, : len(bases)], variances[rows, : len(bases)] = found
        prior = None
        if self._learned is not None:
            known = self._learned.prior(configurations.table, self._metafeatures)
            prior = Prior(known.mean, known.factor, known_variance=known.variance)
        return BasePredictions(points, algorithm, means, variances, prior)

    def fit(self, X: BasePredictions, y: Floats, random: np.random.Generator) -> None:
        self._centre, self._spread = centre_and_spread(y)
        scores = (y - self._centre) / self._spread
        self._members = {}
        for place in np.unique(X.algorithm).tolist():
            own = X.algorithm == place
            trials, values = X.take(own), scores[own]
            target = GaussianProcesses.fitted(
                trials.points[None], values[None], np.ones((1, len(values)), dtype=bool)
            )
            bases = self._of(place)
            w = self._weights(bases, target, trials, values, random)
            levels = np.zeros(0) if bases is None else bases.mean
            if trials.prior is not None:
                levels = np.append(levels, trials.prior.mean.mean())
            self._members[place] = _Member(target, w, levels)

    def predict(self, X: BasePredictions) -> Prediction:
        mean, variance = np.zeros(len(X)), np.ones(len(X))
        for place in np.unique(X.algorithm).tolist():
            rows = np.flatnonzero(X.algorithm == place)
            bases, own = self._of(place), X.take(rows)
            used = slice(0, 0 if bases is None else len(bases))
            means, variances = own.means[:, used], own.variances[:, used]
            if own.prior is not None:
                means = np.column_stack([means, own.prior.mean])
                variances = np.column_stack([variances, own.prior.variance])
            if place in self._members:
                member = self._members[place]
                mu, s2 = member.target.predict(own.points)
                # Ranking says nothing about the level.
                means = means - member.levels + member.target.mean
                means, variances = np.hstack([means, mu]), np.hstack([variances, s2])
                w = member.w
            elif own.prior is not None:  # no trial of this algorithm: the meta-learner has similarities
                w = np.eye(means.shape[1])[-1]
            else:  # all datasets are equally similar
                w = np.full(means.shape[1], 1 / max(means.shape[1], 1))
            if len(w):
                mean[rows], variance[rows] = self._combined(w, means, variances)
        return Prediction(self._centre + self._spread * mean, self._spread * np.sqrt(variance))

    def _of(self, place: int) -> GaussianProcesses | None:
        return self._bases[place] if place >= 0 else None

    def _weights(
        self,
        bases: GaussianProcesses | None,
        target: GaussianProcesses,
        trials: BasePredictions,
        y: Floats,
        random: np.random.Generator,
    ) -> Floats:
        """(M,) weight of each model."""
        models: list[Floats] = []
        if bases is not None:
            models += [*differences(bases.sample(trials.points, SAMPLES, random)).transpose(1, 0, 2, 3)]
        if trials.prior is not None:
            factor = trials.prior.factor
            drawn = trials.prior.mean + random.standard_normal((SAMPLES, factor.shape[1])) @ factor.T
            models.append(differences(drawn))
        if not models:
            return np.ones(1)
        return self._weighting([*models, left_one_out(target, trials.points, random)], y, random)

    def _combined(self, w: Floats, means: Floats, variances: Floats) -> tuple[Floats, Floats]:
        """(n,) mean and variance, equation 8."""
        return means @ w, variances @ w**2


class TwoStageSurrogate(EnsembleSurrogate):
    """TST-R: means weighted by a kernel of ranking distances, the target's own uncertainty (Wistuba 2016)."""

    def __init__(self, tasks: PriorTasks, metafeatures: pd.Series) -> None:
        """See `EnsembleSurrogate`."""
        super().__init__(tasks, metafeatures, epanechnikov)

    def _weights(
        self,
        bases: GaussianProcesses | None,
        target: GaussianProcesses,  # noqa: ARG002 (its distance from itself is 0)
        trials: BasePredictions,
        y: Floats,
        random: np.random.Generator,
    ) -> Floats:
        expected = np.zeros((0, len(y))) if bases is None else bases.predict(trials.points)[0].T
        return self._weighting([*differences(expected)[:, None]], y, random)

    def _combined(self, w: Floats, means: Floats, variances: Floats) -> tuple[Floats, Floats]:
        return means @ w, variances[:, -1]


def left_one_out(target: GaussianProcesses, points: Floats, random: np.random.Generator) -> Floats:
    """(S, t, t) D of the target model: row i is of the process without trial i (equation 12)."""
    drawn = target.left_out().sample(points, SAMPLES, random)  # (S, t, t): process, point
    own = np.diagonal(drawn, axis1=1, axis2=2)  # (S, t)
    D: Floats = own[:, :, None] - drawn
    return D
