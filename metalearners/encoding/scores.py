"""Values of a measure in standard scores of their dataset.

0 = an average run on the dataset, 1 = one standard deviation better (van Hoof's thesis, section 6.2). This
removes how hard each dataset is, which says nothing about configurations. Larger is always better.
"""

from __future__ import annotations

from typing import TypeVar

import numpy as np
import pandas as pd

from metalearners.encoding.links import LINKS
from warehouse.vocabulary.measures import MEASURES, larger_is_better

V = TypeVar("V", np.ndarray, float)
Z80 = 1.2815515655446004
"""Half the width of the central 80 % of a normal distribution, in standard deviations."""


def oriented(values: V, measure: str) -> V:
    """Value or values of `measure`, negated if smaller values are better.

    Raises:
        BadInput: the direction of the measure is unknown (`warehouse.vocabulary.measures`).
    """
    return values if larger_is_better(measure) else -values


def learned_form(values: np.ndarray, measure: str) -> np.ndarray:
    """Values of `measure`, larger is better, on the scale of learners: relative errors as logarithms."""
    link = MEASURES[measure].link
    return LINKS[link].to_z(values) if link == "relative_error" else values


def learned_score(value: float, measure: str) -> float:
    """`learned_form` of a single value in the measure's own direction."""
    return float(learned_form(np.array([oriented(value, measure)]), measure)[0])


def standard_scores(values: np.ndarray, dataset: np.ndarray | None = None) -> np.ndarray:
    """Standardize `values`, (m,), within each dataset; scores are 0 if all values are equal.

    Args:
        dataset: (m,) number of each value's dataset, from 0; None = a single dataset.
    """
    if dataset is None:  # fast path for every trial of a search: grouping takes milliseconds
        return (values - values.mean()) / values.std() if np.ptp(values) > 0 else np.zeros(len(values))
    groups = pd.Series(values).groupby(dataset)
    spread = groups.transform("std", ddof=0).to_numpy()
    constant = (groups.transform("max") == groups.transform("min")).to_numpy()
    centred = values - groups.transform("mean").to_numpy()
    return np.where(constant, 0.0, centred / np.where(constant, 1.0, spread))
