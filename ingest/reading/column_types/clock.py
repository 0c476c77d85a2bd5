"""Times of day and durations in text columns: 8:45, 2:30 PM, 1:02:10.5, 3 days 04:00:00."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd

from ingest.reading.column_types.words import NEARLY_ALL, Column, may_be

CLOCK = ":"
"""Form of such columns, in place of a decimal sign."""
_WORD = re.compile(
    r"""
    (?:(?:(?P<days>-?\d{1,6})\ days?,?\ \+?)?(?P<hours>\d{1,4}):)?
    (?P<middle>\d{1,4}):
    (?P<last>[0-5]\d(?:[.,]\d+)?)
    (?:\ ?(?P<half>[AP])\.?M\.?)?
    """,
    re.VERBOSE | re.IGNORECASE,
)


def read_clock(words: pd.Series, least: float = NEARLY_ALL) -> Column | None:
    """Times of day and durations as numbers, or None if fewer than `least` of the words are.

    The unit is that of a word's last part: 1:30 is 90, whether of minutes or of seconds, and 1:00:30 is 3630.
    Times with AM or PM count from midnight.

    Args:
        words: (n,) distinct words without surrounding blanks, NaN for missing ones.
        least: minimum share of the words that are times; 0 = a single one suffices.
    """
    present = words.dropna()
    if not may_be(present, _WORD.fullmatch, least):
        return None
    parts = present.str.extract(f"^{_WORD.pattern}$", flags=_WORD.flags)
    parts = parts[parts["last"].notna()]
    if len(parts) < least * len(present):
        return None
    numbers = parts.drop(columns="half").replace({",": "."}, regex=True).astype(float)
    half, hours = parts["half"].str.upper(), numbers["hours"].fillna(numbers["middle"])
    noon = 12.0 * (half == "P") - 12.0 * (half.notna() & (hours == 12))  # 12:05 AM is 0:05
    values: pd.Series = numbers.fillna(0.0).mul([86_400, 3600, 60, 1]).sum(axis=1)
    values += noon * np.where(parts["hours"].isna(), 60, 3600)
    return Column(values.reindex(words.index), tuple(present.drop(index=parts.index)), form=CLOCK)
