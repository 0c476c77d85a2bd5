"""Models that know trials on the new dataset."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
import pandas as pd

from metalearners.gp.choice import best_after
from metalearners.gp.posterior import HasPrior, Posterior, Prior
from metalearners.predictions import Observations, Prediction
from warehouse.configurations.table import ConfigurationTable
from warehouse.support.arrays import Floats, Positions
from warehouse.support.parallel import one_thread


@dataclass(frozen=True)
class Conditioned:
    """A model that also knows trials on the new dataset."""

    model: HasPrior
    trials: Observations

    def predict(self, configurations: ConfigurationTable, metafeatures: pd.Series) -> Prediction:
        """Predict as `Model.predict`, after the trials; `metafeatures` are those of their dataset."""
        if self._say_nothing:
            return self.model.predict(configurations, metafeatures)
        prior, of_trials = self._priors(configurations, metafeatures)
        with one_thread():
            targets = self.model.targets_of(self.trials.values)
            return Posterior(of_trials, targets).predict(prior, of_runs=True)

    def choose(self, configurations: ConfigurationTable, metafeatures: pd.Series, n: int) -> Positions:
        """Choose as `Model.choose`: what was tried goes by what came of it, all else by what is expected."""
        if self._say_nothing:
            return self.model.choose(configurations, metafeatures, n)
        prior, of_trials = self._priors(configurations, metafeatures)
        targets = self.model.targets_of(self.trials.values)
        with one_thread():
            expected = Posterior(of_trials, targets).compare(prior)
        measured = _measured(prior, of_trials, targets)
        is_tried = ~np.isnan(measured)
        mean = np.where(is_tried, measured, expected.mean)
        std = None if expected.std is None else np.where(is_tried, 0.0, expected.std)
        return best_after(prior, mean, std, n)

    def condition(self, observations: Observations) -> Self:
        """Knows these trials, too."""
        return type(self)(self.model, self.trials.with_more(observations))

    @property
    def _say_nothing(self) -> bool:
        """What values that are all equal say can't be told from the unknown level and spread."""
        return not len(self.trials.values) or bool(np.ptp(self.trials.values) == 0)

    def _priors(self, configurations: ConfigurationTable, metafeatures: pd.Series) -> tuple[Prior, Prior]:
        """The prior of the configurations, and that of the trials."""
        with one_thread():
            return (
                self.model.prior(configurations, metafeatures),
                self.model.prior(self.trials.configurations, metafeatures),
            )


def _measured(prior: Prior, of_trials: Prior, targets: Floats) -> Floats:
    """(n,) how far what came of each configuration is above the mean of the trials; NaN if it was not tried.

    Of several trials of one configuration it is their mean.
    """
    if prior.points is None or of_trials.points is None:
        return np.full(len(prior.mean), np.nan)
    tried = [point.tobytes() for point in of_trials.points]
    above = pd.Series(targets - targets.mean()).groupby(tried).mean()
    measured: Floats = above.reindex([point.tobytes() for point in prior.points]).to_numpy()
    return measured
