"""The cost of configurations: seconds of a fit on all rows of a dataset, and the speed of this machine."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import numpy as np
import pandas as pd

from ingest.flows import find_flow
from ingest.flows.boosting import FITTED_AGAIN_BELOW
from ingest.reading.column_types.roles import Role
from ingest.reading.datasets import Dataset
from metalearners.fit_times import FitTimes
from warehouse.support.arrays import Floats, Positions
from warehouse.vocabulary.configuration import Configuration
from warehouse.vocabulary.table import ConfigurationTable

LONG = 10.0
"""A fit is long if it takes at least this many times the candidates' median, and this many seconds."""
PREDICTING = 1.3
"""Time of a trial as a multiple of the time of its fits; a heuristic."""
WORTH = 0.1
"""Standard scores that a long fit must promise to gain over the best short one; a heuristic."""
FOR_USE: Mapping[bool, float] = {True: 2.7, False: 1.7}
"""Whether a booster that stops early is fitted again on all rows -> time of a fit for use, as a multiple of
that of one in a run. Medians of 62 fits on 17 tables of the choosing half, and of 12 on 8 larger ones."""
_ROWS, _COLUMNS, _FITS = 1000, 20, 3
_REFERENCE = 0.0185
"""Processor seconds of the reference fit (`slowness`) on the machines of the starter's runs."""


@dataclass(frozen=True)
class DatasetFitTimes:
    """Predicted times of fits on one dataset, on a machine like those of the known runs."""

    model: FitTimes
    sizes: pd.Series
    """Meta-features of the dataset (`as_fitted`)."""

    def seconds(self, configurations: ConfigurationTable, rows: float | None = None) -> Floats:
        """(q,) seconds of one fit of each configuration; NaN for algorithms without timed runs.

        Args:
            rows: training size; None = all rows.
        """
        return self.model.seconds(configurations, self.sizes, rows)


def as_fitted(metafeatures: pd.Series, dataset: Dataset) -> pd.Series:
    """Meta-features of the dataset, with the columns that pipelines make of its text columns.

    A text column becomes a numeric column for each of its terms, of which there may be a hundred. Known
    datasets count it as one column, but few of them have any.
    """
    texts = [name for name, role in dataset.roles.items() if role is Role.text]
    if not texts:
        return metafeatures
    from ingest.flows.preprocessing import as_text
    from ingest.flows.terms import count_terms

    terms = sum(count_terms(as_text(dataset.features[name])) for name in texts)
    sizes = metafeatures.copy()
    sizes["NumberOfFeatures"] += terms - len(texts)
    sizes["NumberOfNumericFeatures"] += terms
    return sizes


class FitSeconds(NamedTuple):
    """Expected times of fits."""

    seconds: Floats
    """(n,) of each configuration; NaN if its algorithm has no timed run."""
    factor: float | None
    """80 % of the fits take at most this many times as long, and at least 1/factor of it; None = unknown."""


def fit_seconds(times: DatasetFitTimes | None, configurations: ConfigurationTable) -> FitSeconds:
    """Expected seconds of one fit of each configuration on all rows of a dataset, on this machine.

    Args:
        times: on the dataset; None = unknown.
    """
    if times is None:
        return FitSeconds(np.full(len(configurations), np.nan), None)
    rows = float(times.sizes["NumberOfInstances"])
    fits = np.array([time_for_use(one, rows) for one in configurations.configurations()])
    return FitSeconds(times.seconds(configurations) * fits * slowness(), times.model.factor)


def time_for_use(configuration: Configuration, rows: float) -> float:
    """Time of a fit of a configuration for use on a number of rows, as a multiple of that of one in a run."""
    flow = find_flow(configuration.algorithm)
    if flow is None or not flow.longer_for_use or not configuration.values.get("early_stopping"):
        return 1.0
    return FOR_USE[rows < FITTED_AGAIN_BELOW]


def worthwhile(seconds: Floats, predicted: Floats) -> Positions:
    """Positions of the candidates whose fits are short, or promise a sufficient gain.

    Args:
        seconds: (n,) of one fit; NaN = unknown, which counts as short.
        predicted: (n,) standard scores.
    """
    known = seconds[~np.isnan(seconds)]
    limit = LONG * max(float(np.median(known)), 1.0) if len(known) else np.inf
    short = ~(seconds > limit)
    if not short.any():
        return np.arange(len(seconds))
    return np.flatnonzero(short | (predicted > predicted[short].max() + WORTH))


@cache
def slowness() -> float:
    """Factor by which a fit takes longer here than on the machines of the starter's runs.

    Measured once per process, by fitting a decision tree to noise for less than a tenth of a second, and
    rounded to powers of the square root of 2: predicted times are not more accurate, and recommendations
    should not change between calls.
    """
    from sklearn.tree import DecisionTreeClassifier

    random = np.random.default_rng(0)
    X, y = random.normal(size=(_ROWS, _COLUMNS)), random.integers(0, 2, _ROWS)
    took = []
    for _ in range(_FITS):
        start = time.process_time()
        DecisionTreeClassifier(random_state=0).fit(X, y)
        took.append(time.process_time() - start)
    return float(2 ** (np.round(2 * np.log2(max(min(took), 1e-6) / _REFERENCE)) / 2))
