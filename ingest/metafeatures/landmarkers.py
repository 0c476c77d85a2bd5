"""Group `landmarkers`: cross-validated performance of simple learners on the sample.

The learners are those of van Hoof's thesis, Table B.1, with scikit-learn's trees in place of Weka's; naive
Bayes, the nearest neighbour and CFS are a few matrix products. One tree per fold serves all learners that
only cut it differently.

Notation
    m, C      rows of the sample, classes
    P         (m, C) probability of each class for each row, predicted by the fold that tests the row
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import numpy as np

from ingest.metafeatures.bayes import NaiveBayes
from ingest.metafeatures.cfs import AttributeSelection
from ingest.metafeatures.prepared import Prepared, RowSample, Singles, available_cpus
from ingest.metafeatures.trees import (
    GrownTree,
    by_held_out_error,
    by_pessimistic_error,
    grow,
    grow_by_gini,
    to_depth,
)
from ingest.metafeatures.values import Values
from warehouse.support.arrays import Flags, Floats, Positions

AnyFold = TypeVar("AnyFold")

_PRUNING_SHARE = 3  # every third training row prunes a REPTree and does not grow it (Weka's default)
_SAME_DISTANCE = 1e-5  # squared: equal distances may differ by this from rounding in single precision
_CELLS_WORTH_THREADS = 50_000  # set by hand: with fewer, starting threads takes longer than the fits
_POINTS_AT_A_TIME = 128  # their distances fit a processor's cache


def landmarkers(prepared: Prepared) -> Values:
    """AUC, error rate and kappa of each landmarker."""
    scores = cross_validated(prepared.sample, LEARNERS)
    return {f"{learner}{score}": value for learner, of in scores.items() for score, value in of.items()}


class Fold:
    """One fold; every learner returns (test rows, C) probabilities."""

    deepest: int | None = 3
    """Depth to which REPTree and RandomTree are grown before they are cut."""

    def __init__(
        self, sample: RowSample, number: int, bayes: NaiveBayes, selection: AttributeSelection
    ) -> None:
        self.sample = sample
        self.number = number
        self.test = np.flatnonzero(sample.fold == number)
        self.train = np.flatnonzero(sample.fold != number)
        self._X = sample.tree_columns
        self._bayes = bayes
        self.selected = selection.chosen(number)
        """Positions of the attributes that CFS selects."""
        self._c45 = grow(self._X[self.train], *self.classes(self.train), min_samples_leaf=2)
        self._rep_tree = self._grow_rep_tree()
        settings: dict[str, Any] = {
            "max_features": int(np.log2(sample.attributes)) + 1,
            "max_depth": self.deepest,
        }
        self._random_tree = grow_by_gini(self._X[self.train], *self.classes(self.train), **settings)

    def c45(self, cut: Callable[[GrownTree], Flags]) -> Floats:
        """A tree with at least two rows per leaf, cut by `cut`."""
        return self._predicted(self._c45, cut(self._c45), self._c45.counts)

    def rep_tree(self, depth: int) -> Floats:
        """A tree of `depth`, pruned on a third of the training rows, which are then added to its leaves."""
        tree, held_out = self._rep_tree
        closed = by_held_out_error(tree, held_out, to_depth(tree, depth))
        return self._predicted(tree, closed, tree.counts + held_out)

    def random_tree(self, depth: int) -> Floats:
        """A tree that considers log2(attributes) + 1 attributes, redrawn at each node."""
        return self._predicted(
            self._random_tree, to_depth(self._random_tree, depth), self._random_tree.counts
        )

    def naive_bayes(self) -> Floats:
        return self._bayes.probabilities(self.number)

    def nearest_neighbour(self) -> Floats:
        return self._of_nearest(self.sample.scaled)

    def stump_of_selected(self) -> Floats:
        if self._c45.feature[0] in self.selected:  # the best split of all attributes is by a selected one
            return self.c45(lambda tree: to_depth(tree, 1))
        X = np.ascontiguousarray(self.sample.tree_columns[:, self.selected])
        stump = grow(X[self.train], *self.classes(self.train), max_depth=1)
        return self.shares(stump.counts[stump.leaves_of(X[self.test])])

    def bayes_of_selected(self) -> Floats:
        return self._bayes.probabilities(self.number, self.selected)

    def nearest_of_selected(self) -> Floats:
        return self._of_nearest(self.sample.scaled[:, np.isin(self.sample.attribute_of, self.selected)])

    def _grow_rep_tree(self) -> tuple[GrownTree, Floats]:
        """The tree, and (t, C) counts of the pruning rows by node and class."""
        prunes = np.arange(len(self.train)) % _PRUNING_SHARE == _PRUNING_SHARE - 1
        growing, pruning = self.train[~prunes], self.train[prunes]
        settings: dict[str, Any] = {"min_samples_leaf": 2, "max_depth": self.deepest}
        tree = grow_by_gini(self._X[growing], *self.classes(growing), **settings)
        at_leaves = np.zeros_like(tree.counts)
        np.add.at(at_leaves, (tree.leaves_of(self._X[pruning]), self.sample.y[pruning]), 1)
        return tree, tree.sums(at_leaves)

    def classes(self, rows: Positions) -> tuple[Positions, int]:
        """(rows,) class codes, and the number of classes."""
        return self.sample.y[rows], self.sample.n_classes

    def _predicted(self, tree: GrownTree, closed: Flags, counts: Floats) -> Floats:
        return self.shares(counts[tree.ends(closed)[tree.leaves_of(self._X[self.test])]])

    def _of_nearest(self, points: Singles) -> Floats:
        """Shares of the classes among the nearest training rows, including ties, as in Weka."""
        row, neighbour = nearest(points[self.test], points[self.train])
        cells = row * self.sample.n_classes + self.sample.y[self.train[neighbour]]
        counts = np.bincount(cells, minlength=len(self.test) * self.sample.n_classes)
        return self.shares(counts.reshape(len(self.test), -1).astype(np.float64))

    @staticmethod
    def shares(counts: Floats) -> Floats:
        shares: Floats = counts / counts.sum(axis=1, keepdims=True)
        return shares


def nearest(test: Singles, train: Singles) -> tuple[Positions, Positions]:
    """Pairs of positions: a point of `test` and one of its nearest points of `train`."""
    # One product gives the squared distance minus the squared norm of the test point.
    factor = np.vstack([-2 * train.T, np.einsum("ij,ij->i", train, train)])
    points = np.hstack([test, np.ones((len(test), 1), dtype=np.float32)])
    pairs = []
    for start in range(0, len(points), _POINTS_AT_A_TIME):
        distance = points[start : start + _POINTS_AT_A_TIME] @ factor
        is_nearest = distance <= distance.min(axis=1, keepdims=True) + _SAME_DISTANCE
        pairs.append(np.flatnonzero(is_nearest) + start * len(train))
    row, neighbour = np.divmod(np.concatenate(pairs), len(train))
    return row, neighbour


LEARNERS: Mapping[str, Callable[[Fold], Floats]] = {
    "DecisionStump": lambda fold: fold.c45(lambda tree: to_depth(tree, 1)),
    "J48.00001.": lambda fold: fold.c45(lambda tree: by_pessimistic_error(tree, 0.00001)),
    "J48.0001.": lambda fold: fold.c45(lambda tree: by_pessimistic_error(tree, 0.0001)),
    "J48.001.": lambda fold: fold.c45(lambda tree: by_pessimistic_error(tree, 0.001)),
    "NaiveBayes": Fold.naive_bayes,
    "kNN1N": Fold.nearest_neighbour,
    "REPTreeDepth1": lambda fold: fold.rep_tree(1),
    "REPTreeDepth2": lambda fold: fold.rep_tree(2),
    "REPTreeDepth3": lambda fold: fold.rep_tree(3),
    "RandomTreeDepth1": lambda fold: fold.random_tree(1),
    "RandomTreeDepth2": lambda fold: fold.random_tree(2),
    "RandomTreeDepth3": lambda fold: fold.random_tree(3),
    "CfsSubsetEval_DecisionStump": Fold.stump_of_selected,
    "CfsSubsetEval_NaiveBayes": Fold.bayes_of_selected,
    "CfsSubsetEval_kNN1N": Fold.nearest_of_selected,
}


def folds_of(sample: RowSample, make: Callable[[int], AnyFold]) -> list[AnyFold]:
    """What `make` returns for the number of each fold of a sample."""
    threads = available_cpus() if sample.tree_columns.size >= _CELLS_WORTH_THREADS else 1
    with ThreadPoolExecutor(threads) as pool:  # growing trees releases the lock
        return list(pool.map(make, range(int(sample.fold.max()) + 1)))


def cross_validated(
    sample: RowSample, learners: Mapping[str, Callable[[Fold], Floats]]
) -> dict[str, dict[str, float]]:
    """Learner -> AUC, ErrRate and Kappa over the pooled predictions of all folds."""
    bayes, selection = NaiveBayes(sample), AttributeSelection(sample)
    folds = folds_of(sample, lambda number: Fold(sample, number, bayes, selection))
    P = np.empty((len(sample.y), sample.n_classes))
    scores = {}
    for name, learner in learners.items():
        for fold in folds:
            P[fold.test] = learner(fold)
        scores[name] = _scores(P, sample.y)
    return scores


def _scores(P: Floats, y: Positions) -> dict[str, float]:
    sizes = np.bincount(y, minlength=P.shape[1])
    predicted = P.argmax(axis=1)
    error = float((predicted != y).mean())
    by_chance = float((np.bincount(predicted, minlength=P.shape[1]) * sizes).sum()) / len(y) ** 2
    kappa = (1 - error - by_chance) / (1 - by_chance) if by_chance < 1 else 0.0
    return {"AUC": _weighted_auc(P, y, sizes), "ErrRate": error, "Kappa": kappa}


def _weighted_auc(P: Floats, y: Positions, sizes: Positions) -> float:
    """One-vs-rest areas under the curve, averaged by class size."""
    if P.shape[1] == 2:  # both classes have the same area
        return _auc(P[:, 0], y == 0)
    areas = [_auc(of, y == label) for label, of in enumerate(np.ascontiguousarray(P.T))]
    return float(np.average(areas, weights=sizes))


def _auc(scores: Floats, positive: Flags) -> float:
    """Share of pairs (positive, other) in which the positive one scores higher; ties count half."""
    ordered, of_positives = np.sort(scores), np.sort(scores[positive])
    # Each positive's rows below and half of those at its own score, positives included, which ...
    below = (ordered.searchsorted(of_positives) + ordered.searchsorted(of_positives, "right")).sum() / 2
    positives, others = len(of_positives), len(scores) - len(of_positives)
    return float(below - positives**2 / 2) / (positives * others)  # ... are half of all their pairs
