"""A Gaussian process over the unit cube (Snoek, Larochelle and Adams 2012), fitted again at every trial."""

from __future__ import annotations

import warnings

import numpy as np

from metalearners.predictions import Prediction
from recommend.bo.surrogates.base import Matrix, centre_and_spread, one_hot
from recommend.space import Configurations
from warehouse.support.arrays import Floats
from warehouse.support.parallel import one_thread

RESTARTS = 2  # of the likelihood's optimization; set by hand
NOISE = (1e-6, 1.0)
"""Bounds of the noise variance, for values of unit variance."""


class GaussianProcessSurrogate:
    """Matern 5/2 with length scales 1 in [0.01, 100] and amplitude 1 in [0.01, 1000]; centred values."""

    acquisition = "ei"

    def encode(self, configurations: Configurations) -> Matrix:
        return Matrix(one_hot(configurations.vectors, configurations.categories))

    def fit(self, X: Matrix, y: Floats, random: np.random.Generator) -> None:
        from sklearn.exceptions import ConvergenceWarning
        from sklearn.gaussian_process import GaussianProcessRegressor
        from sklearn.gaussian_process.kernels import ConstantKernel, Matern, WhiteKernel

        kernel = ConstantKernel(1.0, (0.01, 1000.0)) * Matern(1.0, (0.01, 100.0), nu=2.5)
        self._process = GaussianProcessRegressor(
            kernel + WhiteKernel(1e-3, NOISE),
            n_restarts_optimizer=RESTARTS,
            random_state=int(random.integers(2**31)),
        )
        self._centre, self._spread = centre_and_spread(y)
        with warnings.catch_warnings(), one_thread():
            # A length scale at its bound or a flat likelihood still gives a usable process.
            warnings.simplefilter("ignore", ConvergenceWarning)
            self._process.fit(X.numbers, (y - self._centre) / self._spread)

    def predict(self, X: Matrix) -> Prediction:
        mean, std = self._process.predict(X.numbers, return_std=True)
        return Prediction(self._centre + self._spread * mean, self._spread * std)
