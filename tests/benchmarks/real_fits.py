"""Fits of `real_tables`, in their own module so that other processes can import it."""

from __future__ import annotations

import time
import warnings
from typing import Any

import pandas as pd

from tests.benchmarks.held_out import Table, typed_frame
from warehouse.support.arrays import Floats
from warehouse.support.parallel import one_thread
from warehouse.vocabulary.configuration import Configuration

Candidate = Configuration | str
"""A configuration, or the name of an estimator of `flaml.default` without `Classifier` or `Regressor`."""


def fit_and_score(table: Table, candidate: Candidate, *, for_use: bool = True) -> tuple[Floats, float]:
    """(held-out rows, k) scores of a fit on the training rows, and its processor time in seconds."""
    began = time.process_time()
    with warnings.catch_warnings(), one_thread():
        warnings.simplefilter("ignore")
        if isinstance(candidate, Configuration):
            model, features = table.fitted(candidate, for_use=for_use), table.dataset.features
        else:
            features = typed_frame(table.dataset)
            model = flaml_estimator(table, candidate, features)
        took = time.process_time() - began
        return table.scores(model, features), took


def flaml_estimator(table: Table, name: str, features: pd.DataFrame) -> Any:
    """FLAML's suggestion for this learner and the training rows, fitted to them."""
    import flaml.default

    estimator = getattr(flaml.default, f"{name}{table.kind.flaml_suffix}")(n_jobs=1)
    return estimator.fit(features.iloc[table.train].reset_index(drop=True), table.outcomes[table.train])
