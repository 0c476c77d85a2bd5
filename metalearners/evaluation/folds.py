"""Families of datasets: folds that are left out together, and halves that choices and reports rest on.

To leave out one family at a time takes as many trainings as there are families; a few folds of families say
nearly as much. All families are learned from; but what a method is like is chosen by the datasets of one half
of them, and figures are reported on the other (`Half`).
"""

from __future__ import annotations

import zlib
from typing import Literal

import pandas as pd

from warehouse.questions.queries import RunTable

Half = Literal["choosing", "reporting"]
"""Half of the families on which a method is evaluated, by a checksum of the family's name."""
HALVES: tuple[Half, ...] = ("choosing", "reporting")


def families_of(runs: RunTable) -> pd.Series:
    """Dataset -> family, in the order of the first runs."""
    families: pd.Series = runs.runs.groupby("dataset", sort=False)["family"].first()
    return families


def folds_of(runs: RunTable, folds: int = 0) -> pd.Series:
    """Dataset -> number of its fold; all datasets of a family are in one.

    Args:
        folds: families are dealt into so many, in the order of their first runs; 0 = each is a fold.
    """
    families = families_of(runs)
    place, names = pd.factorize(families)
    return pd.Series(place % (folds or len(names)), index=families.index)


def half_of(family: str) -> Half:
    """The half that a family is in."""
    return HALVES[zlib.crc32(family.encode()) % 2]
