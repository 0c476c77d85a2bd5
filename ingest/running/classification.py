"""Predicted classes and OpenML's measures of them.

Notation: n rows, k classes; `codes` (n,) class codes 0..k-1; `scores` (n, k) decision scores or
probabilities, higher = more likely; `confusion` (k, k) rows by true (first axis) and predicted class.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ingest.reading.formats.encoding import quoted
from ingest.running.predictions import Predictions
from warehouse.support.arrays import Floats, Positions
from warehouse.vocabulary.measures import AUC

if TYPE_CHECKING:
    import pandas as pd
    from sklearn.base import BaseEstimator

_OF_PROBABILITIES = ("log_loss", "brier_score")
_LEAST_PROBABILITY = 1e-15
"""Probabilities of the true class are at least this, so that one row does not dominate the log loss."""


class ClassScorer:
    """The scorer of classification: outcomes are class codes."""

    def outcomes(self, target: pd.Series) -> Positions:
        codes: Positions = np.asarray(target.astype("category").cat.codes, dtype=np.intp)
        return codes

    def missing_from(self, target: pd.Series, train: Positions) -> str | None:
        codes = self.outcomes(target)
        missing = set(codes.tolist()) - set(codes[train].tolist())
        return f"class {quoted(target.cat.categories[min(missing)])}" if missing else None

    def predict(
        self,
        pipeline: BaseEstimator,
        rows: pd.DataFrame,
        outcomes: np.ndarray,
        train: Positions,  # noqa: ARG002
    ) -> Predictions:
        scores = _class_scores(pipeline, rows, int(outcomes.max()) + 1)
        gives_probabilities = hasattr(pipeline, "predict_proba")
        # The most probable class may differ from the answer of `predict`, for example with ties.
        answers = scores.argmax(axis=1) if gives_probabilities else pipeline.predict(rows)
        return Predictions(answers, scores, gives_probabilities)

    def measures(self, folds: Sequence[Predictions], outcomes: Sequence[np.ndarray]) -> dict[str, float]:
        """OpenML's measures, over all folds together, except the area under the ROC curve.

        They are accuracy, balanced accuracy (the mean of the classes' recalls), F1 (`f_measure` weighted by
        class size as OpenML's, `f1_macro` the plain mean), kappa, log loss (natural logarithm) and Brier
        score (squared differences summed over classes, 0 to 2). The area is the mean over folds, because
        scores of different fits share no scale. Log loss and Brier score are NaN without probabilities, the
        area if no fold has one.
        """
        codes = np.concatenate(outcomes)
        answers = np.concatenate([one.answers for one in folds])
        given = (one.averageable for one in folds)
        probabilities = [one for one in given if one is not None]
        areas = [
            area_under_roc_curve(actual, one.scores) for actual, one in zip(outcomes, folds, strict=True)
        ]
        defined = [area for area in areas if not np.isnan(area)]
        return {
            **class_measures(confusion_matrix(codes, answers, folds[0].scores.shape[1])),
            **_probability_measures(np.concatenate(probabilities) if probabilities else None, codes),
            AUC: float(np.mean(defined)) if defined else float("nan"),
        }

    def value(self, measure: str, scores: Floats, outcomes: np.ndarray) -> float:
        if measure == AUC:  # both of two classes have the same area
            return area_under_roc_curve(outcomes, scores[:, :1] if scores.shape[1] == 2 else scores)
        if measure in _OF_PROBABILITIES:
            return _probability_measures(scores, outcomes)[measure]
        return class_measures(confusion_matrix(outcomes, scores.argmax(axis=1), scores.shape[1]))[measure]

    def average(self, scores: Sequence[Floats], weights: Sequence[float]) -> Predictions:
        average: Floats = np.tensordot(np.asarray(weights), np.asarray(scores), 1)
        return Predictions(average.argmax(axis=1), average, can_be_averaged=True)


def confusion_matrix(codes: Positions, answers: Positions, classes: int) -> Floats:
    """(classes, classes) rows by true (first axis) and predicted class."""
    counts = np.bincount(codes * classes + np.asarray(answers, dtype=np.intp), minlength=classes**2)
    return counts.reshape(classes, classes).astype(np.float64)


def class_measures(confusion: Floats) -> dict[str, float]:
    """The measures that depend on the confusion matrix, (k, k), alone."""
    total = confusion.sum()
    actual, predicted, right = confusion.sum(axis=1), confusion.sum(axis=0), confusion.diagonal()
    occurs = actual > 0
    recalls = right[occurs] / actual[occurs]
    concerned = actual + predicted
    f1 = np.divide(2 * right, concerned, out=np.zeros_like(right), where=concerned > 0)
    accuracy = right.sum() / total
    chance = float(actual @ predicted) / total**2
    return {
        "predictive_accuracy": float(accuracy),
        "balanced_accuracy": float(recalls.mean()),
        "f_measure": float(np.average(f1, weights=actual)),
        "f1_macro": float(f1[concerned > 0].mean()),
        "kappa": float((accuracy - chance) / (1 - chance)) if chance < 1 else 0.0,
    }


def _probability_measures(probabilities: Floats | None, actual: Positions) -> dict[str, float]:
    if probabilities is None:
        return {"log_loss": float("nan"), "brier_score": float("nan")}
    of_actual = probabilities[np.arange(len(actual)), actual]
    return {
        "log_loss": float(-np.log(np.maximum(of_actual, _LEAST_PROBABILITY)).mean()),
        "brier_score": float(((probabilities**2).sum(axis=1) - 2 * of_actual + 1).mean()),
    }


def _class_scores(estimator: BaseEstimator, rows: object, n_classes: int) -> np.ndarray:  # (n, n_classes)
    """Scores of a fitted classifier for each class.

    A class that its training rows did not have gets -inf.
    """
    if hasattr(estimator, "predict_proba"):
        known = estimator.predict_proba(rows)
    else:
        known = estimator.decision_function(rows)
        if known.ndim == 1:
            known = np.column_stack([-known, known])
    scores = np.full((known.shape[0], n_classes), -np.inf)
    scores[:, estimator.classes_] = known
    return scores


def area_under_roc_curve(codes: np.ndarray, scores: np.ndarray) -> float:
    """One-vs-rest areas averaged by class size (Provost and Domingos 2001), which is OpenML's measure.

    A class without positive or without negative rows is ignored.
    """
    from scipy.stats import rankdata

    positive = codes[:, None] == np.arange(scores.shape[1])  # (n, k)
    n_positive = positive.sum(axis=0)
    defined = (n_positive > 0) & (n_positive < len(codes))
    if not defined.any():
        return float("nan")
    ranks = rankdata(scores[:, defined], axis=0)
    p = n_positive[defined]
    # Mann and Whitney: the area is the share of (positive, negative) pairs in the right order.
    rank_sums = np.where(positive[:, defined], ranks, 0).sum(axis=0)
    areas = (rank_sums - p * (p + 1) / 2) / (p * (len(codes) - p))
    return float(np.average(areas, weights=p))
