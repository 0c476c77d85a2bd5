"""Make scikit-learn's estimators accept rare classes, few rows and empty columns."""

from __future__ import annotations

from abc import ABC, abstractmethod
from math import ceil
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, clone

from warehouse.support.arrays import Floats


class Lenient(BaseEstimator, ABC):  # type: ignore[misc]  # scikit-learn is untyped
    """An estimator that stops early only if the training rows allow it.

    Columns that are empty in training are filled with zeros: histogram gradient boosting can't bin them.

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
        """The unfitted estimator for outcomes `y`, (n,); it stops early only if they allow it."""

    def predict(self, X: Floats) -> npt.NDArray[Any]:
        """(n,) classes or numbers."""
        predicted: npt.NDArray[Any] = self.estimator_.predict(X)
        return predicted


class LenientClassifier(ClassifierMixin, Lenient):  # type: ignore[misc]
    """A classifier that stops early only if the validation rows can have every class."""

    def fit(self, X: Floats, y: npt.ArrayLike, sample_weight: Floats | None = None) -> Self:
        """Fit on the rows of `X`, (n, columns), with their classes `y` and weights, (n,) each."""
        super().fit(X, y, sample_weight)
        self.classes_ = self.estimator_.classes_
        return self

    def adapted(self, y: npt.ArrayLike) -> BaseEstimator:
        """The unfitted classifier for classes `y`, (n,)."""
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
    """A regressor that stops early only with two or more validation rows: R2 of one row does not exist."""

    def adapted(self, y: npt.ArrayLike) -> BaseEstimator:
        """The unfitted regressor for numbers `y`, (n,)."""
        validated = ceil(np.size(y) * self.estimator.validation_fraction)
        stops = bool(self.estimator.early_stopping and validated > 1)
        return clone(self.estimator).set_params(early_stopping=stops)

    def predict(self, X: Floats) -> Floats:
        """(n,) numbers in double precision, even from a network in single precision."""
        return super().predict(X).astype(float)
