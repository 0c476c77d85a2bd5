"""Predictions of configurations on a dataset, and trials on it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple, Protocol

import numpy as np
import pandas as pd

from warehouse.support.arrays import Floats, Positions
from warehouse.vocabulary.measures import LinkName
from warehouse.vocabulary.table import ConfigurationTable


def key_of(metafeatures: pd.Series) -> tuple[object, bytes]:
    """A dictionary key that is equal for equal meta-features."""
    return tuple(metafeatures.index), metafeatures.to_numpy().tobytes()


@dataclass(frozen=True)
class Prediction:
    """Predictions of n configurations on one dataset, in standard scores of that dataset."""

    mean: np.ndarray
    """(n,), larger is better."""
    std: np.ndarray | None = None
    """(n,) standard deviation of a run's score around `mean`; None if the learner has none."""


class ValueInterval(NamedTuple):
    """Predicted values of the measure for n configurations, larger is better (see `oriented`)."""

    value: Floats
    """(n,)"""
    low: Floats
    """(n,) lower limit of the 80 % interval of a run."""
    high: Floats
    """(n,) upper limit."""


@dataclass(frozen=True)
class Observations:
    """Trials on the new dataset."""

    configurations: ConfigurationTable
    """(t,)"""
    values: np.ndarray
    """(t,) values of the measure that the learner was trained on, larger is better (see `oriented`)."""
    link: LinkName = "identity"
    """The measure's link; identity if the values are scores."""
    test_rows: int | None = None
    """Rows on which each value was measured, over all its folds; None = all rows of the dataset."""

    def with_more(self, others: Observations) -> Observations:
        """These trials, followed by the others."""
        configurations = self.configurations.followed_by(others.configurations)
        return replace(
            self, configurations=configurations, values=np.concatenate([self.values, others.values])
        )


class Predictor(Protocol):
    """Predicts configurations on a dataset, and takes trials into account."""

    def predict(self, configurations: ConfigurationTable, metafeatures: pd.Series) -> Prediction:
        """Predict scores of `configurations` on the dataset with these meta-features (by quality).

        Never fails on values and qualities absent from training.
        """

    def choose(self, configurations: ConfigurationTable, metafeatures: pd.Series, n: int) -> Positions:
        """Positions of the `n` configurations to try first, in order; all if there are fewer."""

    def expect(
        self, configurations: ConfigurationTable, metafeatures: pd.Series, rows: float | None = None
    ) -> ValueInterval | None:
        """Expected values of runs of `configurations`; None if too little is known.

        Args:
            rows: training size of each run; None = all rows.
        """

    def beats(
        self,
        configurations: ConfigurationTable,
        other: ConfigurationTable,
        metafeatures: pd.Series,
        rows: float | None = None,
    ) -> Floats:
        """(n,) probability that a run of each configuration is better than one of the single `other`.

        NaN where too little is known.

        Args:
            rows: training size of both; None = all rows.
        """

    def condition(self, observations: Observations) -> Predictor:
        """A predictor that also knows these trials on the dataset."""
