"""Times and lengths of several parts in text columns: 8:45, 2:30 PM, 3 days 04:00:00, 2h 50m, 5'11"."""

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
_OF_UNITS = re.compile(
    r"""
    (?=.*\d)P?
    (?:(?P<d>\d{1,4})\ ?(?:d|days?)\.?)?\ ?T?
    (?:(?P<h>\d{1,4})\ ?(?:h|hrs?|hours?)\.?)?\ ?
    (?:(?P<m>\d{1,4})\ ?(?:m|mins?|minutes?|(?<=h\d\d))\.?)?\ ?
    (?:(?P<s>\d{1,4}(?:[.,]\d+)?)\ ?(?:s|secs?|seconds?)\.?)?
    |
    (?P<feet>\d{1,2})(?:['\u2019\u2032]|\ ?ft\.?)\ ?
    (?:(?P<inches>(?:\d|1[01])(?:\.\d+)?)\ ?(?:["\u201d\u2033]|''|in\.?)?)?
    """,
    re.VERBOSE | re.IGNORECASE,
)
_UNITS = {"d": 86_400, "h": 3600, "m": 60, "s": 1, "feet": 12, "inches": 1}


def read_clock(words: pd.Series, least: float = NEARLY_ALL) -> Column | None:
    """Times of day, durations and lengths as numbers, or None if fewer than `least` of the words are.

    The unit is that of a word's last part: 1:30 is 90, whether of minutes or of seconds, and 1:00:30 is 3630.
    Times with AM or PM count from midnight. 2h 50m is in seconds, 5'11" in inches.

    Args:
        words: (n,) distinct words without surrounding blanks, NaN for missing ones.
        least: minimum share of the words that are times; 0 = a single one suffices.
    """
    present = words.dropna()
    if may_be(present, _OF_UNITS.fullmatch, least):
        parts = present.str.extract(f"^(?:{_OF_UNITS.pattern})$", flags=_OF_UNITS.flags).dropna(how="all")
        are_several = not least or parts.notna().any().sum() > 1  # 3h may be a name
        if are_several and len(parts) >= max(least * len(present), 1):
            units = parts.replace({",": "."}, regex=True).astype(float).fillna(0.0)
            lengths = units.mul(pd.Series(_UNITS)).sum(axis=1)
            odd = tuple(present.drop(index=parts.index))
            return Column(lengths.reindex(words.index), odd, form=CLOCK)
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
