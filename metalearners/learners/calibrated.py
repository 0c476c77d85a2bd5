"""Calibration of models that predict scores: their errors on new datasets, and updates by trials.

Errors are measured by cross-validation: the learner is trained without each fold of families, and its
predictions are compared with the held-out runs. The errors determine the standard deviation of a score (the
same for every configuration), expected values with intervals in the unit of the measure, and the probability
that a predicted gain is real.

Notation
    n, J     configurations, columns of the encoded hyperparameters
    x        (n, J) encoded configurations, standardized; 0 for parameters of other algorithms
    r        random features; their inner products approximate a Matern kernel with nu = 5/2
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from typing import Annotated, Generic, TypeVar

import numpy as np
import pandas as pd

from metalearners.encoding.hyperparameters import HyperparameterEncoding
from metalearners.encoding.matrices import encode_configurations, standardized
from metalearners.encoding.scores import Z80
from metalearners.encoding.training_data import (
    SIZES,
    TrainingData,
    size_of,
    training_data,
    without_datasets,
)
from metalearners.gp.conditioned import Conditioned
from metalearners.gp.posterior import Prior
from metalearners.learners.base import MetaLearner
from metalearners.learners.improvement_probability import (
    GainSpread,
    first_choices_beside,
    learn_gain_spread,
    place_of_reference,
    usual_rows_of,
)
from metalearners.learners.measure_scale import OwnUnit, learn_own_unit
from metalearners.predictions import Observations, Prediction, ValueInterval
from warehouse.questions.queries import RunTable
from warehouse.support.arrays import Floats, Positions
from warehouse.vocabulary.table import ConfigurationTable

_FOLDS = 5  # of families
_FEATURES = 200  # of the kernel's approximation; the error falls with the square root of their number
_LEAST_DOUBT = 0.5  # least prior standard deviation, as a new dataset may be unlike all known ones
_LEAST_STD = 1e-6  # of a gain, if there were no errors
_CORRELATED = 0.5  # share of the error variance that similar configurations have in common


@dataclass(frozen=True, kw_only=True)
class Calibration:
    """Errors of a model on datasets of held-out families."""

    spread: float
    """Standard deviation of a run's score around its prediction; that of the scores themselves is 1."""
    own_unit: OwnUnit | None
    """Model of scores in the unit of the measure, if enough datasets are known."""
    gain_spread: GainSpread
    """Maximum-likelihood factor of standard deviations in probabilities of beating another configuration."""

    def without(self, datasets: Collection[str]) -> Calibration:
        """The calibration without the values of these datasets; factors of standard deviations stay."""
        return self if self.own_unit is None else replace(self, own_unit=self.own_unit.without(datasets))

    def std_of_gain(self, rows: float) -> float:
        """Standard deviation of a predicted difference between two runs' scores, at training size `rows`."""
        return max(self.gain_spread.at(rows) * float(np.sqrt(2)) * self.spread, _LEAST_STD)


UNCALIBRATED = Calibration(
    spread=1.0,
    own_unit=None,
    gain_spread=GainSpread(factor=1.0, widening=0.0, usual_rows=1.0, most_rows=1.0),
)
"""Calibration of a model trained on too few families for cross-validation."""


@dataclass(frozen=True, kw_only=True)
class CalibratedModel(ABC):
    """A model that consists of expected scores and a calibration."""

    encoding: HyperparameterEncoding
    centre: Annotated[Floats, "J"]
    """Mean of each column of the encoded hyperparameters."""
    width: Annotated[Floats, "J"]
    """Standard deviation of each column."""
    calibration: Calibration

    @property
    @abstractmethod
    def described_by(self) -> tuple[str, ...]:
        """Meta-features used by expected scores, besides the sizes of a dataset."""

    @abstractmethod
    def scores_of(self, configurations: ConfigurationTable, metafeatures: pd.Series) -> Floats:
        """(n,) expected scores."""

    @property
    def qualities(self) -> tuple[str, ...]:
        """Meta-features used by predictions; see `Model.qualities`."""
        level = () if self.calibration.own_unit is None else self.calibration.own_unit.qualities
        return tuple(dict.fromkeys([*SIZES, *self.described_by, *level]))

    def points(self, configurations: ConfigurationTable, metafeatures: pd.Series) -> Floats:
        """(n, J) x of `configurations` on the dataset with these meta-features."""
        encoded = encode_configurations(self.encoding, configurations, metafeatures)
        return standardized(encoded, self.centre, self.width)

    def predict(self, configurations: ConfigurationTable, metafeatures: pd.Series) -> Prediction:
        """Predict scores, as `Model.predict` does."""
        mean = self.scores_of(configurations, metafeatures)
        return Prediction(mean, np.full(len(mean), self.calibration.spread))

    def expect(
        self, configurations: ConfigurationTable, metafeatures: pd.Series, rows: float | None = None
    ) -> ValueInterval | None:
        """Expected values in the measure's own unit; see `Predictor.expect`."""
        own_unit = self.calibration.own_unit
        if own_unit is None:
            return None
        return own_unit.expect(self.scores_of(configurations, metafeatures), metafeatures, rows)

    def beats(
        self,
        configurations: ConfigurationTable,
        other: ConfigurationTable,
        metafeatures: pd.Series,
        rows: float | None = None,
    ) -> Floats:
        """Probabilities of beating another configuration; see `Predictor.beats`."""
        from scipy.special import ndtr

        scores = self.scores_of(configurations.followed_by(other), metafeatures)
        fitted_on = float(size_of(metafeatures).rows if rows is None else rows)
        probability: Floats = ndtr((scores[:-1] - scores[-1]) / self.calibration.std_of_gain(fitted_on))
        return probability

    def choose(self, configurations: ConfigurationTable, metafeatures: pd.Series, n: int) -> Positions:
        """Choose the highest predictions, as `Model.choose` does."""
        return np.argsort(-self.scores_of(configurations, metafeatures), kind="stable")[:n]

    def prior(self, configurations: ConfigurationTable, metafeatures: pd.Series) -> Prior:
        """The prior before trials; see `metalearners.gp.posterior`."""
        points = self.points(configurations, metafeatures)
        doubt = max(np.sqrt(_CORRELATED) * self.calibration.spread, _LEAST_DOUBT)
        return Prior(self.scores_of(configurations, metafeatures), doubt * random_features(points), points)

    def targets_of(self, values: Floats) -> Floats:
        """Targets of values; see `metalearners.gp.posterior.HasPrior.targets_of`."""
        return values

    def condition(self, observations: Observations) -> Conditioned:
        """Condition on trials, as `Model.condition` does."""
        return Conditioned(self, observations)


C = TypeVar("C", bound=CalibratedModel)


class CalibratedLearner(MetaLearner, Generic[C]):
    """A learner of calibrated models."""

    @abstractmethod
    def learn(self, runs: RunTable, metafeatures: pd.DataFrame) -> C:
        """Learn from runs as `fit` does, but without calibration."""

    def fit(self, runs: RunTable, metafeatures: pd.DataFrame) -> C:
        """Learn from runs, as `MetaLearner.fit` does, with calibration by cross-validation over families."""
        data = training_data(runs, metafeatures)
        expected = _expected_without_families(self.learn, runs, metafeatures, data)
        return replace(self.learn(runs, metafeatures), calibration=_calibration(runs, data, expected))

    def refit(
        self,
        calibration: Calibration,
        left_out: Collection[str],
        runs: RunTable,
        metafeatures: pd.DataFrame,
    ) -> C:
        """Learn from runs on other datasets than `left_out`, with the calibration of a model of all datasets.

        Its factors of standard deviations stay; no number of a left-out dataset does.
        """
        return replace(self.learn(runs, metafeatures), calibration=calibration.without(left_out))


def _expected_without_families(
    learn: Callable[[RunTable, pd.DataFrame], C],
    runs: RunTable,
    metafeatures: pd.DataFrame,
    data: TrainingData,
) -> Floats:
    """(m,) expected score of each run when its fold of families is held out; NaN without other families."""
    expected = np.full(len(data.scores), np.nan)
    fold_of = data.families % _FOLDS  # (d,)
    for fold in np.unique(fold_of):
        out = np.flatnonzero(fold_of == fold)
        names = data.metafeatures.index[out]
        others = without_datasets(runs, names)
        if others.runs.empty:
            continue
        model = learn(others, metafeatures.drop(index=names, errors="ignore"))
        for dataset in out:
            own = np.flatnonzero(data.dataset == dataset)
            tried = runs.configurations.take(data.configuration[own])
            expected[own] = model.scores_of(tried, data.metafeatures.iloc[dataset])
    return expected


def _calibration(runs: RunTable, data: TrainingData, expected: Floats) -> Calibration:
    """Calibration from the scores of runs and their held-out predictions, (m,); NaN = no prediction."""
    judged = np.flatnonzero(~np.isnan(expected))
    if not len(judged):
        return UNCALIBRATED
    spread = float(np.quantile(np.abs(data.scores - expected)[judged], 0.8)) / Z80
    rows = [judged[data.dataset[judged] == dataset] for dataset in np.unique(data.dataset[judged])]
    of_runs = [expected[own] for own in rows]
    reference = place_of_reference(runs.configurations.setups)
    compared = first_choices_beside(reference, data, rows, of_runs, np.random.default_rng(0))
    gains = [
        of_runs[dataset][first] - of_runs[dataset][other]
        for dataset, first, other in zip(
            compared["dataset"], compared["first"], compared["other"], strict=True
        )
    ]
    won, fitted_on = (compared[name].to_numpy(np.float64) for name in ("won", "rows"))
    unit = max(float(np.sqrt(2)) * spread, _LEAST_STD)
    return Calibration(
        spread=spread,
        own_unit=learn_own_unit(data, judged, data.scores[judged], expected[judged]),
        gain_spread=learn_gain_spread(np.array(gains) / unit, won, fitted_on, usual_rows_of(data, rows)),
    )


def random_features(x: Floats) -> Floats:
    """(n, r) features whose inner products approximate the kernel with length scale sqrt(J).

    The spectral density of a Matern kernel is a multivariate t distribution with 2 nu degrees of freedom
    (Rahimi and Recht 2007).
    """
    random = np.random.default_rng(0)
    J = x.shape[1]
    frequency = random.normal(size=(J, _FEATURES)) / np.sqrt(random.chisquare(5, size=_FEATURES) / 5)
    phase = random.uniform(0, 2 * np.pi, size=_FEATURES)
    features: Floats = np.sqrt(2 / _FEATURES) * np.cos(x @ frequency / np.sqrt(max(J, 1)) + phase)
    return features
