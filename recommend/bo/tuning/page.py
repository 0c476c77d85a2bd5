"""A search as an HTML page: model, best trials, curve, hyperparameters of good trials."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from ingest.flows import get_flow
from metalearners.encoding.scores import oriented
from recommend.bo.tuning.result import SearchResult, incumbents
from recommend.bo.tuning.trials import Trial
from recommend.explaining.column_importance import ColumnImportance, column_importance
from recommend.explaining.target_words import target_words
from recommend.reporting.html.axes import Axis, NameAxis, axis_of
from recommend.reporting.html.rendering import render
from recommend.reporting.page import data_options, script_or_reason
from recommend.reporting.sentences import flow_title

WIDTH, HEIGHT = 360, 220
"""Size of a chart, in pixels on a phone."""
MOST_IN_NOTEBOOK = 10
"""Most trials shown in a notebook."""
LEAST_TRIALS = 4
"""Least trials of an algorithm for plots of its hyperparameters."""
GOOD = 0.25
"""Share of an algorithm's trials highlighted as good."""
FAR = 3
"""Multiple of the distance from the best trial to the median; a trial farther away and worse than the first
is not drawn."""


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
    """Points of the line, in SVG's notation."""
    too_bad: int
    """Number of trials not drawn because they are far worse than the others."""


@dataclass(frozen=True)
class Slice:
    """Values of the measure over one hyperparameter."""

    name: str
    axis: Axis | NameAxis
    values: Axis
    points: list[Point]


@dataclass(frozen=True)
class AlgorithmTrials:
    """Trials of one algorithm."""

    title: str
    trials: int
    slices: list[Slice]


def tuning_page(
    tuned: SearchResult, *, is_over: bool = True, importance: ColumnImportance | None = None
) -> str:
    """The search as one HTML file.

    Args:
        is_over: whether the search has ended; otherwise the page will be written again.
        importance: of the columns; None = left out.
    """
    evaluations = [trial.evaluation for trial in tuned.trials if trial.evaluation is not None]
    script = script_or_reason(tuned.code) if is_over else {}
    return render(
        "tuning.html",
        **_leaderboard(tuned),
        **script,
        is_over=is_over,
        outcomes=Counter(str(evaluation.outcome) for evaluation in evaluations).most_common(),
        curve=curve_of(tuned),
        importance=importance,
        source=data_options(tuned.dataset, tuned.measure),
        algorithms=algorithms_of(tuned),
        width=WIDTH,
        height=HEIGHT,
    )


def leaderboard_fragment(tuned: SearchResult) -> str:
    """The model and the best trials as HTML for a notebook, with a style limited to this output."""
    shown = _leaderboard(tuned)
    left = MOST_IN_NOTEBOOK - len(shown["first"])
    return render("fragment.html", part="leaderboard.html", **shown | {"rest": shown["rest"][: max(left, 0)]})


def importance_for(tuned: SearchResult, seconds: float) -> ColumnImportance | None:
    """Importance of the columns to the heaviest member of the model, or to the best trial without a model.

    Args:
        seconds: time limit.

    Returns:
        None if no trial succeeded and there is no model.
    """
    members = [] if tuned.model is None else [*tuned.model.weights]
    configuration = next(iter([*members, *(trial.configuration for trial in tuned.leaderboard[:1])]), None)
    if configuration is None:
        return None
    fits = [
        trial.evaluation.value("fit_seconds")
        for trial in tuned.trials
        if trial.configuration == configuration and trial.evaluation is not None
    ]
    train_rows, _ = tuned.resampling.sizes(len(tuned.dataset.features))
    return column_importance(
        configuration,
        tuned.dataset,
        tuned.measure,
        seconds,
        seed=tuned.search.seed,
        memory=tuned.search.trial_memory,
        pace=fits[0] / train_rows if fits and fits[0] else None,
    )


def _leaderboard(tuned: SearchResult) -> dict[str, Any]:
    """Values for the template of the leaderboard."""
    best = tuned.leaderboard
    shown, succeeded = ({trial.number for trial in several} for several in (tuned.leaders, best))
    return {
        "tuned": tuned,
        "measure": tuned.measure,
        "words": target_words(tuned.dataset),
        "flow_title": flow_title,
        "first": tuned.leaders,
        "rest": [
            *(trial for trial in best if trial.number not in shown),
            *(trial for trial in tuned.trials if trial.number not in succeeded),
        ],
    }


def curve_of(tuned: SearchResult) -> Curve | None:
    """The curve of the search; None if no trial has a value."""
    found = _valued(tuned, [trial for trial in tuned.trials if trial.counts])
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
    line = " ".join(f"{x:g},{y:g}" for x, y in corners)
    return Curve(numbers, values, points, line, int((~drawn).sum()))


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
            )
        )
    return described


def _valued(tuned: SearchResult, trials: Sequence[Trial]) -> list[tuple[Trial, float]]:
    """The trials with a value, and their values."""
    return [(trial, value) for trial in trials if (value := trial.value(tuned.measure)) is not None]


def _good(tuned: SearchResult, valued: Sequence[tuple[Trial, float]]) -> set[int]:
    """Numbers of the best trials."""
    scores = oriented(np.array([value for _, value in valued]), tuned.measure)
    order = sorted(range(len(valued)), key=lambda place: -scores[place])
    return {valued[place][0].number for place in order[: max(1, round(GOOD * len(valued)))]}


def _varied(trials: Sequence[Trial]) -> list[str]:
    """Hyperparameters with several values in the trials."""
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
