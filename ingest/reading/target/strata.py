"""Strata of a target, for stratified splits."""

from __future__ import annotations

import numpy as np
import pandas as pd

from warehouse.support.arrays import Positions

STRATA = 10
"""Most quantile bins of a numeric target."""
ROWS_PER_STRATUM = 20
"""Least rows of a bin: folds of ten then have two of each."""


def strata_of(target: pd.Series) -> Positions:
    """(n,) stratum of each row, from 0: its category, or the quantile bin of a number.

    There are up to ten bins of about equal size, by ranks; equal numbers share a bin.
    """
    if isinstance(target.dtype, pd.CategoricalDtype):
        return target.cat.codes.to_numpy().astype(np.intp)
    from scipy.stats import rankdata

    n = len(target)
    bins = max(min(STRATA, n // ROWS_PER_STRATUM), 1)
    lowest = rankdata(target.to_numpy(np.float64), method="min") - 1
    _, strata = np.unique(lowest * bins // n, return_inverse=True)
    return strata.astype(np.intp)
