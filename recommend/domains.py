"""Domains of hyperparameters in other tools' spaces, and values in their types."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from warehouse.support.errors import UnfitConfiguration
from warehouse.vocabulary.parameters import Value

if TYPE_CHECKING:
    from ConfigSpace.hyperparameters import Hyperparameter
    from optuna.distributions import BaseDistribution

_OFF_STEP = 1e-8
"""Tolerance, in steps, within which Optuna accepts a number as a step."""


@dataclass(frozen=True)
class Domain:
    """Domain of a hyperparameter in another tool's space."""

    low: float = -math.inf
    high: float = math.inf
    whole: bool = False
    step: float | None = None
    choices: tuple[Any, ...] | None = None
    """None = a number."""

    def fit(self, value: Value) -> Value:
        """`value` in the domain's own type: JSON does not distinguish 5 from 5.0.

        Raises:
            BadInput: it is not in the domain, which the message describes.
        """
        if self.choices is not None:
            alike = [choice for choice in self.choices if choice == value]
            if len(alike) > 1:
                raise UnfitConfiguration(
                    f"expected choices that differ, not {listed(alike)}, which are equal to it"
                )
            if not alike or type(alike[0]) is not type(value):
                raise UnfitConfiguration(f"expected one of {listed(self.choices)}")
            return value
        if isinstance(value, bool) or not isinstance(value, int | float) or not self._has(value):
            steps = "" if self.step is None else f" in steps of {self.step:g}"
            kind = "a whole number" if self.whole else "a number"
            raise UnfitConfiguration(f"expected {kind} from {self.low!r} to {self.high!r}{steps}")
        return int(value) if self.whole else float(value)

    def nearest(self, value: Any) -> Any:
        """`value`, clipped to the range: tuners refuse numbers that rounding puts slightly outside."""
        return value if self.choices is not None else min(max(value, self.low), self.high)

    def _has(self, number: float) -> bool:
        if not self.low <= number <= self.high or (self.whole and number != int(number)):
            return False
        if self.step is None:
            return True
        steps = (number - self.low) / self.step
        return abs(steps - round(steps)) < _OFF_STEP


def optuna_domain(distribution: BaseDistribution) -> Domain:
    """The domain of an Optuna distribution."""
    from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution

    if isinstance(distribution, CategoricalDistribution):
        return Domain(choices=distribution.choices)
    if isinstance(distribution, IntDistribution):
        step = distribution.step if distribution.step > 1 else None
        return Domain(distribution.low, distribution.high, whole=True, step=step)
    if isinstance(distribution, FloatDistribution):
        return Domain(distribution.low, distribution.high, step=distribution.step)
    raise UnfitConfiguration(f"expected a distribution of Optuna, not {distribution!r}")


def configspace_domain(parameter: Hyperparameter[Any, Any]) -> Domain:
    """The domain of a ConfigSpace hyperparameter."""
    from ConfigSpace.hyperparameters import Constant, IntegerHyperparameter, OrdinalHyperparameter

    known: Any = parameter
    if isinstance(parameter, Constant):
        return Domain(choices=(known.value,))
    if isinstance(parameter, OrdinalHyperparameter):
        return Domain(choices=tuple(known.sequence))
    if hasattr(known, "choices"):
        return Domain(choices=tuple(known.choices))
    if isinstance(parameter, IntegerHyperparameter):
        return Domain(int(known.lower), int(known.upper), whole=True)
    return Domain(float(known.lower), float(known.upper))


def listed(values: Iterable[Any]) -> str:
    """Values as a person reads them."""
    return ", ".join(map(repr, values))
