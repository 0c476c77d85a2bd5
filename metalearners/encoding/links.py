"""Scales without bounds for values of a measure, on which differences of good values compare."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple

import numpy as np

from warehouse.support.arrays import Floats

LEAST = 1e-3
"""Distance from the bounds at which values are cut."""

LinkName = Literal["logit", "cost", "identity"]


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
"""Values are larger where they are better: costs are negative."""


def link_of(values: Floats) -> LinkName:
    """The link that fits the range of these values: shares, costs, or any."""
    if ((values >= 0) & (values <= 1)).all():
        return "logit"
    return "cost" if (values <= 0).all() else "identity"
