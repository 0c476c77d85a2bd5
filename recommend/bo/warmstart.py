"""Starts of a search: ways to choose the first configurations, by name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import pandas as pd

from metalearners import DEFAULT_LEARNER, canonical_learner
from metalearners.learners.base import Model
from recommend.seeds import choose_delta
from warehouse.configurations.table import ConfigurationTable
from warehouse.qualities import THESIS
from warehouse.support.arrays import Floats, Positions
from warehouse.support.errors import UnknownName

Choice = Literal["choose", "quick", "worst", "delta"]

SEEDS = 3
"""Configurations that a start chooses where its name does not say another number."""


@dataclass(frozen=True)
class Start:
    """A way to choose the first configurations by what a meta-learner expects."""

    choice: Choice
    """What the learner would try first; the same after a quick one, by expected running time; what it expects
    least of; or the delta approach (eq. 6.2)."""
    learner: str = DEFAULT_LEARNER
    settings: Mapping[str, Any] = field(default_factory=dict)
    n: int = SEEDS
    """How many it chooses."""


STARTS: dict[str, Start] = {
    "top": Start("choose"),
    "quick": Start("quick"),
    "top-25": Start("choose", n=25),
    "worst": Start("worst"),
    "delta": Start("delta"),
    "knn-3": Start(
        "choose",
        "nearest-25",
        {"datasets": 3, "distance": "L2", "comparison": "medians", "metafeatures": list(THESIS)},
    ),
    "nearest-3": Start("choose", "nearest-25", {"datasets": 3}),
    "nearest-25": Start("choose", "nearest-25", {"datasets": 25}, n=25),
    "portfolio": Start("choose", "portfolio"),
}
"""Starts that learn from runs on other datasets."""
DEFAULT_START = "quick"

NO_START, FROM_FILE = "none", "file"
"""Random configurations; a seeds file (`tune` only)."""
OPTIMAL, ORACLE = "opt-3", "oracle"
"""The best on each of the three datasets on which configurations truly rank most alike (thesis, section 6.5);
the best on the dataset itself. Both know what only simulations do."""


def get_start(name: str) -> Start:
    """The start of this name; `NAME@LEARNER` has another learner than usual.

    Raises:
        BadInput: there is none, or no such learner.
    """
    plain, _, learner = name.partition("@")
    if plain not in STARTS:
        raise UnknownName(f"unknown start {plain!r}; known are {', '.join((NO_START, *STARTS))}")
    start = STARTS[plain]
    return Start(start.choice, canonical_learner(learner), n=start.n) if learner else start


def first_choices(
    choice: Choice,
    model: Model,
    table: ConfigurationTable,
    metafeatures: pd.Series,
    n: int = SEEDS,
    log_seconds: Floats | None = None,
) -> Positions:
    """Positions of the first `n` configurations to try, in order.

    Args:
        choice: `quick` may choose one more than `n`; it is `choose` where running times are not known.
        table: configurations to choose from.
        metafeatures: quality -> value of the dataset.
        log_seconds: (configurations,) expected logarithm of their running time; None: it is not known.
    """
    if choice == "quick" and log_seconds is not None:
        quicker = np.flatnonzero(log_seconds <= np.median(log_seconds))
        first = quicker[model.choose(table.take(quicker), metafeatures, 1)]
        chosen = np.union1d(first, model.choose(table, metafeatures, n))
        return chosen[np.argsort(log_seconds[chosen], kind="stable")]
    if choice in ("choose", "quick"):
        return model.choose(table, metafeatures, n)
    expected = model.predict(table, metafeatures).mean
    if choice == "worst":
        return np.argsort(expected, kind="stable")[:n]
    return np.array([position for position, _ in choose_delta(expected, n)], dtype=np.intp)
