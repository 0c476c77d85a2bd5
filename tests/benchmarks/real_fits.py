"""Fits of `real_tables` and `left_out_tables`, in their own module so that other processes can import it."""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from functools import partial
from typing import Any

import pandas as pd

from ingest.flows import get_flow
from ingest.reading.datasets import Dataset
from ingest.running.blocks import Split
from ingest.running.evaluation import cross_validate
from ingest.running.scorer import scorer_of
from tests.benchmarks.held_out import Table, typed_frame
from warehouse.support.arrays import Floats, Positions
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


def measures_and_time(
    dataset: Dataset,
    repetitions: Sequence[Sequence[Split]],
    rows: Positions,
    configuration: Configuration,
) -> dict[str, Any]:
    """The measures of a configuration, and processor time in seconds of one fit on `rows`."""
    flow = get_flow(configuration.algorithm)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pipeline = flow.pipeline(configuration.values, dataset.roles, seed=0)
        features, codes = dataset.features.iloc[rows], scorer_of(dataset).outcomes(dataset.target)[rows]
        began = time.process_time()
        pipeline.fit(features, codes)
        took = time.process_time() - began
        new = partial(flow.pipeline, configuration.values, dataset.roles, seed=0)
        of_each = [cross_validate(new, dataset, splits)[0] for splits in repetitions]
        values = pd.DataFrame(of_each).mean().to_dict()
    return {"measures": values, "seconds": took}
