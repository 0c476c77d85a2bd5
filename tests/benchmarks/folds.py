"""Learners judged on families of datasets that they have not learned from, in a few folds.

Leaving out one dataset at a time takes as many trainings as there are datasets, and says little more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pandas as pd

from metalearners import new_learner
from metalearners.encoding.training_data import without_datasets
from metalearners.learners.base import Model
from warehouse.queries import RunTable
from warehouse.support.parallel import one_thread

FOLDS = 5


def left_out(
    learner: str,
    runs: RunTable,
    metafeatures: pd.DataFrame,
    change: Callable[[RunTable, int], RunTable] = lambda known, _: known,
) -> Iterator[tuple[pd.Index, Model]]:
    """Datasets that are left out together, and a model of the others.

    Args:
        change: what to make of the runs that are learned from in a fold.
    """
    families = runs.runs.groupby("dataset", sort=False)["family"].first()
    fold_of = pd.Series(np.arange(families.nunique()) % FOLDS, index=families.unique())
    with one_thread():  # many small products, for which threads wait for each other
        for fold in range(FOLDS):
            tested = families.index[(families.map(fold_of) == fold).to_numpy()]
            known = change(without_datasets(runs, tested), fold)
            yield tested, new_learner(learner).fit(known, metafeatures.drop(index=tested, errors="ignore"))
