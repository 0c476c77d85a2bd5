"""Fits of `left_out_tables`; a module of its own, so that other processes can import it."""

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
from warehouse.support.arrays import Positions
from warehouse.vocabulary.configuration import Configuration


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
