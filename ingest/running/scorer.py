"""Scorers: fitting targets, predictions and measures, by task type.

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
        """(n,) fitting targets: class codes from 0, or numbers."""

    def missing_from(self, target: pd.Series, train: Positions) -> str | None:
        """Strata without a row in `train`, in words; None if there are none."""

    def predict(
        self, pipeline: BaseEstimator, rows: pd.DataFrame, outcomes: np.ndarray, train: Positions
    ) -> Predictions:
        """Predict rows with a fitted pipeline.

        Args:
            outcomes: of the whole dataset, including classes unseen in training.
            train: positions of the training rows.
        """

    def measures(self, folds: Sequence[Predictions], outcomes: Sequence[np.ndarray]) -> dict[str, float]:
        """The task type's measures of the predictions of one or more folds.

        Args:
            outcomes: true ones of each fold's rows.

        Returns:
            Measure -> value; NaN where undefined.
        """

    def value(self, measure: str, scores: Floats, outcomes: np.ndarray) -> float:
        """One measure of (n, k) scores that can be averaged; NaN where undefined.

        Raises:
            KeyError: the task type has no such measure.
        """

    def average(self, scores: Sequence[Floats], weights: Sequence[float]) -> Predictions:
        """Average of averageable (n, k) `scores` with `weights` of sum 1: the prediction of an ensemble."""


SCORERS: Mapping[TaskType, Scorer] = {CLASSIFICATION: ClassScorer(), REGRESSION: NumberScorer()}
"""Task type -> scorer."""


def scorer_of(dataset: Dataset) -> Scorer:
    """The scorer of the dataset's task type."""
    return SCORERS[dataset.task_type]
