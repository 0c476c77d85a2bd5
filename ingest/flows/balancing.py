"""Balancing of classes by sampling or weighting of the training rows."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils.metaestimators import available_if

from warehouse.support.arrays import Floats, Positions

FEWEST = 20
"""Undersampling never leaves a class fewer rows than this (if it has them), however rare another class is."""


def _can(method: str) -> Any:
    """Whether the classifier has this method."""
    return available_if(lambda balanced: hasattr(balanced.classifier, method))


class Balanced(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn is untyped
    """A classifier fitted on balanced classes.

    Args:
        classifier: unfitted.
        strategy: `weights` (each class has the same total weight), `oversampling` (rows of smaller classes
            are repeated, drawn with replacement) or `undersampling` (rows of larger classes are left out).
        seed: random seed of the draws.
    """

    def __init__(self, classifier: ClassifierMixin, strategy: str, seed: int = 0) -> None:
        self.classifier = classifier
        self.strategy = strategy
        self.seed = seed

    def fit(self, X: Floats, y: npt.ArrayLike) -> Self:
        """Fit on the rows of `X`, (n, columns), and their classes `y`, (n,)."""
        from sklearn.utils.class_weight import compute_sample_weight

        labels = np.asarray(y)
        self.classifier_ = clone(self.classifier)
        if self.strategy == "weights":
            self.classifier_.fit(X, labels, sample_weight=compute_sample_weight("balanced", labels))
        else:
            rows = balanced_rows(labels, self.strategy, self.seed)
            self.classifier_.fit(X[rows], labels[rows])
        self.classes_ = self.classifier_.classes_
        return self

    def predict(self, X: Floats) -> npt.NDArray[Any]:
        """(n,) classes."""
        predicted: npt.NDArray[Any] = self.classifier_.predict(X)
        return predicted

    @_can("predict_proba")  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Floats) -> Floats:
        """(n, classes) probabilities, in the order of `classes_`."""
        probabilities: Floats = self.classifier_.predict_proba(X)
        return probabilities

    @_can("decision_function")  # type: ignore[untyped-decorator]
    def decision_function(self, X: Floats) -> Floats:
        """(n, classes) scores, or (n,) for two classes."""
        scores: Floats = self.classifier_.decision_function(X)
        return scores


def balanced_rows(labels: npt.NDArray[Any], strategy: str, seed: int) -> Positions:
    """Positions of the training rows after balancing, in order.

    Args:
        labels: (n,) classes.
        strategy: `oversampling` or `undersampling`, see `Balanced`.
        seed: random seed of the draws.
    """
    random = np.random.default_rng(seed)
    _, codes, counts = np.unique(labels, return_inverse=True, return_counts=True)
    most = counts.max() if strategy == "oversampling" else max(counts.min(), FEWEST)
    chosen = []
    for code, count in enumerate(counts):
        rows = np.flatnonzero(codes == code)
        if strategy == "oversampling":
            chosen += [rows, random.choice(rows, most - count)]
        else:
            chosen.append(random.choice(rows, min(most, count), replace=False))
    return np.sort(np.concatenate(chosen)).astype(np.intp)
