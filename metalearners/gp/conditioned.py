"""Models conditioned on trials on the new dataset."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Self

import numpy as np
import pandas as pd

from metalearners.encoding.links import LINKS
from metalearners.encoding.scores import Z80
from metalearners.gp.choice import best_after
from metalearners.gp.posterior import HasPrior, Posterior, Prior
from metalearners.predictions import Observations, Prediction, ValueInterval, key_of
from warehouse.support.arrays import Floats, Positions
from warehouse.support.parallel import one_thread
from warehouse.vocabulary.table import ConfigurationTable

_FEWEST_TRIALS = 5
"""Fewest trials with different values that determine the level and spread of a dataset."""
_REPEATED = 0.5
"""Share of the unknown noise of runs that later runs of the same configuration repeat.

Between runs on 2,000 and more rows, the values' differences from the predictions correlate with 0.46 (log
loss, median of 43 datasets) and 0.72 (RMSE, 21 datasets of the choosing half).
"""


@dataclass(frozen=True)
class _Learned:
    """What the trials tell."""

    prior: Prior
    """(t,) prior of the trials."""
    targets: Floats
    """(t,)"""
    posterior: Posterior


@dataclass(frozen=True)
class Conditioned:
    """A model that also knows trials on the new dataset."""

    model: HasPrior
    trials: Observations
    _learned: dict[object, _Learned] = field(default_factory=dict, init=False, repr=False, compare=False)
    """Cache for the last meta-features, as all questions about one dataset have the same."""

    def predict(self, configurations: ConfigurationTable, metafeatures: pd.Series) -> Prediction:
        """Predict as `Model.predict` does, after the trials; `metafeatures` are those of their dataset."""
        if self._say_nothing:
            return self.model.predict(configurations, metafeatures)
        with one_thread():
            prior = self.model.prior(configurations, metafeatures)
            return self._learned_at(metafeatures).posterior.predict(prior, of_runs=True)

    def choose(self, configurations: ConfigurationTable, metafeatures: pd.Series, n: int) -> Positions:
        """Rank tried configurations by measured value, others by posterior mean (`Model.choose`)."""
        if self._say_nothing:
            return self.model.choose(configurations, metafeatures, n)
        with one_thread():
            prior, learned = self.model.prior(configurations, metafeatures), self._learned_at(metafeatures)
            expected = learned.posterior.compare(prior)
        measured = _measured(prior, learned.prior, learned.targets)
        is_tried = ~np.isnan(measured)
        mean = np.where(is_tried, measured, expected.mean)
        std = None if expected.std is None else np.where(is_tried, 0.0, expected.std)
        return best_after(prior, mean, std, n)

    def expect(
        self, configurations: ConfigurationTable, metafeatures: pd.Series, rows: float | None = None
    ) -> ValueInterval | None:
        """Expected values in the measure's unit (`Predictor.expect`), for the training size of the trials.

        The values of tried configurations are shrunk towards the predictions, the more so the fewer test rows
        they had: the best of many measured values is partly luck.
        """
        if self._say_nothing:
            return self.model.expect(configurations, metafeatures, rows)
        if len(np.unique(self.trials.values)) < _FEWEST_TRIALS:
            return None
        link = LINKS[self.trials.link]
        z = link.to_z(self.trials.values)
        rows = self.trials.test_rows or float(metafeatures.get("NumberOfInstances", np.nan))
        noise = float(np.nan_to_num(np.square(link.sampling_std(z, rows)).mean()))
        with one_thread():
            prior = self.model.prior(configurations, metafeatures)
            of_trials = self._learned_at(metafeatures).prior
            posterior = Posterior(of_trials, z, noise=noise)
            true, runs = (posterior.compare(prior, of_runs=of_runs) for of_runs in (False, True))
        above = _with_own_effects(true, runs, _measured(prior, of_trials, z), noise)
        mean, off = z.mean() + above.mean, Z80 * _std(above)
        return ValueInterval(*(link.to_values(part) for part in (mean, mean - off, mean + off)))

    def beats(
        self,
        configurations: ConfigurationTable,
        other: ConfigurationTable,
        metafeatures: pd.Series,
        rows: float | None = None,
    ) -> Floats:
        """Probabilities of beating another one (`Predictor.beats`), with the prior's correlations.

        For the training size of the trials, if these are informative.
        """
        from scipy.special import ndtr

        if self._say_nothing:
            return self.model.beats(configurations, other, metafeatures, rows)
        with one_thread():
            prior = self.model.prior(configurations.followed_by(other), metafeatures)
            posterior = self._learned_at(metafeatures).posterior
            true, runs = (posterior.compare(prior, of_runs=of_runs) for of_runs in (False, True))
        n = len(configurations)
        spread = np.sqrt(np.maximum(prior.variance, 1e-12))
        correlation = prior.factor[:n] @ prior.factor[n] / (spread[:n] * spread[n])
        covariance = correlation * _std(true)[:n] * _std(true)[n]
        variance = _std(runs)[:n] ** 2 + _std(runs)[n] ** 2 - 2 * covariance
        probability: Floats = ndtr((true.mean[:n] - true.mean[n]) / np.sqrt(np.maximum(variance, 1e-12)))
        return probability

    def condition(self, observations: Observations) -> Self:
        """The same model, conditioned on these trials as well."""
        return type(self)(self.model, self.trials.with_more(observations))

    @property
    def _say_nothing(self) -> bool:
        """Whether all values are equal, so that they reveal neither level nor spread."""
        return not len(self.trials.values) or bool(np.ptp(self.trials.values) == 0)

    def _learned_at(self, metafeatures: pd.Series) -> _Learned:
        key = key_of(metafeatures)
        learned = self._learned.get(key)
        if learned is None:
            prior = self.model.prior(self.trials.configurations, metafeatures)
            targets = self.model.targets_of(self.trials.values)
            learned = _Learned(prior, targets, Posterior(prior, targets))
            self._learned.clear()
            self._learned[key] = learned
        return learned


def _std(prediction: Prediction) -> Floats:
    return np.zeros_like(prediction.mean) if prediction.std is None else prediction.std


def _with_own_effects(true: Prediction, runs: Prediction, measured: Floats, noise: float) -> Prediction:
    """Predictions of runs that, for tried configurations, include what is special about them.

    A measured value is y = f + e + s: the true value f of the model, the configuration's own effect e, which
    later runs repeat, and s, which they do not. With q = var(s) / var(e + s), f after the trials and e have

        E(f + e) = E(f) + (1 - q) (y - E(f)),    var(f + e) = (1 - q) var(s) + q^2 var(f).

    Args:
        true: f after the trials.
        runs: the same with the variance of e + s.
        measured: (n,) y; NaN if untried.
        noise: known part of var(s).
    """
    of_f, of_both = _std(true) ** 2, _std(runs) ** 2 - _std(true) ** 2
    of_s = np.minimum(noise + (1 - _REPEATED) * np.maximum(of_both - noise, 0), of_both)
    q = np.divide(of_s, of_both, out=np.ones_like(of_s), where=of_both > 0)
    variance = (1 - q) * of_s + q**2 * of_f + of_s
    is_tried = ~np.isnan(measured)
    return Prediction(
        np.where(is_tried, true.mean + (1 - q) * (measured - true.mean), runs.mean),
        np.where(is_tried, np.sqrt(variance), _std(runs)),
    )


def _measured(prior: Prior, of_trials: Prior, targets: Floats) -> Floats:
    """(n,) value of each configuration minus the mean of the trials; NaN if untried.

    Several trials of one configuration are averaged.
    """
    if prior.points is None or of_trials.points is None:
        return np.full(len(prior.mean), np.nan)
    # As text: NumPy's bytes lose trailing zeros, which points may end in.
    tried = [point.tobytes().hex() for point in of_trials.points]
    known = [point.tobytes().hex() for point in prior.points]
    measured: Floats = pd.Series(targets - targets.mean()).groupby(tried).mean().reindex(known).to_numpy()
    return measured
