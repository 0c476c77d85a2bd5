"""Ensembles of configurations whose predictions are averaged.

Ensemble selection with replacement: Caruana et al. (2004), section 2.

Notation
    m       classifiers, n rows, k classes
    p       (n, k) probabilities that a classifier gives rows that it was not fitted on
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ingest.running.cross_validation import measures_of_probabilities
from ingest.running.resampling import Split, tested_rows
from metalearners.encoding.scores import oriented
from warehouse.support.arrays import Floats, Positions

MOST_ROWS = 10_000
"""Rows that classifiers are chosen on; ranking more of them for an area takes long."""


def voting_rows(splits: Sequence[Split]) -> Positions:
    """Positions, among the rows that are tested, of those that classifiers are chosen on."""
    return np.random.default_rng(0).permutation(len(tested_rows(splits)))[:MOST_ROWS]


def select_ensemble(
    probabilities: Sequence[Floats],
    actual: Positions,
    measure: str,
    picks: int,
    left: Callable[[], float] = lambda: np.inf,
) -> dict[int, float]:
    """Weights, whose sum is 1, of those of m classifiers whose average is best.

    One is picked after the other, each the one that makes the average of those picked best; a classifier may
    be picked again. Of all the averages on the way the best is taken.

    Args:
        probabilities: p of each classifier, one or more.
        actual: (n,) true classes.
        measure: that says what is best, of `measures_of_probabilities`.
        picks: how many, at most.
        left: seconds that are left; once there are none, no more are picked.
    """
    p = probabilities
    picked: list[int] = []
    total = np.zeros_like(p[0], dtype=np.float64)
    best_score, best = -np.inf, 1
    for size in range(1, picks + 1):
        if picked and left() <= 0:
            break
        scores = [_score((total + one) / size, actual, measure) for one in p]
        place = int(np.argmax(scores))
        picked.append(place)
        total += p[place]
        if scores[place] > best_score:
            best_score, best = scores[place], size
    return {place: picked[:best].count(place) / best for place in dict.fromkeys(picked[:best])}


def averaged(probabilities: Sequence[Floats], weights: Sequence[float]) -> Floats:
    """(n, k) weighted average."""
    average: Floats = np.tensordot(np.asarray(weights), np.asarray(probabilities), 1)
    return average


def _score(p: Floats, actual: Positions, measure: str) -> float:
    """The value of the measure, larger is better; the worst where there is none."""
    value = oriented(np.array([measures_of_probabilities(p, actual)[measure]]), measure)[0]
    return -np.inf if np.isnan(value) else float(value)
