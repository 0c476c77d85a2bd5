"""Selection of the members of a search's model, by the predictions of their trials.

Ensemble selection with replacement (Caruana et al. 2004, section 2), initialized with the recommendation, so
that few noisy trials change little (section 2.3 initializes with strong models). The value of the ensemble is
cross-validated over blocks of rows: each block is predicted by the ensemble selected on the other blocks.

Notation
    m       trials; n rows; k columns of a prediction (classes, or 1 for a number)
    p       (n, k) out-of-fold predictions of a trial
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
"""Most numbers in a trial's predictions used for selection, and the least number of rows; with more, a
selection, which scores many averages, takes longer."""
MOST_TRIALS = 15
"""Number of best trials from which members are selected."""
PATIENCE = 5
"""Picks without a gain after which the selection ends."""
BLOCKS = 3
"""Blocks of rows for cross-validating the ensemble."""
JACKKNIFE = 10
"""Blocks of rows for the jackknife estimate of the noise."""
PULL = 3
"""Initial picks of each initial member."""
SURE = 1.0
"""Standard errors by which a single configuration has to beat the recommended one."""
CERTAIN = 3.0
"""Standard errors by which the best trial has to beat the initial average for that to be dropped."""


def voting_rows(splits: Sequence[Split], strata: int) -> Positions:
    """Rows used for selection, in order: all test rows, or a sample of them.

    Args:
        strata: number of strata of the rows; for classes, the number of a prediction's columns.
    """
    tested = np.sort(tested_rows(splits))
    most = max(MOST_NUMBERS // max(strata, 2), LEAST_ROWS)
    if len(tested) <= most:
        return tested
    return np.sort(np.random.default_rng(0).choice(tested, most, replace=False))


def votes_of(predictions: Floats, splits: Sequence[Split], rows: Positions) -> Floats | None:
    """(rows, k) the predictions of `rows`; None if not all of them were tested.

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
    """Predictions of m trials for rows with known outcomes."""

    predictions: Sequence[Floats]
    """p of each trial."""
    outcomes: np.ndarray
    """(n,)"""
    scorer: Scorer
    measure: str

    def score(self, p: Floats, rows: Positions | slice = slice(None)) -> float:
        """The value of the measure of predictions `p` of `rows`, larger is better; -inf if undefined."""
        score = oriented(self.scorer.value(self.measure, p[rows], self.outcomes[rows]), self.measure)
        return -np.inf if np.isnan(score) else score

    def beats(self, p: Floats, q: Floats, errors: float) -> bool:
        """Whether predictions `p` score higher than `q` by more than some standard errors of the difference.

        The standard error is the jackknife's, over blocks of rows (Efron and Stein 1981).
        """
        higher, lower = self.score(p), self.score(q)
        if not -np.inf < lower < higher:
            return False
        blocks = np.arange(len(self.outcomes)) % JACKKNIFE
        parts = [np.flatnonzero(blocks != block) for block in range(JACKKNIFE)]
        scores = np.array([(self.score(p, rows), self.score(q, rows)) for rows in parts])
        if np.isinf(scores).any():
            return False
        error = np.sqrt((JACKKNIFE - 1) * np.var(scores[:, 0] - scores[:, 1]))
        return bool(higher - lower > errors * error)

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
    """Select an ensemble on `rows`: place of a trial -> its weight, with sum 1.

    Each pick is the trial that makes the average best, in a tie the one that is best alone; a trial may be
    picked repeatedly. The result is the best average on the way, including the initial one.

    Args:
        start: places of the initial trials, each with `PULL` picks; may be empty. They have none if the best
            trial is certainly better than their average.
        picks: most picks.
        left: seconds left; once there are none, only `PATIENCE` picks are made, which is quick.
    """
    truth = Ballot(
        [one[rows] for one in ballot.predictions], ballot.outcomes[rows], ballot.scorer, ballot.measure
    )
    places = range(len(ballot.predictions))
    alone = [truth.score(one) for one in truth.predictions]
    counts = dict.fromkeys(start, PULL)
    leader = truth.predictions[int(np.argmax(alone))]
    if counts and truth.beats(leader, truth.average(counts), CERTAIN):
        counts = {}
    total = np.zeros_like(truth.predictions[0], dtype=np.float64)
    for place, count in counts.items():
        total += count * truth.predictions[place]
    size = sum(counts.values())
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
    """The place of the best trial if it beats `first` by more than the noise; else `first`.

    Args:
        scores: (m,) of the trials, larger is better.
        first: place of the first recommendation.
    """
    best = int(np.argmax(scores))
    return best if ballot.beats(ballot.predictions[best], ballot.predictions[first], SURE) else first


def estimate(
    ballot: Ballot, select: Callable[[Positions], Mapping[int, float]], left: Callable[[], float]
) -> float | None:
    """The cross-validated score of the ensemble; None if time is up.

    Args:
        select: rows -> weights selected on them.
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
