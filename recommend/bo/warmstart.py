"""Starts of a search: methods that choose the first configurations, by name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
import pandas as pd

from metalearners import DEFAULT_LEARNER, LEARNERS
from metalearners.learners.base import Model
from recommend.ranking.choice import choose_delta
from warehouse.support.arrays import Floats, Positions
from warehouse.support.errors import UnknownName, look_up
from warehouse.vocabulary.qualities import THESIS
from warehouse.vocabulary.table import ConfigurationTable

Choice = Literal["choose", "quick", "worst", "delta"]

SEEDS = 3
"""Default number of configurations of a start."""


@dataclass(frozen=True)
class Start:
    """A method to choose the first configurations by a meta-learner's predictions."""

    choice: Choice
    """The learner's first choices; the same with a quick one, by expected running time; the worst
    predictions; or the delta approach (eq. 6.2)."""
    learner: str = DEFAULT_LEARNER
    settings: Mapping[str, Any] = field(default_factory=dict)
    n: int = SEEDS
    """Number of configurations."""
    summary: str = field(default="", compare=False)
    """Description in one line."""


STARTS: dict[str, Start] = {
    "top": Start("choose", summary="the set with the highest expected maximum"),
    "quick": Start(
        "quick",
        summary="the same, and the best of the quicker half: four at most",
    ),
    "top-25": Start("choose", n=25, summary="25 chosen as `top` chooses them"),
    "worst": Start("worst", summary="those with the lowest predictions, for studies"),
    "delta": Start("delta", summary="spread over the predicted ranking (thesis, equation 6.2)"),
    "knn-3": Start(
        "choose",
        "nearest-25",
        {"datasets": 3, "distance": "L2", "comparison": "medians", "metafeatures": list(THESIS)},
        summary="the best on each of the three nearest datasets by the thesis's KNN (section 6.5)",
    ),
    "nearest-3": Start(
        "choose", "nearest-25", {"datasets": 3}, summary="the best on each of the three nearest datasets"
    ),
    "nearest-25": Start(
        "choose",
        "nearest-25",
        {"datasets": 25},
        n=25,
        summary="the best on each of the 25 nearest datasets: auto-sklearn's and MOSAIC's start",
    ),
    "portfolio": Start("choose", "portfolio", summary="a greedy portfolio over all datasets"),
}
"""Starts that learn from runs on other datasets."""
DEFAULT_START = "quick"

NO_START, FROM_FILE = "none", "file"
OPTIMAL, ORACLE = "opt-3", "oracle"
UNLEARNED_STARTS = {
    NO_START: "random configurations",
    FROM_FILE: "the configurations of a seeds file (`tune --seeds`)",
    OPTIMAL: "the best on each of the three datasets on which configurations truly rank most alike (thesis,"
    " section 6.5); in simulations only",
    ORACLE: "the best on the dataset itself; in simulations only",
}
"""Starts without a meta-learner -> description."""


def get_start(name: str) -> Start:
    """The start of this name; `NAME@LEARNER` sets the learner.

    Raises:
        BadInput: there is no such start or learner.
    """
    plain, _, learner = name.partition("@")
    if plain not in STARTS:
        raise UnknownName(f"unknown start {plain!r}; known are {', '.join((NO_START, *STARTS))}")
    start = STARTS[plain]
    if not learner:
        return start
    look_up(learner, LEARNERS, "learner")
    return replace(start, learner=learner, settings={})


def first_choices(
    choice: Choice,
    model: Model,
    table: ConfigurationTable,
    metafeatures: pd.Series,
    n: int = SEEDS,
    seconds: Floats | None = None,
) -> Positions:
    """Positions of the first `n` configurations to try, in order.

    Args:
        choice: `quick` may choose one more than `n`; it is `choose` if running times are unknown.
        table: configurations to choose from.
        metafeatures: quality -> value of the dataset.
        seconds: (configurations,) expected running times, NaN = unknown; None = all unknown.
    """
    if choice == "quick" and seconds is not None and not np.isnan(seconds).all():
        quicker = np.flatnonzero(seconds <= np.nanmedian(seconds))
        first = quicker[model.choose(table.take(quicker), metafeatures, 1)]
        chosen = np.union1d(first, model.choose(table, metafeatures, n))
        return chosen[np.argsort(seconds[chosen], kind="stable")]
    if choice in ("choose", "quick"):
        return model.choose(table, metafeatures, n)
    expected = model.predict(table, metafeatures).mean
    if choice == "worst":
        return np.argsort(expected, kind="stable")[:n]
    spread = choose_delta(expected, n, joint=len(set(table.algorithms)) > 1)
    return np.array([position for position, _ in spread], dtype=np.intp)
