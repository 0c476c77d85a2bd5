"""Resampling: training rows and test rows.

Notation: n rows; `strata` (n,) stratum of each row, 0..k-1, such as its class. A fidelity is the largest
number of training rows; all configurations get the same splits for the same dataset, fidelity and seed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ingest.reading.split_by import Kind
from ingest.running.blocks import SPLITTERS, Split, Splitter
from warehouse.support.arrays import Positions

HELD_OUT_THIRD = 3  # one row in three, as in a fold of three
_KINDS = {"time": "ordered", "group": "grouped"}


@dataclass(frozen=True)
class Resampling:
    """Repeated stratified cross-validation, or one split."""

    folds: int
    """1 = one split."""
    repeats: int = 1
    train_rows: int | None = None
    """Most training rows, drawn from the training part of each split; None = all of it."""
    test_rows: int | None = None
    """Most test rows, for one split; None = a third of the rows."""
    by: Kind | None = None
    """Split by time or groups (`ingest.running.blocks`); None = a random split."""

    @property
    def name(self) -> str:
        """Name of the estimation procedure with these splits: `cv3`, `2xcv10`, `holdout-2000-10000`.

        Splits that are not random have a prefix: `ordered-cv3`, `grouped-holdout3`.
        """
        caps = "" if self.train_rows is None else f"-{self.train_rows}"
        if self.test_rows is not None:
            caps = f"{caps or '-all'}-{self.test_rows}"
        kind = "" if self.by is None else f"{_KINDS[self.by]}-"
        if self.folds == 1:
            return f"{kind}holdout{caps or HELD_OUT_THIRD}"
        return f"{kind}{f'{self.repeats}x' if self.repeats > 1 else ''}cv{self.folds}{caps}"

    def splits(self, strata: Positions, seed: int) -> Iterator[list[Split]]:
        """The splits of each repetition, in which no row is tested twice."""
        for number in range(self.repeats):
            yield self.repetition(strata, seed, number)

    def repetition(
        self, strata: Positions, seed: int, number: int, blocks: Positions | None = None
    ) -> list[Split]:
        """The splits of the repetition with this number, from 0.

        Args:
            blocks: (n,) moment or group of each row, if `by` is set.
        """
        splitter: Splitter = Shuffled(strata)
        if self.by is not None:
            if blocks is None:
                raise ValueError(f"rows can't be split by {self.by} without the {self.by} of each")
            splitter = SPLITTERS[self.by](strata, blocks)
        splits: Iterable[Split]
        if self.folds > 1:
            splits = splitter.folds(self.folds, seed, number)
        elif self.test_rows is None:
            splits = [splitter.one_in(HELD_OUT_THIRD, seed, number)]
        else:
            splits = [splitter.testing(min(self.test_rows, len(strata) // 2), seed, number)]
        return [(self._limited(train, strata, seed + number), test) for train, test in splits]

    def sizes(self, n: int) -> tuple[int, int]:
        """Mean training rows per fit (rounded), and total test rows, of `n` rows.

        Both are approximate for splits by time or groups.
        """
        if self.folds > 1:
            part, test = round(n * (1 - 1 / self.folds)), n
            if self.by == "time":
                part, test = round(n / 2), n // (self.folds + 1) * self.folds
            return part if self.train_rows is None else min(part, self.train_rows), test
        test = n // HELD_OUT_THIRD if self.test_rows is None else min(self.test_rows, n // 2)
        train = n - test
        return train if self.train_rows is None else min(train, self.train_rows), test

    def _limited(self, train: Positions, strata: Positions, seed: int) -> Positions:
        if self.train_rows is None or len(train) <= self.train_rows:
            return train
        return train[stratified_sample(strata[train], self.train_rows, seed)]


@dataclass(frozen=True)
class Shuffled:
    """Random splits, stratified."""

    strata: Positions

    def folds(self, k: int, seed: int, number: int) -> Iterable[Split]:
        """Each row is tested in one of k folds."""
        from sklearn.model_selection import StratifiedKFold

        folds: Iterable[Split] = StratifiedKFold(k, shuffle=True, random_state=seed + number).split(
            self.strata, self.strata
        )
        return folds

    def one_in(self, every: int, seed: int, number: int) -> Split:
        """A split with one test row in `every`."""
        return hold_out(self.strata, every, seed + number)

    def testing(self, rows: int, seed: int, number: int) -> Split:
        """A split with this many test rows."""
        test = stratified_sample(self.strata, rows, seed + number, spare=1)
        return np.setdiff1d(np.arange(len(self.strata)), test), test


def tested_rows(splits: Sequence[Split]) -> Positions:
    """Positions of the tested rows, split after split."""
    return np.concatenate([test for _, test in splits])


def hold_out(strata: Positions, every: int, seed: int) -> Split:
    """Training and held-out rows, in order: one in `every` rows of each stratum is held out, at random.

    A stratum with fewer rows than `every` may have no held-out row, but keeps training rows.
    """
    by_stratum, place = _shuffled_by_stratum(strata, seed)
    held_out = place % every == every - 1
    return np.sort(by_stratum[~held_out]), np.sort(by_stratum[held_out])


def stratified_sample(strata: Positions, n: int, seed: int, *, spare: int = 0) -> Positions:
    """`n` of the rows, in order, stratified, with at least two rows of each stratum that has two.

    Rows are allotted by largest remainder; strata that would get fewer than two take rows from the largest.

    Args:
        spare: rows of each stratum to leave out of the sample, if it has more.
    """
    sizes = np.bincount(strata)
    quota = n * sizes / len(strata)
    share = np.floor(quota).astype(np.intp)
    share[np.argsort(share - quota, kind="stable")[: n - share.sum()]] += 1
    least = np.minimum(np.maximum(sizes - spare, 0), 2)
    while (share < least).any() and share.max() > 2:
        share[np.argmax(share < least)] += 1
        share[np.argmax(share)] -= 1
    by_stratum, place = _shuffled_by_stratum(strata, seed)
    return np.sort(by_stratum[place < np.repeat(share, sizes)])


def _shuffled_by_stratum(strata: Positions, seed: int) -> tuple[Positions, Positions]:
    """(n,) rows stratum by stratum, shuffled within each, and (n,) each row's position in its stratum."""
    shuffled = np.random.default_rng(seed).permutation(len(strata))
    sizes = np.bincount(strata)
    starts = np.cumsum(sizes) - sizes
    by_stratum = shuffled[np.argsort(strata[shuffled], kind="stable")]
    return by_stratum, np.arange(len(strata)) - np.repeat(starts, sizes)
