"""Configurations to try first, chosen together."""

from __future__ import annotations

import numpy as np

from metalearners.gp.posterior import Prior
from warehouse.support.arrays import Floats, Positions

_DRAWS = 500  # functions; set by hand
_TIE = 1e-9


def best_together(mean: Floats, deviations: Floats, n: int) -> Positions:
    """Positions of `n` configurations of which the best is expected to score most.

    The first is the one with the highest mean; each next one raises the expected maximum the most. Two
    configurations that are good under the same circumstances gain less together than two that are good under
    different ones.

    Args:
        mean: (c,) expected scores of the configurations.
        deviations: (s, c) from the mean; the s cases are equally likely.
    """
    scores = mean + deviations
    best, best_with = np.full(len(scores), -np.inf), np.empty_like(scores)
    chosen: list[int] = []
    while len(chosen) < min(n, len(mean)):
        expected = mean.copy()
        if chosen:
            np.maximum(scores, best[:, None], out=best_with).mean(axis=0, out=expected)
        expected += _TIE * mean  # of those that add nothing, the best
        expected[chosen] = -np.inf
        chosen.append(int(expected.argmax()))
        best = np.maximum(best, scores[:, chosen[-1]])
    return np.array(chosen, dtype=np.intp)


def best_after(prior: Prior, mean: Floats, std: Floats | None, n: int) -> Positions:
    """Positions of `n` configurations, chosen as in `best_together`, after trials.

    What trials change is mean and standard deviation; correlations are taken to be those of `prior`.

    Args:
        mean: (c,) what is now known of the true scores, up to their level and unit.
        std: (c,) its standard deviation; None = nothing is uncertain.
    """
    before = np.sqrt(prior.variance)
    left = np.zeros_like(before)
    if std is not None:
        np.divide(std, before, out=left, where=before > 0)
    draws = np.random.default_rng(0).normal(size=(_DRAWS, prior.factor.shape[1]))
    return best_together(mean, draws @ prior.factor.T * left, n)
