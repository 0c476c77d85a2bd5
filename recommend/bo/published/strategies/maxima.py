"""Bandits that seek the arm with the highest maximum, not the highest mean.

A search needs one good configuration, so the mean of an algorithm's trials is irrelevant, as van Hoof's
thesis concludes in chapter 7. Each of these pulls every arm once first.

Notation
    X_k, n_k, t   as in `recommend.bo.published.strategies.policies`
    X_k(j)        the j-th highest reward of arm k
    tau           level of the quantile by which arms are compared
"""

from __future__ import annotations

import math

import numpy as np

from recommend.bo.published.strategies.policies import Pulls, at_random, by_index, highest
from warehouse.support.arrays import Floats

ALPHA = 0.5
"""Exploration of `max_ucb`, as proposed by its authors."""
TAU = 0.75
"""Quantile compared by `quantile_ucb`; set by hand, so that limits are finite from nine pulls on."""
DELTA = 0.1
"""Probability that a quantile is above its upper confidence limit; set by hand."""


def max_ucb_bound(X: Floats, t: int) -> float:
    """X_k(1) + (ALPHA ln t / n_k)^2.

    MaxUCB (Balef, Vernade and Eggensperger 2025, "Put CASH on bandits"), made for rewards that are bounded
    and dense near their maximum, like the performances of one algorithm.
    """
    return float(X.max() + (ALPHA * math.log(t) / len(X)) ** 2)


max_ucb = by_index(max_ucb_bound)


def max_median(pulls: Pulls, random: np.random.Generator) -> str:
    """The arm with the highest X_k(ceil(n_k / m)), where m is the smallest n_k.

    Max-Median (Bhatt, Li and Samorodnitsky 2022, "Extreme bandits using robust statistics"): it compares the
    largest quantile that all arms can estimate. With probability 1 / (t + 1) a random arm is pulled.
    """
    rewards = {arm: pulls.rewards(arm) for arm in pulls.arms}
    least = min(len(X) for X in rewards.values())
    if not least:
        return highest({arm: -float(len(X)) for arm, X in rewards.items()}, random)
    if random.random() < 1 / (len(pulls.history) + 1):
        return at_random(pulls, random)
    return highest({arm: float(np.sort(X)[-math.ceil(len(X) / least)]) for arm, X in rewards.items()}, random)


def quantile_limit(X: Floats, t: int) -> float:  # noqa: ARG001 (an index)
    """Upper confidence limit of the quantile TAU: a reward, or infinite if there are too few.

    The quantile is above the j-th lowest of n_k rewards with probability P(B >= j), B binomial with n_k and
    TAU (order statistics), so the limit is the lowest reward for which this is at most DELTA. Bandits for
    quantiles (Szorenyi et al. 2015; David and Shimkin 2016) have bounds that take hundreds of pulls.
    """
    from scipy.stats import binom

    above = binom.sf(np.arange(len(X)), len(X), TAU)  # P(B >= j) for j = 1 to n_k
    enough = np.flatnonzero(above <= DELTA)
    return float(np.sort(X)[enough[0]]) if len(enough) else np.inf


quantile_ucb = by_index(quantile_limit)
