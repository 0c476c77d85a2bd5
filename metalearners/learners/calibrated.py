"""Calibration of models that predict a mean: uncertainty on new datasets, and updates by trials.

The spread of a prediction is measured: an equal learner is trained without some of the datasets and compared
with the runs on these. It is one number, the same for every configuration.

Notation
    n, J     configurations, columns of the encoded hyperparameters
    x        (n, J) encoded configurations, standardized; 0 where another algorithm has the parameter
    r        random features; inner products of their values are a Matern kernel with nu = 5/2
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Annotated, TypeVar

import numpy as np
import pandas as pd

from metalearners.encoding.hyperparameters import HyperparameterEncoding
from metalearners.encoding.matrices import encode_configurations, standardized
from metalearners.encoding.scores import Z80, standard_scores
from metalearners.encoding.training_data import runs_on, without_datasets
from metalearners.gp.conditioned import Conditioned
from metalearners.gp.posterior import Prior
from metalearners.predictions import Observations, Prediction
from warehouse.questions.queries import RunTable
from warehouse.support.arrays import Floats, Positions
from warehouse.vocabulary.table import ConfigurationTable

_HELD_OUT, _MOST_HELD_OUT = 3, 15  # every third dataset is left out to measure the spread, up to so many
_FEATURES = 200  # of the kernel's approximation; the error falls with their root
_LEAST_DOUBT = 0.5  # standard deviation: however sure a learner is, a new dataset may be like none before
_CORRELATED = 0.5  # share of what a prediction misses that similar configurations have in common


@dataclass(frozen=True, kw_only=True)
class CalibratedModel(ABC):
    """A model made from `expect` and a spread."""

    encoding: HyperparameterEncoding
    centre: Annotated[Floats, "J"]
    """Mean of each column of the encoded hyperparameters."""
    width: Annotated[Floats, "J"]
    """Standard deviation of each column."""
    spread: float = 1.0
    """Standard deviation of a run's score around its prediction; 1 is that of the scores themselves."""

    @abstractmethod
    def expect(self, configurations: ConfigurationTable, metafeatures: pd.Series) -> Floats:
        """(n,) expected scores."""

    def points(self, configurations: ConfigurationTable, metafeatures: pd.Series) -> Floats:
        """(n, J) x of `configurations` on the dataset with these meta-features."""
        encoded = encode_configurations(self.encoding, configurations, metafeatures)
        return standardized(encoded, self.centre, self.width)

    def predict(self, configurations: ConfigurationTable, metafeatures: pd.Series) -> Prediction:
        """Predict scores, as `Model.predict` does."""
        mean = self.expect(configurations, metafeatures)
        return Prediction(mean, np.full(len(mean), self.spread))

    def choose(self, configurations: ConfigurationTable, metafeatures: pd.Series, n: int) -> Positions:
        """Choose the highest predictions, as `Model.choose` does."""
        return np.argsort(-self.expect(configurations, metafeatures), kind="stable")[:n]

    def prior(self, configurations: ConfigurationTable, metafeatures: pd.Series) -> Prior:
        """The prior before trials; see `metalearners.gp.posterior`."""
        points = self.points(configurations, metafeatures)
        doubt = max(np.sqrt(_CORRELATED) * self.spread, _LEAST_DOUBT)
        return Prior(self.expect(configurations, metafeatures), doubt * random_features(points), points)

    def targets_of(self, values: Floats) -> Floats:
        """Targets of values; see `metalearners.gp.posterior.HasPrior.targets_of`."""
        return values

    def condition(self, observations: Observations) -> Conditioned:
        """Condition on trials, as `Model.condition` does."""
        return Conditioned(self, observations)


C = TypeVar("C", bound=CalibratedModel)


def calibrated(learn: Callable[[RunTable, pd.DataFrame], C], runs: RunTable, metafeatures: pd.DataFrame) -> C:
    """The model that `learn` makes of `runs`, with the spread of its predictions on new datasets."""
    return replace(learn(runs, metafeatures), spread=_held_out_spread(learn, runs, metafeatures))


def _held_out_spread(
    learn: Callable[[RunTable, pd.DataFrame], C], runs: RunTable, metafeatures: pd.DataFrame
) -> float:
    """Standard deviation whose 80 % interval holds 80 % of the runs on datasets that were left out.

    1, the spread of the scores themselves, where there are too few datasets to tell.
    """
    datasets = runs.runs["dataset"].unique()
    held_out = datasets[_HELD_OUT - 1 :: _HELD_OUT][:_MOST_HELD_OUT].tolist()
    others = without_datasets(runs, held_out)
    if not held_out or others.runs.empty:
        return 1.0
    model = learn(others, metafeatures.drop(index=held_out, errors="ignore"))
    missed = [_missed(model, runs, metafeatures, dataset) for dataset in held_out]
    return float(np.quantile(np.concatenate(missed), 0.8)) / Z80


def _missed(model: CalibratedModel, runs: RunTable, metafeatures: pd.DataFrame, dataset: str) -> Floats:
    """(runs on the dataset,) distance of their scores from the predictions."""
    configurations, values = runs_on(runs, dataset)
    expected = model.expect(configurations, metafeatures.reindex([dataset]).iloc[0])
    missed: Floats = np.abs(standard_scores(values) - expected)
    return missed


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
