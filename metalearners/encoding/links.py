"""Links: functions that map the values of a measure to an unbounded scale."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from warehouse.support.arrays import Floats
from warehouse.vocabulary.measures import LinkName

LEAST = 1e-3
"""Values are clipped to at least this distance from their bounds."""
WORST_ERROR = 2.0
"""Larger relative errors are clipped: an exploding prediction says no more than a bad one."""


class Link(NamedTuple):
    """An increasing function of values, larger is better."""

    to_z: Callable[[Floats], Floats]
    to_values: Callable[[Floats], Floats]
    """The inverse of `to_z`."""
    sampling_std: Callable[[Floats, float], Floats]
    """Standard deviation of z when measured on this many test rows (delta method); 0 where unknown."""


def logit(v: Floats) -> Floats:
    """log(v / (1 - v)) of shares, clipped near 0 and 1."""
    v = np.clip(v, LEAST, 1 - LEAST)
    odds: Floats = np.log(v / (1 - v))
    return odds


def _expit(z: Floats) -> Floats:
    from scipy.special import expit

    return np.asarray(expit(z), np.float64)


def _binomial_std(z: Floats, rows: float) -> Floats:
    """Standard deviation of a measured share: var(v) = v (1 - v) / rows, and dz / dv = 1 / (v (1 - v))."""
    v = _expit(z)
    return 1 / np.sqrt(rows * v * (1 - v))


LINKS: dict[LinkName, Link] = {
    "logit": Link(logit, _expit, _binomial_std),
    # Assumption: the standard deviation of the rows' losses equals their mean, and errors are normal, so the
    # relative standard deviation of a root mean square is 1 / sqrt(2 rows).
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
"""Link by its name in `warehouse.vocabulary.measures`. Values are oriented so that larger is better: costs
are negative."""
