"""Dates in text columns: detection of one format for a column, and parsing."""

from __future__ import annotations

import re
from dataclasses import dataclass

import pandas as pd

from ingest.reading.column_types.numbers import NEARLY_ALL

ISO = "ISO8601"
"""Name of the format of ISO's dates, in the terms of pandas."""
# Where day and month cannot be told apart, the first format that fits all values is taken.
DATE_FORMATS = (
    *(ISO, "%Y/%m/%d", "%Y.%m.%d", "%m/%d/%Y", "%d/%m/%Y", "%d.%m.%Y", "%d-%m-%Y", "%m-%d-%Y"),
    *("%m/%d/%y", "%d/%m/%y", "%d.%m.%y", "%d %b %Y", "%d-%b-%Y", "%d-%b-%y", "%d %B %Y"),
    *("%b %d, %Y", "%B %d, %Y", "%m/%d/%Y %H:%M", "%d/%m/%Y %H:%M", "%d.%m.%Y %H:%M"),
    *("%m/%d/%y %H:%M", "%d/%m/%y %H:%M", "%d.%m.%y %H:%M"),
    *("%m/%d/%Y %H:%M:%S", "%d/%m/%Y %H:%M:%S", "%d.%m.%Y %H:%M:%S"),
)
_LOOKS_LIKE_DATE = re.compile(
    r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}(?:[T ].*)?"
    r"|\d{1,2}[-/. ](?:\d{1,2}|[A-Za-z]{3,9})[-/. ]\d{2,4}(?: .*)?"
    r"|[A-Za-z]{3,9} \d{1,2},? \d{4}"
)
_LOOKED_AT = 20  # distinct words that tell most columns of text
_LEAST_LIKE_DATES = 0.8  # of these: a few odd words may stand at the top


@dataclass(frozen=True)
class Dates:
    """A column of words, nearly all dates of one format."""

    values: pd.Series
    """(n,) datetime64[us] beside the words; NaT for words that are not dates of the format."""
    format: str
    """One of `DATE_FORMATS`."""
    odd: tuple[str, ...]
    """Words that are not dates of the format."""


def read_dates(words: pd.Series, least: float = NEARLY_ALL) -> Dates | None:
    """The dates in words, or None if the share with one format is below `least`.

    Times with a zone are brought to UTC. `1/2/2020` is read as month/day/year as long as all fit.

    Args:
        words: (n,) distinct words without blanks around, NaN for gaps.
        least: share of the words that have to be dates; 0 = a single one suffices.
    """
    present = words.dropna()
    first = present.head(_LOOKED_AT)
    like_dates = sum(_LOOKS_LIKE_DATE.fullmatch(word) is not None for word in first)
    if present.empty or like_dates < max(min(least, _LEAST_LIKE_DATES) * len(first), 1):
        return None
    best, most = None, max(least * len(present), 1) - 1
    for name in DATE_FORMATS:
        dates = dates_of_format(words, name)
        found = int(dates.notna().sum())
        if found > most and found >= least * len(present):
            best, most = (dates, name), found
        if found == len(present):
            break
    if best is None:
        return None
    dates, name = best
    return Dates(dates, name, tuple(present[dates[present.index].isna()]))


def dates_of_format(words: pd.Series, date_format: str) -> pd.Series:
    """The words as datetime64[us]; NaT for those that are no dates of the format."""
    is_iso = date_format == ISO
    dates = pd.to_datetime(words, format=date_format, errors="coerce", utc=is_iso)
    return (dates.dt.tz_localize(None) if is_iso else dates).astype("datetime64[us]")
