"""The rows that a configuration is fitted on and those that it is tested on.

Notation: n rows; `codes` (n,) class of each row, 0..k-1. A fidelity is the number of rows that a
configuration may be fitted on; the same dataset, fidelity and seed give every configuration the same splits.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from warehouse.support.arrays import Positions

Rows = Positions
Split = tuple[Rows, Rows]
"""Rows to fit on, rows to test on."""

HELD_OUT_THIRD = 3  # one row in three, as in a fold of three


@dataclass(frozen=True)
class Resampling:
    """Repeated stratified cross-validation, or one split."""

    folds: int
    """1 = one split."""
    repeats: int = 1
    train_rows: int | None = None
    """Most rows to fit on, drawn from the training part of each split; None = all of it."""
    test_rows: int | None = None
    """Most rows to test on, for one split; None = a third of the rows."""

    @property
    def name(self) -> str:
        """How an estimation procedure with these splits is called: `cv3`, `2xcv10`, `holdout-2000-10000`."""
        caps = "" if self.train_rows is None else f"-{self.train_rows}"
        if self.test_rows is not None:
            caps = f"{caps or '-all'}-{self.test_rows}"
        if self.folds == 1:
            return f"holdout{caps or HELD_OUT_THIRD}"
        return f"{f'{self.repeats}x' if self.repeats > 1 else ''}cv{self.folds}{caps}"

    def splits(self, codes: Rows, seed: int) -> Iterator[list[Split]]:
        """The splits of each repetition. No row is tested on twice in one of them."""
        for repetition in range(self.repeats):
            yield list(self._repetition(codes, seed + repetition))

    def sizes(self, n: int) -> tuple[int, int]:
        """Rows that each fit is fitted on (rounded mean), rows that are tested on in all, of `n` rows."""
        if self.folds > 1:
            part = round(n * (1 - 1 / self.folds))
            return part if self.train_rows is None else min(part, self.train_rows), n
        test = n // HELD_OUT_THIRD if self.test_rows is None else min(self.test_rows, n // 2)
        train = n - test
        return train if self.train_rows is None else min(train, self.train_rows), test

    def _repetition(self, codes: Rows, seed: int) -> Iterator[Split]:
        from sklearn.model_selection import StratifiedKFold

        if self.folds > 1:
            folds = StratifiedKFold(self.folds, shuffle=True, random_state=seed)
            for train, test in folds.split(codes, codes):
                yield self._limited(train, codes, seed), test
        elif self.test_rows is None:
            train, test = hold_out(codes, HELD_OUT_THIRD, seed)
            yield self._limited(train, codes, seed), test
        else:
            test = stratified_sample(codes, min(self.test_rows, len(codes) // 2), seed, spare=1)
            train = np.setdiff1d(np.arange(len(codes)), test)
            yield self._limited(train, codes, seed), test

    def _limited(self, train: Rows, codes: Rows, seed: int) -> Rows:
        if self.train_rows is None or len(train) <= self.train_rows:
            return train
        return train[stratified_sample(codes[train], self.train_rows, seed)]


def tested_rows(splits: Sequence[Split]) -> Rows:
    """The rows that are tested, one split after the other."""
    return np.concatenate([test for _, test in splits])


def hold_out(codes: Rows, every: int, seed: int) -> Split:
    """Rows to learn from and rows held out, in order: of each class one in `every` rows, drawn at random.

    Of a class with fewer rows than `every` there may be none among those held out, never none to learn from.
    """
    by_class, place = _shuffled_by_class(codes, seed)
    held_out = place % every == every - 1
    return np.sort(by_class[~held_out]), np.sort(by_class[held_out])


def stratified_sample(codes: Rows, n: int, seed: int, *, spare: int = 0) -> Rows:
    """`n` of the rows, in order, in which each class has its share, and at least two rows where it has two.

    Places are shared out by largest remainder; classes that would get fewer than two rows take theirs from
    the largest.

    Args:
        spare: rows of each class that are left out of the sample, where it has more than these.
    """
    sizes = np.bincount(codes)
    quota = n * sizes / len(codes)
    share = np.floor(quota).astype(np.intp)
    share[np.argsort(share - quota, kind="stable")[: n - share.sum()]] += 1
    least = np.minimum(np.maximum(sizes - spare, 0), 2)
    while (share < least).any() and share.max() > 2:
        share[np.argmax(share < least)] += 1
        share[np.argmax(share)] -= 1
    by_class, place = _shuffled_by_class(codes, seed)
    return np.sort(by_class[place < np.repeat(share, sizes)])


def _shuffled_by_class(codes: Rows, seed: int) -> tuple[Rows, Rows]:
    """(n,) rows class by class, shuffled within each, and (n,) the place of each within its class."""
    shuffled = np.random.default_rng(seed).permutation(len(codes))
    sizes = np.bincount(codes)
    starts = np.cumsum(sizes) - sizes
    by_class = shuffled[np.argsort(codes[shuffled], kind="stable")]
    return by_class, np.arange(len(codes)) - np.repeat(starts, sizes)
