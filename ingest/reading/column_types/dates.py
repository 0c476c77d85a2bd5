"""Dates in text columns: detect one format for a column, and parse it."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pandas as pd

from ingest.reading.column_types.words import NEARLY_ALL, Column, may_be

ISO = "ISO8601"
"""Name of ISO's date format in pandas."""
# If day and month are ambiguous, the first format that fits all values is used.
_DAYS = (
    *("%Y/%m/%d", "%Y.%m.%d", "%m/%d/%Y", "%d/%m/%Y", "%d.%m.%Y", "%d-%m-%Y", "%m-%d-%Y"),
    *("%m/%d/%y", "%d/%m/%y", "%d.%m.%y", "%d %b %Y", "%d-%b-%Y", "%d-%b-%y", "%d %B %Y"),
    *("%b %d, %Y", "%B %d, %Y", "%b %d %Y", "%B %d %Y", "%Y-%m-%d"),
    *("%b %Y", "%B %Y", "%b-%Y", "%B-%Y", "%b-%y"),
    *("%a, %d %b %Y", "%A, %B %d, %Y"),
)
_YEAR_LAST = ("%a %b %d %H:%M:%S %z %Y", "%a %b %d %H:%M:%S %Y")
_TIMES = ("%H:%M", "%H:%M:%S", "%H:%M:%S.%f", "%I:%M %p", "%I:%M:%S %p")
_OF_TIME = re.compile(
    r"\d(?P<sign>,?) \d{1,2}:\d\d(?:[:.]\d+)*(?: [AP]M)?(?P<zone> ?[+-]\d\d:?\d\d| [A-Z]{3,5})?$",
    re.IGNORECASE,
)
"""What stands before a time, and behind it: an offset, or the name of a zone, of which a column has one."""
_MONTH = "(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]{0,6}"
_LOOKS_LIKE_DATE = re.compile(
    r"(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]{0,6},? )?"
    r"(?:\d{4}[-/.]\d{1,2}[-/.]\d{1,2}(?:T.*)?|\d{8}T\d.*|\d{4}-\d{2}"
    rf"|\d{{1,2}}[-/. ](?:\d{{1,2}}|{_MONTH})[-/. ]\d{{2,4}}"
    rf"|{_MONTH} \d{{1,2}},? (?:\d{{2}}:.*)?\d{{4}}|{_MONTH}[- ]\d{{2,4}})(?:,? .*)?",
    re.IGNORECASE,
)
_LOOKED_AT = 20  # distinct words that rule out most text columns


def read_dates(words: pd.Series, least: float = NEARLY_ALL) -> Column | None:
    """The dates in words, or None if the share with one format is below `least`.

    Times with an offset are converted to UTC; times with the name of one zone stay in it.
    `1/2/2020` is read as month/day/year if all dates fit.

    Args:
        words: (n,) distinct words without surrounding blanks, NaN for missing ones.
        least: minimum share of the words that are dates; 0 = a single one suffices.
    """
    present = words.dropna()
    if not may_be(present, _LOOKS_LIKE_DATE.fullmatch, least, _LOOKED_AT):
        return None
    best, most = None, max(least * len(present), 1) - 1
    for name in likely_formats(present.head(_LOOKED_AT)):
        dates = dates_of_format(words, name)
        found = int(dates.notna().sum())
        if found > most and found >= least * len(present):
            best, most = (dates, name), found
        if found == len(present):
            break
    if best is None:
        return None
    dates, name = best
    return Column(dates, tuple(present[dates[present.index].isna()]), form=name)


def likely_formats(words: pd.Series) -> Iterator[str]:
    """The formats, as pandas patterns, of any of the first distinct words, most likely first."""
    first = pd.Series(words.dropna().unique()[:_LOOKED_AT], dtype="str")
    time = next(filter(None, map(_OF_TIME.search, first)), None)
    times = [""]
    if time is not None:
        zone = re.sub(r"[+-].*", "%z", time["zone"] or "")
        times += [f"{time['sign']} {clock}{zone}" for clock in _TIMES]
    formats = [day + clock for day in _DAYS for clock in times]
    return (name for name in (ISO, *formats, *_YEAR_LAST) if dates_of_format(first, name).notna().any())


def dates_of_format(words: pd.Series, date_format: str) -> pd.Series:
    """The words as datetime64[us]; NaT for those that are not dates of the format."""
    dates = pd.to_datetime(words, format=date_format, errors="coerce", utc=True)
    return dates.dt.tz_localize(None).astype("datetime64[us]")
