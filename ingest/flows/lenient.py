"""Classifiers of scikit-learn for rows that they refuse: rare classes, and columns without a value."""

from __future__ import annotations

from math import ceil
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin, clone

from warehouse.support.arrays import Floats


class Lenient(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn is untyped
    """A classifier that stops early only where validation rows can have each class.

    A column without a value in training counts as zeros there: histogram gradient boosting can't bin it.

    Args:
        classifier: unfitted, with the parameters `early_stopping` and `validation_fraction`.
    """

    def __init__(self, classifier: ClassifierMixin) -> None:
        self.classifier = classifier

    def fit(self, X: Floats, y: npt.ArrayLike) -> Self:
        """Fit on the rows of `X`, (n, columns), and their classes `y`, (n,)."""
        self.classifier_ = for_classes(self.classifier, y)
        if (empty := np.isnan(X).all(axis=0)).any():
            X = np.where(empty, 0.0, X)
        self.classifier_.fit(X, y)
        self.classes_ = self.classifier_.classes_
        return self

    def predict(self, X: Floats) -> npt.NDArray[Any]:
        """(n,) classes."""
        predicted: npt.NDArray[Any] = self.classifier_.predict(X)
        return predicted

    def predict_proba(self, X: Floats) -> Floats:
        """(n, classes) probabilities, in the order of `classes_`."""
        probabilities: Floats = self.classifier_.predict_proba(X)
        return probabilities


def for_classes(classifier: ClassifierMixin, y: npt.ArrayLike) -> ClassifierMixin:
    """The unfitted classifier for rows of classes `y`, (n,); it stops early only if they allow that."""
    _, counts = np.unique(np.asarray(y), return_counts=True)
    validated = ceil(counts.sum() * classifier.validation_fraction)
    has_room = len(counts) <= min(validated, counts.sum() - validated)
    stops = bool(classifier.early_stopping and counts.min() > 1 and has_room)
    return clone(classifier).set_params(early_stopping=stops)
