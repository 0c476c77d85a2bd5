"""Configurations to try first, chosen together."""

from __future__ import annotations

import numpy as np

from metalearners.encoding.scores import Z80
from metalearners.gp.posterior import Prior
from warehouse.support.arrays import Floats, Positions

_DRAWS = 500  # functions; a heuristic
_TIE = 1e-9


def best_together(mean: Floats, deviations: Floats, n: int) -> Positions:
    """Positions of `n` configurations, chosen to maximize the expected score of the best of them.

    The first has the highest mean; each further one raises the expected maximum most. So configurations that
    are good in different cases complement each other better than ones that are good in the same cases.

    Args:
        mean: (c,) expected scores of the configurations.
        deviations: (s, c) deviations from the mean in s equally likely cases; without cases, the best means
            are chosen.
    """
    scores = mean + deviations
    best, best_with = np.full(len(scores), -np.inf), np.empty_like(scores)
    chosen: list[int] = []
    while len(chosen) < min(n, len(mean)):
        expected = mean.copy()
        if chosen and len(scores):
            np.maximum(scores, best[:, None], out=best_with).mean(axis=0, out=expected)
        expected += _TIE * mean  # among those that add nothing, prefer the best
        expected[chosen] = -np.inf
        chosen.append(int(expected.argmax()))
        best = np.maximum(best, scores[:, chosen[-1]])
    return np.array(chosen, dtype=np.intp)


def best_after(prior: Prior, mean: Floats, std: Floats | None, n: int) -> Positions:
    """Positions of `n` configurations, chosen as in `best_together`, after trials.

    Only those that beat the best mean with a chance of 10 % or more are chosen together, then others with the
    highest means: long shots hardly raise the best of a few, but lower all others and their average. Trials
    change mean and standard deviation; correlations are assumed to stay those of `prior`.

    Args:
        mean: (c,) posterior mean of the true scores, up to level and unit.
        std: (c,) posterior standard deviation; None = no uncertainty.
    """
    before = np.sqrt(prior.variance)
    after = np.zeros_like(before) if std is None else std
    left = np.divide(after, before, out=np.zeros_like(before), where=before > 0)
    by_mean = np.argsort(-mean, kind="stable")
    is_near = (mean + Z80 * after)[by_mean] >= mean.max(initial=-np.inf)
    near, others = by_mean[is_near], by_mean[~is_near]
    draws = np.random.default_rng(0).normal(size=(_DRAWS, prior.factor.shape[1]))
    together = near[best_together(mean[near], draws @ prior.factor[near].T * left[near], n)]
    return np.concatenate([together, others])[:n]
