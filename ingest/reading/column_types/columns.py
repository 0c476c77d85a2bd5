"""Convert columns of any source to a common form.

Sources (CSV, ARFF, Parquet, a data frame) store the same values differently. `read_column` converts a column
to one of these: float64/int64, datetime64[us], `str`, or `category` with text categories (booleans, and
columns that the source declares as categories). Text columns are judged by their distinct words, so that the
cost hardly grows with the rows.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from ingest.reading.column_types.clock import CLOCK, read_clock
from ingest.reading.column_types.dates import read_dates
from ingest.reading.column_types.missing import MISSING_AMONG_NUMBERS, MISSING_MARKERS
from ingest.reading.column_types.numbers import read_numbers
from ingest.reading.column_types.words import LOOKED_AT, NEARLY_ALL, Column

Kind = Literal["numbers", "dates", "words"]

_EXACT = 2**53  # beyond it float64 merges whole numbers
_MOST_ODD = 0.5  # of the cells: a column of mostly "none" is not numeric
_CODES_OF_ONE_LENGTH = 0.9  # share of the distinct words, or else ...
_CODES_WITH_ZERO = 0.1  # ... that begin with a zero
_SPELLINGS = pa.array(
    sorted({how(word) for word in MISSING_MARKERS for how in (str, str.upper, str.title)} | {"NaN"})
)
"""Usual spellings of missing values; others take longer to recognize."""


def tidied(column: pd.Series) -> pd.Series:
    """The values of `read_column`."""
    return read_column(column).values


def read_column(column: pd.Series, decimal: str | None = None, kind: Kind | None = None) -> Column:
    """Convert a column to the common form.

    Words become numbers, or dates of one format, if nearly all are; the others are then missing. Times of day
    and durations are numbers (`ingest.reading.column_types.clock`). Codes stay words: whole numbers with
    leading zeros, or too long to be distinguished as floats. Declared categories are kept. Infinities become
    missing.

    Args:
        column: (n,) in any form of a source.
        decimal: decimal sign of the file, "." or ","; `:` for times of day and durations; None = unknown (see
            `read_numbers`).
        kind: type to convert words to: then a single number (date) makes the others missing, and words are
            kept as written, except `?` and empty ones. None = detected.
    """
    dtype = column.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        return Column(_tidied_categories(column))
    if pd.api.types.is_bool_dtype(dtype):
        return Column(_truth_values(column))
    if pd.api.types.is_numeric_dtype(dtype) and not pd.api.types.is_complex_dtype(dtype):
        return Column(_tidied_numbers(column))
    if isinstance(dtype, pd.DatetimeTZDtype):
        column = column.dt.tz_convert("UTC").dt.tz_localize(None)
    if pd.api.types.is_datetime64_dtype(column.dtype):
        return Column(column.astype("datetime64[us]"))
    if pd.api.types.is_timedelta64_dtype(dtype):
        return Column(pd.Series(column.dt.total_seconds()))
    return _tidied_words(column, decimal, kind)


def _tidied_numbers(column: pd.Series) -> pd.Series:
    if column.dtype in (np.float64, np.int64):
        values = column.to_numpy()
    elif pd.api.types.is_integer_dtype(column.dtype) and (column.max() > _EXACT or column.min() < -_EXACT):
        # Different whole numbers would become the same float.
        return column.astype("str")
    else:
        values = column.to_numpy(dtype=float, na_value=np.nan)
    finite = np.isfinite(values)
    return pd.Series(values if finite.all() else np.where(finite, values, np.nan), index=column.index)


def _truth_values(column: pd.Series) -> pd.Series:
    words = column.astype(object).map({True: "True", False: "False"})
    return words.astype(pd.CategoricalDtype(pd.Index(["False", "True"], dtype="str")))


def _tidied_categories(column: pd.Series) -> pd.Series:
    """Text categories in alphabetical order, including unused ones; the category `?` means missing."""
    words = [label(value).strip() for value in column.cat.categories]
    kept = sorted(set(words) - {"", "?"})
    position = {word: index for index, word in enumerate(kept)}
    codes = np.array([*(position.get(word, -1) for word in words), -1])[column.cat.codes.to_numpy()]
    categories = pd.Index(kept, dtype="str")
    return pd.Series(pd.Categorical.from_codes(codes, categories=categories), index=column.index)


# ---- words ---------------------------------------------------------------------------------------


def _tidied_words(column: pd.Series, decimal: str | None, kind: Kind | None) -> Column:
    if column.dtype == object:
        types = set(column[column.notna()].map(type))
        if types and types <= {bool, np.bool_}:
            return Column(_truth_values(column))
        column = column.where(column.isna(), column.map(label)).astype("str")
    if isinstance(column.dtype, pd.StringDtype) and kind in (None, "numbers") and decimal != ",":
        numbers = _plain_numbers(column)
        if numbers is not None:
            return Column(numbers)
    codes, distinct = pd.factorize(column)  # code -1: missing
    words = pd.Series(distinct, dtype="str")
    found = _tidied_distinct(words, decimal, kind)
    if found.odd and kind is None and _share(found, words, codes) > _MOST_ODD:
        found = Column(_without_markers(words))
    return replace(found, values=found.values.reindex(codes).set_axis(column.index))


def _share(column: Column, words: pd.Series, codes: np.ndarray) -> float:
    """Share of the cells with a value that contain an odd word."""
    cells = np.bincount(codes[codes >= 0], minlength=len(words))
    odd = words.str.strip().isin(column.odd).to_numpy()
    return float(cells[odd].sum() / cells[odd | column.values.notna().to_numpy()].sum())


def _plain_numbers(column: pd.Series) -> pd.Series | None:
    """Words as int64/float64 if all are plain numbers as in programs, and none is a code."""
    words = pa.array(column)
    number = _type_of(words[:LOOKED_AT])
    if number is None:
        number = _type_of(_without_gaps_of_arrow(words[:LOOKED_AT]))
        if number is None:
            return None
        words = _without_gaps_of_arrow(words)
    numbers = _cast(words, number)
    if numbers is None and number == pa.int64():
        numbers = _cast(words, pa.float64())
    if numbers is None:  # missing values come late
        words = _without_gaps_of_arrow(words)
        numbers = _cast(words, pa.float64())
    if numbers is None:
        return None
    if len(numbers) == numbers.null_count:
        return None
    if pa.types.is_integer(numbers.type) and pc.any(pc.starts_with(words, "0")).as_py():
        digits = pc.filter(words, pc.starts_with(words, "0"))
        if pc.max(pc.utf8_length(digits)).as_py() > 1:
            return None  # codes such as 007, or 0x10
    values = numbers.to_numpy(zero_copy_only=False) if isinstance(numbers, pa.Array) else numbers.to_numpy()
    if values.dtype != np.int64 and (np.abs(values[np.isfinite(values)]) > _EXACT).any():
        return None  # different serial numbers may be the same float
    return _tidied_numbers(pd.Series(values, index=column.index))


def _type_of(words: pa.Array | pa.ChunkedArray) -> pa.DataType | None:
    """The numeric type of words, guessed from a few of them, since a failing cast is slow."""
    return next((number for number in (pa.int64(), pa.float64()) if _cast(words, number) is not None), None)


def _cast(words: pa.Array | pa.ChunkedArray, number: pa.DataType) -> pa.Array | pa.ChunkedArray | None:
    try:
        return pc.cast(words, number)
    except pa.ArrowInvalid:
        return None


def _without_gaps_of_arrow(words: pa.Array | pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
    words = pc.utf8_trim_whitespace(words)
    return pc.if_else(
        pc.is_in(words, value_set=_SPELLINGS.cast(words.type)), pa.scalar(None, words.type), words
    )


def _tidied_distinct(words: pd.Series, decimal: str | None, kind: Kind | None) -> Column:
    """Distinct words as numbers, times or dates if nearly all are, else stripped of blanks."""
    if kind == "words":
        words = words.str.strip()
        return Column(words.mask(words.isin(["", "?"])))
    words = _without_markers(words)
    without_gaps = words.mask(words.str.lower().isin(MISSING_AMONG_NUMBERS))
    least = NEARLY_ALL if kind is None else 0.0
    if kind != "dates" and decimal != CLOCK and (kind == "numbers" or not _are_codes(without_gaps)):
        numbers = read_numbers(without_gaps, decimal, least)
        if numbers is not None and (kind == "numbers" or not _merges(without_gaps, numbers.values)):
            return replace(numbers, values=_tidied_numbers(numbers.values))
    if kind != "dates":
        times = read_clock(without_gaps, least)
        if times is not None:
            return times
    if kind != "numbers":
        dates = read_dates(without_gaps, least)
        if dates is not None:
            return dates
    return Column(words)


def _are_codes(words: pd.Series) -> bool:
    """Whether the words are digits, some with leading zeros: zip codes, not amounts."""
    first = words.dropna().unique()
    if len(first) == 0 or not str(first[0]).isdigit():
        return False
    codes = pd.Series(first, dtype="str")
    with_zero = codes.str.fullmatch(r"0\d+")
    if codes.str.fullmatch("00+").any():
        return False  # nothing is an amount
    if not with_zero.any() or not codes.str.fullmatch(r"\d+").mean() >= NEARLY_ALL:
        return False
    usual = codes.str.len().mode().iloc[0]
    return bool(
        (codes.str.len() == usual).mean() >= _CODES_OF_ONE_LENGTH or with_zero.mean() >= _CODES_WITH_ZERO
    )


def _merges(words: pd.Series, numbers: pd.Series) -> bool:
    """Whether long whole numbers that differ as words become the same float."""
    large = numbers.abs() > _EXACT
    return bool(large.any() and words[large].nunique() > numbers[large].nunique())


def _without_markers(words: pd.Series) -> pd.Series:
    words = words.str.strip()
    return words.mask(words.str.lower().isin(MISSING_MARKERS))


def as_words(column: pd.Series) -> pd.Series:
    """A column of any form as `str`, without conversion of words to numbers or dates."""
    if not (column.dtype == object or isinstance(column.dtype, pd.StringDtype)):
        return labels(tidied(column))
    if column.dtype == object:
        column = column.where(column.isna(), column.map(label))
    codes, distinct = pd.factorize(column)
    words = _without_markers(pd.Series(distinct, dtype="str"))
    return words.reindex(codes).set_axis(column.index)


def as_numbers(words: pd.Series) -> pd.Series | None:
    """The words as float64 if all are numbers in any notation, else None."""
    found = read_numbers(words)
    return None if found is None or found.odd else found.values


def as_dates(words: pd.Series) -> pd.Series | None:
    """The words as datetime64 if all are dates of one format, else None."""
    found = read_dates(words)
    return None if found is None or found.odd else found.values


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
