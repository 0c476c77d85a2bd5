"""Split dependent rows by a column: a time or a group.

Rows of the same day, patient or household resemble each other. If a random split puts some of them into the
training set and others into the test set, the model is tested on rows it has nearly seen.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, Self, cast, final, get_args

import numpy as np
import pandas as pd

from ingest.reading.formats.encoding import quoted
from warehouse.support.arrays import Positions
from warehouse.support.errors import BadOption, UnusableDataset
from warehouse.support.text import counted

Kind = Literal["time", "group"]


_KEY = re.compile(r"(?:openml:\d+|local:.*-[0-9a-f]{16})(?: by (?P<split>.*))?", re.DOTALL)


@final
@dataclass(frozen=True)
class SplitBy:
    """A column and its meaning: `time` = rows are ordered, `group` = rows belong together.

    By time, test rows are later than all training rows. By group, a group is in either the training or the
    test set.
    """

    kind: Kind
    column: str

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse `time=COLUMN` or `group=COLUMN`.

        Raises:
            BadInput: it is neither.
        """
        kind, _, column = text.partition("=")
        if kind not in get_args(Kind) or not column:
            raise BadOption(f"{quoted(text)} is not a split; give time=COLUMN or group=COLUMN")
        return cls(cast("Kind", kind), column)

    def __str__(self) -> str:
        return f"{self.kind}={self.column}"

    def blocks(self, features: pd.DataFrame) -> Positions:
        """(n,) number of each row's group, or rank of its time; equal times share a rank.

        Raises:
            BadInput: a row has no value, or a time is neither a date nor a number.
        """
        column = features[self.column]
        name = quoted(self.column)
        if gaps := int(column.isna().sum()):
            raise UnusableDataset(
                f"{name} has no value in {counted(gaps, 'rows')}, so --split {self} can't place "
                f"{'it' if gaps == 1 else 'them'}: fill the gaps or drop the rows"
            )
        is_ordered = pd.api.types.is_numeric_dtype(column.dtype) or pd.api.types.is_datetime64_dtype(
            column.dtype
        )
        if self.kind == "time" and not is_ordered:
            raise UnusableDataset(
                f"{name} holds neither dates nor numbers, so rows can't be split by its time"
            )
        codes, _ = pd.factorize(column, sort=self.kind == "time")
        return np.asarray(codes, dtype=np.intp)


def split_of_key(key: str) -> str | None:
    """The split in a dataset's warehouse key (`Dataset.key`); None = at random."""
    match = _KEY.fullmatch(key)
    return match and match["split"]
