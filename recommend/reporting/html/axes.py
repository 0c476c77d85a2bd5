"""Scales of charts: the place of a number, and the round numbers along the axis."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from warehouse.vocabulary.parameters import Value

MOST_TICKS = 5
LOG_FROM = 30
"""Ratio of the largest to the smallest value of a hyperparameter above which its axis is logarithmic."""
LEAST_SPAN = 1e-9
"""Span, as a share of the largest number, below which all numbers are drawn as one."""
MARGIN = 0.04
"""Share of the axis kept free at either end."""


@dataclass(frozen=True)
class Tick:
    """A labelled place along an axis."""

    place: float
    label: str


@dataclass(frozen=True)
class Axis:
    """Numbers from `low` to `high` at places from `start` to `end`, in units of the drawing."""

    low: float
    high: float
    start: float
    end: float
    is_log: bool = False

    @classmethod
    def over(cls, numbers: Iterable[float], start: float, end: float, *, is_log: bool = False) -> Axis:
        """The axis for all finite numbers; a single number is in the middle."""
        found = [number for number in numbers if math.isfinite(number)] or [0.0, 1.0]
        low, high = min(found), max(found)
        is_log = is_log and low > 0
        if high - low <= LEAST_SPAN * max(abs(low), abs(high)):
            around = abs(low) / 2 or 0.5
            low, high = low - around, high + around
        margin = MARGIN * abs(end - start)
        inward = math.copysign(margin, end - start)
        return cls(low, high, start + inward, end - inward, is_log)

    def at(self, value: Any) -> float:
        """The place of a number."""
        low, high = self._scaled(self.low), self._scaled(self.high)
        share = (self._scaled(float(value)) - low) / (high - low)
        return round(self.start + share * (self.end - self.start), 1)

    @property
    def ticks(self) -> list[Tick]:
        """Round numbers within the axis: powers of ten if it is logarithmic and contains two or more."""
        powers = []
        if self.is_log:
            exponents = range(math.ceil(math.log10(self.low)), math.floor(math.log10(self.high)) + 1)
            every = -(-len(exponents) // MOST_TICKS) or 1
            powers = [10.0**exponent for exponent in exponents[::every]]
        numbers = powers if len(powers) > 1 else round_numbers(self.low, self.high)
        return [Tick(self.at(number), label(number)) for number in numbers]

    def _scaled(self, number: float) -> float:
        return math.log(number) if self.is_log else number


@dataclass(frozen=True)
class NameAxis:
    """Names, evenly spread over places from `start` to `end`."""

    names: Sequence[str]
    start: float
    end: float

    def at(self, value: Any) -> float:
        """The place of a value, by its name."""
        share = (self.names.index(str(value)) + 0.5) / len(self.names)
        return round(self.start + share * (self.end - self.start), 1)

    @property
    def ticks(self) -> list[Tick]:
        """The names."""
        return [Tick(self.at(name), name) for name in self.names]


def axis_of(values: Sequence[Value], start: float, end: float) -> Axis | NameAxis:
    """The axis for values of a hyperparameter: numeric if all are numbers (logarithmic if their ratio exceeds
    `LOG_FROM`), else of names."""
    numbers = [value for value in values if isinstance(value, int | float) and not isinstance(value, bool)]
    if len(numbers) < len(values):
        return NameAxis(sorted({str(value) for value in values}), start, end)
    is_log = min(numbers) > 0 and max(numbers) > LOG_FROM * min(numbers)
    return Axis.over(numbers, start, end, is_log=is_log)


def round_numbers(low: float, high: float) -> list[float]:
    """Multiples of 1, 2 or 5 times a power of ten from `low` to `high`, about `MOST_TICKS` of them."""
    rough = (high - low) / MOST_TICKS
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= rough)
    multiples = np.arange(math.ceil(low / step), math.floor(high / step) + 1)
    return [float(f"{multiple * step:.12g}") for multiple in multiples]


def label(number: float) -> str:
    """A number as the label of an axis: `0.25`, `1,500`, `20 k`, `3 M`."""
    if abs(number) >= 1e6:
        return f"{number / 1e6:g} M"
    if abs(number) >= 1e4:
        return f"{number / 1e3:g} k"
    return f"{number:,.4g}"
