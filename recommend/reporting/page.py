"""A recommendation as an HTML page: configurations, expected values, reasons, and the dataset."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import partial

import pandas as pd

from ingest.reading.column_types.roles import NOT_LEARNED_FROM, Role
from ingest.reading.datasets import Dataset
from recommend.explaining.known_sizes import SIZES
from recommend.explaining.ranked_configuration import RankedConfiguration
from recommend.ranking.target_kinds import target_kind
from recommend.recommendation import Recommendation
from recommend.reporting.html.axes import Axis
from recommend.reporting.html.rendering import render
from recommend.reporting.sentences import flow_title
from recommend.reporting.terminal import average_title, why
from warehouse.vocabulary.measures import larger_is_better

WIDTH, HEIGHT = 360, 260
"""Units of a chart, which are pixels on a phone."""
MOST_COLUMNS = 200
MOST_CLASSES = 30


@dataclass(frozen=True)
class ColumnSummary:
    """One column of the dataset."""

    name: str
    role: Role
    missing: float
    """Share of the rows."""
    distinct: int
    is_learned_from: bool


@dataclass(frozen=True)
class MapPoint:
    """A dataset on the map."""

    name: str
    rows: float
    features: float
    classes: float


@dataclass(frozen=True)
class Map:
    """The known datasets and this one, by rows and features."""

    rows: Axis
    features: Axis
    known: list[MapPoint]
    here: MapPoint


@dataclass(frozen=True)
class IntervalLine:
    """The expected interval of one configuration, as a line of a chart."""

    item: RankedConfiguration
    height: float


@dataclass(frozen=True)
class Intervals:
    """Expected values with their intervals, on one axis."""

    axis: Axis
    lines: list[IntervalLine]
    default: float | None
    """Expected value of the default of the first reference."""
    height: float


def recommendation_page(recommendation: Recommendation) -> str:
    """The recommendation as one HTML file."""
    dataset = recommendation.dataset
    target = target_kind(dataset)
    return render(
        "recommendation.html",
        recommendation=recommendation,
        dataset=dataset,
        columns=columns_of(dataset),
        roles=Counter(map(str, dataset.roles.values())).most_common(),
        target=target,
        number=target.number,
        gain=partial(target.gain, recommendation.measure),
        other_gains=partial(target.other_gains, recommendation.measure),
        beside=partial(target.beside, recommendation.measure),
        classes=[*target.counts().items()][:MOST_CLASSES],
        missing=float(dataset.features.isna().to_numpy().mean()),
        intervals=intervals_of(recommendation.configurations, recommendation.measure),
        map=map_of(recommendation),
        most_columns=MOST_COLUMNS,
        why=why,
        average_title=average_title,
        flow_title=flow_title,
        width=WIDTH,
        height=HEIGHT,
    )


def columns_of(dataset: Dataset) -> list[ColumnSummary]:
    """The first columns of the dataset."""
    features = dataset.features.iloc[:, :MOST_COLUMNS]
    return [
        ColumnSummary(
            str(name),
            dataset.roles[str(name)],
            float(values.isna().mean()),
            int(values.nunique()),
            dataset.roles[str(name)] not in NOT_LEARNED_FROM,
        )
        for name, values in features.items()
    ]


def intervals_of(configurations: list[RankedConfiguration], measure: str) -> Intervals | None:
    """The intervals of the configurations; None where only standard scores are known."""
    promises = [item.expectation for item in configurations if item.expectation is not None]
    if len(promises) < len(configurations):
        return None
    gain = promises[0].gain
    better = 1 if larger_is_better(measure) else -1
    default = None if gain is None else promises[0].value - better * gain
    ends = [end for promise in promises for end in (promise.low, promise.high)]
    axis = Axis.over(ends if default is None else [*ends, default], 24, WIDTH - 8)
    lines = [IntervalLine(item, 16 + 24 * place) for place, item in enumerate(configurations)]
    return Intervals(axis, lines, default, 24 * len(configurations) + 8)


def map_of(recommendation: Recommendation) -> Map | None:
    """The dataset among those of the warehouse; None where no sizes of these are known."""
    known = _points(recommendation.known_sizes)
    if not known:
        return None
    dataset = recommendation.dataset
    here = MapPoint(dataset.name, len(dataset.features), max(dataset.features.shape[1], 1), dataset.n_classes)
    every = [*known, here]
    return Map(
        Axis.over([place.rows for place in every], 40, WIDTH - 8, is_log=True),
        Axis.over([place.features for place in every], HEIGHT - 34, 8, is_log=True),
        known,
        here,
    )


def _points(sizes: pd.DataFrame) -> list[MapPoint]:
    return [
        # The target counts as a feature among OpenML's qualities.
        MapPoint(name, rows, max(features - 1, 1), classes)
        for name, rows, features, classes in sizes[list(SIZES)].itertuples(name=None)
    ]
