"""Families of datasets: folds for cross-validation, and halves for choosing methods and reporting figures.

Leaving out one family at a time takes as many trainings as there are families; a few folds of families say
nearly as much. Training uses all other families. But methods and settings are chosen on the datasets of one
half of the families, and figures are reported on the other half (`Half`).
"""

from __future__ import annotations

import zlib
from typing import Literal

import pandas as pd

from warehouse.questions.queries import RunTable

Half = Literal["choosing", "reporting"]
"""Half of the families on which a method is evaluated, assigned by a checksum of the family's name."""
HALVES: tuple[Half, ...] = ("choosing", "reporting")


def families_of(runs: RunTable) -> pd.Series:
    """Family of each dataset, in the order of first runs."""
    families: pd.Series = runs.runs.groupby("dataset", sort=False)["family"].first()
    return families


def folds_of(runs: RunTable, folds: int) -> pd.Series:
    """Fold number of each dataset; all datasets of a family are in the same fold.

    Args:
        folds: number of folds, to which families are dealt in the order of first runs; 0 = one per family.
    """
    families = families_of(runs)
    place, names = pd.factorize(families)
    return pd.Series(place % (folds or len(names)), index=families.index)


def half_of(family: str) -> Half:
    """The half that contains a family."""
    return HALVES[zlib.crc32(family.encode()) % 2]
