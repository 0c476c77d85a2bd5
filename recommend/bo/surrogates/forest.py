"""The random forest of SMAC (Hutter, Hoos and Leyton-Brown 2011; van Hoof's thesis, equations 3.1 and 3.2).

Notation
    B         trees; leaf(x) the trials of a tree's bootstrap sample that end in the leaf of x
    m_b, v_b  mean and variance of the leaf of x in tree b, v_b at least the floor
    mean      1/B sum m_b                                      (3.1)
    variance  1/B sum (v_b + m_b^2) - mean^2                   (3.2), the law of total variance
"""

from __future__ import annotations

import numpy as np

from metalearners.predictions import Prediction
from recommend.bo.surrogates.base import Matrix, centre_and_spread
from recommend.space import Configurations
from warehouse.support.arrays import Floats

TREES = 10  # SMAC's default, as the next two (thesis, section 3.2)
FEATURES = 5 / 6
FEWEST_TO_SPLIT = 10
FLOOR = 0.01
"""Least variance of a leaf, for values of unit variance."""
_ABSENT = -1.0  # outside of the unit interval, so that one split tells it


class ForestSurrogate:
    """Regression trees on bootstrap samples, which split on choices by their position, as SMAC 2 does."""

    acquisition = "ei"

    def encode(self, configurations: Configurations) -> Matrix:
        return Matrix(np.nan_to_num(configurations.vectors, nan=_ABSENT))

    def fit(self, X: Matrix, y: Floats, random: np.random.Generator) -> None:
        from sklearn.tree import DecisionTreeRegressor

        self._centre, self._spread = centre_and_spread(y)
        scores = (y - self._centre) / self._spread
        self._trees = []
        for _ in range(TREES):
            rows = random.integers(len(y), size=len(y))
            tree = DecisionTreeRegressor(
                max_features=FEATURES,
                min_samples_split=FEWEST_TO_SPLIT,
                random_state=int(random.integers(2**31)),
            )
            tree.fit(X.numbers[rows], scores[rows])
            # Impurity of a regression tree's node is the variance in it.
            self._trees.append(
                (tree.tree_, tree.tree_.value[:, 0, 0], np.maximum(tree.tree_.impurity, FLOOR))
            )

    def predict(self, X: Matrix) -> Prediction:
        single = X.numbers.astype(np.float32)
        leaves = [(tree.apply(single), means, variances) for tree, means, variances in self._trees]
        m = np.array([means[leaf] for leaf, means, _ in leaves])  # (B, n)
        v = np.array([variances[leaf] for leaf, _, variances in leaves])
        mean = m.mean(axis=0)
        variance = np.maximum((v + m**2).mean(axis=0) - mean**2, 0)
        return Prediction(self._centre + self._spread * mean, self._spread * np.sqrt(variance))
