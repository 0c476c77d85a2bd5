"""Fits of a search's configurations on all rows, and the model that they make."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from warehouse.vocabulary.configuration import Configuration

Fit = Callable[[Configuration], Any]
"""Fits a configuration on all rows. It travels to another process, which imports its module for each fit, and
its result comes back."""


@dataclass(frozen=True)
class Model:
    """A fitted configuration, or several whose predictions are averaged."""

    weights: Mapping[Configuration, float]
    """Weight of each configuration, with sum 1; the largest first."""
    pipelines: Mapping[Configuration, Any]
    """The fitted pipeline of each."""


def model_of(weights: Mapping[Configuration, float], fitted: Mapping[Configuration, Any]) -> Model | None:
    """The average of those configurations that were fitted; None where none was."""
    known = {one: weight for one, weight in weights.items() if one in fitted}
    if not known:
        return None
    total = sum(known.values())
    order = sorted(known, key=lambda one: -known[one])
    return Model({one: known[one] / total for one in order}, {one: fitted[one] for one in order})
