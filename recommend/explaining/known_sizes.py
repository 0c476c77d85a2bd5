"""Sizes of a dataset compared with those of the known datasets."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

SIZES = ("NumberOfInstances", "NumberOfFeatures", "NumberOfClasses")


@dataclass(frozen=True)
class Outside:
    """A size of a dataset that is smaller or larger than that of every known dataset."""

    quality: str
    """Name of the size, one of `SIZES`; the target counts as a feature."""
    value: float
    least: float
    """Smallest among the known datasets."""
    most: float


def outside_of_known(known: pd.DataFrame, metafeatures: pd.Series) -> list[Outside]:
    """The sizes of a dataset outside of the range among the known datasets.

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
