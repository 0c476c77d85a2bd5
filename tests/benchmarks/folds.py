"""Learners judged on families of datasets that they have not learned from, in a few folds.

Leaving out one dataset at a time takes as many trainings as there are datasets, and says little more. All
families are learned from; but what a learner is like is chosen by the datasets of one half of them, and
figures are reported on the other (`Half`).
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Literal

import numpy as np
import pandas as pd

from metalearners import new_learner
from metalearners.encoding.training_data import without_datasets
from metalearners.learners.base import Model
from warehouse.queries import RunTable
from warehouse.support.parallel import one_thread

FOLDS = 5

Half = Literal["choosing", "reporting"]
"""Which families' datasets a learner is judged by; a checksum of its name says where a family belongs."""
HALVES: tuple[Half, ...] = ("choosing", "reporting")


def left_out(
    learner: str,
    runs: RunTable,
    metafeatures: pd.DataFrame,
    change: Callable[[RunTable, int], RunTable] = lambda known, _: known,
    half: Half | None = None,
    settings: Mapping[str, Any] | None = None,
) -> Iterator[tuple[pd.Index, Model]]:
    """Datasets that are left out together, and a model of the others.

    Args:
        change: what to make of the runs that are learned from in a fold.
        half: None = both.
        settings: of the learner; None = its defaults.
    """
    families = runs.runs.groupby("dataset", sort=False)["family"].first()
    fold_of = pd.Series(np.arange(families.nunique()) % FOLDS, index=families.unique())
    with one_thread():  # many small products, for which threads wait for each other
        for fold in range(FOLDS):
            tested = families.index[(families.map(fold_of) == fold).to_numpy()]
            known = change(without_datasets(runs, tested), fold)
            judged = [dataset for dataset in tested if half in (None, half_of(families[dataset]))]
            yield (
                pd.Index(judged),
                new_learner(learner, settings).fit(known, metafeatures.drop(index=tested, errors="ignore")),
            )


def half_of(family: str) -> Half:
    """The half that a family is in."""
    return HALVES[zlib.crc32(family.encode()) % 2]
