"""Features of a data frame, and rows that come later, read as the first ones were.

What a column is was told from the first rows. Later ones may be few, or look otherwise: three dates that may
be of either order of day and month, a number that stands for a category. So nothing is told from these.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

import pandas as pd

from ingest.reading.columns import as_words, date_format, tidied
from ingest.reading.dates import ISO, dates_of_format
from ingest.reading.roles import NOT_LEARNED_FROM, Role, converted, detect_role
from ingest.reading.tables import column_names


@dataclass(frozen=True)
class Columns:
    """How the columns of a data frame are read."""

    roles: Mapping[str, Role]
    """Name -> role, in the order of the frame; names are text and occur once."""
    date_formats: Mapping[str, str]
    """Name of a column of dates that were words -> their format."""

    @classmethod
    def read_first(cls, frame: pd.DataFrame) -> tuple[Self, pd.DataFrame]:
        """What the columns are, told from these rows, and the rows as `ingest.reading.datasets` has features.

        The index of the frame is ignored.
        """
        named = frame.set_axis(column_names(frame.columns), axis=1).reset_index(drop=True)
        columns = {str(name): tidied(values) for name, values in named.items()}
        roles = {name: detect_role(values, name) for name, values in columns.items()}
        formats = {
            name: found
            for name, role in roles.items()
            if role is Role.date and (found := date_format(named[name])) is not None
        }
        features = {name: converted(values, roles[name]) for name, values in columns.items()}
        return cls(roles, formats), pd.DataFrame(features, index=named.index)

    def read(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Later rows of the same columns in the same order; what does not fit a column's role is missing."""
        named = frame.set_axis([*self.roles], axis=1).reset_index(drop=True)
        return pd.DataFrame(
            {name: self._in_role(named[name], name) for name in self.roles}, index=named.index
        )

    def _in_role(self, values: pd.Series, name: str) -> pd.Series:
        role = self.roles[name]
        if role is Role.numeric:
            column = tidied(values)
            if not pd.api.types.is_numeric_dtype(column.dtype):
                column = pd.to_numeric(as_words(values), errors="coerce")
            return column.astype(float)
        if role is Role.date:
            if pd.api.types.is_datetime64_any_dtype(values.dtype):
                return tidied(values)
            return dates_of_format(as_words(values), self.date_formats.get(name, ISO))
        return values if role in NOT_LEARNED_FROM else as_words(values)
