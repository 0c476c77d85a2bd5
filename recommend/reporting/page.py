"""A recommendation as an HTML page: configurations, expected values, reasons, and the dataset."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ingest.reading.column_types.roles import NOT_LEARNED_FROM
from ingest.reading.datasets import Dataset
from recommend.explaining.ranked_configuration import RankedConfiguration
from recommend.explaining.target_words import target_words
from recommend.ranking.performance_forecast import PerformanceForecast
from recommend.recommendation import Recommendation
from recommend.reporting.html.axes import Axis
from recommend.reporting.html.rendering import render
from recommend.reporting.sentences import flow_title
from recommend.reporting.terminal import average_title, why
from warehouse.support.errors import BadInput
from warehouse.support.text import counted
from warehouse.vocabulary.measures import larger_is_better

if TYPE_CHECKING:
    from recommend.explaining.column_importance import ColumnImportance

MOST_COLUMNS = 200
MOST_CLASSES = 10
MOST_TRIED = 6
"""Trials of a verification shown without unfolding."""
MOST_KNOWN = 3
"""Number of most similar datasets shown."""
MOST_IN_NOTEBOOK = 10
"""Most configurations shown in a notebook."""


def recommendation_page(recommendation: Recommendation, importance: ColumnImportance | None = None) -> str:
    """The recommendation as one HTML file.

    Args:
        importance: of the columns; None = left out.
    """
    dataset, explanation = recommendation.dataset, recommendation.explanation
    return render(
        "recommendation.html",
        **_ranking(recommendation, recommendation.configurations),
        dataset=dataset,
        missing=float(dataset.features.isna().to_numpy().mean()),
        most_tried=MOST_TRIED,
        known=[] if explanation is None else explanation.known[:MOST_KNOWN],
        importance=importance,
        source=data_options(dataset, recommendation.measure),
        **script_or_reason(recommendation.code),
        classes=target_words(dataset).counts(),
        most_classes=MOST_CLASSES,
        roles=Counter(map(str, dataset.roles.values())).most_common(),
        columns=columns_of(dataset),
    )


def ranking_fragment(recommendation: Recommendation) -> str:
    """The ranked configurations as HTML for a notebook, with a style limited to this output."""
    shown = recommendation.configurations[:MOST_IN_NOTEBOOK]
    return render("fragment.html", part="ranking.html", **_ranking(recommendation, shown))


def _ranking(recommendation: Recommendation, shown: Sequence[RankedConfiguration]) -> dict[str, Any]:
    """Values for the template of the ranking."""
    measure, average = recommendation.measure, recommendation.average
    promises = [item.expectation for item in shown] + ([average.expectation] if average else [])
    scale, default = scale_of([promise for promise in promises if promise is not None], measure)
    return {
        "recommendation": recommendation,
        "shown": shown,
        "measure": measure,
        "words": target_words(recommendation.dataset),
        "scale": scale,
        "default": default,
        "why": why,
        "average_title": average_title,
        "flow_title": flow_title,
    }


def scale_of(promises: Sequence[PerformanceForecast], measure: str) -> tuple[Axis | None, float | None]:
    """The scale of the intervals in per cent, and the value of the first reference's default on it.

    None if unknown.
    """
    if not promises:
        return None, None
    gain = promises[0].gain
    better = 1 if larger_is_better(measure) else -1
    default = None if gain is None else promises[0].value - better * gain
    ends = [end for promise in promises for end in (promise.low, promise.high)]
    return Axis.over(ends if default is None else [*ends, default], 0, 100), default


def columns_of(dataset: Dataset) -> list[tuple[str, str]]:
    """Name of each of the first columns, and its role, missing cells and number of values in words."""
    described = []
    for name, values in dataset.features.iloc[:, :MOST_COLUMNS].items():
        role, missing = dataset.roles[str(name)], float(values.isna().mean())
        ignored = ", ignored" if role in NOT_LEARNED_FROM else ""
        gaps = f", {missing:.1%} missing" if missing else ""
        described.append((str(name), f"{role}{ignored}{gaps}, {counted(values.nunique(), 'values')}"))
    return described


def data_options(dataset: Dataset, measure: str) -> str:
    """The dataset, target, split and measure as arguments of a command; empty for a data frame."""
    if dataset.source == "data frame":
        return ""
    options = [dataset.source, "--target", str(dataset.target.name)]
    if dataset.split is not None:
        options += ["--split", str(dataset.split)]
    if measure != dataset.task_type.default_measure:
        options += ["--measure", measure]
    return shlex.join(options)


def script_or_reason(make: Callable[[], str]) -> dict[str, str]:
    """`code`, the script that `make` returns, or `no_code`, the reason why there is none."""
    try:
        return {"code": make(), "no_code": ""}
    except BadInput as error:
        return {"code": "", "no_code": str(error)}
