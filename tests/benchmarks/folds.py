"""Models of learners for held-out families of datasets, in a few folds."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pandas as pd

from metalearners import new_learner
from metalearners.encoding.training_data import without_datasets
from metalearners.evaluation.folds import Half, families_of, folds_of, half_of
from metalearners.learners.base import Model
from warehouse.questions.queries import RunTable
from warehouse.support.parallel import one_thread

FOLDS = 5


def left_out(
    learner: str,
    runs: RunTable,
    metafeatures: pd.DataFrame,
    change: Callable[[RunTable, int], RunTable] = lambda known, _: known,
    half: Half | None = None,
    settings: Mapping[str, Any] | None = None,
) -> Iterator[tuple[pd.Index, Model]]:
    """Datasets held out together, and a model of the others.

    Args:
        change: function applied to the training runs of a fold.
        half: None = both.
        settings: of the learner; None = its defaults.
    """
    families, fold_of = families_of(runs), folds_of(runs, FOLDS)
    with one_thread():  # many small products, where threads would wait for each other
        for fold in range(FOLDS):
            tested = fold_of.index[(fold_of == fold).to_numpy()]
            known = change(without_datasets(runs, tested), fold)
            judged = [dataset for dataset in tested if half in (None, half_of(families[dataset]))]
            yield (
                pd.Index(judged),
                new_learner(learner, settings).fit(known, metafeatures.drop(index=tested, errors="ignore")),
            )
