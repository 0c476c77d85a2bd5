"""Links: unbounded scales for the values of a measure."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from warehouse.support.arrays import Floats
from warehouse.vocabulary.measures import LinkName

LEAST = 1e-3
"""Distance from the bounds at which values are cut."""
WORST_ERROR = 2.0
"""Relative error at which larger ones are cut: a prediction that explodes says no more than a bad one."""


class Link(NamedTuple):
    """A function of values, larger is better, that keeps their order."""

    to_z: Callable[[Floats], Floats]
    to_values: Callable[[Floats], Floats]
    """The inverse of `to_z`."""
    sampling_std: Callable[[Floats, float], Floats]
    """Standard deviation of z, as measured on so many test rows (delta method); 0 where nobody knows it."""


def logit(v: Floats) -> Floats:
    """log(v / (1 - v)) of shares, which are cut near 0 and 1."""
    v = np.clip(v, LEAST, 1 - LEAST)
    odds: Floats = np.log(v / (1 - v))
    return odds


def _expit(z: Floats) -> Floats:
    from scipy.special import expit

    return np.asarray(expit(z), np.float64)


def _binomial_std(z: Floats, rows: float) -> Floats:
    """Standard deviation of a measured share: v varies by v (1 - v) / rows, and dz / dv = 1 / (v (1 - v))."""
    v = _expit(z)
    return 1 / np.sqrt(rows * v * (1 - v))


LINKS: dict[LinkName, Link] = {
    "logit": Link(logit, _expit, _binomial_std),
    # The losses of rows are taken to vary as much as they are large, and squared errors as those of a normal
    # distribution, whose root mean square varies by 1 / sqrt(2 rows) of itself.
    "cost": Link(
        lambda v: -np.log(np.maximum(-v, LEAST)),
        lambda z: -np.exp(-z),
        lambda z, rows: np.full_like(z, rows**-0.5),
    ),
    "relative_error": Link(
        lambda v: -np.log(np.clip(-v, LEAST, WORST_ERROR)),
        lambda z: -np.exp(-z),
        lambda z, rows: np.full_like(z, (2 * rows) ** -0.5),
    ),
    "identity": Link(lambda v: v, lambda z: z, lambda z, rows: np.zeros_like(z)),  # noqa: ARG005
}
"""Name that a measure declares (`warehouse.vocabulary.measures`) -> link. Values are larger where they are
better: costs are negative."""
