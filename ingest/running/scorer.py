"""Scorers: what differs between task types when pipelines are fitted and their predictions are measured.

Notation: n rows; k columns of a prediction (classes, or 1 for a number).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

import numpy as np

from ingest.reading.datasets import Dataset
from ingest.running.classification import ClassScorer
from ingest.running.predictions import Predictions
from ingest.running.regression import NumberScorer
from warehouse.support.arrays import Floats, Positions
from warehouse.vocabulary.task_types import CLASSIFICATION, REGRESSION, TaskType

if TYPE_CHECKING:
    import pandas as pd
    from sklearn.base import BaseEstimator


class Scorer(Protocol):
    """The strategy of a task type."""

    def outcomes(self, target: pd.Series) -> np.ndarray:
        """(n,) what pipelines are fitted to: class codes from 0, or numbers."""

    def missing_from(self, target: pd.Series, train: Positions) -> str | None:
        """Strata without a row in `train`, in words; None if all have one."""

    def predict(
        self, pipeline: BaseEstimator, rows: pd.DataFrame, outcomes: np.ndarray, train: Positions
    ) -> Predictions:
        """Predict rows with a fitted pipeline.

        Args:
            outcomes: of the whole dataset, which may have classes that the pipeline has not seen.
            train: positions of those that it was fitted to.
        """

    def measures(self, folds: Sequence[Predictions], outcomes: Sequence[np.ndarray]) -> dict[str, float]:
        """The task type's measures of the predictions of one or more folds.

        Args:
            outcomes: true ones of each fold's rows.

        Returns:
            Measure -> value; NaN where it does not exist.
        """

    def value(self, measure: str, scores: Floats, outcomes: np.ndarray) -> float:
        """One measure of (n, k) scores that can be averaged; NaN where it does not exist.

        Raises:
            KeyError: the task type has no such measure.
        """

    def average(self, scores: Sequence[Floats], weights: Sequence[float]) -> Predictions:
        """Weighted average of (n, k) `scores` that can be averaged, as an ensemble predicts."""


SCORERS: Mapping[TaskType, Scorer] = {CLASSIFICATION: ClassScorer(), REGRESSION: NumberScorer()}
"""Task type -> how its predictions are measured."""


def scorer_of(dataset: Dataset) -> Scorer:
    """The scorer of the dataset's task type."""
    return SCORERS[dataset.task_type]
