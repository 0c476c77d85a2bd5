"""A quick search, data to search on, and trials."""

from dataclasses import replace

import numpy as np
import pandas as pd

from ingest.flows import FLOWS
from ingest.reading.datasets import Dataset, load_dataset
from ingest.running.evaluation import Evaluation
from ingest.running.limits import Outcome
from ingest.running.resampling import Resampling
from recommend.bo.tuning import Search, SearchResult
from recommend.bo.tuning.trials import Trial
from warehouse.vocabulary.configuration import Configuration

QUICK = Search(
    flows=("decision_tree", "logistic_regression"), measure="predictive_accuracy", surrogate="gbqr", folds=1
)


def noisy(rows: int) -> Dataset:
    """Two classes that all models separate fairly well."""
    random = np.random.default_rng(0)
    x = random.normal(size=(rows, 3))
    label = np.where(x[:, 0] + 0.5 * x[:, 1] + 0.3 * random.normal(size=rows) > 0, "yes", "no")
    return load_dataset(pd.DataFrame({"a": x[:, 0], "b": x[:, 1], "c": x[:, 2], "class": label}))


def tree(depth: int) -> Configuration:
    return Configuration("decision_tree", FLOWS["decision_tree"].default() | {"max_depth": depth})


def trial(number: int, *values: float | None, message: str = "no memory", share: float = 1.0) -> Trial:
    """Trial of a tree with depth `number` + 1 and these values of evaluations; None = a crash."""
    evaluations = [
        Evaluation(Outcome.crash, 1.0, message=message)
        if value is None
        else Evaluation(Outcome.success, 0.5, {"predictive_accuracy": value})
        for value in values
    ]
    return Trial(number, tree(number + 1), "model", evaluations, share)


def result_of(dataset: Dataset, trials: list[Trial]) -> SearchResult:
    """A search with these trials, whose model is the best one; nothing is fitted."""
    found = SearchResult(dataset, QUICK, Resampling(2), trials, {}, None, None, 12.0, None, interrupted=False)
    if found.best is None:
        return found
    return replace(found, weights={found.best.configuration: 1.0}, value=found.best.value(QUICK.measure))


def configurations(tuned: SearchResult) -> list[Configuration]:
    return [one.configuration for one in tuned.trials]


def values(tuned: SearchResult) -> list[float | None]:
    """Values of first evaluations."""
    return [one.evaluation and one.evaluation.value(tuned.measure) for one in tuned.trials]
