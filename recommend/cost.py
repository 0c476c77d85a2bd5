"""What configurations cost: seconds of one fit on all rows of a dataset on this machine."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pandas as pd

from warehouse.configurations.table import ConfigurationTable
from warehouse.store import Warehouse
from warehouse.support.arrays import Floats, Positions
from warehouse.support.errors import BadInput, BadOption

LONG = 10.0
"""A fit is long that takes so many times as long as the median of the candidates', and so many seconds."""
WORTH = 0.1
"""Standard scores that a long fit has to be expected to gain over the best short one; a heuristic."""

Choice = list[tuple[int, float | None]]
"""Positions of configurations in the order to try them in, each with the delta that chose it, if any."""


class FitSeconds(NamedTuple):
    """Expected times of fits."""

    seconds: Floats
    """(n,) of each configuration; NaN where no run of its algorithm is timed."""
    factor: float | None
    """80 % of the fits take at most so many times as long, and at least that part of it; None = unknown."""


def fit_seconds(
    warehouse: Warehouse, configurations: ConfigurationTable, metafeatures: pd.Series
) -> FitSeconds:
    """What one fit of each configuration is expected to take on all rows of a dataset, on this machine."""
    from recommend.machine import slowness

    usual = usual_fit_seconds(warehouse, configurations, metafeatures)
    return usual if usual.factor is None else FitSeconds(usual.seconds * slowness(), usual.factor)


def usual_fit_seconds(
    warehouse: Warehouse, configurations: ConfigurationTable, metafeatures: pd.Series
) -> FitSeconds:
    """What one such fit is expected to take on machines like those of the warehouse's runs."""
    from metalearners.model_store import trained_fit_times

    try:
        times = trained_fit_times(warehouse)
    except BadInput:
        return FitSeconds(np.full(len(configurations), np.nan), None)
    return FitSeconds(times.seconds(configurations, metafeatures), times.factor)


def worthwhile(seconds: Floats, predicted: Floats) -> Positions:
    """Positions of the candidates that are not long, or expected to be worth it.

    What takes an unknown time is not long.
    """
    known = seconds[~np.isnan(seconds)]
    limit = LONG * max(float(np.median(known)), 1.0) if len(known) else np.inf
    short = ~(seconds > limit)
    if not short.any():
        return np.arange(len(seconds))
    return np.flatnonzero(short | (predicted > predicted[short].max() + WORTH))


def choose_within(budget: float, seconds: Floats, choose: Callable[[Positions], Choice]) -> Choice:
    """The choice among those that take at most so long that all chosen together fit into the budget.

    Args:
        budget: seconds.
        choose: chooses among the configurations at these positions.

    Raises:
        BadInput: they do not, however quick.
    """
    if np.isnan(seconds).all():
        raise BadOption("a budget needs running times, and no run of the warehouse says how long a fit took")
    affordable = np.flatnonzero(seconds <= budget)
    while len(affordable):
        chosen = choose(affordable)
        took = seconds[[position for position, _ in chosen]]
        if took.sum() <= budget:
            return chosen
        affordable = affordable[seconds[affordable] < took.max()]
    raise BadOption(
        f"nothing fits into {budget:g} s: the quickest configuration takes about {np.nanmin(seconds):.2g} s"
    )
