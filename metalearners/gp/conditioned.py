"""Models conditioned on trials on the new dataset."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
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

_COMMON = 0.5
"""Share of the sampling variance that trials have in common, as they are tested on the same rows."""


@dataclass(frozen=True)
class _Repeatable:
    """What the runs of each of n configurations have in common, as targets."""

    mean: Floats
    """(n,)"""
    variance: Floats
    """(n,)"""
    of_one_run: float
    """Variance of what distinguishes one run from the others, besides the choice of its test rows."""


@dataclass(frozen=True)
class _Learned:
    """What t trials tell.

    Predictions are made as targets, since the learner has learned these: on the scale of the measure's link,
    bad trials are far from all others, and the best untried configurations would be expected too good.
    """

    prior: Prior
    """(t,) prior of the trials."""
    targets: Floats
    """(t,)"""
    z: Floats
    """(t,) the same values on the scale of the measure's link, in the same order."""
    sampling: float
    """Variance of such a value that is due to the choice of the test rows."""

    @cached_property
    def posterior(self) -> Posterior:
        """Posterior of the targets."""
        return Posterior(self.prior, self.targets, noise=self.noise)

    @cached_property
    def noise(self) -> float:
        """Sampling variance of a target that is not common: the square of such a loss of the best trial."""
        order, loss = np.argsort(self.z), np.sqrt((1 - _COMMON) * self.sampling)
        below = np.interp(self.z.max() - loss, self.z[order], self.targets[order])
        return float((self.targets.max() - below) ** 2)

    @cached_property
    def slope(self) -> float:
        """Change of `z` with the targets, among the better half of the trials if these differ."""
        better = self.targets >= np.median(self.targets)
        used = better if np.ptp(self.targets[better]) else np.full(len(better), fill_value=True)
        return float(np.ptp(self.z[used]) / np.ptp(self.targets[used]))

    def z_of(self, targets: Floats) -> Floats:
        """Targets on the scale of the link: interpolated between trials, and extended with `slope`."""
        known, places = np.unique(self.targets, return_index=True)
        beyond = targets - np.clip(targets, known[0], known[-1])
        return np.asarray(np.interp(targets, known, self.z[places]) + self.slope * beyond)

    def repeatable(self, prior: Prior) -> _Repeatable:
        """Predict what later runs repeat: for tried configurations including what is special about them.

        A measured value is y = f + e + s: the true value f of the model, the configuration's own effect e,
        which later runs repeat, and s, which they do not. With q = var(s) / var(e + s), f after the trials
        and e have

            E(f + e) = E(f) + (1 - q) (y - E(f)),    var(f + e) = (1 - q) var(s) + q^2 var(f).

        Without a trial, E(f + e) = E(f) and var(f + e) = var(f) + var(e).
        """
        true, of_both = self.posterior.compare(prior), self.posterior.run_variance
        of_f = _variance(true)
        of_one_run = (1 - _REPEATED) * max(of_both - self.noise, 0.0)
        of_s = min(self.noise, of_both) + of_one_run
        q = of_s / of_both
        mean = self.targets.mean() + true.mean
        measured = self._measured(prior)
        is_tried = ~np.isnan(measured)
        return _Repeatable(
            np.where(is_tried, mean + (1 - q) * (measured - mean), mean),
            np.where(is_tried, (1 - q) * of_s + q**2 * of_f, of_f + of_both - of_s),
            of_one_run,
        )

    def _measured(self, prior: Prior) -> Floats:
        """(n,) target of each configuration, the mean if it was tried several times; NaN if untried."""
        if prior.points is None or self.prior.points is None:
            return np.full(len(prior.mean), np.nan)
        # As text: NumPy's bytes lose trailing zeros, which points may end in.
        tried = [point.tobytes().hex() for point in self.prior.points]
        known = [point.tobytes().hex() for point in prior.points]
        return np.asarray(pd.Series(self.targets).groupby(tried).mean().reindex(known), np.float64)


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
            return self._learned_at(metafeatures).posterior.predict(prior)

    def choose(self, configurations: ConfigurationTable, metafeatures: pd.Series, n: int) -> Positions:
        """Choose together by expected values, as `expect` orders them (`Model.choose`)."""
        if self._say_nothing:
            return self.model.choose(configurations, metafeatures, n)
        with one_thread():
            prior = self.model.prior(configurations, metafeatures)
            expected = self._learned_at(metafeatures).repeatable(prior)
        return best_after(prior, expected.mean, np.sqrt(expected.variance), n)

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
        with one_thread():
            learned = self._learned_at(metafeatures)
            expected = learned.repeatable(self.model.prior(configurations, metafeatures))
        off = Z80 * np.sqrt(expected.variance + expected.of_one_run)
        z, low, high = (learned.z_of(expected.mean + part) for part in (0, -off, off))
        sampling = Z80 * np.sqrt(learned.sampling)
        ends = z - np.hypot(z - low, sampling), z + np.hypot(high - z, sampling)
        return ValueInterval(*(LINKS[self.trials.link].to_values(part) for part in (z, *ends)))

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
            true = posterior.compare(prior)
        n = len(configurations)
        before, after = np.sqrt(np.maximum(prior.variance, 1e-12)), _variance(true)
        correlation = prior.factor[:n] @ prior.factor[n] / (before[:n] * before[n])
        covariance = correlation * np.sqrt(after[:n] * after[n])
        variance = after[:n] + after[n] + 2 * posterior.run_variance - 2 * covariance
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
            link = LINKS[self.trials.link]
            z = link.to_z(self.trials.values)
            rows = self.trials.test_rows or float(metafeatures.get("NumberOfInstances", np.nan))
            learned = _Learned(
                self.model.prior(self.trials.configurations, metafeatures),
                self.model.targets_of(self.trials.values),
                z,
                float(np.nan_to_num(np.square(link.sampling_std(z, rows)).mean())),
            )
            self._learned.clear()
            self._learned[key] = learned
        return learned


def _variance(prediction: Prediction) -> Floats:
    return np.zeros_like(prediction.mean) if prediction.std is None else prediction.std**2
