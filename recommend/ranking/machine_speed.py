"""The speed of this machine."""

from __future__ import annotations

import time
from functools import cache

import numpy as np

_ROWS, _COLUMNS, _FITS = 1000, 20, 3
_REFERENCE = 0.0185
"""Seconds of processor time of the fit below on the machines of the starter's runs."""


@cache
def slowness() -> float:
    """Factor by which a fit takes longer here than on the machines of the starter's runs.

    Measured once in a process, by fitting a decision tree to noise for less than a tenth of a second, and
    rounded to powers of the square root of 2: predicted times are no better, and recommendations should not
    change from one call to the next.
    """
    from sklearn.tree import DecisionTreeClassifier

    random = np.random.default_rng(0)
    X, y = random.normal(size=(_ROWS, _COLUMNS)), random.integers(0, 2, _ROWS)
    took = []
    for _ in range(_FITS):
        start = time.process_time()
        DecisionTreeClassifier(random_state=0).fit(X, y)
        took.append(time.process_time() - start)
    return float(2 ** (np.round(2 * np.log2(max(min(took), 1e-6) / _REFERENCE)) / 2))
