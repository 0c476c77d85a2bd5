"""A search that is quick, data to search on, and what was tried."""

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
    """Two classes, which all models tell apart fairly well."""
    random = np.random.default_rng(0)
    x = random.normal(size=(rows, 3))
    label = np.where(x[:, 0] + 0.5 * x[:, 1] + 0.3 * random.normal(size=rows) > 0, "yes", "no")
    return load_dataset(pd.DataFrame({"a": x[:, 0], "b": x[:, 1], "c": x[:, 2], "class": label}))


def tree(depth: int) -> Configuration:
    return Configuration("decision_tree", FLOWS["decision_tree"].default() | {"max_depth": depth})


def trial(number: int, *values: float | None, message: str = "no memory", share: float = 1.0) -> Trial:
    """Of a tree that is one deeper than its number, with the values of its evaluations; None = a crash."""
    evaluations = [
        Evaluation(Outcome.crash, 1.0, message=message)
        if value is None
        else Evaluation(Outcome.success, 0.5, {"predictive_accuracy": value})
        for value in values
    ]
    return Trial(number, tree(number + 1), "model", evaluations, share)


def result_of(dataset: Dataset, trials: list[Trial]) -> SearchResult:
    """A search with these trials, of which the best is the model; nothing is fitted."""
    found = SearchResult(dataset, QUICK, Resampling(2), trials, {}, None, None, 12.0, None, interrupted=False)
    if found.best is not None:
        found = SearchResult(
            **{
                **vars(found),
                "weights": {found.best.configuration: 1.0},
                "value": found.best.value(QUICK.measure),
            }
        )
    return found


def configurations(tuned: SearchResult) -> list[Configuration]:
    return [one.configuration for one in tuned.trials]


def values(tuned: SearchResult) -> list[float | None]:
    """Of the first evaluations."""
    return [one.evaluation and one.evaluation.value(tuned.measure) for one in tuned.trials]
