"""Report of a search as an HTML page: model, curve, hyperparameters of good trials."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ingest.flows import get_flow
from metalearners.encoding.scores import oriented
from recommend.bo.optimizer import ALL_ROWS
from recommend.bo.tuning.result import SearchResult, incumbents
from recommend.bo.tuning.trials import Trial
from recommend.ranking.target_kinds import target_kind
from recommend.reporting.html.axes import Axis, ChartScale, axis_of
from recommend.reporting.html.rendering import render

WIDTH, HEIGHT = 360, 220
MOST_LINES = 8
"""Hyperparameters of a chart of parallel coordinates."""
LEAST_TRIALS = 4
"""Trials of an algorithm below which its hyperparameters are not drawn."""
GOOD = 0.25
"""Share of an algorithm's trials that are drawn as the good ones."""
FAR = 3
"""Distances from the best trial to the median beyond which one that is worse than the first is not drawn."""
SIDE = 28
"""Free space on either side of parallel coordinates."""


@dataclass(frozen=True)
class Point:
    """A trial in a chart."""

    x: float
    y: float
    trial: Trial
    value: float
    is_good: bool


@dataclass(frozen=True)
class Curve:
    """Values of the trials in their order, and the best so far."""

    trials: Axis
    values: Axis
    points: list[Point]
    best: str
    """Corners of the line, as SVG has them."""
    too_bad: int
    """Trials that are far worse than the others, and not drawn."""


@dataclass(frozen=True)
class Slice:
    """Values of the measure over one hyperparameter."""

    name: str
    axis: ChartScale
    values: Axis
    points: list[Point]


@dataclass(frozen=True)
class Line:
    """A trial as a line through the axes of its hyperparameters."""

    corners: str
    trial: Trial
    value: float
    is_good: bool


@dataclass(frozen=True)
class ParallelAxis:
    """A vertical axis of parallel coordinates."""

    name: str
    x: float
    scale: ChartScale


@dataclass(frozen=True)
class Parallel:
    """Trials as lines; the good ones last, so that they lie above."""

    axes: list[ParallelAxis]
    lines: list[Line]


@dataclass(frozen=True)
class AlgorithmTrials:
    """Trials of one algorithm."""

    title: str
    trials: int
    slices: list[Slice]
    parallel: Parallel | None


def tuning_page(tuned: SearchResult, *, is_over: bool = True) -> str:
    """The search as one HTML file.

    Args:
        is_over: whether the search has ended, or goes on and the page is written again.
    """
    evaluations = [trial.evaluation for trial in tuned.trials if trial.evaluation is not None]
    outcomes = Counter(str(evaluation.outcome) for evaluation in evaluations)
    return render(
        "tuning.html",
        tuned=tuned,
        is_over=is_over,
        title=lambda trial: get_flow(trial.configuration.algorithm).title,
        outcomes=outcomes.most_common(),
        curve=curve_of(tuned),
        algorithms=algorithms_of(tuned),
        flow_title=lambda configuration: get_flow(configuration.algorithm).title,
        measured=target_kind(tuned.dataset).measured,
        width=WIDTH,
        height=HEIGHT,
    )


def curve_of(tuned: SearchResult) -> Curve | None:
    """The curve of the search; None where no trial has a value."""
    found = _valued(tuned, [trial for trial in tuned.trials if trial.share == ALL_ROWS])
    if not found:
        return None
    numbers = Axis.over([trial.number for trial, _ in found], 48, WIDTH - 8)
    better = {trial.number for trial in incumbents(tuned.trials, tuned.measure)}
    scores = oriented(np.array([value for _, value in found]), tuned.measure)
    first = min(score for score, (trial, _) in zip(scores, found, strict=True) if trial.number in better)
    drawn = scores >= min(first, scores.max() - FAR * (scores.max() - np.median(scores)))
    values = Axis.over(
        [value for (_, value), is_drawn in zip(found, drawn, strict=True) if is_drawn], HEIGHT - 34, 8
    )
    points = [
        Point(numbers.at(trial.number), values.at(value), trial, value, trial.number in better)
        for (trial, value), is_drawn in zip(found, drawn, strict=True)
        if is_drawn
    ]
    steps = [point for point in points if point.is_good]
    corners = [(steps[0].x, steps[0].y)]
    for before, after in pairwise(steps):
        corners += [(after.x, before.y), (after.x, after.y)]
    corners.append((numbers.end, steps[-1].y))
    return Curve(numbers, values, points, _corners(corners), int((~drawn).sum()))


def algorithms_of(tuned: SearchResult) -> list[AlgorithmTrials]:
    """Trials of each algorithm, the most tried first."""
    found: dict[str, list[Trial]] = {}
    for trial in tuned.trials:
        found.setdefault(trial.configuration.algorithm, []).append(trial)
    described = []
    for algorithm, trials in sorted(found.items(), key=lambda item: -len(item[1])):
        valued = _valued(tuned, trials)
        names = _varied([trial for trial, _ in valued]) if len(valued) >= LEAST_TRIALS else []
        good = _good(tuned, valued)
        described.append(
            AlgorithmTrials(
                get_flow(algorithm).title,
                len(trials),
                [_slice(name, valued, good) for name in names],
                _parallel(names[:MOST_LINES], valued, good) if len(names) > 1 else None,
            )
        )
    return described


def _valued(tuned: SearchResult, trials: Sequence[Trial]) -> list[tuple[Trial, float]]:
    """The trials that have a value, with it."""
    return [(trial, value) for trial in trials if (value := trial.value(tuned.measure)) is not None]


def _good(tuned: SearchResult, valued: Sequence[tuple[Trial, float]]) -> set[int]:
    """Numbers of the best trials."""
    scores = oriented(np.array([value for _, value in valued]), tuned.measure)
    order = sorted(range(len(valued)), key=lambda place: -scores[place])
    return {valued[place][0].number for place in order[: max(1, round(GOOD * len(valued)))]}


def _varied(trials: Sequence[Trial]) -> list[str]:
    """Hyperparameters that do not have one value in all trials."""
    names = dict.fromkeys(name for trial in trials for name in trial.configuration.values)
    return [
        name for name in names if len({repr(trial.configuration.values.get(name)) for trial in trials}) > 1
    ]


def _slice(name: str, valued: Sequence[tuple[Trial, float]], good: set[int]) -> Slice:
    present = [(trial, value) for trial, value in valued if name in trial.configuration.values]
    axis = axis_of([trial.configuration.values[name] for trial, _ in present], 48, WIDTH - 8)
    values = Axis.over([value for _, value in present], HEIGHT - 34, 8)
    points = [
        Point(axis.at(trial.configuration.values[name]), values.at(value), trial, value, trial.number in good)
        for trial, value in present
    ]
    return Slice(name, axis, values, sorted(points, key=lambda point: point.is_good))


def _parallel(names: Sequence[str], valued: Sequence[tuple[Trial, float]], good: set[int]) -> Parallel | None:
    """Trials that have all of these hyperparameters, as lines; None where they are too few."""
    settings = [
        (trial.configuration.values, trial, value)
        for trial, value in valued
        if all(name in trial.configuration.values for name in names)
    ]
    if len(settings) < LEAST_TRIALS:
        return None
    gap = (WIDTH - 2 * SIDE) / (len(names) - 1)
    axes = [
        ParallelAxis(
            name,
            round(SIDE + gap * position, 1),
            axis_of([values[name] for values, _, _ in settings], HEIGHT - 20, 48),
        )
        for position, name in enumerate(names)
    ]
    lines = [
        Line(_corners([(axis.x, axis.scale.at(values[axis.name])) for axis in axes]), trial, value, is_good)
        for values, trial, value in settings
        for is_good in [trial.number in good]
    ]
    return Parallel(axes, sorted(lines, key=lambda line: line.is_good))


def _corners(places: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{x:g},{y:g}" for x, y in places)
