"""Forests of regression trees with uncertainty: SMAC's, and extremely randomized ones.

SMAC's is from Hutter, Hoos and Leyton-Brown (2011) with the uncertainty of leaves (van Hoof's thesis, section
3.2.2, equations 3.1 and 3.2); the uncertainty between trees is the older version (section 3.2.1). Extremely
randomized trees are from section 4.1.2 of the thesis.

Notation
    B         trees; leaf(x) the trials of a tree's sample that end in the leaf of x
    m_b, v_b  mean and variance of the leaf of x in tree b, v_b at least the floor
    mean      1/B sum m_b                                      (3.1)
    variance  of leaves: 1/B sum (v_b + m_b^2) - mean^2        (3.2), the law of total variance
              of trees:  1/B sum m_b^2 - mean^2
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from metalearners.predictions import Prediction
from recommend.bo.surrogates.base import Matrix, centre_and_spread
from recommend.space import Configurations
from warehouse.support.arrays import Floats

TREES = 10  # SMAC's default, like the next two (thesis, section 3.2.3)
FEATURES = 5 / 6
"""Share of the hyperparameters, rounded up, considered by a split."""
FEWEST_TO_SPLIT = 10
FLOOR = 0.01
"""Least variance of a leaf, for values of unit variance."""
EXTRA_TREES, EXTRA_LEAVES = 100, 64  # thesis, section 4.1.2
_ABSENT = -1.0  # outside of the unit interval, so that one split separates it


class ForestSurrogate:
    """Regression trees on bootstrap samples, which split on choices by their position, as in SMAC 2."""

    acquisition = "ei"

    def __init__(self, *, of_leaves: bool = True) -> None:
        """An unfitted forest.

        Args:
            of_leaves: whether to add the variance within leaves to that between trees.
        """
        self._of_leaves = of_leaves

    def encode(self, configurations: Configurations) -> Matrix:
        return Matrix(np.nan_to_num(configurations.vectors, nan=_ABSENT))

    def fit(self, X: Matrix, y: Floats, random: np.random.Generator) -> None:
        self._centre, self._spread = centre_and_spread(y)
        # The impurity of a regression tree's node is its variance.
        self._trees = [
            (tree, tree.value[:, 0, 0], np.maximum(tree.impurity, FLOOR))
            for tree in self._grown(X.numbers, (y - self._centre) / self._spread, random)
        ]

    def predict(self, X: Matrix) -> Prediction:
        single = X.numbers.astype(np.float32)
        leaves = [(tree.apply(single), means, variances) for tree, means, variances in self._trees]
        m = np.array([means[leaf] for leaf, means, _ in leaves])  # (B, n)
        mean = m.mean(axis=0)
        if self._of_leaves:
            v = np.array([variances[leaf] for leaf, _, variances in leaves])
            variance = np.maximum((v + m**2).mean(axis=0) - mean**2, 0)
        else:
            variance = m.var(axis=0)
        return Prediction(self._centre + self._spread * mean, self._spread * np.sqrt(variance))

    def _grown(self, X: Floats, scores: Floats, random: np.random.Generator) -> Iterator[Any]:
        """scikit-learn's trees."""
        from sklearn.tree import DecisionTreeRegressor

        for _ in range(TREES):
            rows = random.integers(len(scores), size=len(scores))
            tree = DecisionTreeRegressor(
                max_features=max(math.ceil(FEATURES * X.shape[1]), 1),
                min_samples_split=FEWEST_TO_SPLIT,
                random_state=int(random.integers(2**31)),
            )
            yield tree.fit(X[rows], scores[rows]).tree_


class ExtraTreesSurrogate(ForestSurrogate):
    """Trees on all trials, with random thresholds."""

    def _grown(self, X: Floats, scores: Floats, random: np.random.Generator) -> Iterator[Any]:
        from sklearn.tree import ExtraTreeRegressor

        for _ in range(EXTRA_TREES):
            seed = int(random.integers(2**31))
            tree = ExtraTreeRegressor(max_leaf_nodes=EXTRA_LEAVES, max_features=1.0, random_state=seed)
            yield tree.fit(X, scores).tree_
