"""A search that is quick, data to search on, and what was tried."""

import numpy as np
import pandas as pd

from ingest.reading.datasets import Dataset, load_dataset
from recommend.bo.tuning import Search, SearchResult
from warehouse.vocabulary.configuration import Configuration

QUICK = Search(flows=("decision_tree", "logistic_regression"), surrogate="gbqr", folds=2)


def noisy(rows: int) -> Dataset:
    """Two classes, which all models tell apart fairly well."""
    random = np.random.default_rng(0)
    x = random.normal(size=(rows, 3))
    label = np.where(x[:, 0] + 0.5 * x[:, 1] + 0.3 * random.normal(size=rows) > 0, "yes", "no")
    return load_dataset(pd.DataFrame({"a": x[:, 0], "b": x[:, 1], "c": x[:, 2], "class": label}))


def configurations(tuned: SearchResult) -> list[Configuration]:
    return [entry.configuration for entry in tuned.trials]


def values(tuned: SearchResult) -> list[float | None]:
    return [tuned.value(entry) for entry in tuned.trials]
