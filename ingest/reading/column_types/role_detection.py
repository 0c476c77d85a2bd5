"""Detection of a column's role from its values and name, and the conversion to the form of a role."""

import re

import numpy as np
import pandas as pd

from ingest.reading.column_types.columns import as_dates, labels
from ingest.reading.column_types.roles import Role

_TRUTH_VALUES = ({"true", "false"}, {"yes", "no"}, {"t", "f"}, {"y", "n"})
_IDENTIFIER_NAME = re.compile(
    r"(?:.*[_ .-])?(?:id|index|idx|uuid|guid|key|rowid|rownames?|row_?number)|unnamed: \d+", re.IGNORECASE
)
_IDENTIFIER_NAME_IN_CAMEL_CASE = re.compile(r".*[a-z](?:Id|ID)")
_IDENTIFIER_MIN_ROWS = 20  # with fewer rows, distinct values may be a coincidence
_IDENTIFIER_DISTINCT_SHARE = 0.95  # of the rows; a few may be entered twice
_TEXT_DISTINCT_SHARE = 0.5  # of the rows: texts are rarely repeated
_TEXT_MIN_LENGTH = 30  # characters, on average
_TEXT_MIN_WORDS = 4  # on average


def detect_role(column: pd.Series, name: str) -> Role:
    """The role of a tidied column (see `ingest.reading.column_types.columns`).

    A number is an identifier only if it counts the rows from 0 or 1, or if its name says so and no value is
    repeated; a word, if (almost) no value is repeated. A column with one value and gaps is not constant: the
    gaps may be informative.
    """
    if pd.api.types.is_numeric_dtype(column.dtype):
        return _role_of_numbers(column, name)
    counts = column.value_counts()
    counts = counts[counts > 0]
    present = int(counts.sum())
    if len(counts) == 0 or (len(counts) == 1 and present == len(column)):
        return Role.constant
    if pd.api.types.is_datetime64_dtype(column.dtype):
        return Role.date
    if len(counts) == 2 and {str(value).lower() for value in counts.index} in _TRUTH_VALUES:
        return Role.boolean
    if _is_free_text(counts, present):
        return Role.text
    if present >= _IDENTIFIER_MIN_ROWS and len(counts) >= _IDENTIFIER_DISTINCT_SHARE * present:
        return Role.identifier
    return Role.categorical


def _role_of_numbers(column: pd.Series, name: str) -> Role:
    values = column.to_numpy()
    missing = np.isnan(values)
    if missing.all() or (not missing.any() and (values == values[0]).all()):
        return Role.constant
    if missing.any() or len(values) < _IDENTIFIER_MIN_ROWS:
        return Role.numeric
    counts_rows = values[0] in (0, 1) and values[-1] == values[0] + len(values) - 1
    if counts_rows and (np.diff(values) == 1).all():
        return Role.identifier
    is_named = _IDENTIFIER_NAME.fullmatch(name) or _IDENTIFIER_NAME_IN_CAMEL_CASE.fullmatch(name)
    is_code = is_named and (values == np.floor(values)).all() and column.is_unique
    return Role.identifier if is_code else Role.numeric


def _is_free_text(counts: pd.Series, present: int) -> bool:
    if len(counts) < _TEXT_DISTINCT_SHARE * present:
        return False
    sample = pd.Series(counts.index[:1000], dtype="str")
    words = sample.str.count(r"\S+").mean()
    return bool(sample.str.len().mean() >= _TEXT_MIN_LENGTH and words >= _TEXT_MIN_WORDS)


def converted(column: pd.Series, role: Role) -> pd.Series:
    """Convert a tidied column to the form of its role.

    numeric: float64/int64; categorical and boolean: `category` of text; date: datetime64; text: `str`;
    constant and identifier: numbers and dates unchanged, words as `category`. Raises `ValueError` if the
    values do not fit the role.
    """
    is_category = isinstance(column.dtype, pd.CategoricalDtype)
    if role == Role.numeric and not pd.api.types.is_numeric_dtype(column.dtype):
        return pd.to_numeric(column.astype("str")).astype(float)
    if role == Role.date and not pd.api.types.is_datetime64_dtype(column.dtype):
        dates = as_dates(labels(column))
        if dates is None:
            raise ValueError("not all values are dates of one format")
        return dates
    if role == Role.text:
        return labels(column)
    is_word = isinstance(column.dtype, pd.StringDtype)
    if is_word or (role in (Role.categorical, Role.boolean) and not is_category):
        return labels(column).astype("category")
    return column
