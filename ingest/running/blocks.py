"""Splits of rows ordered in time, and of grouped rows.

Notation: n rows; `strata` (n,) stratum of each row, 0..k-1; `moments` (n,) rank of each row's time, equal
times sharing a rank; `groups` (n,) number of each row's group.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from ingest.reading.split_by import Kind
from warehouse.support.arrays import Positions

Split = tuple[Positions, Positions]
"""Rows to fit on, rows to test on."""
MANY_GROUPS = 1000
"""Number of groups from which folds have about equal shares of the strata without slow balancing."""


class Splitter(Protocol):
    """Ways to split rows; `number` is a repetition's, from 0, and each repetition has other splits."""

    def folds(self, k: int, seed: int, number: int, /) -> Iterable[Split]:
        """The folds of a cross-validation."""

    def one_in(self, every: int, seed: int, number: int, /) -> Split:
        """A split with one test row in `every`."""

    def testing(self, rows: int, seed: int, number: int, /) -> Split:
        """A split with this many test rows."""


@dataclass(frozen=True)
class Ordered:
    """Test rows come after all training rows; nothing is random."""

    strata: Positions
    moments: Positions

    def folds(self, k: int, _seed: int, number: int, /) -> list[Split]:
        """scikit-learn's `TimeSeriesSplit` with cuts between moments; fewer folds if there are few moments.

        Later repetitions have shorter test parts, so that their training parts end later.
        """
        from sklearn.model_selection import TimeSeriesSplit

        n = len(self.moments)
        if n < k + 1 + number:
            return []
        in_order = np.sort(self.moments)
        parts = TimeSeriesSplit(k, test_size=n // (k + 1 + number)).split(in_order)
        starts = np.unique([in_order[test[0]] for _, test in parts])
        starts = starts[starts > 0]
        ends = [*starts[1:].tolist(), n]
        return [self._cut(start, end) for start, end in zip(starts.tolist(), ends, strict=True)]

    def one_in(self, every: int, seed: int, number: int, /) -> Split:
        """A split with the last of `every` parts as test rows."""
        return self.testing(len(self.moments) // (every + number), seed, number)

    def testing(self, rows: int, _seed: int, _number: int, /) -> Split:
        """A split with about this many test rows, the last ones."""
        start = np.sort(self.moments)[len(self.moments) - max(rows, 1)]
        return self._cut(max(int(start), 1), len(self.moments))

    def _cut(self, start: int, end: int) -> Split:
        before, after = self.moments < start, self.moments >= end
        return np.flatnonzero(before), np.flatnonzero(~before & ~after)


@dataclass(frozen=True)
class Grouped:
    """A group is in the training or the test rows as a whole; strata keep about their shares."""

    strata: Positions
    groups: Positions

    def folds(self, k: int, seed: int, number: int, /) -> list[Split]:
        """Folds of scikit-learn's `StratifiedGroupKFold`, or `GroupKFold`; none if groups are too few."""
        from sklearn.model_selection import GroupKFold, StratifiedGroupKFold

        if not 2 <= k <= min(self.groups.max() + 1, np.bincount(self.strata).max()):
            return []
        kind = StratifiedGroupKFold if self.groups.max() < MANY_GROUPS else GroupKFold
        folds = kind(k, shuffle=True, random_state=seed + number)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a stratum with fewer rows than folds
            return list(folds.split(self.strata, self.strata, self.groups))

    def one_in(self, every: int, seed: int, number: int, /) -> Split:
        """A split with the first of `every` folds, or of as many as there are groups, as test rows."""
        folds = self.folds(min(every, int(self.groups.max()) + 1), seed, number)
        return folds[0] if folds else (np.arange(len(self.groups)), np.arange(0))

    def testing(self, rows: int, seed: int, number: int, /) -> Split:
        """A split whose test groups have about this many rows."""
        return self.one_in(max(round(len(self.groups) / max(rows, 1)), 2), seed, number)


SPLITTERS: Mapping[Kind, Callable[[Positions, Positions], Splitter]] = {"time": Ordered, "group": Grouped}
"""Kind of split -> splitter of strata and moments or groups."""
