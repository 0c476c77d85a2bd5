"""Ensembles of the processes of other datasets and of the trials' own, one ensemble for each algorithm.

Notation
    n, t, T   candidates, trials, base models of the algorithm that has most
    w, mu_i, s_i   weight, mean and standard deviation of a model; the last is the target model, of the trials
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np
import pandas as pd

from metalearners.predictions import Prediction
from recommend.bo.surrogates.base import centre_and_spread
from recommend.bo.transfer.prior_tasks import PriorTasks
from recommend.bo.transfer.processes import Processes
from recommend.bo.transfer.weights import Weighting, differences, epanechnikov
from recommend.space import Configurations
from warehouse.support.arrays import Floats, Positions, Rows

SAMPLES = 64
"""Draws from each model's posterior at the trials; set by hand."""


@dataclass(frozen=True)
class Expected(Rows):
    """Candidates, and what the base models of their algorithm expect of them, in standard scores."""

    points: Annotated[Floats, "n J"]
    algorithm: Annotated[Positions, "n"]
    """Position among the algorithms of the prior tasks; -1: none of them."""
    means: Annotated[Floats, "n T"]
    variances: Annotated[Floats, "n T"]


@dataclass(frozen=True)
class _Member:
    """The target model of one algorithm, and the weights of its ensemble."""

    target: Processes
    w: Floats


class EnsembleSurrogate:
    """Weighted sum of base models and target model (Manolache, equations 7 and 8)."""

    acquisition = "ei"

    def __init__(self, tasks: PriorTasks, metafeatures: pd.Series, weighting: Weighting) -> None:
        """A surrogate for the dataset with these meta-features."""
        self._tasks = tasks
        self._metafeatures = metafeatures
        self._weighting = weighting
        self._bases = list(tasks.models.values())
        self._places = {algorithm: place for place, algorithm in enumerate(tasks.models)}

    def encode(self, configurations: Configurations) -> Expected:
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
        return Expected(points, algorithm, means, variances)

    def fit(self, X: Expected, y: Floats, random: np.random.Generator) -> None:
        self._centre, self._spread = centre_and_spread(y)
        scores = (y - self._centre) / self._spread
        self._members = {}
        for place in np.unique(X.algorithm).tolist():
            own = X.algorithm == place
            points, values = X.points[own], scores[own]
            target = Processes.fitted(points[None], values[None], np.ones((1, len(values)), dtype=bool))
            w = self._weights(self._of(place), target, points, values, random)
            self._members[place] = _Member(target, w)

    def predict(self, X: Expected) -> Prediction:
        mean, variance = np.zeros(len(X)), np.ones(len(X))
        for place in np.unique(X.algorithm).tolist():
            rows = np.flatnonzero(X.algorithm == place)
            bases = self._of(place)
            own = slice(0, 0 if bases is None else len(bases))
            means, variances = X.means[rows, own], X.variances[rows, own]
            if place in self._members:
                member = self._members[place]
                mu, s2 = member.target.predict(X.points[rows])
                if bases is not None:  # how trials rank says nothing of the level
                    means = means - bases.mean + member.target.mean
                means, variances = np.hstack([means, mu]), np.hstack([variances, s2])
                w = member.w
            else:  # no trial of this algorithm: all datasets are as like as any
                w = np.full(means.shape[1], 1 / max(means.shape[1], 1))
            if len(w):
                mean[rows], variance[rows] = self._combined(w, means, variances)
        return Prediction(self._centre + self._spread * mean, self._spread * np.sqrt(variance))

    def _of(self, place: int) -> Processes | None:
        return self._bases[place] if place >= 0 else None

    def _weights(
        self,
        bases: Processes | None,
        target: Processes,
        points: Floats,
        y: Floats,
        random: np.random.Generator,
    ) -> Floats:
        """(M,) how much each model counts."""
        if bases is None:
            return np.ones(1)
        models = [*differences(bases.sample(points, SAMPLES, random)).transpose(1, 0, 2, 3)]
        models.append(left_one_out(target, points, random))
        return self._weighting(models, y, random)

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
        bases: Processes | None,
        target: Processes,  # noqa: ARG002 (its distance from itself is 0)
        points: Floats,
        y: Floats,
        random: np.random.Generator,
    ) -> Floats:
        expected = np.zeros((0, len(y))) if bases is None else bases.predict(points)[0].T
        return self._weighting([*differences(expected)[:, None]], y, random)

    def _combined(self, w: Floats, means: Floats, variances: Floats) -> tuple[Floats, Floats]:
        return means @ w, variances[:, -1]


def left_one_out(target: Processes, points: Floats, random: np.random.Generator) -> Floats:
    """(S, t, t) D of the target model: row i is of the process without trial i (equation 12)."""
    drawn = target.left_out().sample(points, SAMPLES, random)  # (S, t, t): process, point
    own = np.diagonal(drawn, axis1=1, axis2=2)  # (S, t)
    D: Floats = own[:, :, None] - drawn
    return D
