"""Base class of surrogates: from the trials so far to a prediction for every candidate.

Notation
    n, t     candidates, trials
    X        encoding of n configurations; each surrogate has its own form
    y        (t,) values of the trials, larger is better, on any scale
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol, TypeVar, runtime_checkable

import numpy as np

from metalearners.predictions import Prediction
from recommend.space import Configurations
from warehouse.support.arrays import Floats, Rows

E = TypeVar("E", bound=Rows)


@dataclass(frozen=True)
class Matrix(Rows):
    """Configurations encoded as one matrix."""

    numbers: Floats
    """(n, any)"""


class Surrogate(Protocol[E]):
    """A model of the values of configurations on one dataset.

    Predictions are in the unit of `y`, or an increasing function of it: the order of candidates does not
    depend on it. For a surrogate without uncertainty, `predict` has no standard deviation, and its mean is
    the surrogate's own criterion.
    """

    acquisition: str
    """Default acquisition function (`recommend.bo.acquisition`)."""

    def encode(self, configurations: Configurations) -> E:
        """X of configurations, cached while they are candidates; row i depends only on row i."""

    def fit(self, X: E, y: Floats, random: np.random.Generator) -> None:
        """Learn from one or more trials, and forget earlier ones."""

    def predict(self, X: E) -> Prediction:
        """Predictions of candidates after `fit`; independent of the other candidates."""


@runtime_checkable
class Draws(Protocol):
    """A surrogate with the joint distribution of the values of configurations."""

    def draw(self, X: Any, random: np.random.Generator) -> Floats:
        """(n,) a draw from the joint distribution of the values after `fit`, in the unit of `predict`."""


def centre_and_spread(y: Floats) -> tuple[float, float]:
    """Mean and standard deviation of y; 1 instead of a rounding error if all values are equal."""
    return float(y.mean()), float(y.std()) if np.ptp(y) > 0 else 1.0


def one_hot(vectors: Floats, categories: np.ndarray) -> Floats:
    """(n, any) vectors on the unit cube: a column for each choice, and -1 for a missing number.

    Args:
        categories: (p,) number of choices of each hyperparameter, 0 for a number.
    """
    columns = []
    for column, size in zip(vectors.T, categories, strict=True):
        if size:
            columns.append((column[:, None] == np.arange(size)).astype(np.float64))
        else:
            columns.append(np.nan_to_num(column, nan=-1.0)[:, None])
    return np.hstack(columns) if columns else np.zeros((len(vectors), 0))
