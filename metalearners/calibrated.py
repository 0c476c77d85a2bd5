"""Learners that predict a mean: how far it is off on new datasets, and what trials change.

The spread of a prediction is measured: an equal learner is trained without some of the datasets and compared
with the runs on these. It is one number, the same for every configuration.

Notation
    n, J     configurations, columns of the encoded hyperparameters
    x        (n, J) encoded configurations, standardized; 0 where another algorithm has the parameter
    r        random features; inner products of their values are a Matern kernel with nu = 5/2
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, Self

import numpy as np
import pandas as pd

from metalearners.base import (
    Z80,
    Observations,
    Prediction,
    runs_on,
    standard_scores,
    without_datasets,
)
from metalearners.encoded import encode, standardized
from metalearners.hyperparameters import HyperparameterEncoding
from metalearners.trials import Conditioned, Prior
from warehouse.configurations.table import ConfigurationTable
from warehouse.queries import RunTable
from warehouse.support.arrays import Floats, Positions
from warehouse.support.errors import DamagedModel

_HELD_OUT, _MOST_HELD_OUT = 3, 15  # every third dataset is left out to measure the spread, up to so many
_FEATURES = 200  # of the kernel's approximation; the error falls with their root
_LEAST_DOUBT = 0.5  # standard deviation: however sure a learner is, a new dataset may be like none before
_CORRELATED = 0.5  # share of what a prediction misses that similar configurations have in common


class CalibratedLearner(ABC):
    """A meta-learner made from `learn` and `expect`; `learn` also sets the encoding and its scales."""

    encoding_: HyperparameterEncoding
    centre_: Floats
    width_: Floats
    spread_: float

    @property
    @abstractmethod
    def settings(self) -> dict[str, Any]:
        """As `MetaLearner.settings`."""

    @abstractmethod
    def learn(self, runs: RunTable, metafeatures: pd.DataFrame) -> None:
        """Learn to expect scores from `runs`."""

    @abstractmethod
    def expect(self, configurations: ConfigurationTable, metafeatures: pd.Series) -> Floats:
        """(n,) expected scores."""

    def points(self, configurations: ConfigurationTable, metafeatures: pd.Series) -> Floats:
        """x."""
        encoded = encode(self.encoding_, configurations, metafeatures)
        return standardized(encoded, self.centre_, self.width_)

    def fit(self, runs: RunTable, metafeatures: pd.DataFrame) -> Self:
        """As `MetaLearner.fit`."""
        self.learn(runs, metafeatures)
        self.spread_ = self._held_out_spread(runs, metafeatures)
        return self

    def predict(self, configurations: ConfigurationTable, metafeatures: pd.Series) -> Prediction:
        """As `MetaLearner.predict`."""
        mean = self.expect(configurations, metafeatures)
        return Prediction(mean, np.full(len(mean), self.spread_))

    def choose(self, configurations: ConfigurationTable, metafeatures: pd.Series, n: int) -> Positions:
        """As `MetaLearner.choose`: the highest predictions."""
        return np.argsort(-self.expect(configurations, metafeatures), kind="stable")[:n]

    def prior(self, configurations: ConfigurationTable, metafeatures: pd.Series) -> Prior:
        """What trials are weighed against; see `metalearners.trials`."""
        points = self.points(configurations, metafeatures)
        doubt = max(np.sqrt(_CORRELATED) * self.spread_, _LEAST_DOUBT)
        return Prior(self.expect(configurations, metafeatures), doubt * random_features(points), points)

    def targets_of(self, values: Floats) -> Floats:
        """As `metalearners.trials.HasPrior.targets_of`."""
        return values

    def condition(self, observations: Observations) -> Conditioned:
        """As `MetaLearner.condition`."""
        return Conditioned(self, observations)

    def _held_out_spread(self, runs: RunTable, metafeatures: pd.DataFrame) -> float:
        """Standard deviation whose 80 % interval holds 80 % of the runs on datasets that were left out.

        1, the spread of the scores themselves, where there are too few datasets to tell.
        """
        datasets = runs.runs["dataset"].unique()
        held_out = datasets[_HELD_OUT - 1 :: _HELD_OUT][:_MOST_HELD_OUT].tolist()
        others = without_datasets(runs, held_out)
        if not held_out or others.runs.empty:
            return 1.0
        other = type(self)(**self.settings)
        other.learn(others, metafeatures.drop(index=held_out, errors="ignore"))
        missed = [other._missed(runs, metafeatures, dataset) for dataset in held_out]
        return float(np.quantile(np.concatenate(missed), 0.8)) / Z80

    def _missed(self, runs: RunTable, metafeatures: pd.DataFrame, dataset: str) -> Floats:
        """(runs on the dataset,) distance of their scores from what was expected."""
        configurations, values = runs_on(runs, dataset)
        expected = self.expect(configurations, metafeatures.reindex([dataset]).iloc[0])
        scores = standard_scores(values)
        missed: Floats = np.abs(scores - expected)
        return missed

    def _restore_spread(self, facts: Mapping[str, Any]) -> None:
        try:
            self.spread_ = float(facts["spread"])
        except (KeyError, TypeError, ValueError) as error:
            raise DamagedModel(f"the stored learner is damaged ({error}): train it again") from error


def random_features(x: Floats) -> Floats:
    """(n, r) features whose inner products are about the kernel, with the length scale sqrt(J).

    The spectral density of a Matern kernel is a multivariate t distribution with 2 nu degrees of freedom
    (Rahimi and Recht 2007).
    """
    random = np.random.default_rng(0)
    J = x.shape[1]
    frequency = random.normal(size=(J, _FEATURES)) / np.sqrt(random.chisquare(5, size=_FEATURES) / 5)
    phase = random.uniform(0, 2 * np.pi, size=_FEATURES)
    features: Floats = np.sqrt(2 / _FEATURES) * np.cos(x @ frequency / np.sqrt(max(J, 1)) + phase)
    return features
