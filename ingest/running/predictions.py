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
    """(n,) predicted outcomes: class codes or numbers."""
    scores: Floats
    """(n, k) scores of the classes, or the predicted numbers."""
    can_be_averaged: bool
    """Whether `scores` of several pipelines share a scale: probabilities and numbers do, margins do not."""
    prior: float = float("nan")
    """Mean of the training targets; NaN for classes."""

    @property
    def averageable(self) -> Floats | None:
        """(n, k) `scores`, 0 for classes unseen in training; None if they can't be averaged."""
        return np.where(np.isfinite(self.scores), self.scores, 0.0) if self.can_be_averaged else None
