"""Columns of words: what is read from them, and whether nearly all are of one kind."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pandas as pd

NEARLY_ALL = 0.95
"""Minimum share of numbers, or of dates, in the distinct words of a column of them; set by hand."""
LOOKED_AT = 100
"""Distinct words that rule out most text columns."""
_LEAST_OF_FIRST = 0.8  # of these: a few odd words may come first


@dataclass(frozen=True)
class Column:
    """A column as read, with the words that did not fit."""

    values: pd.Series
    """(n,) float64/int64, datetime64[us], `str` or `category`, missing values as NaN/NaT."""
    odd: tuple[str, ...] = ()
    """Words in a column of numbers (dates) that are not numbers (dates); they are missing."""
    limits: tuple[str, ...] = ()
    """Words such as `<40` in a column of numbers, which count as the limit."""
    form: str | None = None
    """Format of the words: of dates; the decimal sign of numbers, unless all are written as in programs; `:`
    of times of day and durations."""


def may_be(
    present: pd.Series, looks_like: Callable[[str], object], least: float, looked_at: int = LOOKED_AT
) -> bool:
    """Whether the first words leave it possible that a share of at least `least` is of a kind.

    Args:
        present: (n,) distinct words.
        looks_like: true of a word that may be of the kind.
        looked_at: number of words to look at.
    """
    first = present.head(looked_at)
    like = sum(bool(looks_like(word)) for word in first)
    return like >= max(min(least, _LEAST_OF_FIRST) * len(first), 1)
