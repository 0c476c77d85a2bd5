"""Matrices drawn from the GP-LVM, and their likelihood by formula."""

import math

import numpy as np

from metalearners.published.factorization.latent_kernel import LatentKernel

NOISE = 0.3


def drawn(n: int, d: int, missing: float, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """A matrix drawn from the model with two latent dimensions, with gaps; and the matrix without noise."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, 2))
    kernel = LatentKernel("rbf", 1.0, np.array([0.3, 0.15]), NOISE**2)
    K = kernel.covariance(X, X) + 1e-9 * np.eye(n)
    truth = np.linalg.cholesky(K) @ random.normal(size=(n, d))
    Y = truth + NOISE * random.normal(size=truth.shape)
    Y[random.random(Y.shape) < missing] = np.nan
    return Y, truth


def dense_nll(Y: np.ndarray, X: np.ndarray, kernel: LatentKernel) -> float:
    """The formula of `gplvm`, dataset by dataset, with the rows of each."""
    total = 0.0
    for y in Y.T:
        o = ~np.isnan(y)
        C = kernel.covariance(X[o], X[o]) + kernel.sigma2 * np.eye(o.sum())
        total += 0.5 * (
            o.sum() * math.log(2 * math.pi) + np.linalg.slogdet(C)[1] + y[o] @ np.linalg.solve(C, y[o])
        )
    return total
