"""Hyperparameters as plain data, so that naming a flow's parameters does not import ConfigSpace."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from ConfigSpace.hyperparameters import Hyperparameter

Value = bool | int | float | str | None
Scale = Literal["linear", "log"]
"""What numbers are drawn and compared on: as they are, or by their logarithms."""


@dataclass(frozen=True)
class Number:
    """A range of numbers, both ends included: whole numbers where the ends are whole."""

    name: str
    low: float
    high: float
    default: float
    log: bool = False
    when: Mapping[str, tuple[Value, ...]] = field(default_factory=dict, hash=False)
    """Hyperparameter of the same flow -> values; a configuration has this one where all of them hold."""
    optional: bool = False
    """Whether a configuration leaves it out where it has its default."""

    @property
    def scale(self) -> Scale:
        """Scale that its values are drawn and compared on."""
        return "log" if self.log else "linear"

    def hyperparameter(self) -> Hyperparameter[Any, Any]:
        """The same in ConfigSpace."""
        from ConfigSpace import Float, Integer

        whole = isinstance(self.low, int) and isinstance(self.high, int)
        kind: Any = Integer if whole else Float
        hyperparameter: Hyperparameter[Any, Any] = kind(
            self.name, (self.low, self.high), default=self.default, log=self.log
        )
        return hyperparameter


@dataclass(frozen=True)
class Choice:
    """One of some values, without order."""

    name: str
    choices: tuple[Value, ...]
    default: Value
    when: Mapping[str, tuple[Value, ...]] = field(default_factory=dict, hash=False)
    """Hyperparameter of the same flow -> values; a configuration has this one where all of them hold."""
    optional: bool = False
    """Whether a configuration leaves it out where it has its default."""

    def hyperparameter(self, *more: Value) -> Hyperparameter[Any, Any]:
        """The same in ConfigSpace, with `more` choices at the end."""
        from ConfigSpace import Categorical

        return Categorical(self.name, (*self.choices, *more), default=self.default)
