"""The blend surrogate: a meta-learner's prior and models of the trials, weighted by evidence.

Before the first trial there is only the meta-learner's Gaussian prior. It may be wrong about a dataset unlike
all known ones, so there are alternative explanations of the trials: the prior's mean, or a constant, plus a
Gaussian process of the trials, on several length scales. Each explanation is weighted by its evidence,
averaged over its width, the noise of trials, and the spread of the dataset's values
(`metalearners.gp.posterior`). So the prior's weight follows from evidence, whereas in the thesis's blended
surrogate it falls with the number of trials.

Notation
    X         the prior of n configurations: mean, variance, factor of the covariance, and the points for the
              distances of the process of the trials, with the length scales learned by the meta-learner
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import pandas as pd

from metalearners.gp.posterior import LEARNED, HasPrior, Posterior, PosteriorExplanation, Prior
from metalearners.predictions import Prediction
from recommend.bo.surrogates.base import one_hot
from recommend.space import Configurations
from warehouse.support.arrays import Floats

if TYPE_CHECKING:
    from threadpoolctl import ThreadpoolController

WIDTHS = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
"""Each step doubles; set by hand."""
_STRETCHES = (0.5, 1.0, 2.0)  # half, as learned, twice
_OTHERS = tuple(PosteriorExplanation(expects, stretch) for expects in (True, False) for stretch in _STRETCHES)
EXPLANATIONS = (PosteriorExplanation(expects=True, stretch=None, odds=len(_OTHERS)), *_OTHERS)
"""Explanations of the trials; a priori, the meta-learner's prior is as likely as all others together."""
EFFECT, DOUBT = -0.2, 0.4
"""Mean and standard deviation of the effect of a preprocessing step absent from all known runs, in standard
scores; set by hand, like the next."""
DISTANCE = 0.7
"""Distance between a configuration and one with an additional step of this kind, in length scales."""


def with_departures(prior: Prior, points: Floats, departures: Floats) -> Prior:
    """`prior` with the effects of steps unknown to the meta-learner, such as preprocessing.

    Each step has its own effect, independent of the rest of the configuration.

    Args:
        points: (n, J) the points of the prior.
        departures: (n, any) 1 if a configuration has the step, else 0.
    """
    if not departures.shape[1]:
        return Prior(prior.mean, prior.factor, points, prior.variance)
    return Prior(
        prior.mean + EFFECT * departures.sum(axis=1),
        np.hstack([prior.factor, DOUBT * departures]),
        np.hstack([points, DISTANCE * departures]),
        prior.variance + DOUBT**2 * departures.sum(axis=1),
    )


class BlendSurrogate:
    """A meta-learner's prior and models of the trials alone."""

    acquisition = "ei"
    explanations: ClassVar[Sequence[PosteriorExplanation]] = EXPLANATIONS

    def __init__(self, model: HasPrior, metafeatures: pd.Series) -> None:
        """A surrogate for the dataset with these meta-features."""
        self._model = model
        self._metafeatures = metafeatures

    @cached_property
    def _threads(self) -> ThreadpoolController:
        """Limits threads; made lazily, which takes milliseconds, since it can't be pickled."""
        from threadpoolctl import ThreadpoolController

        return ThreadpoolController()

    def encode(self, configurations: Configurations) -> Prior:
        prior = self._model.prior(configurations.table, self._metafeatures)
        points = prior.points
        if points is None:
            points = one_hot(configurations.vectors, configurations.categories)
        # There are many candidates: single precision halves the time, with a negligible error.
        departures = configurations.departures.astype(np.float64)
        return with_departures(prior, points, departures).astype(np.float32)

    def fit(self, X: Prior, y: Floats, random: np.random.Generator) -> None:  # noqa: ARG002 (nothing is random)
        self._unknown = len(y) < 2  # too few to distinguish from an unknown level
        if not self._unknown:
            with self._threads.limit(limits=1):  # for small matrices, threads would only wait for one another
                targets = self._model.targets_of(y)
                self._posterior = Posterior(X.astype(np.float64), targets, self.explanations, WIDTHS)

    def predict(self, X: Prior) -> Prediction:
        if self._unknown:
            return Prediction(X.mean, np.sqrt(X.variance))
        return self._posterior.compare(X)

    def draw(self, X: Prior, random: np.random.Generator) -> Floats:
        X = X.astype(np.float64)
        if self._unknown:
            value: Floats = X.mean + X.factor @ random.standard_normal(X.factor.shape[1])
            return value
        with self._threads.limit(limits=1):
            return self._posterior.draw(X, random)


class LearnedSurrogate(BlendSurrogate):
    """The meta-learner's posterior alone; with the learner `pmf`, probabilistic matrix factorization."""

    explanations = (LEARNED,)
