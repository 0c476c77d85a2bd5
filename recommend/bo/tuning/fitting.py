"""Fits of a search's configurations, and their model."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from warehouse.support.arrays import Positions
from warehouse.vocabulary.configuration import Configuration

Fit = Callable[[Configuration, Positions | None], Any]
"""Fits a configuration on rows with these positions, None = all. It is sent to another process, which imports
its module for each fit and returns the result."""


@dataclass(frozen=True)
class Fitted:
    """A fit of a configuration."""

    pipeline: Any
    rows: int
    """Number of training rows."""


@dataclass(frozen=True)
class Model:
    """A fitted configuration, or several whose predictions are averaged."""

    weights: Mapping[Configuration, float]
    """Weight of each configuration, with sum 1; the largest first."""
    pipelines: Mapping[Configuration, Any]
    """The fitted pipeline of each."""
    rows: Mapping[Configuration, int]
    """Number of training rows of each."""

    def __repr__(self) -> str:
        members = ", ".join(f"{weight:.2f} {one.algorithm}" for one, weight in self.weights.items())
        return f"Model({members}; .weights, .pipelines)"


def model_of(weights: Mapping[Configuration, float], fitted: Mapping[Configuration, Fitted]) -> Model | None:
    """The average of the fitted configurations; None if there are none."""
    known = {one: weight for one, weight in weights.items() if one in fitted}
    if not known:
        return None
    total = sum(known.values())
    order = sorted(known, key=lambda one: -known[one])
    return Model(
        {one: known[one] / total for one in order},
        {one: fitted[one].pipeline for one in order},
        {one: fitted[one].rows for one in order},
    )
