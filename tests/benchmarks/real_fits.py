"""Fits of `real_tables` and `left_out_tables`; a module of its own, so that other processes can import it."""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator
from sklearn.dummy import DummyClassifier
from sklearn.pipeline import Pipeline

from ingest.flows import get_flow
from ingest.flows.preprocessing import preprocessor
from ingest.reading.datasets import Dataset
from ingest.running.blocks import Split
from ingest.running.evaluation import cross_validate
from ingest.running.scorer import scorer_of
from metalearners.encoding.scores import oriented
from warehouse.support.arrays import Positions
from warehouse.vocabulary.configuration import Configuration

PLAN = Path(__file__).resolve().parents[2] / "ingest" / "plans" / "starter.toml"
MATCHING = {"rf": "random_forest", "extra_tree": "extra_trees", "lgbm": "lightgbm"}
"""FLAML's name of a learner -> ours of the flow."""
SHARES = "shares of the classes"
"""Predicted for every row alike."""

Candidate = Configuration | str
"""One of our flows with its values, or FLAML's name of a learner, or `SHARES`."""


def both_values(dataset: Dataset, splits: Sequence[Split], measure: str, candidate: Candidate) -> list[float]:
    """The measure on the validation rows and on those held out, larger is better."""
    values = [
        cross_validate(partial(new_pipeline, dataset, train, candidate), dataset, [(train, test)])[0][measure]
        for train, test in splits
    ]
    return [float(value) for value in oriented(np.array(values), measure)]


def measures_and_time(
    dataset: Dataset,
    repetitions: Sequence[Sequence[Split]],
    rows: Positions,
    configuration: Configuration,
) -> dict[str, Any]:
    """The measures of a configuration, and seconds of processor time of one fit on `rows`."""
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


def new_pipeline(dataset: Dataset, train: Positions, candidate: Candidate) -> BaseEstimator:
    if isinstance(candidate, Configuration):
        return get_flow(candidate.algorithm).pipeline(candidate.values, dataset.roles, seed=0)
    if candidate == SHARES:
        return DummyClassifier(strategy="prior")
    return flaml_pipeline(dataset, train, candidate)


def flaml_pipeline(dataset: Dataset, train: Positions, learner: str) -> Pipeline:
    """What FLAML suggests of this learner for these rows, after the preprocessing of our forests."""
    from flaml.default.suggest import suggest_hyperparams

    steps = preprocessor(dataset.roles, encoding="indicators", imputation="median")
    codes = scorer_of(dataset).outcomes(dataset.target)[train]
    rows = steps.fit_transform(dataset.features.iloc[train], codes)  # FLAML looks at sizes and types alone
    hyperparameters, estimator = suggest_hyperparams("classification", rows, codes, learner)
    return Pipeline([("preprocessing", steps), ("classifier", estimator(**hyperparameters))])
