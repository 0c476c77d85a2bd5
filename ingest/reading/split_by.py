"""The column by which dependent rows are split: a time, or a group.

Rows of the same day, patient or household resemble each other. Where a random split puts some of them among
the rows to learn from and others among those to test on, a model is tested on what it has nearly seen.
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
    """A column and what it says about rows: `time` = they follow each other, `group` = they belong together.

    By time, rows are tested on that are later than all those that were learned from. By group, all rows of a
    group are learned from, or all are tested on.
    """

    kind: Kind
    column: str

    @classmethod
    def parse(cls, text: str) -> Self:
        """The split that `time=COLUMN` or `group=COLUMN` names.

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
        """(n,) number of each row's group, or of its moment in time, in order; equal moments are one.

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
    """The split of a dataset in the warehouse, told by its key (`Dataset.key`); None = at random."""
    match = _KEY.fullmatch(key)
    return match and match["split"]
