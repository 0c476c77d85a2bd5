"""Training data of meta-learners, from runs.

Notation
    m             runs, n configurations, d datasets
    value         of the measure in one run
    score         (m,) the run's value in standard scores of its dataset (`metalearners.encoding.scores`)
    r             measures related to the learned one (`warehouse.vocabulary.measures`)
    metafeatures  (d, any) qualities by dataset; NaN where unknown
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np
import pandas as pd

from metalearners.encoding.imputation import DatasetSize
from metalearners.encoding.scores import learned_form, oriented, standard_scores
from warehouse.questions.queries import RunTable
from warehouse.support.errors import TooFewRuns
from warehouse.vocabulary.declaration import declaration
from warehouse.vocabulary.measures import MEASURES, LinkName
from warehouse.vocabulary.parameters import Scale
from warehouse.vocabulary.table import ConfigurationTable

SIZES = ("NumberOfInstances", "NumberOfFeatures")
"""Qualities that hyperparameters depend on: a share of the rows, a number of features."""


@dataclass(frozen=True)
class LargerRuns:
    """l runs with a larger training size than the learned run of the same configuration and dataset."""

    repeated: np.ndarray
    """(l,) position of the learned run in `TrainingData`."""
    train_rows: np.ndarray
    """(l,) training size."""
    values: np.ndarray
    """(l,) values of the measure, larger is better."""


@dataclass(frozen=True)
class TrainingData:
    """Runs as learners use them: each with its score, configuration and dataset."""

    scores: np.ndarray
    """(m,)"""
    values: np.ndarray
    """(m,) values of the measure, larger is better."""
    configuration: np.ndarray
    """(m,) position in `hyperparameters`."""
    dataset: np.ndarray
    """(m,) position in `metafeatures`."""
    hyperparameters: pd.DataFrame
    """(n, any) hyperparameters of the configurations that were run, as
    `ConfigurationTable.hyperparameters`.
    """
    metafeatures: pd.DataFrame
    """(d, qualities) of the datasets in order of first run; only qualities that some dataset has."""
    families: np.ndarray
    """(d,) number of each dataset's family; near duplicates have the same."""
    train_rows: np.ndarray
    """(m,) training size; NaN: all rows."""
    larger: LargerRuns
    """Runs of the same configurations with larger training sizes."""
    related: np.ndarray
    """(m, r) values of related measures, larger is better (`metalearners.encoding.scores.learned_form`); NaN
    if missing."""
    scales: Mapping[str, Scale] = field(default_factory=dict)
    """Declared scale of the numbers in a column of `hyperparameters`, if any."""
    link: LinkName = "identity"
    """The measure's link."""

    @property
    def sizes(self) -> DatasetSize:
        """Size of each run's dataset, (m,) each."""
        sizes = self.metafeatures.reindex(columns=list(SIZES)).to_numpy(np.float64)
        return _size(sizes[self.dataset])


def training_data(runs: RunTable, metafeatures: pd.DataFrame) -> TrainingData:
    """Align `runs` with their configurations and datasets.

    Raises:
        BadInput: there are no runs, or the measure is unknown.
    """
    table = runs.runs
    if table.empty:
        of_flow = f" of flow {runs.flow}" if runs.flow else ""
        raise TooFewRuns(
            f"no run{of_flow} has a valid value of {runs.measure}: there is nothing to learn from"
        )
    dataset, datasets = pd.factorize(table["dataset"])
    _, first = np.unique(dataset, return_index=True)
    values = oriented(table["value"].to_numpy(np.float64), runs.measure)
    return TrainingData(
        scores=standard_scores(learned_form(values, runs.measure), dataset),
        values=values,
        configuration=runs.configurations.setups.get_indexer(pd.Index(table["setup"])),
        dataset=dataset,
        hyperparameters=runs.configurations.hyperparameters,
        metafeatures=metafeatures.reindex(datasets).dropna(axis=1, how="all"),
        families=pd.factorize(table["family"].to_numpy()[first])[0],
        train_rows=_train_rows(table),
        larger=_larger_runs(runs),
        related=_related(runs),
        scales=runs.scales,
        link=MEASURES[runs.measure].link,
    )


def same_data(one: Any, other: Any) -> bool:
    """Whether two `TrainingData`, or values of a field, hold exactly the same numbers in the same order."""
    if isinstance(one, TrainingData | LargerRuns):
        return all(same_data(getattr(one, own.name), getattr(other, own.name)) for own in fields(one))
    if isinstance(one, pd.DataFrame):
        return bool(one.equals(other))
    if isinstance(one, np.ndarray):
        return np.array_equal(one, other, equal_nan=one.dtype.kind == "f")
    return bool(one == other)


def _larger_runs(runs: RunTable) -> LargerRuns:
    known = ["dataset", "setup"]
    first = runs.runs[known].assign(repeated=np.arange(len(runs.runs))).drop_duplicates(known)
    again = runs.larger.merge(first, on=known)
    return LargerRuns(
        repeated=again["repeated"].to_numpy(np.intp),
        train_rows=_train_rows(again),
        values=oriented(again["value"].to_numpy(np.float64), runs.measure),
    )


def _related(runs: RunTable) -> np.ndarray:
    values = runs.related.reindex(runs.runs["run"])
    columns = [
        learned_form(oriented(of_runs.to_numpy(np.float64), str(measure)), str(measure))
        for measure, of_runs in values.items()
    ]
    related = np.column_stack([np.empty((len(values), 0)), *columns])
    return np.where(np.isfinite(related), related, np.nan)


def _train_rows(runs: pd.DataFrame) -> np.ndarray:
    return pd.to_numeric(runs["train_rows"]).to_numpy(np.float64, na_value=np.nan)


def size_of(metafeatures: pd.Series) -> DatasetSize:
    """The size of the dataset with these meta-features, for hyperparameters that depend on it."""
    return _size(metafeatures.reindex(list(SIZES)).to_numpy(np.float64))


def _size(instances_and_features: np.ndarray) -> DatasetSize:
    """Size from (..., 2) rows and features; OpenML counts the target as a feature."""
    return DatasetSize(instances_and_features[..., 0], instances_and_features[..., 1] - 1)


def runs_on(runs: RunTable, dataset: str) -> tuple[ConfigurationTable, np.ndarray]:
    """The configuration of each run on `dataset`, and its value, (m,), larger is better."""
    own = runs.runs[(runs.runs["dataset"] == dataset).to_numpy()]
    values = oriented(own["value"].to_numpy(np.float64), runs.measure)
    return runs.configurations.of_setups(own["setup"]), values


def runs_checksum(runs: RunTable) -> int:
    """Checksum of runs, their values and related values, and declared scales and spaces."""
    of_runs = runs.runs[["run", "value"]].join(runs.related, on="run")
    values = zlib.crc32(pd.util.hash_pandas_object(of_runs).to_numpy().tobytes())
    declared = "".join(f"{name}={scale};" for name, scale in runs.scales.items())
    declared += "".join(json.dumps(declaration(flow)) for flow in runs.declared.values())
    return zlib.crc32(declared.encode(), values)


def without_datasets(runs: RunTable, left_out: Collection[str]) -> RunTable:
    """The runs on other datasets, and only their configurations.

    Near copies of `left_out` (datasets of the same families) are left out, too.
    """
    table = runs.runs
    families = table["family"][table["dataset"].isin(list(left_out))].unique()
    if not len(families):
        return runs
    return select_runs(runs, ~table["family"].isin(families).to_numpy())


def select_runs(runs: RunTable, keep: np.ndarray) -> RunTable:
    """The runs where `keep`, (m,) bool, with their larger runs, and only their configurations."""
    table = runs.runs[keep]
    used = runs.configurations.setups.isin(table["setup"].unique())
    larger = runs.larger.merge(table[["dataset", "setup"]].drop_duplicates())
    return replace(runs, runs=table, configurations=runs.configurations.take(used), larger=larger)
