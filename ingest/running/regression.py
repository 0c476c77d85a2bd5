"""Predicted numbers and OpenML's measures of them.

Notation: n rows; y, p (n,) true and predicted numbers; m (n,) the mean target of the training rows of each
row's fit, the baseline of measures without a unit.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ingest.running.predictions import Predictions
from warehouse.support.arrays import Floats, Positions
from warehouse.vocabulary.measures import MAE, QUANTILES, R2, RAE, RMSE, RMSLE, RRSE

if TYPE_CHECKING:
    import pandas as pd
    from sklearn.base import BaseEstimator


class NumberScorer:
    """The scorer of regression: outcomes are numbers."""

    def outcomes(self, target: pd.Series) -> Floats:
        return target.to_numpy(np.float64)

    def missing_from(self, target: pd.Series, train: Positions) -> str | None:  # noqa: ARG002
        return None

    def predict(
        self, pipeline: BaseEstimator, rows: pd.DataFrame, outcomes: np.ndarray, train: Positions
    ) -> Predictions:
        answers = np.asarray(pipeline.predict(rows), np.float64).reshape(-1)
        if not np.isfinite(answers).all():
            raise ValueError("some predictions are not finite numbers")
        return Predictions(answers, answers[:, None], True, float(outcomes[train].mean()))

    def measures(self, folds: Sequence[Predictions], outcomes: Sequence[np.ndarray]) -> dict[str, float]:
        """All measures are computed over the predictions of all folds together, as OpenML does."""
        means = np.concatenate([np.full(len(one.answers), one.prior) for one in folds])
        return number_measures(
            np.concatenate(outcomes), np.concatenate([one.answers for one in folds]), means
        )

    def value(self, measure: str, scores: Floats, outcomes: np.ndarray) -> float:
        """Measures without a unit take the mean of these outcomes as their baseline."""
        return number_measures(outcomes, scores[:, 0], np.full(len(outcomes), outcomes.mean()))[measure]

    def average(self, scores: Sequence[Floats], weights: Sequence[float]) -> Predictions:
        average: Floats = np.tensordot(np.asarray(weights), np.asarray(scores), 1)
        return Predictions(average[:, 0], average, True)


@np.errstate(over="ignore", invalid="ignore")  # of huge numbers, whose infinite measures are left out
def number_measures(y: Floats, p: Floats, m: Floats) -> dict[str, float]:
    """The measures of regression (`warehouse.vocabulary.measures`); NaN where one does not exist."""
    error, prior = np.abs(y - p), np.abs(y - m)
    squared, prior_squared = float(np.mean(error**2)), float(np.mean(prior**2))
    absolute, prior_absolute = float(error.mean()), float(prior.mean())
    rrse = float(np.sqrt(squared / prior_squared)) if prior_squared > 0 else float("nan")
    above = np.maximum(y - p, 0.0)
    found = {
        RMSE: float(np.sqrt(squared)),
        MAE: absolute,
        R2: 1 - rrse**2,
        RRSE: rrse,
        RAE: absolute / prior_absolute if prior_absolute > 0 else float("nan"),
        "median_absolute_error": float(np.median(error)),
        RMSLE: _log_error(y, p),
        **{f"pinball_loss_{q:g}": float(np.mean(above - (1 - q) * (y - p))) for q in QUANTILES},
    }
    return {name: value if np.isfinite(value) else float("nan") for name, value in found.items()}


def _log_error(y: Floats, p: Floats) -> float:
    if y.min() < 0:
        return float("nan")
    return float(np.sqrt(np.mean((np.log1p(y) - np.log1p(np.maximum(p, 0.0))) ** 2)))
