"""Real tables with held-out rows: their selection, recommendations for them, and measures of predictions.

Notation: n rows; k columns of a prediction's scores (classes, or 1 for a number).
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pandas as pd

from ingest.flows import get_flow
from ingest.reading.column_types.roles import NOT_LEARNED_FROM, Role
from ingest.reading.dataset_files import find_datasets
from ingest.reading.datasets import Dataset, load_dataset
from ingest.reading.target.strata import strata_of
from ingest.running.resampling import hold_out, stratified_sample
from ingest.running.scorer import Scorer, scorer_of
from metalearners import DEFAULT_LEARNER
from metalearners.evaluation.folds import HALVES, Half, half_of
from recommend.explaining.ranked_configuration import RankedConfiguration
from recommend.ranking import task as ranking_task
from recommend.ranking.candidates import find_candidates
from recommend.ranking.knowledge import gather
from recommend.ranking.task import describe_task
from recommend.recommender import recommended
from tests.benchmarks.task_kinds import KINDS, TaskKind
from warehouse.store import Warehouse
from warehouse.support.arrays import Floats, Positions
from warehouse.vocabulary.configuration import Configuration

HELD_OUT = 3
"""One in this many rows is held out."""
TOP = 3

_FAMILIES = "SELECT name, coalesce(family, dataset) AS family FROM datasets"
_OF_FAMILY = "SELECT dataset FROM datasets WHERE family = $family"


@dataclass(frozen=True)
class TableFile:
    """A table of a folder."""

    path: str
    target: str | None
    family: str
    """Family of the table: near copies and tables from one source; its own name if no others are known."""
    is_known_family: bool = False
    """Whether the warehouse has datasets of the family."""
    rows: int = 0
    """Rows according to the index; 0 = unknown."""

    @property
    def name(self) -> str:
        return Path(self.path).stem


@dataclass(frozen=True, eq=False)
class Table:
    """A dataset with training rows and held-out rows."""

    dataset: Dataset
    train: Positions
    test: Positions
    seed: int

    @property
    def kind(self) -> TaskKind:
        return KINDS[self.dataset.task_type.words]

    @property
    def scorer(self) -> Scorer:
        return scorer_of(self.dataset)

    @cached_property
    def outcomes(self) -> np.ndarray:
        """(n,) class codes or numbers of all rows."""
        return self.scorer.outcomes(self.dataset.target)

    @property
    def part(self) -> Dataset:
        """The training rows."""
        return self.dataset.take(self.train)

    def scores(self, model: Any, features: pd.DataFrame | None = None) -> Floats:
        """(held-out rows, k) scores by a model fitted to the outcomes of the training rows.

        Args:
            features: (n, ...) the model's features; None = the dataset's.
        """
        rows = (self.dataset.features if features is None else features).iloc[self.test]
        found = self.scorer.predict(model, rows, self.outcomes, self.train).averageable
        if found is None:
            raise ValueError("the model gives no scores that can be averaged")
        return found

    def of_columns(self, scores: Floats, columns: Any) -> Floats:
        """(rows, k) scores from those of some columns; classes without a training row get 0."""
        found = np.zeros((len(scores), max(self.dataset.n_classes, 1)))
        found[:, np.asarray(columns, dtype=np.intp)] = scores
        return found

    def measured(self, scores: Floats) -> dict[str, float]:
        """Measures of (held-out rows, k) scores."""
        found = self.scorer.average([scores], [1.0])
        # Relative errors are relative to the training rows' mean; measures of classes do not use it.
        found = replace(found, prior=float(self.outcomes[self.train].mean()))
        return self.scorer.measures([found], [self.outcomes[self.test]])

    def without_model(self) -> Floats:
        """(held-out rows, k) scores of a contender without a model: class shares, or the mean."""
        model = self.kind.without_model()
        return self.scores(model.fit(self.dataset.features.iloc[self.train], self.outcomes[self.train]))

    def fitted(self, configuration: Configuration, *, for_use: bool = True) -> Any:
        """The pipeline of a configuration (`ingest.flows.Flow.pipeline`), fitted to the training rows."""
        flow = get_flow(configuration.algorithm)
        pipeline = self.kind.with_scores(
            flow.pipeline(configuration.values, self.dataset.roles, seed=self.seed, for_use=for_use)
        )
        return pipeline.fit(self.dataset.features.iloc[self.train], self.outcomes[self.train])


# ---- which tables --------------------------------------------------------------------------------


def study_of_tables(description: str | None, tables: int) -> argparse.ArgumentParser:
    """A command line with a folder of tables, their task type, half and number, and a journal of results."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--task", choices=KINDS, default="classification")
    parser.add_argument("--results", type=Path, required=True)
    parser.add_argument("--half", choices=HALVES, default="choosing")
    parser.add_argument("--tables", type=int, default=tables)
    return parser


def tables_in(folder: Path, warehouse: Warehouse) -> list[TableFile]:
    """The tables of a folder with an index.csv, smallest first.

    A table's family is that in the warehouse, else that in the index, else its own name.
    """
    known = warehouse.sql(_FAMILIES).set_index("name")["family"].to_dict()
    index = pd.read_csv(folder / "index.csv", index_col="name")
    in_index = index["family"].dropna().to_dict() if "family" in index else {}
    rows = index["rows"].to_dict() if "rows" in index else {}
    found = []
    for file in find_datasets(folder):  # smallest files first
        name = Path(file.path).stem
        family = str(known.get(name, in_index.get(name, name)))
        found.append(
            TableFile(str(file.path), file.target, family, family in known.values(), rows.get(name, 0))
        )
    return sorted(found, key=lambda file: file.rows)


def chosen_tables(files: Sequence[TableFile], n: int | None, half: Half | None = None) -> list[TableFile]:
    """At most `n` of the tables, evenly spaced by their order, in random order.

    Args:
        n: None = all.
        half: only families in this half; None = both. Families that are not in the warehouse count as
            `reporting`, since no choices were based on them.
    """
    usable = [
        file
        for file in files
        if half in (None, half_of(file.family) if file.is_known_family else "reporting")
    ]
    places = np.linspace(0, len(usable) - 1, len(usable) if n is None else min(n, len(usable)))
    return [
        usable[place] for place in np.random.default_rng(0).permutation(np.unique(places.round()).astype(int))
    ]


def held_out(
    file: TableFile,
    kind: TaskKind,
    seed: int,
    *,
    every: int = HELD_OUT,
    most_train: int | None = None,
    most_test: int | None = None,
) -> Table:
    """A table with one row in `every` held out.

    Args:
        most_train: most training rows, sampled from the others; None = all.
        most_test: most held-out rows; None = all.

    Raises:
        BadInput: the table can't be used for a task of this kind.
    """
    dataset = load_dataset(file.path, target=file.target, task=kind.name, rare_classes="drop")
    strata = strata_of(dataset.target)

    def sample(rows: Positions, most: int | None) -> Positions:
        if most is None or len(rows) <= most:
            return rows
        return rows[stratified_sample(strata[rows], most, seed)]

    train, test = hold_out(strata, every, seed)
    return Table(dataset, sample(train, most_train), sample(test, most_test), seed)


# ---- what is recommended -------------------------------------------------------------------------


@contextmanager
def leave_out_family(dataset: Dataset, family: str, warehouse: Warehouse) -> Iterator[None]:
    """Within the block, nothing learns from runs on the dataset, its near copies and its family."""
    of_family = warehouse.arrow(_OF_FAMILY, {"family": family})["dataset"].to_pylist()
    left_out = [*describe_task(dataset, warehouse=warehouse).left_out, *of_family]
    # A part of the rows is usually, but not always, recognized as a near copy of the table.
    with patch.object(ranking_task, "near_copies_in", lambda warehouse, part: left_out):  # noqa: ARG005
        yield


def ranked(
    table: Table, measure: str, warehouse: Warehouse, learner: str = DEFAULT_LEARNER
) -> list[RankedConfiguration]:
    """The first configurations recommended for the training rows."""
    known = gather(describe_task(table.part, warehouse=warehouse, measure=measure, learner=learner))
    return recommended(known, find_candidates(known), TOP).configurations


# ---- frames --------------------------------------------------------------------------------------


def typed_frame(dataset: Dataset) -> pd.DataFrame:
    """The columns to learn from, as pandas types by role, named x0, x1, ..."""
    columns = []
    for name, role in dataset.roles.items():
        column = dataset.features[name]
        if role in NOT_LEARNED_FROM:
            continue
        if role in (Role.categorical, Role.boolean):
            words = column.astype(object).map(str).where(column.notna(), None)
            columns.append(words.astype("category"))
        else:
            columns.append(column.astype("float64") if role is Role.numeric else column)
    return pd.DataFrame({f"x{place}": column for place, column in enumerate(columns)})
