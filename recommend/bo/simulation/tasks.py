"""Tasks of simulated searches: datasets of the warehouse held out from training.

    table   the runs on a dataset: each may be tried once, with its recorded value
    model   a regression model of the runs on a dataset, defined on the flow's whole space

Notation
    regret   (best - best so far) / (best - worst), from 0 to 1; 0 if all values are equal
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, ClassVar, cast

import numpy as np
import pandas as pd

from metalearners.encoding.hyperparameters import learn_encoding
from metalearners.encoding.matrices import encode_configurations
from metalearners.encoding.training_data import runs_on, size_of
from metalearners.learners.lightgbm_trees import REPRODUCIBLE
from recommend.bo.candidates import Candidate, CandidateSource, SpaceCandidates, TableCandidates
from recommend.ranking.candidates import flow_of
from recommend.space import Configurations, Space, configurations_of_table
from warehouse.questions.queries import RunTable
from warehouse.support.arrays import Floats
from warehouse.support.errors import TooFewRuns
from warehouse.support.text import counted

if TYPE_CHECKING:
    from lightgbm import Booster

TREES, LEAVES, RATE, FEWEST = 200, 16, 0.1, 3  # a forest that follows the runs closely; set by hand
SHORTEST = 1e-3  # seconds
RANDOM = 10_000
"""Number of random configurations for estimating the best and the worst value of a model."""


class Task(ABC):
    """One dataset to search on."""

    fewest_runs: ClassVar[int]
    """Fewest runs of a dataset with a task of this kind."""
    known: Configurations
    """Configurations from which starts are chosen, and which show the possible values of hyperparameters."""
    values: Floats
    """(len(known),) values of the measure, larger is better."""

    def __init__(
        self, runs: RunTable, metafeatures: pd.DataFrame, dataset: str, times: pd.Series | None
    ) -> None:
        """A task of the runs on this dataset; `runs` may be on other datasets, too.

        Args:
            times: run -> seconds; None = unknown.
        """
        self.dataset = dataset
        self.metafeatures = metafeatures.reindex([dataset]).iloc[0]
        own = runs.runs[(runs.runs["dataset"] == dataset).to_numpy()]
        self.run_seconds = seconds_of_runs(own["run"], times)
        """(runs,) in the order of `runs_on`; NaN = unknown."""
        self.usual_seconds = _median(self.run_seconds)
        """Median time of the runs on the dataset; None = unknown."""
        self.train_rows = _median(pd.to_numeric(own["train_rows"]).to_numpy(np.float64, na_value=np.nan))
        """Median training size of the runs; None = all rows."""

    @classmethod
    def datasets(cls, runs: RunTable) -> set[str]:
        """Datasets that have a task of this kind."""
        counts = runs.runs["dataset"].value_counts()
        return {str(name) for name in counts.index[counts >= cls.fewest_runs]}

    @property
    def best(self) -> float:
        """Highest known value."""
        return float(self.values.max())

    @property
    def worst(self) -> float:
        """Lowest known value."""
        return float(self.values.min())

    def best_of_known(self, n: int) -> list[int]:
        """Positions in `known` of the configurations with the highest values."""
        return [int(row) for row in np.argsort(-self.values, kind="stable")[:n]]

    @abstractmethod
    def candidates(self, seed: int) -> CandidateSource:
        """A fresh source of proposals."""

    @abstractmethod
    def start(self, position: int) -> Candidate:
        """The configuration at this position of `known` as a candidate."""

    @abstractmethod
    def value(self, candidate: Candidate) -> float:
        """Value of the measure, larger is better."""

    @abstractmethod
    def seconds(self, candidate: Candidate) -> float:
        """Seconds of a trial, if `usual_seconds` are known."""


class TableTask(Task):
    """The runs on one dataset; a run without a time takes as long as the median of the others."""

    fewest_runs = 1

    def __init__(
        self, runs: RunTable, metafeatures: pd.DataFrame, dataset: str, times: pd.Series | None = None
    ) -> None:
        """See `Task`."""
        super().__init__(runs, metafeatures, dataset, times)
        table, self.values = runs_on(runs, dataset)
        self.known = configurations_of_table(table, runs.scales)
        self._seconds = with_usual(self.run_seconds, self.usual_seconds)

    def candidates(self, seed: int) -> TableCandidates:  # noqa: ARG002 (the rows are all there are)
        return TableCandidates(self.known)

    def start(self, position: int) -> Candidate:
        return TableCandidates(self.known).row(position)

    def value(self, candidate: Candidate) -> float:
        return float(self.values[cast("int", candidate.key)])

    def seconds(self, candidate: Candidate) -> float:
        return float(self._seconds[cast("int", candidate.key)])


class ModelTask(Task):
    """Boosted trees trained on the runs on one dataset, which predict over the whole space of their flows."""

    fewest_runs = 2 * FEWEST
    """Number of runs below which no tree splits."""

    def __init__(
        self, runs: RunTable, metafeatures: pd.DataFrame, dataset: str, times: pd.Series | None = None
    ) -> None:
        """A task on the space of the runs' flows; of several, those with enough runs.

        Logarithms of times are modelled in the same way as values.

        Raises:
            BadInput: there are too few runs, or no space can be inferred from them.
        """
        super().__init__(runs, metafeatures, dataset, times)
        table, values = runs_on(runs, dataset)
        if len(values) < self.fewest_runs:
            raise TooFewRuns(
                f"{dataset} has {counted(len(values), 'runs')}; a model needs {self.fewest_runs}"
            )
        often = table.algorithms.value_counts(sort=False)
        names = [str(name) for name in often.index[often >= FEWEST]]
        # Runs of one flow may be old ones from OpenML; those of several are of today's flows.
        self.space = Space(
            [flow_of(name, runs) for name in names], joint=table.joint, historical=not table.joint
        )
        size = size_of(self.metafeatures)
        self._encoding = learn_encoding(table.hyperparameters, size, one_hot=True)
        X = self._encoding.matrix(table.hyperparameters, size)
        self._booster = _grown(X, values)
        timed = ~np.isnan(self.run_seconds)
        self._booster_of_times = _grown(X[timed], np.log(self.run_seconds[timed])) if timed.any() else None
        random = np.random.default_rng(0)
        self.known = self.space.configurations(self.space.sample(RANDOM, random))
        self.values = self.values_of(self.known)

    def candidates(self, seed: int) -> SpaceCandidates:
        return SpaceCandidates(self.space, seed=seed)

    def start(self, position: int) -> Candidate:
        vector = self.known.vectors[position]
        return Candidate(vector.tobytes(), self.known.take([position]))

    def value(self, candidate: Candidate) -> float:
        return float(self.values_of(candidate.configuration)[0])

    def seconds(self, candidate: Candidate) -> float:
        if self._booster_of_times is None:
            raise TooFewRuns(f"the runs on {self.dataset} have no running time")
        return float(np.exp(self._predicted(self._booster_of_times, candidate.configuration)[0]))

    def values_of(self, configurations: Configurations) -> Floats:
        """(n,) values of the measure, larger is better."""
        return self._predicted(self._booster, configurations)

    def _predicted(self, booster: Booster, configurations: Configurations) -> Floats:
        X = encode_configurations(self._encoding, configurations.table, self.metafeatures)
        values: Floats = np.asarray(booster.predict(X, num_threads=1))
        return values


def _grown(X: Floats, values: Floats) -> Booster:
    """Trees that follow the runs closely."""
    import lightgbm

    settings = {**REPRODUCIBLE, "num_leaves": LEAVES, "learning_rate": RATE, "min_data_in_leaf": FEWEST}
    return lightgbm.train(settings, lightgbm.Dataset(X, values), num_boost_round=TREES)


def seconds_of_runs(runs: pd.Series, times: pd.Series | None) -> Floats:
    """(m,) seconds of these runs; NaN = unknown.

    Args:
        times: run -> seconds; None = unknown.
    """
    if times is None:
        return np.full(len(runs), np.nan)
    seconds: Floats = np.maximum(times.reindex(runs).to_numpy(np.float64), SHORTEST)
    return seconds


def with_usual(seconds: Floats, usual: float | None) -> Floats:
    """(m,) seconds with their median in place of unknown ones, or `usual` if all are unknown."""
    return np.where(np.isnan(seconds), _median(seconds) or usual or np.nan, seconds)


def _median(numbers: Floats) -> float | None:
    return None if np.isnan(numbers).all() else float(np.nanmedian(numbers))
