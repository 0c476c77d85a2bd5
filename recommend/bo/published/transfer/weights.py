"""Weights of an ensemble's models, by their ranking of the trials (Manolache, section 5.2).

Equations are from Manolache's thesis. Here larger values are better, in the thesis smaller ones; pairs are
counted in both orders, so nothing else changes. The thesis does not normalize weights: here they are divided
by their sum, and if all are 0 the target model has all weight, as it has in ties.

Equation 16 prefers a model that overstates differences to one that predicts them exactly, and is negative for
one that understates them. Weights keep its order: if any is negative, all are shifted so that the lowest is
0. A model without a landmark has weight 0.

Equation 17 is equation 16 after equation 14's mean over samples: mu, the mean difference over the landmarks
of all samples, times the number of landmarks is the sum of the differences. (Over all pairs mu would be 0,
since x_i and x_j are interchangeable.) So `rlgp-fdiff` and `rlgp-mudiff` are the same weighting.

Notation
    t, S, M   trials, samples, models: the base models, and the target model, which is the last
    y         (t,) values of the trials in standard scores
    D         (S, t, t) differences f(x_i) - f(x_j) by one model; the target's f is f_-i (equation 12)
    w         (M,) weights
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from warehouse.support.arrays import Flags, Floats

Weighting = Callable[[Sequence[Floats], Floats, np.random.Generator], Floats]
"""Maps D of each model and y to w."""

PERCENTILE = 95
"""Percentile of the target's losses that limits a base model's median loss (Feurer et al. 2018)."""
BANDWIDTH = 0.1
"""Share of misranked pairs from which on a dataset has weight 0 in TST-R; set by hand."""


def differences(y: Floats) -> Floats:
    """(..., t, t) each of (..., t) numbers minus each."""
    return y[..., :, None] - y[..., None, :]


def ranking_losses(D: Floats, y: Floats) -> Floats:
    """(S,) misranked pairs, equation 9."""
    losses: Floats = ((D < 0) ^ (differences(y) < 0)).sum(axis=(1, 2)).astype(np.float64)
    return losses


def landmarks(D: Floats, y: Floats) -> Flags:
    """(S, t, t) RL: whether x_i is rightly predicted to be better than x_j, equations 11 and 12."""
    right: Flags = (D > 0) & (differences(y) > 0)
    return right


def rgpe(models: Sequence[Floats], y: Floats, random: np.random.Generator) -> Floats:
    """Share of the samples in which a model has the least loss; ties go to the target, or are random."""
    return _shares(np.array([ranking_losses(D, y) for D in models]), random)


def rgpe_undiluted(models: Sequence[Floats], y: Floats, random: np.random.Generator) -> Floats:
    """`rgpe` without base models that rank worse than the target (Feurer et al. 2018)."""
    losses = np.array([ranking_losses(D, y) for D in models])
    kept = np.median(losses, axis=1) <= np.percentile(losses[-1], PERCENTILE)
    kept[-1] = True
    w = np.zeros(len(models))
    w[kept] = _shares(losses[kept], random)
    return w


def rlgp(models: Sequence[Floats], y: Floats, _: np.random.Generator) -> Floats:
    """Equations 13 and 14."""
    return normalized([landmarks(D, y).sum() / len(D) for D in models])


def rlgp_diff(models: Sequence[Floats], y: Floats, _: np.random.Generator) -> Floats:
    """Equation 15: weighed by the predicted difference."""
    return normalized([(landmarks(D, y) * D).sum() / len(D) for D in models])


def rlgp_fdiff(models: Sequence[Floats], y: Floats, _: np.random.Generator) -> Floats:
    """Equations 16 and 17: weighed by how far the predicted difference exceeds the true one."""
    right = [landmarks(D, y) for D in models]
    excess = np.array(
        [(found * (D - differences(y))).sum() / len(D) for found, D in zip(right, models, strict=True)]
    )
    found_any = np.array([found.any() for found in right])
    lowest = excess[found_any].min(initial=0.0)
    return normalized(np.where(found_any, excess - lowest, 0.0))


def sim(models: Sequence[Floats], y: Floats, _: np.random.Generator) -> Floats:
    """Equation 18; c counts the pairs ordered equally by a model and the target in the same sample."""
    n, target = len(y), models[-1]
    found = []
    for D in models:
        c = ((D > 0) & (target > 0)).sum(axis=(1, 2))
        similarity = (2 * c - 1) / (2 * n**2 - 1)
        found.append(max((similarity * landmarks(D, y).sum(axis=(1, 2))).mean(), 0.0))
    return normalized(found)


def epanechnikov(models: Sequence[Floats], y: Floats, _: np.random.Generator) -> Floats:
    """Weights of the base models with these D, and of the target (Wistuba et al. 2016).

    3 / 4 (1 - (d / bandwidth)^2), where d is the share of ordered pairs that a base model misranks, 0 of the
    target itself; divided by their sum (Nadaraya and Watson).
    """
    pairs = max(len(y) * (len(y) - 1), 1)
    d = np.array([*(ranking_losses(D, y)[0] / pairs for D in models), 0.0])
    return normalized(np.maximum(0.75 * (1 - (d / BANDWIDTH) ** 2), 0))


def normalized(evidence: Sequence[float] | Floats) -> Floats:
    """w of (M,) evidence, 0 or more; the target model has all weight if all evidence is 0."""
    w: Floats = np.array(evidence, dtype=np.float64)
    if not w.sum() > 0:
        w[-1] = 1.0
    w /= w.sum()
    return w


def _shares(losses: Floats, random: np.random.Generator) -> Floats:
    """(M,) share of the samples in which each has the least of (M, S) losses."""
    least = losses == losses.min(axis=0)
    least[:-1] &= ~least[-1]
    order = np.where(least, random.random(losses.shape), -1.0).argmax(axis=0)
    shares: Floats = np.bincount(order, minlength=len(losses)) / losses.shape[1]
    return shares
