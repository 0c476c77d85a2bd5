"""Group `target_landmarkers`: how well simple learners predict a numeric target, by cross-validation.

Folds are the sample's, as for the landmarkers of classes. R2 compares with the mean of the training rows, and
counts as -1 below that.

Notation
    m         rows of the sample
    t         (m,) target from 0 to 1
    Z         (rows, q) encoded columns, standardized over the training rows
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property

import numpy as np

from ingest.metafeatures.landmarkers import nearest, threads_for
from ingest.metafeatures.prepared import Prepared, RowSample
from ingest.metafeatures.trees import grow_on_numbers, to_depth
from ingest.metafeatures.values import Values
from warehouse.support.arrays import Floats
from warehouse.vocabulary.qualities import GROUPS, TARGET_LANDMARKER_PAIRS, TARGET_LANDMARKERS

LOWEST_R2 = -1.0  # so that a prediction that explodes counts as one that fails
_PENALTY = 1.0  # of ridge regression: scikit-learn's default
_LEAF_ROWS = 5  # as many as the tree's definition says


def target_landmarkers(prepared: Prepared) -> Values:
    """R2 of each landmarker, differences of them, and what a logarithm of the target gains."""
    if reason := prepared.no_sample:
        return dict.fromkeys(GROUPS["target_landmarkers"], reason)
    sample = prepared.sample
    with ThreadPoolExecutor(threads_for(sample)) as pool:  # growing trees holds no lock
        numbers = range(int(sample.fold.max()) + 1)
        folds = list(pool.map(lambda number: Fold(sample, number, prepared.log_unit), numbers))
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
        """A tree with `_LEAF_ROWS` rows a leaf at least, cut at `depth`."""
        closed = self._tree.is_leaf if depth is None else to_depth(self._tree, depth)
        return self._means[self._tree.ends(closed)[self._leaves]]

    def nearest_neighbour(self) -> Floats:
        """The mean of the nearest training rows, of which there are several where distances are equal."""
        points = self.sample.scaled
        row, neighbour = nearest(points[self.test], points[self._train])
        return np.bincount(row, weights=self._t[neighbour]) / np.bincount(row)

    def _ridge(self, y: Floats) -> Floats:
        train, test = self._standardized
        predicted: Floats = y.mean() + test @ _coefficients(train, y - y.mean())
        return predicted

    @cached_property
    def _standardized(self) -> tuple[Floats, Floats]:
        """Z of the training rows, and of the test rows."""
        X = self.sample.encoded.astype(np.float64)
        mean, std = X[self._train].mean(axis=0), X[self._train].std(axis=0)
        Z = (X - mean) / np.where(std > 0, std, 1)
        return Z[self._train], Z[self.test]


def _coefficients(Z: Floats, y: Floats) -> Floats:
    """(q,) minimizer of |y - Z b|^2 + penalty |b|^2, by the smaller of the two systems of equations."""
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
    """(m,) predictions, each by the fold that tests the row."""
    predicted = np.empty(len(folds[0].sample.t))
    for fold in folds:
        predicted[fold.test] = learner(fold)
    return predicted


def r_squared(t: Floats, predicted: Floats, prior: Floats) -> float:
    """1 - squared errors / squared errors of `prior`, all (m,), and `LOWEST_R2` at least."""
    ratio = float(((t - predicted) ** 2).sum() / ((t - prior) ** 2).sum())
    return max(1 - ratio, LOWEST_R2)
