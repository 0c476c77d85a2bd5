"""Configurations: an algorithm with its hyperparameters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from warehouse.vocabulary.parameters import Value


@dataclass(frozen=True, eq=False)
class Configuration:
    """An algorithm and the values of its hyperparameters.

    Equality ignores the order of values; unlike in Python, True is not 1.
    """

    algorithm: str
    """Canonical name of the flow, e.g. `random_forest`."""
    values: Mapping[str, Value]
    """Hyperparameter -> value."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Configuration) and self._identity() == other._identity()

    def __hash__(self) -> int:
        return hash(self._identity())

    def _identity(self) -> tuple[Any, ...]:
        values = ((name, type(value).__name__, value) for name, value in self.values.items())
        return (self.algorithm, *sorted(values, key=lambda item: item[0]))
