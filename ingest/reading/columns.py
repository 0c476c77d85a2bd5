"""Columns of any source in one form.

Every source (CSV, ARFF, Parquet, a data frame) writes the same values in other ways. `tidied` brings a
column to one of these: float64/int64, datetime64[us], `str`, or `category` with text categories (a column
that its source declares as categories, or that holds booleans). Words are treated once per distinct
value, so that the cost hardly grows with the rows.
"""

import re

import numpy as np
import pandas as pd

from ingest.reading.missing import MISSING_AMONG_NUMBERS, MISSING_MARKERS


def tidied(column: pd.Series) -> pd.Series:
    """The column as float64/int64, datetime64, `str` or `category`, missing values as NaN/NaT.

    Words that are all numbers (see `as_numbers`) or all dates become such; declared categories
    stay what they are. Infinities become missing.
    """
    dtype = column.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        return _tidied_categories(column)
    if pd.api.types.is_bool_dtype(dtype):
        return _truth_values(column)
    if pd.api.types.is_numeric_dtype(dtype) and not pd.api.types.is_complex_dtype(dtype):
        return _tidied_numbers(column)
    if isinstance(dtype, pd.DatetimeTZDtype):
        column = column.dt.tz_convert("UTC").dt.tz_localize(None)
    if pd.api.types.is_datetime64_dtype(column.dtype):
        return column.astype("datetime64[us]")
    if pd.api.types.is_timedelta64_dtype(dtype):
        return pd.Series(column.dt.total_seconds())
    return _tidied_words(column)


def _tidied_numbers(column: pd.Series) -> pd.Series:
    if column.dtype in (np.float64, np.int64):
        values = column.to_numpy()
    else:
        values = column.to_numpy(dtype=float, na_value=np.nan)
    finite = np.isfinite(values)
    return pd.Series(values if finite.all() else np.where(finite, values, np.nan), index=column.index)


def _truth_values(column: pd.Series) -> pd.Series:
    words = column.astype(object).map({True: "True", False: "False"})
    return words.astype(pd.CategoricalDtype(pd.Index(["False", "True"], dtype="str")))


def _tidied_categories(column: pd.Series) -> pd.Series:
    """Text categories in alphabetical order, those that do not occur too; `?` among them means missing."""
    words = [label(value).strip() for value in column.cat.categories]
    kept = sorted(set(words) - {"", "?"})
    position = {word: index for index, word in enumerate(kept)}
    codes = np.array([*(position.get(word, -1) for word in words), -1])[column.cat.codes.to_numpy()]
    categories = pd.Index(kept, dtype="str")
    return pd.Series(pd.Categorical.from_codes(codes, categories=categories), index=column.index)


def _tidied_words(column: pd.Series) -> pd.Series:
    if column.dtype == object:
        types = set(column[column.notna()].map(type))
        if types and types <= {bool, np.bool_}:
            return _truth_values(column)
        column = column.where(column.isna(), column.map(label))
    codes, distinct = pd.factorize(column)  # code -1: missing
    return _tidied_distinct(pd.Series(distinct, dtype="str")).reindex(codes).set_axis(column.index)


def _tidied_distinct(words: pd.Series) -> pd.Series:
    """Distinct words as numbers or dates where all are, else without blanks around; markers are missing."""
    words = _without_markers(words)
    without_gaps = _without_gaps(words)
    numbers = as_numbers(without_gaps)
    if numbers is not None:
        return _tidied_numbers(numbers)
    dates = as_dates(without_gaps)
    return words if dates is None else dates


def _without_markers(words: pd.Series) -> pd.Series:
    words = words.str.strip()
    return words.mask(words.str.lower().isin(MISSING_MARKERS))


def _without_gaps(words: pd.Series) -> pd.Series:
    """The words where numbers or dates are expected."""
    return words.mask(words.str.lower().isin(MISSING_AMONG_NUMBERS))


def as_words(column: pd.Series) -> pd.Series:
    """A column of any form as `str`, without making numbers or dates of words that look like them."""
    if not (column.dtype == object or isinstance(column.dtype, pd.StringDtype)):
        return labels(tidied(column))
    codes, distinct = pd.factorize(column.where(column.isna(), column.map(label)))
    words = _without_markers(pd.Series(distinct, dtype="str"))
    return words.reindex(codes).set_axis(column.index)


# ---- numbers -------------------------------------------------------------------------------------

_DECORATED_NUMBER = re.compile(
    r"(?P<sign>-?)(?P<currency>[$€£¥]?) ?(?P<digits>[1-9][0-9]{0,2}(?:,[0-9]{3})+|[0-9]+)"
    r"(?P<fraction>(?:\.[0-9]+)?)(?P<unit>(?: ?%| [^\W\d_]+)?)"
)
_PROVES_THOUSANDS = re.compile(r",[0-9]{3}[,.]")  # 1,234 alone may be 1.234 with a decimal comma


def as_numbers(words: pd.Series) -> pd.Series | None:
    """The words as float64 when all are numbers, plain or all decorated alike, else None.

    Decorations are a currency sign in front, a percent sign or a blank and a unit behind, the same for
    all, and commas between thousands where one of the words proves that they are no decimal signs.
    """
    for candidates in (words.head(100), words):  # the first words tell most columns of text
        numbers = pd.to_numeric(candidates, errors="coerce").astype(float)
        if numbers.notna().sum() < candidates.notna().sum():
            return _decorated_numbers(words)
    return numbers


def _decorated_numbers(words: pd.Series) -> pd.Series | None:
    present = words.dropna()
    if not all(map(_DECORATED_NUMBER.fullmatch, present.iloc[:20])):
        return None
    parts = present.str.extract(f"^{_DECORATED_NUMBER.pattern}$")
    decorations = parts["currency"] + parts["unit"].str.strip()
    if (decorations != decorations.iloc[0]).any():  # so too where a word is no number
        return None
    if parts["digits"].str.contains(",").any() and not present.str.contains(_PROVES_THOUSANDS).any():
        return None
    plain = parts["sign"] + parts["digits"].str.replace(",", "") + parts["fraction"]
    return plain.astype(float).reindex(words.index)


# ---- labels --------------------------------------------------------------------------------------


def label(value: object) -> str:
    """A value as text; whole numbers without a decimal point."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return str(value)


def labels(column: pd.Series) -> pd.Series:
    """A tidied column as `str`."""
    if not pd.api.types.is_numeric_dtype(column.dtype):
        return column.astype("str")
    codes, distinct = pd.factorize(column)  # code -1: missing
    texts = pd.array([*map(label, distinct), np.nan], dtype="str")
    return pd.Series(texts[codes], index=column.index, name=column.name)


# ---- dates ---------------------------------------------------------------------------------------

_LOOKS_LIKE_DATE = re.compile(
    r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}(?:[T ].*)?"
    r"|\d{1,2}[-/. ](?:\d{1,2}|[A-Za-z]{3,9})[-/. ]\d{2,4}(?: .*)?"
    r"|[A-Za-z]{3,9} \d{1,2},? \d{4}"
)
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


def as_dates(words: pd.Series) -> pd.Series | None:
    """The words as datetime64 when all are dates of one common format, else None.

    Times with a zone are brought to UTC. `1/2/2020` is read as month/day/year as long as all fit.
    """
    found = _dates_and_format(words)
    return None if found is None else found[0]


def date_format(column: pd.Series) -> str | None:
    """The format in which a column of words holds dates; None where it holds other things, or datetimes."""
    if not (column.dtype == object or isinstance(column.dtype, pd.StringDtype)):
        return None
    found = _dates_and_format(_without_gaps(as_words(pd.Series(column.dropna().unique()))))
    return None if found is None else found[1]


def dates_of_format(words: pd.Series, date_format: str) -> pd.Series:
    """The words as datetime64; NaT for those that are no dates of the format."""
    is_iso = date_format == ISO
    dates = pd.to_datetime(words, format=date_format, errors="coerce", utc=is_iso)
    return (dates.dt.tz_localize(None) if is_iso else dates).astype("datetime64[us]")


def _dates_and_format(words: pd.Series) -> tuple[pd.Series, str] | None:
    present = words.dropna()
    if present.empty or not all(map(_LOOKS_LIKE_DATE.fullmatch, present.iloc[:20])):
        return None
    for name in DATE_FORMATS:
        dates = dates_of_format(words, name)
        if dates.notna().sum() == len(present):
            return dates, name
    return None
