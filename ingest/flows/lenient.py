"""Estimators of scikit-learn for rows that they refuse: rare classes, few rows, columns without a value."""

from __future__ import annotations

from abc import ABC, abstractmethod
from math import ceil
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, clone

from warehouse.support.arrays import Floats


class Lenient(BaseEstimator, ABC):  # type: ignore[misc]  # scikit-learn is untyped
    """An estimator that stops early only where the training rows allow that.

    A column without a value in training counts as zeros there: histogram gradient boosting can't bin it.

    Args:
        estimator: unfitted, with the parameters `early_stopping` and `validation_fraction`.
    """

    def __init__(self, estimator: BaseEstimator) -> None:
        self.estimator = estimator

    def fit(self, X: Floats, y: npt.ArrayLike, sample_weight: Floats | None = None) -> Self:
        """Fit on the rows of `X`, (n, columns), with their classes or numbers `y` and weights, (n,) each."""
        self.estimator_ = self.adapted(y)
        if (empty := np.isnan(X).all(axis=0)).any():
            X = np.where(empty, 0.0, X)
        self.estimator_.fit(X, y, sample_weight=sample_weight)
        return self

    @abstractmethod
    def adapted(self, y: npt.ArrayLike) -> BaseEstimator:
        """The unfitted estimator for rows of `y`, (n,); it stops early only if they allow that."""

    def predict(self, X: Floats) -> npt.NDArray[Any]:
        """(n,) classes or numbers."""
        predicted: npt.NDArray[Any] = self.estimator_.predict(X)
        return predicted


class LenientClassifier(ClassifierMixin, Lenient):  # type: ignore[misc]
    """A classifier that stops early only where validation rows can have each class."""

    def fit(self, X: Floats, y: npt.ArrayLike, sample_weight: Floats | None = None) -> Self:
        """Fit on the rows of `X`, (n, columns), with their classes `y` and weights, (n,) each."""
        super().fit(X, y, sample_weight)
        self.classes_ = self.estimator_.classes_
        return self

    def adapted(self, y: npt.ArrayLike) -> BaseEstimator:
        """The unfitted classifier for rows of classes `y`, (n,)."""
        _, counts = np.unique(np.asarray(y), return_counts=True)
        validated = ceil(counts.sum() * self.estimator.validation_fraction)
        has_room = len(counts) <= min(validated, counts.sum() - validated)
        stops = bool(self.estimator.early_stopping and counts.min() > 1 and has_room)
        return clone(self.estimator).set_params(early_stopping=stops)

    def predict_proba(self, X: Floats) -> Floats:
        """(n, classes) probabilities, in the order of `classes_`."""
        probabilities: Floats = self.estimator_.predict_proba(X)
        return probabilities


class LenientRegressor(RegressorMixin, Lenient):  # type: ignore[misc]
    """A regressor that stops early only with two validation rows or more: R2 of one row does not exist."""

    def adapted(self, y: npt.ArrayLike) -> BaseEstimator:
        """The unfitted regressor for rows of numbers `y`, (n,)."""
        validated = ceil(np.size(y) * self.estimator.validation_fraction)
        stops = bool(self.estimator.early_stopping and validated > 1)
        return clone(self.estimator).set_params(early_stopping=stops)

    def predict(self, X: Floats) -> Floats:
        """(n,) numbers in double precision, also of a network in single precision."""
        return super().predict(X).astype(float)
