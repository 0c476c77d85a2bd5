"""What every meta-learner promises, and how runs become training data.

Notation
    m          runs, n configurations, d datasets, t trials
    value         of the measure in one run
    score         (m,) the run's value in standard scores of its dataset: 0 = an average run there, 1 = one
                  standard deviation better (van Hoof's thesis, section 6.2). Datasets differ in how hard
                  they are, and that says nothing about configurations. Larger is better for every measure.
    metafeatures  (d, any) qualities by dataset; NaN where a dataset has none
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol, Self, runtime_checkable

import numpy as np
import pandas as pd

from metalearners.imputation import DatasetSize
from warehouse.configurations.table import ConfigurationTable
from warehouse.measures import larger_is_better
from warehouse.queries import RunTable
from warehouse.support.errors import TooFewRuns

Z80 = 1.2815515655446004
"""Half of the width of a normal distribution's central 80 %, in standard deviations."""
SIZES = ("NumberOfInstances", "NumberOfFeatures")
"""Qualities that hyperparameters refer to: a share of the rows, a number of features."""


@dataclass(frozen=True)
class Prediction:
    """What a learner expects of n configurations on one dataset, in standard scores of that dataset."""

    mean: np.ndarray
    """(n,), larger is better."""
    std: np.ndarray | None = None
    """(n,) standard deviation of a run's score around `mean`, where the learner states one."""


@dataclass(frozen=True)
class Observations:
    """Trials on the new dataset."""

    configurations: ConfigurationTable
    """t of them"""
    values: np.ndarray
    """(t,) of the measure that the learner was trained on, larger is better (see `oriented`)."""

    def with_more(self, others: Observations) -> Observations:
        """These trials, and then the others."""
        configurations = self.configurations.followed_by(others.configurations)
        return Observations(configurations, np.concatenate([self.values, others.values]))


class Predictor(Protocol):
    """Says what to expect of configurations on a dataset, and takes trials into account."""

    def predict(self, configurations: ConfigurationTable, metafeatures: pd.Series) -> Prediction:
        """As `MetaLearner.predict`."""
        ...

    def condition(self, observations: Observations) -> Predictor:
        """As `MetaLearner.condition`."""
        ...


class MetaLearner(Protocol):
    """Learns from runs on many datasets which configurations work on which kind of dataset.

    A learner is made from keyword settings alone, and the same settings and runs give the same learner.
    """

    @property
    def settings(self) -> dict[str, Any]:
        """The keywords that make an equal, untrained learner; JSON values."""
        ...

    @property
    def qualities(self) -> tuple[str, ...]:
        """Meta-features of a new dataset that the predictions of a fitted learner depend on."""
        ...

    def fit(self, runs: RunTable, metafeatures: pd.DataFrame) -> Self:
        """Learn from `runs`; qualities of a dataset that `metafeatures` lacks are missing. Returns itself."""
        ...

    def predict(self, configurations: ConfigurationTable, metafeatures: pd.Series) -> Prediction:
        """What to expect of `configurations` on the dataset with these meta-features (by quality).

        Never fails on values and qualities that training did not have.
        """
        ...

    def choose(self, configurations: ConfigurationTable, metafeatures: pd.Series, n: int) -> np.ndarray:
        """Positions of the `n` configurations to try first, in order; all of them where there are fewer."""
        ...

    def condition(self, observations: Observations) -> Predictor:
        """What also knows these trials on the new dataset."""
        ...

    def state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """What fitting found, as (JSON values, arrays): all that `restore` needs besides the settings."""
        ...

    def restore(self, facts: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> Self:
        """Take over what `state` gave. Returns itself.

        Raises:
            BadInput: it is incomplete or does not fit together.
        """
        ...


@dataclass(frozen=True)
class Round:
    """Where a long training stands."""

    done: int
    of: int
    loss: float
    """What training makes small; its scale means nothing."""


@runtime_checkable
class LongTraining(Protocol):
    """A learner whose training takes long enough to be watched, and to be interrupted."""

    def watched(self, checkpoint: Path | None, report: Callable[[Round], None] | None) -> Self:
        """This learner, whose next training keeps its state in a file and says where it stands.

        A training that finds the file of an equal one goes on from it, and ends like one that was never
        interrupted; in the end the file is removed.
        """
        ...

    def update(self, runs: RunTable, metafeatures: pd.DataFrame) -> Self:
        """Learn from `runs`, all that are known by now, going on from what was learned. Returns itself."""
        ...


@dataclass(frozen=True)
class TrainingData:
    """Runs as a learner wants them: a score each, and which configuration and dataset it belongs to."""

    scores: np.ndarray
    """(m,)"""
    values: np.ndarray
    """(m,) of the measure, larger is better."""
    configuration: np.ndarray
    """(m,) position in `hyperparameters`."""
    dataset: np.ndarray
    """(m,) position in `metafeatures`."""
    hyperparameters: pd.DataFrame
    """(n, any) of the configurations that were run, as `ConfigurationTable.hyperparameters`."""
    metafeatures: pd.DataFrame
    """(d, qualities), the datasets of the runs in order of first run."""

    @property
    def sizes(self) -> DatasetSize:
        """Size of each run's dataset, (m,) each."""
        sizes = self.metafeatures.reindex(columns=list(SIZES)).to_numpy(np.float64)
        return _size(sizes[self.dataset])


def training_data(runs: RunTable, metafeatures: pd.DataFrame) -> TrainingData:
    """Line up `runs` with their configurations and datasets.

    Raises:
        BadInput: there is no run to learn from, or the measure is unknown.
    """
    table = runs.runs
    if table.empty:
        raise TooFewRuns(
            f"no run of flow {runs.flow or 'any'} has {runs.measure}: there is nothing to learn from"
        )
    dataset, datasets = pd.factorize(table["dataset"])
    values = oriented(table["value"].to_numpy(np.float64), runs.measure)
    return TrainingData(
        scores=standard_scores(values, dataset),
        values=values,
        configuration=runs.configurations.setups.get_indexer(pd.Index(table["setup"])),
        dataset=dataset,
        hyperparameters=runs.configurations.hyperparameters,
        metafeatures=metafeatures.reindex(datasets),
    )


def oriented(values: np.ndarray, measure: str) -> np.ndarray:
    """`values` of `measure`, negated where smaller ones are better.

    Raises:
        BadInput: nobody knows which way the measure is better (`warehouse.measures`).
    """
    return values if larger_is_better(measure) else -values


def standard_scores(values: np.ndarray, dataset: np.ndarray | None = None) -> np.ndarray:
    """Standardize `values`, (m,), within each dataset; where all values are equal the scores are 0.

    Args:
        dataset: (m,) number of each value's dataset, from 0; None = they are all of one.
    """
    if dataset is None:  # which is asked for at every trial of a search: grouping takes milliseconds
        return (values - values.mean()) / values.std() if np.ptp(values) > 0 else np.zeros(len(values))
    groups = pd.Series(values).groupby(dataset)
    spread = groups.transform("std", ddof=0).to_numpy()
    constant = (groups.transform("max") == groups.transform("min")).to_numpy()
    centred = values - groups.transform("mean").to_numpy()
    return np.where(constant, 0.0, centred / np.where(constant, 1.0, spread))


def size_of(metafeatures: pd.Series) -> DatasetSize:
    """The size of the dataset with these meta-features, which hyperparameters refer to."""
    return _size(metafeatures.reindex(list(SIZES)).to_numpy(np.float64))


def _size(instances_and_features: np.ndarray) -> DatasetSize:
    """Of (..., 2) in OpenML's terms, which count the target as a feature."""
    return DatasetSize(instances_and_features[..., 0], instances_and_features[..., 1] - 1)


def arrays_of(part: str, arrays: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Name -> array, of a learner's stored `arrays` that are called "part.name"."""
    prefix = f"{part}."
    return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}


def runs_on(runs: RunTable, dataset: str) -> tuple[ConfigurationTable, np.ndarray]:
    """The configuration of each run on `dataset`, and its value, (m,), larger is better."""
    own = runs.runs[(runs.runs["dataset"] == dataset).to_numpy()]
    values = oriented(own["value"].to_numpy(np.float64), runs.measure)
    return runs.configurations.of_setups(own["setup"]), values


def runs_checksum(runs: RunTable) -> int:
    """The same for the same runs with the same values."""
    return zlib.crc32(pd.util.hash_pandas_object(runs.runs[["run", "value"]]).to_numpy().tobytes())


def without_datasets(runs: RunTable, left_out: Collection[str]) -> RunTable:
    """The runs on other datasets, and only the configurations that they ran.

    Datasets of the same family as one of `left_out` are left out, too: they are near copies of it.
    """
    table = runs.runs
    families = table["family"][table["dataset"].isin(list(left_out))].unique()
    return select_runs(runs, ~table["family"].isin(families).to_numpy())


def select_runs(runs: RunTable, keep: np.ndarray) -> RunTable:
    """The runs where `keep`, (m,) bool, and only their configurations."""
    table = runs.runs[keep]
    used = runs.configurations.setups.isin(table["setup"])
    return replace(runs, runs=table, configurations=runs.configurations.take(used))
