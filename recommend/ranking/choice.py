"""Forecast of all candidates, and the joint choice of those to try first.

Notation: n candidates, k of them chosen; p (n,) predicted standard scores scaled to [0, 1], higher is better;
d >= 0 the delta parameter.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from metalearners.encoding.scores import oriented
from metalearners.predictions import Prediction
from recommend.ranking.candidates import Candidates
from recommend.ranking.fit_cost import FitSeconds, fit_seconds, worthwhile
from recommend.ranking.knowledge import Knowledge
from recommend.ranking.performance_forecast import PerformanceForecast, expectations
from warehouse.support.arrays import Floats, Positions
from warehouse.support.errors import BadOption
from warehouse.vocabulary.table import ConfigurationTable

STRATEGIES = ("top", "delta")
DELTAS = np.arange(10) / 10
"""0, 0.1, ..., 0.9: from 1 on, eq. 6.2 is highest at an end of the ranking, possibly the worst."""

Selection = list[tuple[int, float | None]]
"""Positions of candidates in the order to try them in, each with the delta that selected it, if any."""


@dataclass(frozen=True)
class Forecast:
    """Predictions of the n candidates, before any is chosen."""

    candidates: Candidates
    scores: Prediction
    fits: FitSeconds


@dataclass(frozen=True)
class Chosen:
    """The k configurations to try, the best first."""

    positions: Positions
    """(k,) among the candidates."""
    table: ConfigurationTable
    """(k,)"""
    deltas: Sequence[float | None]
    """(k,) the delta that selected each; None if it was selected for its prediction alone."""
    expectations: Sequence[PerformanceForecast] | None
    """(k,) expected values of a run in the unit of the measure; None if only scores are known."""
    beats_first: Floats
    """(k,) probability of beating the first, for those selected as its complements; NaN for others."""


def forecast(known: Knowledge, candidates: Candidates) -> Forecast:
    """Predict the standard score and the time of one fit of each candidate."""
    scores = known.predictor.predict(candidates.table, known.metafeatures)
    return Forecast(candidates, scores, fit_seconds(known.fit_times, candidates.table))


def choose(
    known: Knowledge, expected: Forecast, top: int, strategy: str = "top", budget: float | None = None
) -> Chosen:
    """Choose configurations, and order them by expected value, if that is known.

    Args:
        top: number of configurations.
        strategy: one of `STRATEGIES`.
        budget: limit of the seconds for one fit of each chosen configuration; None = no limit, but long fits
            must promise a gain (`recommend.ranking.fit_cost.worthwhile`).

    Raises:
        BadInput: nothing fits into the budget.
    """
    predictor, table, mean = known.predictor, expected.candidates.table, expected.scores.mean
    seconds = expected.fits.seconds

    def select(among: Positions) -> Selection:
        if strategy == "delta":
            joint = len(set(table.algorithms.iloc[among])) > 1
            return [
                (int(among[place]), delta) for place, delta in choose_delta(mean[among], top, joint=joint)
            ]
        best = predictor.choose(table.take(among), known.metafeatures, top)
        return [(int(position), None) for position in among[best]]

    worth = worthwhile(seconds, mean)
    selected = select(worth) if budget is None else choose_within(budget, seconds, select)
    positions = np.array([position for position, _ in selected], dtype=np.intp)
    promised = expected_values(known, table.take(positions))
    order = np.arange(len(positions))
    if promised is not None:
        values = oriented(np.array([promise.value for promise in promised]), known.task.measure)
        order = np.argsort(-values, kind="stable")
    positions = positions[order]
    chosen = table.take(positions)
    beats_first = np.full(len(positions), np.nan)
    if strategy == "top" and len(positions) > 1:
        beats_first[1:] = predictor.beats(
            chosen.take(np.arange(1, len(chosen))), chosen.take([0]), known.metafeatures
        )
        within = worth if budget is None else np.flatnonzero(seconds <= np.max(seconds[positions]))
        passed_over = mean[np.setdiff1d(within, positions)].max(initial=-np.inf)
        # Nothing better was passed over, so it was selected for its own expectation, not as a complement.
        beats_first[mean[positions] >= passed_over] = np.nan
    return Chosen(
        positions,
        chosen,
        [selected[place][1] for place in order],
        None if promised is None else [promised[place] for place in order],
        beats_first,
    )


def expected_values(known: Knowledge, table: ConfigurationTable) -> list[PerformanceForecast] | None:
    """Expected value of each of these configurations; None if only standard scores are known."""
    return expectations(
        known.predictor,
        table,
        known.runs.configurations,
        known.metafeatures,
        known.task.measure,
        known.task.target.references,
    )


def choose_within(budget: float, seconds: Floats, select: Callable[[Positions], Selection]) -> Selection:
    """Select among candidates with short fits, so that all selected ones together fit into `budget`.

    Args:
        budget: seconds.
        seconds: (n,) expected of one fit of each candidate; NaN = unknown, which exceeds any budget.
        select: selects among the candidates at these positions.

    Raises:
        BadInput: nothing fits into the budget, or no running time is known.
    """
    if np.isnan(seconds).all():
        raise BadOption("a budget needs running times, and the warehouse has no running times of fits")
    affordable = np.flatnonzero(seconds <= budget)
    while len(affordable):
        selected = select(affordable)
        took = seconds[[position for position, _ in selected]]
        if took.sum() <= budget:
            return selected
        affordable = affordable[seconds[affordable] < took.max()]
    raise BadOption(
        f"nothing fits into {budget:g} s: the quickest configuration takes about {np.nanmin(seconds):.2g} s"
    )


def choose_delta(predicted: np.ndarray, n: int, *, joint: bool = False) -> Selection:
    """Positions of `n` seeds spread over the predicted ranking from the best downwards, each with its delta.

    For d = 0, 0.1, 0.2, ... the seed is the configuration with the highest (1 - p)^d + p, where the
    predictions p are scaled to [0, 1]; the first `n` different ones are taken (van Hoof's thesis,
    eq. 6.2). If there are fewer, the next best predictions follow, without a delta.

    Args:
        predicted: (n,) standard scores.
        joint: whether there are several algorithms. The thesis has only one. With several, the worst are
            failures, and average ones would be near 1; so p is 0 at the median and below.
    """
    low, high = np.median(predicted) if joint else predicted.min(), predicted.max()
    p = np.maximum((predicted - low) / (high - low), 0) if high > low else np.ones_like(predicted)
    order = np.argsort(-predicted, kind="stable")  # of equal scores the higher prediction wins
    scores = (1 - p[order]) ** DELTAS[:, None] + p[order]  # (deltas, n)
    chosen: dict[int, float | None] = {}
    for d, place in zip(DELTAS, scores.argmax(axis=1), strict=True):
        chosen.setdefault(int(order[place]), float(d))
    for position in order:
        chosen.setdefault(int(position), None)
    return list(chosen.items())[:n]
