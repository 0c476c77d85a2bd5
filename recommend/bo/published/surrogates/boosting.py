"""Quantiles of the values by gradient boosting, on the features of the hyperparameter transformer.

    gbqr             a high quantile, which is the criterion itself (van Hoof's thesis, section 5.3)
    quantile-triple  the quantiles 16, 50 and 84 %, whose half width is a standard deviation of a normal
                     distribution (scikit-optimize's GradientBoostingQuantileRegressor)
    hyperboost       a high quantile plus a distance, to explore configurations far from all trials
                     (van Hoof and Vanschoren 2021, equations 7 and 8)

Notation
    U       (n, any) configurations on the unit cube
    q       (n,) predicted quantile
    d       (n,) Manhattan distance to the nearest tried configuration
    m       the largest Manhattan distance of equation 7, the number of columns of U: a constant, so that the
            effect of distance fades as trials fill the space
    s       standard deviation of the values so far
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from metalearners.encoding.hyperparameters import learn_encoding
from metalearners.encoding.matrices import encode_configurations
from metalearners.encoding.training_data import size_of
from metalearners.learners.lightgbm_trees import REPRODUCIBLE
from metalearners.predictions import Prediction
from recommend.bo.surrogates.base import Matrix, one_hot
from recommend.space import Configurations
from warehouse.support.arrays import Floats, Rows

TREES = 100  # thesis, section 5.3, like the next two
LEAVES = 8
HIGH = 0.9
TRIPLE = (0.16, 0.5, 0.84)  # scikit-optimize's; of a normal distribution: mean and one deviation either way
MANY = 20
"""Columns of U from which on distances are approximated by principal components."""
COMPONENTS = 2  # Hyperboost, section 7.3
SLACK = 0.1
"""Largest relative error of approximate distances."""


class QuantileSurrogate:
    """LightGBM with the pinball loss of one quantile."""

    acquisition = "value"
    quantiles: Sequence[float] = (HIGH,)

    def __init__(self, known: Configurations, metafeatures: pd.Series) -> None:
        """A surrogate whose features are derived from the possible values of hyperparameters.

        Args:
            known: configurations in which every value of the space occurs.
            metafeatures: of the dataset, since some hyperparameters depend on its sizes.
        """
        self._metafeatures = metafeatures
        size = size_of(metafeatures)
        self._encoding = learn_encoding(known.table.hyperparameters, size, one_hot=True)

    def encode(self, configurations: Configurations) -> Matrix:
        return Matrix(encode_configurations(self._encoding, configurations.table, self._metafeatures))

    def fit(self, X: Matrix, y: Floats, random: np.random.Generator) -> None:
        import lightgbm

        self._constant = float(y[0]) if np.ptp(y) == 0 or not X.numbers.shape[1] else None
        if self._constant is not None:
            return
        of_trials = {"min_data_in_bin": 1, "verbosity": -1}
        data = lightgbm.Dataset(X.numbers, y, params=of_trials, free_raw_data=False)
        common = {
            **REPRODUCIBLE,
            "objective": "quantile",
            "num_leaves": LEAVES,
            "min_data_in_leaf": 1,
            "seed": int(random.integers(2**31)),
        }
        self._boosters = [
            lightgbm.train({**common, "alpha": alpha}, data, num_boost_round=TREES)
            for alpha in self.quantiles
        ]

    def predict(self, X: Matrix) -> Prediction:
        return Prediction(self._predicted(X)[:, 0])

    def _predicted(self, X: Matrix) -> Floats:  # (n, quantiles)
        if self._constant is not None:
            return np.full((len(X), len(self.quantiles)), self._constant)
        return np.column_stack([booster.predict(X.numbers, num_threads=1) for booster in self._boosters])


class QuantileTripleSurrogate(QuantileSurrogate):
    """The median, and half of the distance between the outer quantiles."""

    acquisition = "ei"
    quantiles = TRIPLE

    def predict(self, X: Matrix) -> Prediction:
        low, middle, high = self._predicted(X).T
        return Prediction(middle, np.maximum(high - low, 0) / 2)


@dataclass(frozen=True)
class PlacedFeatures(Rows):
    """Features, and positions of configurations on the unit cube."""

    features: Matrix
    U: Floats


class HyperboostSurrogate:
    """q + s d / m."""

    acquisition = QuantileSurrogate.acquisition

    def __init__(self, known: Configurations, metafeatures: pd.Series) -> None:
        self._quantile = QuantileSurrogate(known, metafeatures)

    def encode(self, configurations: Configurations) -> PlacedFeatures:
        U = one_hot(configurations.vectors, configurations.categories)
        return PlacedFeatures(self._quantile.encode(configurations), U)

    def fit(self, X: PlacedFeatures, y: Floats, random: np.random.Generator) -> None:
        from scipy.spatial import KDTree

        self._quantile.fit(X.features, y, random)
        self._spread = float(y.std())
        self._projection = None
        if X.U.shape[1] > MANY:
            self._projection = np.linalg.svd(X.U - X.U.mean(axis=0), full_matrices=False)[2][:COMPONENTS].T
        self._tree = KDTree(self._projected(X.U))

    def predict(self, X: PlacedFeatures) -> Prediction:
        slack = SLACK if self._projection is not None else 0.0
        d = self._tree.query(self._projected(X.U), p=1, eps=slack)[0]
        q = self._quantile.predict(X.features).mean
        return Prediction(q + self._spread * d / max(X.U.shape[1], 1))

    def _projected(self, U: Floats) -> Floats:
        return U if self._projection is None else U @ self._projection
