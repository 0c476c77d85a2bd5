"""Links: unbounded scales for the values of a measure."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from warehouse.support.arrays import Floats
from warehouse.vocabulary.measures import LinkName

LEAST = 1e-3
"""Distance from the bounds at which values are cut."""


class Link(NamedTuple):
    """A function of values, larger is better, that keeps their order."""

    to_z: Callable[[Floats], Floats]
    to_values: Callable[[Floats], Floats]
    """The inverse of `to_z`."""


def logit(v: Floats) -> Floats:
    """log(v / (1 - v)) of shares, which are cut near 0 and 1."""
    v = np.clip(v, LEAST, 1 - LEAST)
    odds: Floats = np.log(v / (1 - v))
    return odds


def _expit(z: Floats) -> Floats:
    from scipy.special import expit

    return np.asarray(expit(z), np.float64)


LINKS: dict[LinkName, Link] = {
    "logit": Link(logit, _expit),
    "cost": Link(lambda v: -np.log(np.maximum(-v, LEAST)), lambda z: -np.exp(-z)),
    "identity": Link(lambda v: v, lambda z: z),
}
"""Name that a measure declares (`warehouse.vocabulary.measures`) -> link. Values are larger where they are
better: costs
are negative."""
