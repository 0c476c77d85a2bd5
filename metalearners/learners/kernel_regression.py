"""Kernel ridge regression of datasets' coordinates on their descriptions, judged on families left out.

Notation
    d, K      training datasets, coordinates
    S         (d, K) coordinates of each dataset
    D         (groups, d, d) distances between datasets by group of meta-features (`Descriptions`)
    kappa     exp(-sum over groups of weight D), 1 for equal datasets
    R         (d, K) what the prediction of S from the datasets of other families misses
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from warehouse.support.arrays import Floats, Positions
from warehouse.support.eigen import symmetric_eigen

_BLOCKS = (1, 1, 1, 5)
"""Coordinates that are predicted together; the rest is the last block."""
_WEIGHTS = (0.0, 0.15, 0.3, 0.6, 1.2, 2.5, 5.0)
"""Weights of a group's distances, from no influence on; each step doubles."""
_RIDGES = (0.1, 0.2, 0.4, 0.8, 1.6, 3.2)  # added to the kernel's diagonal; each step doubles
_ROUNDS = 2  # over all groups; set by hand
_MOST_COMPARED = 300
"""Datasets that weights and ridges are chosen by; the time that takes grows with their third power."""


@dataclass(frozen=True)
class KernelRegression:
    """How distances predict S, block by block."""

    blocks: Positions
    """(blocks, 2) first coordinate of each block, and the one after its last."""
    block_weights: Floats
    """(blocks, groups) of the groups' distances."""
    coefficients: Floats
    """(d, K): S of a new dataset is kappa coefficients."""
    missed: Floats
    """R"""
    ridges: Floats
    """(blocks,) added to the kernel's diagonal."""


@dataclass(frozen=True)
class _Fit:
    """A kernel ridge regression."""

    loss: float
    """Share of the squares of S that is missed."""
    coefficients: Floats
    missed: Floats
    ridge: float


def regress(D: Floats, S: Floats, families: Positions) -> KernelRegression:
    """Learn weights and coefficients.

    Args:
        families: (d,) equal for datasets that are left out together.
    """
    if len(S) > _MOST_COMPARED:
        some = evenly_spaced(len(S), _MOST_COMPARED)
        chosen = regress(D[:, some[:, None], some], S[some], families[some])
        return regress_as(chosen, D, S, families)
    ends = np.minimum(np.cumsum([*_BLOCKS, S.shape[1]]), S.shape[1])
    blocks = np.column_stack([np.concatenate([[0], ends[:-1]]), ends])
    block_weights, ridges = np.zeros((len(ends), len(D))), np.ones(len(ends))
    coefficients, missed = np.zeros_like(S), S.copy()
    together = _by_size(families)
    for block, (start, end) in enumerate(blocks):
        if start < end and len(D):
            block_weights[block], fit = _best_weights(D, S[:, start:end], together)
            coefficients[:, start:end], missed[:, start:end] = fit.coefficients, fit.missed
            ridges[block] = fit.ridge
    return KernelRegression(blocks, block_weights, coefficients, missed, ridges)


def evenly_spaced(n: int, most: int) -> Positions:
    """Positions of up to `most` of n, spread over all of them."""
    return np.linspace(0, n - 1, min(n, most)).astype(np.intp)


def regress_as(before: KernelRegression, D: Floats, S: Floats, families: Positions) -> KernelRegression:
    """Learn coefficients of these datasets, with the weights and ridges of `before`."""
    coefficients, missed = np.zeros_like(S), S.copy()
    together = _by_size(families)
    learned = zip(before.blocks, before.block_weights, before.ridges, strict=True)
    for (start, end), weights, ridge in learned:
        if start < end and len(D):
            fit = _fit(np.tensordot(weights, D, 1), S[:, start:end], together, (float(ridge),))
            coefficients[:, start:end], missed[:, start:end] = fit.coefficients, fit.missed
    return replace(before, coefficients=coefficients, missed=missed)


def missed_without_families(A: Floats, y: Floats, families: Positions) -> tuple[Floats, Floats]:
    """What a Gaussian process misses on each dataset without its family, and the variance of it, (d,) each.

    Args:
        A: (d, d) covariance of y, noise included.
        y: (d,)
        families: (d,) equal for datasets that are left out together.
    """
    inverse = np.linalg.inv(A)
    missed, variance = np.empty_like(y), np.empty_like(y)
    for members in _by_size(families):
        covariance = np.linalg.inv(inverse[members[:, :, None], members[:, None]])  # given the other families
        missed[members] = (covariance @ (inverse @ y)[members][:, :, None])[:, :, 0]
        variance[members] = covariance.diagonal(axis1=1, axis2=2)
    return missed, variance


def _by_size(families: Positions) -> list[Positions]:
    """Members of the families of each size, (families, size)."""
    order = np.argsort(families, kind="stable")
    members = np.split(order, np.flatnonzero(np.diff(families[order])) + 1)
    sizes = np.array([len(family) for family in members])
    return [np.array([family for family in members if len(family) == size]) for size in np.unique(sizes)]


def _best_weights(D: Floats, S: Floats, together: Sequence[Positions]) -> tuple[Floats, _Fit]:
    """The weights of groups that predict S best, found one group after the other."""
    weights = np.full(len(D), 0.6)
    best = _fit(np.tensordot(weights, D, 1), S, together)
    for _ in range(_ROUNDS):
        for group in range(len(D)):
            for weight in _WEIGHTS:
                other = weights.copy()
                other[group] = weight
                if weight == weights[group] or not other.any():
                    continue
                fit = _fit(np.tensordot(other, D, 1), S, together)
                if fit.loss < best.loss - 1e-4:
                    best, weights = fit, other
    return weights, best


def _fit(D: Floats, S: Floats, together: Sequence[Positions], ridges: Sequence[float] = _RIDGES) -> _Fit:
    """Kernel ridge regression with the one of `ridges` that misses least where families are left out.

    What is missed of a family f that is left out is (A^-1)_ff^-1 (A^-1 S)_f, where A is the kernel with the
    ridge: the formula for one row, for several.
    """
    w, Q = symmetric_eigen(np.exp(-D))
    projected = Q.T @ S
    total = max(float((S**2).sum()), 1e-300)
    best = _Fit(np.inf, np.zeros_like(S), S, ridges[0])
    for ridge in ridges:
        inverse = 1 / (np.maximum(w, 0) + ridge)
        c = Q @ (inverse[:, None] * projected)
        missed = np.empty_like(S)
        for members in together:
            rows = Q[members]  # (families, size, d)
            own = (rows * inverse) @ rows.swapaxes(1, 2)  # (A^-1)_ff
            missed[members] = np.linalg.solve(own, c[members])
        loss = float((missed**2).sum()) / total
        if loss < best.loss:
            best = _Fit(loss, c, missed, ridge)
    return best
