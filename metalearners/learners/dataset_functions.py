"""Performance functions: the runs of each training dataset as a function of all configurations.

A Gaussian process over configurations smooths a dataset's few hundred noisy runs to a function. The functions
of datasets differ in a few ways only: their principal components. In the first round each dataset is smoothed
alone, and its scores are relative to its other runs. But those may be a biased sample: among the runs of a
search a good configuration is an average one. So in further rounds a dataset's level and spread are unknown,
and the functions of all datasets together are the prior of each.

Principal components of functions: Ramsay and Silverman (2005), chapter 8. Components of sparsely observed
functions, learned in rounds: James, Hastie and Sugar (2000). Levels and spreads are our own addition.

Notation
    d, K      datasets, components
    n         runs of a dataset
    Phi       (n, G) features of their configurations; a function is Phi w
    y         (n,) their scores, up to level and spread
    W         (d, G) weights of each dataset's function, W = mean + S V + rest
    mean      (G,) mean of W
    S, V      (d, K) coordinates of each dataset on the components, (K, G) the components
    P         (G, G) covariance of w around the mean
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from warehouse.support.arrays import Floats
from warehouse.support.eigen import symmetric_eigen

_NOISES = (0.005, 0.02, 0.05, 0.1, 0.2, 0.4, 0.8, 2.0)
"""Candidates for a run's noise variance over that of the function; each dataset takes the likeliest."""
_REST = 0.4
"""Variance of a weight around the components; between 0.1 and 1.6 it hardly matters."""


class Runs(NamedTuple):
    """The runs of one dataset."""

    phi: Floats
    """Phi"""
    y: Floats


class Scale(NamedTuple):
    """Makes a dataset's scores comparable with those of other datasets: spread y + level."""

    spread: float = 1.0
    level: float = 0.0

    def apply(self, y: Floats) -> Floats:
        """(n,) comparable scores."""
        return self.spread * y + self.level


@dataclass(frozen=True)
class DatasetFunctions:
    """The functions of the datasets, by their components."""

    mean: Floats
    S: Floats
    V: Floats
    scales: Sequence[Scale]
    """(d,)"""
    W: Floats
    """Weights of each dataset's own function."""


def learn_functions(
    datasets: Sequence[Runs], grid: Floats, *, components: int, rounds: int
) -> DatasetFunctions:
    """Learn the functions of these datasets.

    Args:
        grid: (any, G) Phi of configurations at which functions are compared.
        components: most components.
        rounds: how often level, spread and function of each dataset are learned from those of all.
    """
    G = grid.shape[1]
    W = np.array([_on_its_own(runs) for runs in datasets]).reshape(-1, G)
    scales = [Scale()] * len(datasets)
    mean, S, V = _decompose(W, grid, components)
    for _ in range(rounds if len(datasets) > 1 else 0):
        factor = S.std(axis=0)[:, None] * V
        root = np.linalg.cholesky(factor.T @ factor + _REST * np.eye(G))
        learned = [_among_others(runs, mean, root) for runs in datasets]
        # Only ratios of spreads matter: the unit makes their geometric mean 1.
        unit = float(np.exp(np.mean([np.log(scale.spread) for _, scale in learned])))
        W = np.array([w for w, _ in learned]) / unit
        scales = [Scale(scale.spread / unit, scale.level / unit) for _, scale in learned]
        mean, S, V = _decompose(W, grid, components)
    return DatasetFunctions(mean, S, V, scales, W)


def centred(W: Floats, S: Floats) -> tuple[Floats, Floats, Floats]:
    """Mean, S and V of a subset of datasets, from coordinates `S` relative to another mean."""
    mean, S = W.mean(axis=0), S - S.mean(axis=0)
    return mean, S, np.linalg.pinv(S) @ (W - mean)


def _decompose(W: Floats, grid: Floats, most: int) -> tuple[Floats, Floats, Floats]:
    """Mean, S and V; the principal components are those of the values on the grid."""
    mean = W.mean(axis=0) if len(W) else np.zeros(W.shape[1])
    U, s, _ = np.linalg.svd((W - mean) @ grid.T, full_matrices=False)
    K = int((s[:most] > 1e-9 * max(s.max(initial=0), 1e-300)).sum())
    S = U[:, :K] * s[:K] / np.sqrt(len(grid))
    return mean, S, np.linalg.pinv(S) @ (W - mean)


def _on_its_own(runs: Runs) -> Floats:
    """(G,) w of a dataset alone: the posterior mean with the likeliest noise."""
    from scipy.linalg import cho_factor, cho_solve

    phi, y = runs
    if 4 * len(y) <= phi.shape[1]:
        return _on_few_runs(phi, y)
    gram, target = phi.T @ phi, phi.T @ y
    diagonal = np.diag_indices(len(gram))
    best, best_likelihood = np.zeros(len(gram)), -np.inf
    for noise in _NOISES:
        C = gram.copy()
        C[diagonal] += noise
        factor = cho_factor(C, lower=True, check_finite=False)
        w = cho_solve(factor, target, check_finite=False)
        fit = float(y @ (y - phi @ w)) / noise
        log_det = 2 * np.log(np.diag(factor[0])).sum() + (len(y) - len(gram)) * np.log(noise)
        likelihood = -0.5 * (len(y) * np.log(max(fit, 1e-12)) + log_det)
        if likelihood > best_likelihood:
            best, best_likelihood = w, likelihood
    return best


def _on_few_runs(phi: Floats, y: Floats) -> Floats:
    """The same via the covariance of the runs, if they are far fewer than the features."""
    variances, U = symmetric_eigen(phi @ phi.T)
    variances = np.maximum(variances, 0)
    inside = U.T @ y
    likelihoods = []
    for noise in _NOISES:
        fit = float((inside**2 / (variances + noise)).sum())
        likelihoods.append(-0.5 * (len(y) * np.log(max(fit, 1e-12)) + np.log(variances + noise).sum()))
    noise = _NOISES[int(np.argmax(likelihoods))]
    w: Floats = phi.T @ (U @ (inside / (variances + noise)))
    return w


def _among_others(runs: Runs, mean: Floats, root: Floats) -> tuple[Floats, Scale]:
    """The posterior mean of w, and the scale, for the likeliest noise.

    The scores are Gaussian: spread y + level ~ N(Phi mean, C) with C = Phi P Phi' + noise I.

    Args:
        root: (G, G) with root root' = P.
    """
    phi, y = runs
    U, s, Vt = np.linalg.svd(phi @ root, full_matrices=False)  # diagonalize C for any noise
    expected = phi @ mean
    known = np.column_stack([y, expected, np.ones(len(y))])
    inside = U.T @ known
    outside = known.T @ known - inside.T @ inside
    best: tuple[float, float, Scale] = (-np.inf, 0.0, Scale())
    for noise in _NOISES:
        variances = s**2 + noise
        products = inside.T @ (inside / variances[:, None]) + outside / noise  # known' C^-1 known
        log_det = float(np.log(variances).sum() + (len(y) - len(s)) * np.log(noise))
        likelihood, scale = _likeliest_scale(products, len(y))
        best = max(best, (likelihood - log_det / 2, noise, scale))
    _, noise, scale = best
    missed = scale.apply(y) - expected
    w: Floats = mean + root @ (Vt.T @ (s / (s**2 + noise) * (U.T @ missed)))
    return w, scale


def _likeliest_scale(products: Floats, n: int) -> tuple[float, Scale]:
    """Maximum-likelihood spread and level, and their log likelihood without the determinant of C.

    The level is integrated out with a flat prior, which leaves the residual products after regressing on 1.
    Then the likelihood of a spread a is a^(n - 1) exp(-|a y - m|^2 / 2).

    Args:
        products: (3, 3) scalar products of y, m and 1, the vector of ones, with respect to C^-1.
    """
    of_ones = float(products[2, 2])
    without_level = products[:2, :2] - np.outer(products[:2, 2], products[:2, 2]) / of_ones
    yy, ym, mm = float(without_level[0, 0]), float(without_level[0, 1]), float(without_level[1, 1])
    spread = (ym + np.sqrt(ym**2 + 4 * (n - 1) * yy)) / (2 * yy)
    level = float(products[1, 2] - spread * products[0, 2]) / of_ones
    misfit = spread**2 * yy - 2 * spread * ym + mm
    likelihood = (n - 1) * np.log(spread) - misfit / 2 - np.log(of_ones) / 2
    return float(likelihood), Scale(float(spread), level)
