"""Group `target_landmarkers`: cross-validated R2 of simple learners on a numeric target.

Folds are the sample's, as for the landmarkers of classes. The baseline of R2 is the mean of the training
rows, and values below -1 count as -1.

Notation
    m         rows of the sample
    t         (m,) target from 0 to 1
    Z         (rows, q) encoded columns, standardized over the training rows
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property

import numpy as np

from ingest.metafeatures.landmarkers import folds_of, nearest
from ingest.metafeatures.prepared import Prepared, RowSample
from ingest.metafeatures.trees import grow_on_numbers, to_depth
from ingest.metafeatures.values import Values
from warehouse.support.arrays import Floats
from warehouse.vocabulary.qualities import TARGET_LANDMARKER_PAIRS, TARGET_LANDMARKERS

LOWEST_R2 = -1.0  # so that exploding predictions do not dominate
_PENALTY = 1.0  # of ridge regression: scikit-learn's default
_LEAF_ROWS = 5  # as in the tree's definition


def target_landmarkers(prepared: Prepared) -> Values:
    """R2 of each landmarker, their differences, and the gain by a logarithm of the target."""
    sample = prepared.sample
    folds = folds_of(sample, lambda number: Fold(sample, number, prepared.log_unit))
    prior = pooled(folds, Fold.mean)
    predicted = {name: pooled(folds, learner) for name, learner in LEARNERS.items()}
    log_ridge = pooled(folds, Fold.log_ridge)
    R2 = {name: r_squared(sample.t, values, prior) for name, values in predicted.items()}
    errors_of_mean = np.abs(sample.t - prior).sum()
    gain = np.abs(sample.t - predicted["Ridge"]).sum() - np.abs(sample.t - log_ridge).sum()
    return {
        **{f"{name}R2": value for name, value in R2.items()},
        **{pair: R2[better] - R2[worse] for pair, (better, worse) in TARGET_LANDMARKER_PAIRS.items()},
        "LogRidgeGain": r_squared(sample.t, log_ridge, prior) - R2["Ridge"],
        "LogRidgeGainOfAbsoluteError": float(np.clip(gain / errors_of_mean, -1, 1)),
    }


class Fold:
    """One fold; every learner returns (test rows,) predictions."""

    def __init__(self, sample: RowSample, number: int, log_unit: float) -> None:
        self.sample = sample
        self.test = np.flatnonzero(sample.fold == number)
        self._train = np.flatnonzero(sample.fold != number)
        self._t = sample.t[self._train]
        self._log_unit = log_unit
        X = sample.tree_columns
        self._tree, self._means = grow_on_numbers(X[self._train], self._t, min_samples_leaf=_LEAF_ROWS)
        self._leaves = self._tree.leaves_of(X[self.test])

    def mean(self) -> Floats:
        return np.full(len(self.test), self._t.mean())

    def ridge(self) -> Floats:
        return self._ridge(self._t)

    def log_ridge(self) -> Floats:
        """Ridge regression on log1p of the target, within the range of the training rows."""
        logs = np.log1p(self._t / self._log_unit)
        return np.expm1(np.clip(self._ridge(logs), logs.min(), logs.max())) * self._log_unit

    def tree(self, depth: int | None = None) -> Floats:
        """A tree with at least `_LEAF_ROWS` rows per leaf, cut at `depth`."""
        closed = self._tree.is_leaf if depth is None else to_depth(self._tree, depth)
        return self._means[self._tree.ends(closed)[self._leaves]]

    def nearest_neighbour(self) -> Floats:
        """Mean target of the nearest training rows, several if their distances are equal."""
        points = self.sample.scaled
        row, neighbour = nearest(points[self.test], points[self._train])
        return np.bincount(row, weights=self._t[neighbour]) / np.bincount(row)

    def _ridge(self, y: Floats) -> Floats:
        train, test = self._standardized
        predicted: Floats = y.mean() + test @ _coefficients(train, y - y.mean())
        return predicted

    @cached_property
    def _standardized(self) -> tuple[Floats, Floats]:
        """Z of the training rows and of the test rows."""
        X = self.sample.encoded.astype(np.float64)
        mean, std = X[self._train].mean(axis=0), X[self._train].std(axis=0)
        Z = (X - mean) / np.where(std > 0, std, 1)
        return Z[self._train], Z[self.test]


def _coefficients(Z: Floats, y: Floats) -> Floats:
    """(q,) minimizer of |y - Z b|^2 + penalty |b|^2, from the smaller of two equivalent linear systems."""
    rows, columns = Z.shape
    if columns <= rows:
        return np.linalg.solve(Z.T @ Z + _PENALTY * np.eye(columns), Z.T @ y).astype(np.float64)
    return (Z.T @ np.linalg.solve(Z @ Z.T + _PENALTY * np.eye(rows), y)).astype(np.float64)


LEARNERS: Mapping[str, Callable[[Fold], Floats]] = {
    "Ridge": Fold.ridge,
    "Stump": lambda fold: fold.tree(1),
    "TreeDepth3": lambda fold: fold.tree(3),
    "Tree": Fold.tree,
    "NearestNeighbour": Fold.nearest_neighbour,
}
assert LEARNERS.keys() == TARGET_LANDMARKERS.keys()


def pooled(folds: list[Fold], learner: Callable[[Fold], Floats]) -> Floats:
    """(m,) predictions, each by the fold in which the row is tested."""
    predicted = np.empty(len(folds[0].sample.t))
    for fold in folds:
        predicted[fold.test] = learner(fold)
    return predicted


def r_squared(t: Floats, predicted: Floats, prior: Floats) -> float:
    """1 - squared errors / squared errors of `prior`, all (m,); at least `LOWEST_R2`."""
    ratio = float(((t - predicted) ** 2).sum() / ((t - prior) ** 2).sum())
    return max(1 - ratio, LOWEST_R2)
