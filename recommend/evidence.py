"""Evidence of a recommendation: the most similar datasets, what was good there, and what is not known."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from warehouse.qualities import SHAPE

NEAREST = 3
"""How many similar datasets a recommendation names."""


def nearest_datasets(known: pd.DataFrame, metafeatures: pd.Series) -> pd.Series:
    """The most similar datasets with their distance, the nearest first; empty if none can be compared.

    The distance is the root mean square over the meta-features of the dataset's shape, each on a log scale
    and divided by its standard deviation over the known datasets. What is missing on either side does not
    count.

    Args:
        known: (datasets, qualities)
        metafeatures: quality -> value of the new dataset.
    """
    mine = np.log1p(metafeatures.reindex(SHAPE))
    others = np.log1p(known.reindex(columns=SHAPE))
    spread = others.std(ddof=0).replace(0.0, np.nan)
    squares = ((others - mine) / spread) ** 2
    distances: pd.Series = squares.mean(axis="columns").pow(0.5).dropna()
    return distances.nsmallest(NEAREST)


SIZES = ("NumberOfInstances", "NumberOfFeatures", "NumberOfClasses")


@dataclass(frozen=True)
class Outside:
    """A size of a dataset that no dataset which was learned from has, nor any beyond it."""

    quality: str
    """Of `SIZES`; the target counts as a feature."""
    value: float
    least: float
    """Smallest among the datasets that were learned from."""
    most: float


def outside_of_known(known: pd.DataFrame, metafeatures: pd.Series) -> list[Outside]:
    """The sizes of a dataset that lie outside of the range of those that were learned from.

    Args:
        known: (datasets, qualities)
        metafeatures: quality -> value of the new dataset.
    """
    found = []
    for name in SIZES:
        if name in known and name in metafeatures:
            value, least, most = (
                float(of) for of in (metafeatures[name], known[name].min(), known[name].max())
            )
            if value < least or value > most:
                found.append(Outside(name, value, least, most))
    return found


def scores_on(runs: pd.DataFrame, scores: np.ndarray, datasets: pd.Index) -> pd.Series:
    """Setup -> mean standard score of its runs on `datasets`, for the setups that ran there.

    Args:
        runs: (m,) rows of a run table.
        scores: (m,) standard score of each.
    """
    there = runs["dataset"].isin(datasets).to_numpy()
    return pd.Series(scores[there]).groupby(runs.loc[there, "setup"].to_numpy()).mean()
