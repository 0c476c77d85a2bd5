"""Hyperparameters as plain data, so that naming a flow's parameters does not import ConfigSpace."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from warehouse.support.errors import UnfitConfiguration

if TYPE_CHECKING:
    from ConfigSpace import ConfigurationSpace
    from ConfigSpace.hyperparameters import Hyperparameter

Value = bool | int | float | str | None
Scale = Literal["linear", "log"]
"""Scale for drawing and comparing numbers: linear or logarithmic."""
Condition = Mapping[str, tuple[Value, ...]]
"""Allowed values by hyperparameter; every hyperparameter must have one of its allowed values."""


@dataclass(frozen=True)
class Number:
    """A range of numbers, both ends included: whole numbers if the ends are whole."""

    name: str
    low: float
    high: float
    default: float
    log: bool = False
    when: Condition = field(default_factory=dict, hash=False)
    """Condition on hyperparameters of the same flow; this one is active if it holds."""
    optional: bool = False
    """Whether configurations omit it if it has its default."""

    @property
    def scale(self) -> Scale:
        """Scale for drawing and comparing values."""
        return "log" if self.log else "linear"

    @property
    def is_whole(self) -> bool:
        """Whether values are whole numbers."""
        return isinstance(self.low, int) and isinstance(self.high, int)

    def __str__(self) -> str:
        scale = ", log" if self.log else ""
        whole = ", whole" if self.is_whole else ""
        return f"{self.name}: {self.low:.6g} to {self.high:.6g}{whole}{scale}{_in_words(self.when)}"

    def fit(self, value: Value) -> Value:
        """`value` in this hyperparameter's type: 5 and 5.0 are the same number.

        Raises:
            BadInput: it is out of range.
        """
        kind = "a whole number" if self.is_whole else "a number"
        if (
            isinstance(value, bool)
            or not isinstance(value, int | float)
            or not self.low <= value <= self.high
            or (self.is_whole and value != math.floor(value))
        ):
            raise UnfitConfiguration(
                f"{self.name} can't be {value!r}: expected {kind} from {self.low!r} to {self.high!r}"
            )
        return int(value) if self.is_whole else float(value)

    def hyperparameter(self) -> Hyperparameter[Any, Any]:
        """The hyperparameter in ConfigSpace."""
        from ConfigSpace import Float, Integer

        kind: Any = Integer if self.is_whole else Float
        hyperparameter: Hyperparameter[Any, Any] = kind(
            self.name, (self.low, self.high), default=self.default, log=self.log
        )
        return hyperparameter


@dataclass(frozen=True)
class Choice:
    """One of several values, without order."""

    name: str
    choices: tuple[Value, ...]
    default: Value
    when: Condition = field(default_factory=dict, hash=False)
    """Condition on hyperparameters of the same flow; this one is active if it holds."""
    optional: bool = False
    """Whether configurations omit it if it has its default."""
    weights: tuple[float, ...] | None = None
    """Probability of each choice in a random configuration, in their order; None = uniform."""

    def __str__(self) -> str:
        return f"{self.name}: {', '.join(map(str, self.choices))}{_in_words(self.when)}"

    def fit(self, value: Value) -> Value:
        """`value`, as written among the choices.

        Raises:
            BadInput: it is not among them.
        """
        for choice in self.choices:
            if same(choice, value):
                return choice
        raise UnfitConfiguration(
            f"{self.name} can't be {value!r}: expected one of {', '.join(map(repr, self.choices))}"
        )

    def hyperparameter(self, *more: Value) -> Hyperparameter[Any, Any]:
        """The hyperparameter in ConfigSpace, with `more` choices at the end, which excludes weights."""
        from ConfigSpace import Categorical

        return Categorical(self.name, (*self.choices, *more), default=self.default, weights=self.weights)


def _in_words(condition: Condition) -> str:
    parts = [f"{parent} is {' or '.join(map(str, values))}" for parent, values in condition.items()]
    return f", where {' and '.join(parts)}" if parts else ""


def same(one: Value, other: Value) -> bool:
    """Whether two values are the same; unlike in Python, True is not 1."""
    return isinstance(one, bool) == isinstance(other, bool) and one == other


def holds(condition: Condition, values: Mapping[str, Any]) -> bool:
    """Whether `values` meet a condition; an absent hyperparameter meets none."""
    return all(
        parent in values and any(same(allowed, values[parent]) for allowed in wanted)
        for parent, wanted in condition.items()
    )


def configuration_space(
    name: str,
    hyperparameters: Sequence[Number | Choice],
    forbidden: Iterable[Mapping[str, Value]] = (),
    *,
    seed: int | None = None,
) -> ConfigurationSpace:
    """A ConfigSpace space of hyperparameters with their conditions.

    Drops conditions and combinations with a hyperparameter that is not in the space.

    Args:
        forbidden: combinations of values that no configuration may have.
        seed: of the space's sampler.
    """
    from ConfigSpace import (
        AndConjunction,
        ConfigurationSpace,
        EqualsCondition,
        ForbiddenAndConjunction,
        ForbiddenEqualsClause,
        InCondition,
    )

    space = ConfigurationSpace(name=name, seed=seed)
    space.add(*(own.hyperparameter() for own in hyperparameters))
    for own in hyperparameters:
        conditions = [
            EqualsCondition(space[own.name], space[parent], values[0])
            if len(values) == 1
            else InCondition(space[own.name], space[parent], list(values))
            for parent, values in own.when.items()
            if parent in space
        ]
        if conditions:
            space.add(conditions[0] if len(conditions) == 1 else AndConjunction(*conditions))
    for combination in forbidden:
        if not set(combination) <= set(space):
            continue
        clauses = [ForbiddenEqualsClause(space[name], value) for name, value in combination.items()]
        space.add(clauses[0] if len(clauses) == 1 else ForbiddenAndConjunction(*clauses))
    return space
