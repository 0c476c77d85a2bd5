"""Searches that matrix factorization is compared with (Fusi, Sheth and Elibol 2018, section 4.3).

random, 2x, 4x   one, two or four configurations a trial, mean of ten draws
auto-sklearn     the best configurations of the 25 nearest datasets by the L1 distance of meta-features, then
                 SMAC's forest by expected improvement (Feurer and others 2015): its way of searching, on the
                 same configurations as all others; no configuration is chosen at random in between
fmlp             `factorized_perceptron`, by expected improvement
gp               a Gaussian process on the hyperparameters, from three random trials
"""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np
import pandas as pd

from metalearners.learners.neighbours import NearestBest
from recommend.bo.acquisition import XI, expected_improvement
from recommend.bo.surrogates.base import Matrix
from recommend.bo.surrogates.forest import ForestSurrogate
from tests.benchmarks.factorized_perceptron import OnNewDataset, Training
from warehouse.queries import RunTable

MOST = 200
DRAWS = 10
WARM_START = 25
"""Nearest datasets whose best configurations auto-sklearn tries first."""


class NewDataset:
    """A dataset to search on: its configurations and their values."""

    def __init__(self, runs: RunTable, metafeatures: pd.DataFrame, dataset: str) -> None:
        own = runs.runs[runs.runs["dataset"] == dataset]
        self.values = own["value"].to_numpy()
        self.configurations = runs.configurations.of_setups(own["setup"])
        self.metafeatures = metafeatures.loc[dataset]
        self.most = min(MOST, len(self.values))

    def best_so_far(self, order: np.ndarray) -> np.ndarray:
        """(MOST,) best value after each trial; it stays where all were tried."""
        best = np.maximum.accumulate(self.values[order[:MOST]])
        return np.pad(best, (0, MOST - len(best)), mode="edge")


def searched(new: NewDataset, first: np.ndarray, following: Callable[[list[int]], np.ndarray]) -> np.ndarray:
    """Order of trials: `first`, then each time the untried one that `following` gives the highest number."""
    order = list(first)
    while len(order) < new.most:
        wanted = following(order).copy()
        wanted[order] = -np.inf
        order.append(int(wanted.argmax()))
    return np.array(order)


def auto_sklearn(new: NewDataset, encoded: np.ndarray, nearest: NearestBest, seed: int) -> np.ndarray:
    """Best configurations of near datasets, then the expected improvement of SMAC's forest on the trials."""
    near = nearest.first(nearest.nearest(new.metafeatures))
    first = nearest.choose(new.configurations, new.metafeatures, len(near))
    random = np.random.default_rng(seed)

    def following(order: list[int]) -> np.ndarray:
        forest = ForestSurrogate()
        forest.fit(Matrix(encoded[order]), new.values[order], random)
        found = forest.predict(Matrix(encoded))
        assert found.std is not None
        return expected_improvement(found.mean, found.std, float(new.values[order].max()), 0.0)

    return searched(new, first, following)


def fmlp(new: NewDataset, encoded: np.ndarray, y: np.ndarray, training: Training, seed: int) -> np.ndarray:
    """The factorized perceptron's best, then its expected improvement; it learns on after every trial.

    Args:
        encoded: (n, J) as the runs of `training`.
        y: (n,) values of the new dataset in the unit of those of `training`.
    """
    ensemble = OnNewDataset(training, seed)
    first = ensemble.model.predict(encoded).mean.argmax()

    def following(order: list[int]) -> np.ndarray:
        ensemble.learn(encoded[order], y[order])
        found = ensemble.model.predict(encoded)
        assert found.std is not None
        return expected_improvement(found.mean, found.std, float(y[order].max()), XI)

    return searched(new, np.array([first]), following)


def gp(new: NewDataset, encoded: np.ndarray, seed: int) -> np.ndarray:
    """A Gaussian process on the encoded hyperparameters, fitted again and again, from three random trials."""
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import ConstantKernel, Matern, WhiteKernel

    kernel = ConstantKernel(1.0, (1e-2, 1e2)) * Matern(1.0, (1e-1, 1e2), nu=2.5) + WhiteKernel(
        0.1, (1e-4, 1.0)
    )
    fitted = kernel

    def following(order: list[int]) -> np.ndarray:
        nonlocal fitted
        values = new.values[order]
        y = (values - values.mean()) / (values.std() or 1.0)
        learns = len(order) < 20 or len(order) % 10 == 0
        process = GaussianProcessRegressor(fitted, optimizer="fmin_l_bfgs_b" if learns else None)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            process.fit(encoded[order], y)
        fitted = process.kernel_
        mean, std = process.predict(encoded, return_std=True)
        return expected_improvement(mean, std, float(y.max()), XI)

    return searched(new, np.random.default_rng(seed).permutation(len(new.values))[:3], following)


def random_draws(new: NewDataset, at_once: int, seed: int) -> np.ndarray:
    """(DRAWS, MOST) best so far of random search that tries so many in one trial."""
    curves = []
    for draw in range(DRAWS):
        order = np.random.default_rng([seed, draw]).permutation(len(new.values))[: at_once * MOST]
        best = np.maximum.accumulate(new.values[order])[at_once - 1 :: at_once]
        curves.append(np.pad(best, (0, max(0, MOST - len(best))), mode="edge")[:MOST])
    return np.array(curves)
