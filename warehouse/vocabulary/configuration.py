"""The one form of a configuration."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from warehouse.vocabulary.parameters import Value


@dataclass(frozen=True, eq=False)
class Configuration:
    """An algorithm and the values of its hyperparameters.

    Two are equal where algorithm and values are, in whatever order. True is not 1 here, as it is in Python.
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
