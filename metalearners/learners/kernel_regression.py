"""Kernel ridge regression of datasets' coordinates on their descriptions, tuned on held-out families.

Notation
    d, K      training datasets, coordinates
    S         (d, K) coordinates of each dataset
    D         (groups, d, d) distances between datasets by group of meta-features (`Descriptions`)
    kappa     exp(-sum over groups of weight D), 1 for equal datasets
    R         (d, K) error of the prediction of S from the datasets of other families
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from warehouse.support.arrays import Floats, Positions
from warehouse.support.eigen import symmetric_eigen

_BLOCKS = (1, 1, 1, 5)
"""Sizes of the blocks of coordinates that are predicted together; the rest is the last block."""
_WEIGHTS = (0.0, 0.15, 0.3, 0.6, 1.2, 2.5, 5.0)
"""Candidates for the weight of a group's distances; 0 = no influence, then each step doubles."""
_RIDGES = (0.1, 0.2, 0.4, 0.8, 1.6, 3.2)  # candidates added to the kernel's diagonal
_ROUNDS = 2  # over all groups; a heuristic
_MOST_COMPARED = 300
"""Most datasets for choosing weights and ridges, which takes time cubic in their number."""


@dataclass(frozen=True)
class KernelRegression:
    """Prediction of S from distances, block by block."""

    blocks: Positions
    """(blocks, 2) first coordinate of each block, and the one after its last."""
    block_weights: Floats
    """(blocks, groups) weights of the groups' distances."""
    coefficients: Floats
    """(d, K) such that S of a new dataset is kappa coefficients."""
    missed: Floats
    """R"""
    ridges: Floats
    """(blocks,) ridge added to the kernel's diagonal."""


@dataclass(frozen=True)
class _Fit:
    """A kernel ridge regression."""

    loss: float
    """Held-out error as a share of the squares of S."""
    coefficients: Floats
    missed: Floats
    ridge: float


def regress(D: Floats, S: Floats, families: Positions) -> KernelRegression:
    """Learn weights and coefficients.

    Args:
        families: (d,) number of each dataset's family; families are held out together.
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
    """Up to `most` evenly spaced positions of n."""
    return np.linspace(0, n - 1, min(n, most)).astype(np.intp)


def regress_as(before: KernelRegression, D: Floats, S: Floats, families: Positions) -> KernelRegression:
    """Learn the coefficients of these datasets, with the weights and ridges of `before`."""
    coefficients, missed = np.zeros_like(S), S.copy()
    together = _by_size(families)
    learned = zip(before.blocks, before.block_weights, before.ridges, strict=True)
    for (start, end), weights, ridge in learned:
        if start < end and len(D):
            fit = _fit(np.tensordot(weights, D, 1), S[:, start:end], together, (float(ridge),))
            coefficients[:, start:end], missed[:, start:end] = fit.coefficients, fit.missed
    return replace(before, coefficients=coefficients, missed=missed)


def missed_without_families(A: Floats, y: Floats, families: Positions) -> tuple[Floats, Floats]:
    """Held-out error of a Gaussian process on each dataset without its family, and its variance, (d,) each.

    Args:
        A: (d, d) covariance of y, including noise.
        y: (d,)
        families: (d,) number of each dataset's family.
    """
    inverse = np.linalg.inv(A)
    missed, variance = np.empty_like(y), np.empty_like(y)
    for members in _by_size(families):
        covariance = np.linalg.inv(inverse[members[:, :, None], members[:, None]])  # given the other families
        missed[members] = (covariance @ (inverse @ y)[members][:, :, None])[:, :, 0]
        variance[members] = covariance.diagonal(axis1=1, axis2=2)
    return missed, variance


def _by_size(families: Positions) -> list[Positions]:
    """Members of the families, grouped by family size: (families, size) for each size."""
    order = np.argsort(families, kind="stable")
    members = np.split(order, np.flatnonzero(np.diff(families[order])) + 1)
    sizes = np.array([len(family) for family in members])
    return [np.array([family for family in members if len(family) == size]) for size in np.unique(sizes)]


def _best_weights(D: Floats, S: Floats, together: Sequence[Positions]) -> tuple[Floats, _Fit]:
    """The group weights with the least held-out error, found by coordinate search."""
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
    """Kernel ridge regression with the ridge that has the least error on held-out families.

    The error on a held-out family f is (A^-1)_ff^-1 (A^-1 S)_f, where A is the kernel with the ridge: the
    leave-one-out formula for several rows.
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
