"""Resampling of a search's trials: as many folds and rows as its time allows."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from ingest.reading.datasets import Dataset
from ingest.reading.target.strata import strata_of
from ingest.running.blocks import Split
from ingest.running.resampling import Resampling, stratified_sample
from ingest.running.splitting import feasible_folds
from ingest.running.splitting import splits_of as splits_of_dataset
from recommend.bo.optimizer import ALL_ROWS
from recommend.ranking.fit_cost import PREDICTING
from warehouse.support.arrays import Positions

TRIALS = 20
"""Number of typical trials that should fit into a search's time; a heuristic, like the numbers below."""
FEW_ROWS = 1000
"""Rows below which scores are noisy, so that trials have more folds."""
FOLDS = (5, 3, 1)
"""Possible numbers of folds of a trial, the preferred one first."""
FOLDS_OF_FEW = (10, 5, 3, 1)
UNLIMITED = {True: 5, False: 3}
"""Whether rows are few -> folds if the search has no time limit."""
LEAST_ROWS = 500
"""Least rows of a fit, if the dataset has them."""


def choose_resampling(
    dataset: Dataset, folds: int | None, fit_seconds: Callable[[int], float], seconds: float | None
) -> Resampling:
    """Choose the resampling of the trials.

    Args:
        folds: given by the user; None = chosen here.
        fit_seconds: number of rows -> expected seconds of one typical fit; NaN = unknown.
        seconds: of the search; None = no limit.

    Raises:
        BadInput: no split can be made.
    """
    rows = len(dataset.features)
    is_small = rows < FEW_ROWS
    by = dataset.split and dataset.split.kind
    if folds is not None:
        return Resampling(folds, by=by)
    if seconds is None or math.isnan(fit_seconds(rows)):
        return Resampling(_feasible(dataset, UNLIMITED[is_small]), by=by)
    options = [Resampling(_feasible(dataset, k), by=by) for k in (FOLDS_OF_FEW if is_small else FOLDS)]
    train_rows = options[-1].sizes(rows)[0] // 2
    while train_rows >= least_rows(dataset):
        options.append(replace(options[-1], train_rows=train_rows))
        train_rows //= 2
    allowed = seconds / TRIALS

    def is_quick(one: Resampling) -> bool:
        return fit_seconds(one.sizes(rows)[0]) * fits_of_trial(one) <= allowed

    return next(filter(is_quick, options), options[-1])


def fits_of_trial(resampling: Resampling) -> float:
    """Expected seconds of a trial as a multiple of those of one of its fits."""
    return PREDICTING * resampling.folds


def least_rows(dataset: Dataset) -> int:
    """Least rows of a fit: all if there are few."""
    strata = strata_of(dataset.target)
    return min(max(LEAST_ROWS, 2 * (int(strata.max()) + 1)), len(strata))


def rows_to_fit_on(dataset: Dataset, rows: int, seed: int) -> Positions | None:
    """Positions of a stratified sample of `rows` rows, at least two per stratum; None = all."""
    strata = strata_of(dataset.target)
    return None if rows >= len(strata) else stratified_sample(strata, rows, seed)


def _feasible(dataset: Dataset, folds: int) -> int:
    """The largest feasible number of folds for the dataset, at most `folds`."""
    if dataset.split is not None:
        return feasible_folds(dataset, Resampling(folds, by=dataset.split.kind))
    strata = strata_of(dataset.target)
    return min(folds, max(int(np.bincount(strata).max()), 1)) if len(strata) else 1


class Splits:
    """The splits of a search's trials, each made once."""

    def __init__(self, dataset: Dataset, resampling: Resampling, seed: int) -> None:
        self.resampling = resampling
        self._dataset = dataset
        self._seed = seed
        self._known: dict[tuple[int, float], list[Split]] = {}

    def rows_of(self, share: float = ALL_ROWS) -> int:
        """Number of rows that each fit of a trial has."""
        return round(share * self.resampling.sizes(len(self._dataset.features))[0])

    def of(self, repetition: int = 0, share: float = ALL_ROWS) -> Sequence[Split]:
        """Splits of a repetition, from 0; each has other folds.

        Args:
            share: share of the training rows, a stratified sample with at least two rows per stratum. The
                test rows stay the same.
        """
        if (repetition, share) not in self._known:
            resampling = self.resampling
            if share != ALL_ROWS:
                strata = strata_of(self._dataset.target)
                least = 2 * (int(strata.max()) + 1)
                resampling = replace(resampling, train_rows=max(self.rows_of(share), least))
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # about classes with fewer rows than folds
                splits = splits_of_dataset(self._dataset, resampling, self._seed, repetition)
            self._known[repetition, share] = splits
        return self._known[repetition, share]
