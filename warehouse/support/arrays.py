"""Array types, and dataclasses of arrays; docstrings give their shapes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import Any, Self

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Positions = npt.NDArray[np.intp]
Flags = npt.NDArray[np.bool_]
Selection = Positions | Flags | list[int] | slice
"""Selected rows: their positions, or a flag for each row."""


@dataclass(frozen=True)
class Rows:
    """Base of dataclasses whose fields have one row for each of n items: arrays, other `Rows`, or None."""

    def __len__(self) -> int:
        return next(len(part) for part in self._parts() if part is not None)

    def take(self, rows: Selection) -> Self:
        """The selected items."""
        return self._mapped(lambda part: part.take(rows) if isinstance(part, Rows) else part[rows])

    def astype(self, dtype: npt.DTypeLike) -> Self:
        """The same numbers in another precision."""
        return self._mapped(lambda part: part.astype(dtype))

    @classmethod
    def concatenated(cls, several: Sequence[Self]) -> Self:
        """The items of several, one or more, in order."""
        return cls(*(_concatenated(parts) for parts in zip(*(one._parts() for one in several), strict=True)))

    def _parts(self) -> list[Any]:
        return [getattr(self, field.name) for field in fields(self)]

    def _mapped(self, change: Callable[[Any], Any]) -> Self:
        return type(self)(*(None if part is None else change(part) for part in self._parts()))


def _concatenated(parts: Sequence[Any]) -> Any:
    if parts[0] is None:
        return None
    return type(parts[0]).concatenated(parts) if isinstance(parts[0], Rows) else np.concatenate(parts)
