"""Predicted running time of a trial, learned from runs on other datasets.

LightGBM with 100 trees of 4 leaves and a learning rate of 0.15 on the logarithm of the seconds (van Hoof's
thesis, section 5.2 and Table 5.1), from the hyperparameters and the size of the dataset. Whether a machine is
slower than others is not learned from the trials: it hardly changes which candidate is worth its time, and
equal searches would no longer have the same trials.

Notation
    m        runs
    X        encoded hyperparameters and logarithms of sizes of n runs
    t        seconds
"""

from __future__ import annotations

from contextlib import suppress
from copy import copy

import numpy as np
import pandas as pd

from metalearners.encoding.matrices import encode_configurations, encode_runs, learn_encoding_of
from metalearners.encoding.training_data import training_data, without_datasets
from metalearners.learners.lightgbm_trees import REPRODUCIBLE
from recommend.bo.surrogates.base import Matrix
from recommend.ranking.task import RankingTask
from recommend.space import Configurations
from warehouse.questions.queries import RunTable
from warehouse.store import Warehouse
from warehouse.support.arrays import Floats
from warehouse.support.errors import TooFewRuns, UnknownName
from warehouse.vocabulary.table import ConfigurationTable

MEASURES = ("wall_clock_time_millis", "usercpu_time_millis")
"""Measures of a run's time, the preferred one first."""
SIZES = ("NumberOfInstances", "NumberOfFeatures", "NumberOfClasses", "NumberOfSymbolicFeatures")
TREES = 100  # thesis, section 5.2 (Figure 5.2), as the next two
LEAVES = 4
RATE = 0.15


class RunningTimes:
    """Predicts log seconds of configurations on one dataset."""

    def __init__(self, runs: RunTable, metafeatures: pd.DataFrame, new: pd.Series | None = None) -> None:
        """Learn from runs, whose values are milliseconds.

        Args:
            metafeatures: (datasets, qualities) of the datasets of the runs.
            new: quality -> value of the dataset that configurations are to be run on; None = unknown size.
        """
        import lightgbm

        data = training_data(runs, metafeatures)
        self._encoding = learn_encoding_of(data)
        self._new = pd.Series(dtype=np.float64) if new is None else new
        X = np.hstack(
            [
                encode_runs(self._encoding, data),
                _log_sizes(data.metafeatures).to_numpy()[data.dataset],
            ]
        )
        seconds = np.maximum(runs.runs["value"].to_numpy(np.float64) / 1000, 1e-3)
        parameters = {**REPRODUCIBLE, "num_leaves": LEAVES, "learning_rate": RATE}
        self._booster = lightgbm.train(
            parameters, lightgbm.Dataset(X, np.log(seconds)), num_boost_round=TREES
        )

    def on(self, new: pd.Series) -> RunningTimes:
        """The same for another dataset."""
        other = copy(self)
        other._new = new
        return other

    def encode(self, configurations: Configurations) -> Matrix:
        """X of configurations on the new dataset."""
        return self.encode_table(configurations.table)

    def encode_table(self, table: ConfigurationTable) -> Matrix:
        """X of the configurations of a table on the new dataset."""
        sizes = np.tile(_log_sizes(self._new.to_frame().T).to_numpy(), (len(table), 1))
        return Matrix(np.hstack([encode_configurations(self._encoding, table, self._new), sizes]))

    def log_seconds(self, X: Matrix) -> Floats:
        """(n,) expected logarithm of the seconds."""
        predicted: Floats = np.asarray(self._booster.predict(X.numbers, num_threads=1))
        return predicted


def _log_sizes(metafeatures: pd.DataFrame) -> pd.DataFrame:
    sizes: pd.DataFrame = metafeatures.reindex(columns=list(SIZES)).astype(np.float64)
    return sizes.transform(np.log1p)


def warehouse_times(task: RankingTask, metafeatures: pd.Series) -> RunningTimes:
    """Running times on the dataset of a task, learned from the warehouse's runs.

    Args:
        metafeatures: quality -> value of the dataset.

    Raises:
        BadInput: they say nothing about it.
    """
    runs = without_datasets(timed_runs(task.warehouse), task.left_out.keys())
    return RunningTimes(runs, task.warehouse.metafeatures(), metafeatures)


def timed_runs(warehouse: Warehouse, flow: str | None = None) -> RunTable:
    """Runs of a flow, or of all, that state their time, in milliseconds.

    Raises:
        BadInput: no run does.
    """
    for measure in MEASURES:
        with suppress(UnknownName):
            return warehouse.run_table(flow, measure, related=False)
    raise TooFewRuns(f"the warehouse has no running times ({', '.join(MEASURES)})")


def seconds_of(runs: RunTable) -> pd.Series:
    """Run -> seconds, of timed runs on any number of rows."""
    known = pd.concat([part for part in (runs.smaller, runs.runs, runs.larger) if len(part)])
    seconds: pd.Series = known.set_index("run")["value"] / 1000
    return seconds
