"""Kernels between points, and points that represent all others.

Notation
    r    (n, n') Euclidean distances between points
    k    the kernel: 1 for equal points. Matern with nu = 5/2 is (1 + sqrt(5) r + 5 r^2 / 3) exp(-sqrt(5) r),
         rbf is exp(-r^2 / 2) (Rasmussen and Williams 2006, equations 4.17 and 4.9)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np

from warehouse.support.arrays import Floats

Shape = Literal["rbf", "matern"]


def squared_distances(a: Floats, b: Floats) -> Floats:
    """(n, n') squared distances between the rows of `a` and of `b`."""
    squared: Floats = a @ (-2 * b.T)
    squared += (a * a).sum(axis=1)[:, None]
    squared += (b * b).sum(axis=1)
    return np.maximum(squared, 0, out=squared)


def matern(a: Floats, b: Floats) -> Floats:
    """k between the rows of `a` and of `b`."""
    return matern_at(squared_distances(a, b))


def matern_at(squared: Floats, stretch: float = 1.0) -> Floats:
    """k at these squared distances, with distances multiplied by `stretch`."""
    r = 5 * stretch**2 * squared
    np.sqrt(r, out=r)  # in place: for large arrays allocation takes longer than arithmetic
    polynomial = r * r
    polynomial /= 3
    polynomial += 1 + r
    np.negative(r, out=r)
    np.exp(r, out=r)
    r *= polynomial
    return r


def correlation(squared: Floats, shape: Shape) -> Floats:
    """k at these squared distances, which may be overwritten."""
    if shape == "matern":
        return matern_at(squared)
    squared *= -0.5
    return np.exp(squared, out=squared)


def spread_out(
    x: Floats, size: int, random: np.random.Generator, correlation: Callable[[Floats, Floats], Floats]
) -> Floats:
    """Up to `size` distinct rows of x, each far from the previous ones (pivoted Cholesky)."""
    different = np.unique(x, axis=0)
    if len(different) <= size:
        return different
    pool = different[random.permutation(len(different))[: 8 * size]]
    left = np.ones(len(pool))  # variance unexplained by the chosen rows
    columns = np.zeros((size, len(pool)))
    chosen = []
    for step in range(size):
        pivot = int(left.argmax())
        column = correlation(pool[[pivot]], pool)[0] - columns[:step, pivot] @ columns[:step]
        columns[step] = column / np.sqrt(max(left[pivot], 1e-12))
        left = np.maximum(left - columns[step] ** 2, 0)
        left[pivot] = -1
        chosen.append(pivot)
    return pool[chosen]


def nystroem_factor(k: Floats, jitter: float) -> Floats:
    """(G, G) factor such that the inner products of k(x, Z) factor approximate the kernel.

    Args:
        k: (G, G) kernel between the points Z; overwritten.
        jitter: added to its diagonal against rounding errors in the Cholesky factorization.
    """
    k[np.diag_indices_from(k)] += jitter
    factor: Floats = np.linalg.inv(np.linalg.cholesky(k)).T
    return factor
