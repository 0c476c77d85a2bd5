"""Read features of a data frame, and later rows in the same way.

The first rows determine the type of a column. Later ones may be few, or look different: three dates with
ambiguous day and month, a number that stands for a category. So nothing is detected from these.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

import pandas as pd

from ingest.reading.column_types.columns import as_words, read_column, tidied
from ingest.reading.column_types.dates import ISO, dates_of_format
from ingest.reading.column_types.missing import MISSING_AMONG_NUMBERS
from ingest.reading.column_types.role_detection import converted, detect_role
from ingest.reading.column_types.roles import NOT_LEARNED_FROM, Role
from ingest.reading.formats.encoding import quoted
from ingest.reading.tables import column_names

_FALSE = frozenset({"0", "0.0", "false", "f", "no", "n"})
_TRUE = frozenset({"1", "1.0", "true", "t", "yes", "y"})
_NAMED = 3  # categories named in a warning


@dataclass(frozen=True)
class Columns:
    """How to read the columns of a data frame."""

    roles: Mapping[str, Role]
    """Name -> role, in the order of the frame; names are distinct texts."""
    forms: Mapping[str, str]
    """Name of a text column of dates -> format; of numbers with units, thousands or decimal commas -> decimal
    sign; of times of day and durations -> `:`."""
    categories: Mapping[str, frozenset[str]]
    """Name of a column of categories or truth values -> the values in the first rows."""

    @classmethod
    def read_first(cls, frame: pd.DataFrame) -> tuple[Self, pd.DataFrame]:
        """Detect the columns' roles from these rows; returns the reader and the rows as features.

        The index of the frame is ignored.
        """
        named = frame.set_axis(column_names(frame.columns), axis=1).reset_index(drop=True)
        columns = {str(name): read_column(values) for name, values in named.items()}
        roles = {name: detect_role(column.values, name) for name, column in columns.items()}
        forms = {name: column.form for name, column in columns.items() if column.form is not None}
        features = {name: converted(column.values, roles[name]) for name, column in columns.items()}
        categories = {
            name: frozenset(map(str, values.cat.categories))
            for name, values in features.items()
            if roles[name] in (Role.categorical, Role.boolean)
        }
        return cls(roles, forms, categories), pd.DataFrame(features, index=named.index)

    def read(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Read later rows of the same columns in the same order; values that do not fit a column's role are
        missing.

        A `UserWarning` names each column in which no value fits, or all categories are new: its format has
        probably changed.
        """
        named = frame.set_axis([*self.roles], axis=1).reset_index(drop=True)
        read = {name: self._in_role(named[name], name) for name in self.roles}
        for name, values in read.items():
            if reason := self._misfit(named[name], values, name):
                warnings.warn(f"column {quoted(name)}: {reason}", UserWarning, stacklevel=3)
        return pd.DataFrame(read, index=named.index)

    def _in_role(self, values: pd.Series, name: str) -> pd.Series:
        role = self.roles[name]
        if role is Role.numeric:
            return _as_numbers(values, self.forms.get(name))
        if role is Role.date:
            if pd.api.types.is_datetime64_any_dtype(values.dtype):
                return tidied(values)
            return dates_of_format(as_words(values), self.forms.get(name, ISO))
        if role in NOT_LEARNED_FROM:
            return values
        words = as_words(values)
        truths = truth_words(self.categories[name]) if role is Role.boolean else None
        return words if truths is None else in_truth_words(words, *truths)

    def _misfit(self, values: pd.Series, read: pd.Series, name: str) -> str | None:
        """Why none of the values is usable, in words; None if one is, or if there are none."""
        role = self.roles[name]
        if role in (*NOT_LEARNED_FROM, Role.text):
            return None
        if role in (Role.numeric, Role.date):
            words = as_words(values).dropna()
            words = words[~words.str.lower().isin(MISSING_AMONG_NUMBERS)]
            if read.notna().any() or words.empty:
                return None
            form = self.forms.get(name, ISO)
            expected = "a number" if role is Role.numeric else f"a date of the format {form}"
            return f"none of its values is {expected}, such as {quoted(words.iloc[0])}; all count as missing"
        words = read.dropna()
        known = self.categories[name]
        if words.nunique() < 2 or words.isin(known).any():  # a single new category is not suspicious
            return None
        named = sorted(known)
        shown = ", ".join(map(quoted, named[:_NAMED])) + (", ..." if len(named) > _NAMED else "")
        return f"none of its values, such as {quoted(words.iloc[0])}, came in training, which had {shown}"


def _as_numbers(values: pd.Series, decimal: str | None) -> pd.Series:
    """Numbers of any form as floats; other or infinite values are missing.

    Args:
        decimal: decimal sign of words with units, thousands or decimal commas, `:` for times; None = plain
            numbers.
    """
    if pd.api.types.is_bool_dtype(values.dtype):
        return values.astype("Float64").astype(float)
    if pd.api.types.is_numeric_dtype(values.dtype) and not pd.api.types.is_complex_dtype(values.dtype):
        return tidied(values).astype(float)
    if decimal is not None:
        column = read_column(values, decimal, "numbers").values
        if pd.api.types.is_numeric_dtype(column.dtype):
            return column.astype(float)
    return tidied(pd.to_numeric(as_words(values), errors="coerce").astype(float))


# ---- truth values --------------------------------------------------------------------------------


def truth_words(categories: frozenset[str]) -> tuple[str, str] | None:
    """The words for false and true among two categories; None if they are not truth values."""
    false = [word for word in categories if word.lower() in _FALSE]
    true = [word for word in categories if word.lower() in _TRUE]
    return (false[0], true[0]) if len(false) == len(true) == 1 and len(categories) == 2 else None


def in_truth_words(words: pd.Series, false: str, true: str) -> pd.Series:
    """Replace 0 and 1, or no and yes, by these two words; others stay."""
    lower = words.str.lower()
    other = ~words.isin([false, true])
    return words.mask(other & lower.isin(_FALSE), false).mask(other & lower.isin(_TRUE), true)
