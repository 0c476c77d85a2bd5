"""A search as a page: its curve, what was tried and where it was good, the leaders, and the ensemble."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ingest.flows import get_flow
from metalearners.encoding.scores import oriented
from recommend.bo.optimizer import ALL_ROWS
from recommend.bo.tuning.history import Entry
from recommend.bo.tuning.result import Tuned
from recommend.html.axes import Axis, Scale, axis_of
from recommend.html.rendering import render

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
    entry: Entry
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
    axis: Scale
    values: Axis
    points: list[Point]


@dataclass(frozen=True)
class Line:
    """A trial as a line through the axes of its hyperparameters."""

    corners: str
    entry: Entry
    value: float
    is_good: bool


@dataclass(frozen=True)
class ParallelAxis:
    """A vertical axis of parallel coordinates."""

    name: str
    x: float
    scale: Scale


@dataclass(frozen=True)
class Parallel:
    """Trials as lines; the good ones last, so that they lie above."""

    axes: list[ParallelAxis]
    lines: list[Line]


@dataclass(frozen=True)
class OfAlgorithm:
    """What was tried of one algorithm."""

    title: str
    trials: int
    slices: list[Slice]
    parallel: Parallel | None


def tuning_page(tuned: Tuned, *, is_over: bool = True) -> str:
    """The search as one HTML file.

    Args:
        is_over: whether the search has ended, or goes on and the page is written again.
    """
    outcomes = Counter(str(entry.trial.outcome) for entry in tuned.entries if entry.trial is not None)
    entries = {entry.number: entry for entry in tuned.entries}
    members = sorted(tuned.finals.weights.items(), key=lambda item: -item[1])
    return render(
        "tuning.html",
        tuned=tuned,
        is_over=is_over,
        title=lambda entry: get_flow(entry.configuration.algorithm).title,
        outcomes=outcomes.most_common(),
        curve=curve_of(tuned),
        algorithms=algorithms_of(tuned),
        leaders=[entry for entry in tuned.entries if entry.number in tuned.finals.again],
        members=[(entries[number], weight) for number, weight in members],
        seconds=sum(entry.trial.seconds for entry in tuned.entries if entry.trial is not None),
        width=WIDTH,
        height=HEIGHT,
    )


def curve_of(tuned: Tuned) -> Curve | None:
    """The curve of the search; None where no trial has a value."""
    found = _valued(tuned, [entry for entry in tuned.entries if entry.share == ALL_ROWS])
    if not found:
        return None
    trials = Axis.over([entry.number for entry, _ in found], 48, WIDTH - 8)
    better = {entry.number for entry in tuned.incumbents}
    scores = oriented(np.array([value for _, value in found]), tuned.search.measure)
    first = min(score for score, (entry, _) in zip(scores, found, strict=True) if entry.number in better)
    drawn = scores >= min(first, scores.max() - FAR * (scores.max() - np.median(scores)))
    values = Axis.over(
        [value for (_, value), is_drawn in zip(found, drawn, strict=True) if is_drawn], HEIGHT - 34, 8
    )
    points = [
        Point(trials.at(entry.number), values.at(value), entry, value, entry.number in better)
        for (entry, value), is_drawn in zip(found, drawn, strict=True)
        if is_drawn
    ]
    steps = [point for point in points if point.is_good]
    corners = [(steps[0].x, steps[0].y)]
    for before, after in pairwise(steps):
        corners += [(after.x, before.y), (after.x, after.y)]
    corners.append((trials.end, steps[-1].y))
    return Curve(trials, values, points, _corners(corners), int((~drawn).sum()))


def algorithms_of(tuned: Tuned) -> list[OfAlgorithm]:
    """What was tried of each algorithm, the most tried first."""
    found: dict[str, list[Entry]] = {}
    for entry in tuned.entries:
        found.setdefault(entry.configuration.algorithm, []).append(entry)
    described = []
    for algorithm, entries in sorted(found.items(), key=lambda item: -len(item[1])):
        valued = _valued(tuned, entries)
        names = _varied([entry for entry, _ in valued]) if len(valued) >= LEAST_TRIALS else []
        good = _good(tuned, valued)
        described.append(
            OfAlgorithm(
                get_flow(algorithm).title,
                len(entries),
                [_slice(name, valued, good) for name in names],
                _parallel(names[:MOST_LINES], valued, good) if len(names) > 1 else None,
            )
        )
    return described


def _valued(tuned: Tuned, entries: Sequence[Entry]) -> list[tuple[Entry, float]]:
    """The trials that have a value, with it."""
    return [(entry, value) for entry in entries if (value := tuned.value(entry)) is not None]


def _good(tuned: Tuned, valued: Sequence[tuple[Entry, float]]) -> set[int]:
    """Numbers of the best trials."""
    scores = oriented(np.array([value for _, value in valued]), tuned.search.measure)
    order = sorted(range(len(valued)), key=lambda place: -scores[place])
    return {valued[place][0].number for place in order[: max(1, round(GOOD * len(valued)))]}


def _varied(entries: Sequence[Entry]) -> list[str]:
    """Hyperparameters that do not have one value in all trials."""
    names = dict.fromkeys(name for entry in entries for name in entry.configuration.values)
    return [
        name for name in names if len({repr(entry.configuration.values.get(name)) for entry in entries}) > 1
    ]


def _slice(name: str, valued: Sequence[tuple[Entry, float]], good: set[int]) -> Slice:
    present = [(entry, value) for entry, value in valued if name in entry.configuration.values]
    axis = axis_of([entry.configuration.values[name] for entry, _ in present], 48, WIDTH - 8)
    values = Axis.over([value for _, value in present], HEIGHT - 34, 8)
    points = [
        Point(axis.at(entry.configuration.values[name]), values.at(value), entry, value, entry.number in good)
        for entry, value in present
    ]
    return Slice(name, axis, values, sorted(points, key=lambda point: point.is_good))


def _parallel(names: Sequence[str], valued: Sequence[tuple[Entry, float]], good: set[int]) -> Parallel | None:
    """Trials that have all of these hyperparameters, as lines; None where they are too few."""
    settings = [
        (entry.configuration.values, entry, value)
        for entry, value in valued
        if all(name in entry.configuration.values for name in names)
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
        Line(_corners([(axis.x, axis.scale.at(values[axis.name])) for axis in axes]), entry, value, is_good)
        for values, entry, value in settings
        for is_good in [entry.number in good]
    ]
    return Parallel(axes, sorted(lines, key=lambda line: line.is_good))


def _corners(places: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{x:g},{y:g}" for x, y in places)
