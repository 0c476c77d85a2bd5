"""Bandits that look for the arm with the highest maximum, not the highest mean.

What a search is after is one good configuration, so the mean of an algorithm's trials is beside the point:
van Hoof's thesis ends chapter 7 with it. Each of these pulls every arm once before any other.

Notation
    X_k, n_k, t   as in `recommend.bo.published.strategies.policies`
    X_k(j)        the j-th highest of the rewards of arm k
    tau           level of the quantile that arms are compared by
"""

from __future__ import annotations

import math

import numpy as np

from recommend.bo.published.strategies.policies import Pulls, at_random, by_index, highest
from warehouse.support.arrays import Floats

ALPHA = 0.5
"""Exploration of `max_ucb`, as its authors propose."""
TAU = 0.75
"""Quantile that `quantile_ucb` compares; set by hand: from nine pulls on an arm's limit is finite."""
DELTA = 0.1
"""Probability that a quantile is above its upper confidence limit; set by hand."""


def max_ucb_bound(X: Floats, t: int) -> float:
    """X_k(1) + (ALPHA ln t / n_k)^2.

    MaxUCB (Balef, Vernade and Eggensperger 2025, "Put CASH on bandits"), made for rewards that are bounded
    and dense near their maximum, as performances of one algorithm are.
    """
    return float(X.max() + (ALPHA * math.log(t) / len(X)) ** 2)


max_ucb = by_index(max_ucb_bound)


def max_median(pulls: Pulls, random: np.random.Generator) -> str:
    """The arm with the highest X_k(ceil(n_k / m)), where m is n_k of the arm that was pulled least.

    Max-Median (Bhatt, Li and Samorodnitsky 2022, "Extreme bandits using robust statistics"): what one in m of
    the rewards exceeds is compared where all arms show it. With probability 1 / (t + 1) any arm is pulled.
    """
    rewards = {arm: pulls.rewards(arm) for arm in pulls.arms}
    least = min(len(X) for X in rewards.values())
    if not least:
        return highest({arm: -float(len(X)) for arm, X in rewards.items()}, random)
    if random.random() < 1 / (len(pulls.history) + 1):
        return at_random(pulls, random)
    return highest({arm: float(np.sort(X)[-math.ceil(len(X) / least)]) for arm, X in rewards.items()}, random)


def quantile_limit(X: Floats, t: int) -> float:  # noqa: ARG001 (an index)
    """Upper confidence limit of the quantile TAU: a reward, or infinite where there are too few.

    The quantile is above the j-th lowest of n_k rewards with probability P(B >= j), B binomial with n_k and
    TAU (order statistics), so the limit is the lowest reward for which this is at most DELTA. Bandits for
    quantiles (Szorenyi et al. 2015; David and Shimkin 2016) have bounds that take hundreds of pulls.
    """
    from scipy.stats import binom

    above = binom.sf(np.arange(len(X)), len(X), TAU)  # P(B >= j) for j = 1 to n_k
    enough = np.flatnonzero(above <= DELTA)
    return float(np.sort(X)[enough[0]]) if len(enough) else np.inf


quantile_ucb = by_index(quantile_limit)
