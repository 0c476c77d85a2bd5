"""Times of day and durations in text columns: 8:45, 2:30 PM, 1:02:10.5."""

from __future__ import annotations

import re

import pandas as pd

from ingest.reading.column_types.numbers import NEARLY_ALL, Numbers

CLOCK = ":"
"""Stands for the decimal sign of such numbers."""
_WORD = re.compile(r"(?:(\d{1,4}):)?(\d{1,4}):([0-5]\d(?:[.,]\d+)?)(?: ?([AP])\.?M\.?)?", re.IGNORECASE)
_LOOKED_AT = 100  # distinct words that rule out most text columns
_LEAST_LIKE_TIMES = 0.8  # of these: a few odd words may come first


def read_clock(words: pd.Series, least: float = NEARLY_ALL) -> Numbers | None:
    """Times of day and durations as numbers, or None if fewer than `least` of the words are.

    The unit is that of a word's last part: 1:30 is 90, whether of minutes or of seconds, and 1:00:30 is 3630.
    Times with AM or PM count from midnight.

    Args:
        words: (n,) distinct words without surrounding blanks, NaN for missing ones.
        least: minimum share of the words that are times; 0 = a single one suffices.
    """
    present = words.dropna()
    first = present.head(_LOOKED_AT)
    like_times = sum(_WORD.fullmatch(word) is not None for word in first)
    if like_times < max(min(least, _LEAST_LIKE_TIMES) * len(first), 1):
        return None
    parts = present.str.extract(f"^{_WORD.pattern}$", flags=re.IGNORECASE)
    parts = parts[parts[2].notna()]
    if len(parts) < least * len(present):
        return None
    values = parts[2].str.replace(",", ".").astype(float) + 60 * parts[1].astype(float)
    values += 3600 * parts[0].astype(float).fillna(0.0)
    half = parts[3].str.upper()
    hour = parts[0].fillna(parts[1]).astype(float)
    unit = parts[0].notna().map({True: 3600.0, False: 60.0})
    values += unit * (12.0 * (half == "P") - 12.0 * (half.notna() & (hour == 12)))  # 12:05 AM is 0:05
    return Numbers(values.reindex(words.index), tuple(present.drop(index=parts.index)), (), CLOCK)
