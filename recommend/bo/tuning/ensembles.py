"""Ensembles of configurations whose predictions are averaged.

Ensemble selection with replacement: Caruana et al. (2004), section 2.

Notation
    m       pipelines; n rows; k columns of a prediction (classes, or 1 for a number)
    p       (n, k) what a pipeline predicts of rows that it was not fitted on
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ingest.running.blocks import Split
from ingest.running.resampling import tested_rows
from ingest.running.scorer import Scorer
from metalearners.encoding.scores import oriented
from warehouse.support.arrays import Floats, Positions

MOST_ROWS = 10_000
"""Rows that members are chosen on; ranking more of them for an area takes long."""


def voting_rows(splits: Sequence[Split]) -> Positions:
    """Positions, among the rows that are tested, of those that members are chosen on."""
    return np.random.default_rng(0).permutation(len(tested_rows(splits)))[:MOST_ROWS]


def select_ensemble(
    predictions: Sequence[Floats],
    outcomes: np.ndarray,
    scorer: Scorer,
    measure: str,
    picks: int,
    left: Callable[[], float] = lambda: np.inf,
) -> dict[int, float]:
    """Weights, with sum 1, of the members of the best average of m pipelines.

    One is picked after the other, each the one that makes the average of those picked best; a pipeline may be
    picked again. The best average on the way is taken.

    Args:
        predictions: p of each pipeline, one or more.
        outcomes: (n,) true ones.
        scorer: of the task type.
        measure: of the task type, by which averages are compared.
        picks: most picks.
        left: seconds that are left; once there are none, no more are picked.
    """
    p = predictions
    picked: list[int] = []
    total = np.zeros_like(p[0], dtype=np.float64)
    best_score, best = -np.inf, 1
    for size in range(1, picks + 1):
        if picked and left() <= 0:
            break
        scores = [_score((total + one) / size, outcomes, scorer, measure) for one in p]
        place = int(np.argmax(scores))
        picked.append(place)
        total += p[place]
        if scores[place] > best_score:
            best_score, best = scores[place], size
    return {place: picked[:best].count(place) / best for place in dict.fromkeys(picked[:best])}


def _score(p: Floats, outcomes: np.ndarray, scorer: Scorer, measure: str) -> float:
    """The value of the measure, larger is better; the worst where there is none."""
    value = scorer.measures([scorer.average([p], [1.0])], [outcomes])[measure]
    score = float(oriented(np.array([value]), measure)[0])
    return -np.inf if np.isnan(score) else score
