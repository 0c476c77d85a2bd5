"""Predictions of tested rows.

Notation: n rows; k columns of a prediction (classes, or 1 for a number).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from warehouse.support.arrays import Floats


@dataclass(frozen=True)
class Predictions:
    """Predictions of a fitted pipeline for n rows."""

    answers: np.ndarray
    """(n,) the predicted outcome of each row: a class code, or a number."""
    scores: Floats
    """(n, k) what the answers follow from: how strongly each class is believed in, or the number itself."""
    can_be_averaged: bool
    """Whether `scores` of several pipelines share a scale: probabilities and numbers do, margins do not."""
    prior: float = float("nan")
    """Mean of the numbers that the pipeline was fitted to; NaN where it was fitted to classes."""

    @property
    def averageable(self) -> Floats | None:
        """(n, k) `scores`, 0 for classes that the pipeline never saw; None where they can't be averaged."""
        return np.where(np.isfinite(self.scores), self.scores, 0.0) if self.can_be_averaged else None
