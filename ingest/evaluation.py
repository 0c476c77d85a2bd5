"""Cross-validation of one configuration on one dataset, with OpenML's measures.

Notation: n rows, k classes; `codes` (n,) class codes 0..k-1; `scores` (n, k) decision scores or
probabilities, higher = more likely. Every measure but the times is better when higher.
"""

from __future__ import annotations

import resource
import time
import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from ingest.flows import Value, get_flow

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

    from ingest.datasets import Dataset

MEASURES = (
    "predictive_accuracy",
    "area_under_roc_curve",
    "f_measure",
    "kappa",
    "usercpu_time_millis",
    "wall_clock_time_millis",
)


def cross_validate(
    flow: str, values: Mapping[str, Value], dataset: Dataset, *, folds: int, seed: int = 0
) -> dict[str, float]:
    """Stratified, shuffled cross-validation.

    Accuracy, F1 (weighted by class size) and kappa are computed over the predictions of all folds
    together, as OpenML does; the area under the ROC curve is the mean over folds, because scores of
    different fits share no scale. The times cover fitting and predicting of all folds.

    Args:
        flow: name of a flow, see `ingest.flows`.
        folds: number of folds; the same `seed` gives every configuration the same folds.

    Returns:
        Measure -> value; the area under the ROC curve is NaN where no fold allows one.
    """
    from sklearn.metrics import accuracy_score, cohen_kappa_score, f1_score
    from sklearn.model_selection import StratifiedKFold

    codes = dataset.target.astype("category").cat.codes.to_numpy()
    pipeline = get_flow(flow).pipeline(values, dataset.roles, seed=seed)
    predicted = np.empty_like(codes)
    areas = []
    wall, cpu = time.perf_counter(), _cpu_seconds()
    with warnings.catch_warnings():
        # Not converged, rare class, constant column in a fold: the scores say what came of it.
        warnings.simplefilter("ignore")
        splits = StratifiedKFold(folds, shuffle=True, random_state=seed).split(codes, codes)
        for train, test in splits:
            pipeline.fit(dataset.features.iloc[train], codes[train])
            rows = dataset.features.iloc[test]
            predicted[test] = pipeline.predict(rows)
            scores = class_scores(pipeline, rows, int(codes.max()) + 1)
            areas.append(area_under_roc_curve(codes[test], scores))
        wall, cpu = time.perf_counter() - wall, _cpu_seconds() - cpu
        defined = [area for area in areas if not np.isnan(area)]
        return {
            "predictive_accuracy": float(accuracy_score(codes, predicted)),
            "area_under_roc_curve": float(np.mean(defined)) if defined else float("nan"),
            "f_measure": float(f1_score(codes, predicted, average="weighted", zero_division=0)),
            "kappa": float(cohen_kappa_score(codes, predicted)),
            "usercpu_time_millis": 1000 * cpu,
            "wall_clock_time_millis": 1000 * wall,
        }


def class_scores(estimator: BaseEstimator, rows: object, n_classes: int) -> np.ndarray:  # (n, n_classes)
    """How strongly a fitted classifier believes in each class.

    A class that its training rows did not have gets -inf, below every other score.
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

    A class without a positive or without a negative row has no area and no weight.
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


def _cpu_seconds() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_utime
