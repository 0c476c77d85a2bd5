"""Selection of the configurations that a search's model consists of, by their trials' predictions.

Ensemble selection with replacement (Caruana et al. 2004, section 2) that begins with what is expected to be
good before any trial, so that few noisy trials change little (the start with strong models of its section
2.3). The value of the selected average is estimated on rows that the selection has not seen: the rows are
divided into blocks, and each block is predicted by what the others select.

Notation
    m       trials; n rows; k columns of a prediction (classes, or 1 for a number)
    p       (n, k) what a trial predicts of rows that it was not fitted on
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ingest.running.blocks import Split
from ingest.running.resampling import tested_rows
from ingest.running.scorer import Scorer
from metalearners.encoding.scores import oriented
from warehouse.support.arrays import Floats, Positions

MOST_NUMBERS, LEAST_ROWS = 20_000, 1_000
"""Numbers of a trial's predictions that members are chosen on, and rows that these are at least; ranking more
of them for an area takes long."""
MOST_TRIALS = 15
"""Best trials that members are chosen from."""
PATIENCE = 5
"""Picks without a gain after which no more are picked."""
BLOCKS = 3
"""Parts of the rows, each of which is predicted by what the others select."""
JACKKNIFE = 10
"""Parts of the rows, each of which is left out once to tell how noisy a difference is."""
PULL = 3
"""Picks that each of the members has with which a selection begins."""
SURE = 1.0
"""Standard errors by which a single configuration has to be better than the one that is recommended."""


def voting_rows(splits: Sequence[Split], strata: int) -> Positions:
    """Rows that members are chosen on, in order: all that are tested, or a sample of them.

    Args:
        strata: number of strata of the rows, which is that of a prediction's columns where they are classes.
    """
    tested = np.sort(tested_rows(splits))
    most = max(MOST_NUMBERS // max(strata, 2), LEAST_ROWS)
    if len(tested) <= most:
        return tested
    return np.sort(np.random.default_rng(0).choice(tested, most, replace=False))


def votes_of(predictions: Floats, splits: Sequence[Split], rows: Positions) -> Floats | None:
    """(rows, k) the predictions of `rows`; None where not all of them were tested.

    Args:
        predictions: (tested rows, k), split after split.
    """
    tested = tested_rows(splits)
    order = np.argsort(tested, kind="stable")
    place = np.searchsorted(tested[order], rows)
    if (place >= len(tested)).any() or (tested[order][place] != rows).any():
        return None
    return predictions[order[place]].astype(np.float32)


@dataclass(frozen=True)
class Ballot:
    """What m trials predict of rows whose outcomes are known."""

    predictions: Sequence[Floats]
    """p of each trial."""
    outcomes: np.ndarray
    """(n,)"""
    scorer: Scorer
    measure: str

    def score(self, p: Floats, rows: Positions | slice = slice(None)) -> float:
        """The value of the measure of predictions `p` of `rows`, larger is better; -inf where it has none."""
        score = oriented(self.scorer.value(self.measure, p[rows], self.outcomes[rows]), self.measure)
        return -np.inf if np.isnan(score) else score

    def average(self, weights: Mapping[int, float], rows: Positions | slice = slice(None)) -> Floats:
        """The weighted average of these trials' predictions of `rows`."""
        total = sum(weights.values())
        parts = [weight / total * self.predictions[place][rows] for place, weight in weights.items()]
        average: Floats = np.sum(parts, axis=0, dtype=np.float64)
        return average


def select_ensemble(
    ballot: Ballot,
    start: Sequence[int],
    picks: int,
    rows: Positions | slice = slice(None),
    left: Callable[[], float] = lambda: np.inf,
) -> dict[int, float]:
    """Place of a trial -> its weight, with sum 1, in an average that is good on `rows`.

    One trial is picked after the other, each the one that makes the average best, of equal ones the one that
    is best alone; a trial may be picked again. The best average on the way is taken, the one it begins with
    included.

    Args:
        start: places of the trials with which it begins, each with `PULL` picks; empty = it begins with none.
        picks: most picks.
        left: seconds that are left; once there are none, `PATIENCE` trials are picked, which takes a moment.
    """
    counts = dict.fromkeys(start, PULL)
    places = range(len(ballot.predictions))
    total = np.zeros_like(ballot.predictions[0][rows], dtype=np.float64)
    for place, count in counts.items():
        total += count * ballot.predictions[place][rows]
    size = sum(counts.values())
    truth = Ballot(
        [one[rows] for one in ballot.predictions], ballot.outcomes[rows], ballot.scorer, ballot.measure
    )
    alone = [truth.score(one) for one in truth.predictions]
    best, best_score = dict(counts), truth.score(total / size) if size else -np.inf
    idle = 0
    for pick in range(picks):
        if idle == PATIENCE or (pick >= PATIENCE and left() <= 0):
            break
        scores = [truth.score((total + truth.predictions[place]) / (size + 1)) for place in places]
        place = max(places, key=lambda place: (scores[place], alone[place]))
        counts[place] = counts.get(place, 0) + 1
        total += truth.predictions[place]
        size += 1
        idle += 1
        if not best or scores[place] > best_score:
            best, best_score, idle = dict(counts), scores[place], 0
    return {place: count / sum(best.values()) for place, count in best.items()}


def select_single(ballot: Ballot, scores: Sequence[float], first: int) -> int:
    """The place of the best trial if it beats `first` by more than the noise of the rows; else `first`.

    Args:
        scores: (m,) of the trials, larger is better.
        first: place of what is expected to be best before any trial.
    """
    best = int(np.argmax(scores))
    if best == first:
        return first
    blocks = np.arange(len(ballot.outcomes)) % JACKKNIFE
    one, other = ballot.predictions[best], ballot.predictions[first]
    without = [
        ballot.score(one, np.flatnonzero(blocks != block))
        - ballot.score(other, np.flatnonzero(blocks != block))
        for block in range(JACKKNIFE)
    ]
    # The jackknife's standard error of the difference, over blocks of rows (Efron and Stein 1981).
    error = float(np.sqrt((JACKKNIFE - 1) * np.var(without)))
    return best if scores[best] - scores[first] > SURE * error else first


def estimate(
    ballot: Ballot, select: Callable[[Positions], Mapping[int, float]], left: Callable[[], float]
) -> float | None:
    """The score of what is selected, on rows that the selection has not seen; None where time is up.

    Args:
        select: rows -> weights that are selected on them.
    """
    rows = np.arange(len(ballot.outcomes))
    block = np.random.default_rng(0).permutation(len(rows)) % BLOCKS
    predicted = np.zeros(ballot.predictions[0].shape)
    for number in range(BLOCKS):
        if left() <= 0:
            return None
        out = block == number
        predicted[out] = ballot.average(select(rows[~out]), rows[out])
    score = ballot.score(predicted)
    return None if np.isinf(score) else score
