"""Evaluation of one configuration on one dataset, with OpenML's measures and others that people ask for.

Notation: n rows, k classes; `codes` (n,) class codes 0..k-1; `scores` (n, k) decision scores or
probabilities, higher = more likely; `confusion` (k, k) rows by true (first axis) and predicted class.
"""

from __future__ import annotations

import resource
import time
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from ingest.flows import get_flow
from ingest.running.resampling import Split
from warehouse.configurations.parameters import Value
from warehouse.support.arrays import Floats, Positions

if TYPE_CHECKING:
    import pandas as pd
    from sklearn.base import BaseEstimator

    from ingest.reading.datasets import Dataset

TIMES = ("fit_seconds", "predict_seconds_per_1000_rows", "usercpu_time_millis", "wall_clock_time_millis")
"""Measures that say nothing of predictions."""
MEASURES = (
    "predictive_accuracy",
    "balanced_accuracy",
    "area_under_roc_curve",
    "log_loss",
    "brier_score",
    "f_measure",
    "f1_macro",
    "kappa",
    *TIMES,
)
_LEAST_PROBABILITY = 1e-15
"""What counts for a class that was held to be impossible, so that one row does not decide the log loss."""


def evaluate(
    flow: str,
    values: Mapping[str, Value],
    dataset: Dataset,
    repetitions: Iterable[Iterable[Split]],
    *,
    seed: int = 0,
) -> dict[str, float]:
    """Fit and test a configuration on every split of every repetition; measures are means over repetitions.

    Accuracy, balanced accuracy (the mean of the classes' recalls), F1 (`f_measure` weighted by class size as
    OpenML's, `f1_macro` the plain mean), kappa, log loss (natural logarithm) and Brier score (squared
    differences summed over classes, 0 to 2) are computed over the predictions of all folds together, as
    OpenML does; the area under the ROC curve is the mean over folds, because scores of different fits share
    no scale. `fit_seconds` is the mean over fits; `usercpu_time_millis` and `wall_clock_time_millis` cover
    fitting and predicting of all folds.

    Args:
        flow: name of a flow, see `ingest.flows`.
        repetitions: the splits of each; no row is tested on twice in one.
        seed: of the estimators.

    Returns:
        Measure -> value; NaN where it does not exist: the area where no fold allows one, log loss and Brier
        score where the classifier gives no probabilities.
    """
    measured = [evaluate_splits(flow, values, dataset, splits, seed=seed) for splits in repetitions]
    return {name: float(np.mean([values[name] for values in measured])) for name in MEASURES}


def class_codes(dataset: Dataset) -> Positions:
    """(n,) number of each row's class, from 0."""
    codes: Positions = np.asarray(dataset.target.astype("category").cat.codes, dtype=np.intp)
    return codes


@dataclass
class _Tested:
    """Predictions and times of the folds so far."""

    actual: list[np.ndarray] = field(default_factory=list)
    predicted: list[np.ndarray] = field(default_factory=list)
    probabilities: list[np.ndarray] = field(default_factory=list)
    areas: list[float] = field(default_factory=list)
    fitting: list[float] = field(default_factory=list)
    predicting: float = 0.0


def evaluate_splits(
    flow: str,
    values: Mapping[str, Value],
    dataset: Dataset,
    splits: Iterable[Split],
    *,
    seed: int = 0,
) -> dict[str, float]:
    """Fit and test a configuration on each split (rows to learn from, rows to test on), as `evaluate` does.

    No row is tested on twice.
    """
    return evaluate_with_probabilities(flow, values, dataset, splits, seed=seed)[0]


def evaluate_with_probabilities(
    flow: str,
    values: Mapping[str, Value],
    dataset: Dataset,
    splits: Iterable[Split],
    *,
    seed: int = 0,
) -> tuple[dict[str, float], Floats | None]:
    """Evaluate as `evaluate_splits`; also (tested rows, k) probabilities of the classes, split after split.

    The probabilities are None where the classifier gives none.
    """
    return _evaluated(lambda: get_flow(flow).pipeline(values, dataset.roles, seed=seed), dataset, splits)


def evaluate_pipelines(
    new_pipeline: Callable[[], BaseEstimator], dataset: Dataset, splits: Iterable[Split]
) -> dict[str, float]:
    """Fit and test a new pipeline on each split, measured as in `evaluate`."""
    return _evaluated(new_pipeline, dataset, splits)[0]


def _evaluated(
    new_pipeline: Callable[[], BaseEstimator], dataset: Dataset, splits: Iterable[Split]
) -> tuple[dict[str, float], Floats | None]:
    """Measures and probabilities, as `evaluate_with_probabilities` returns them."""
    tested = _Tested()
    codes = class_codes(dataset)
    n_classes = int(codes.max()) + 1
    wall, cpu = time.perf_counter(), _cpu_seconds()
    with warnings.catch_warnings():
        # Not converged, rare class, constant column in a fold: the scores show the effect.
        warnings.simplefilter("ignore")
        for train, test in splits:
            _test(tested, new_pipeline(), dataset.features, codes, train, test)
    wall, cpu = time.perf_counter() - wall, _cpu_seconds() - cpu
    actual = np.concatenate(tested.actual)
    probabilities = np.concatenate(tested.probabilities) if tested.probabilities else None
    measured = {
        **class_measures(_confusion(actual, np.concatenate(tested.predicted), n_classes)),
        **_probability_measures(probabilities, actual),
        "area_under_roc_curve": _mean_if_any(tested.areas),
        "fit_seconds": float(np.mean(tested.fitting)),
        "predict_seconds_per_1000_rows": 1000 * tested.predicting / len(actual),
        "usercpu_time_millis": 1000 * cpu,
        "wall_clock_time_millis": 1000 * wall,
    }
    return measured, probabilities


def _test(
    tested: _Tested,
    pipeline: BaseEstimator,
    features: pd.DataFrame,
    codes: np.ndarray,
    train: np.ndarray,
    test: np.ndarray,
) -> None:
    """Fit and predict one fold."""
    begun = time.perf_counter()
    pipeline.fit(features.iloc[train], codes[train])
    fitted = time.perf_counter()
    rows = features.iloc[test]
    scores = class_scores(pipeline, rows, int(codes.max()) + 1)
    tested.predicting += time.perf_counter() - fitted
    tested.fitting.append(fitted - begun)
    tested.actual.append(codes[test])
    gives_probabilities = hasattr(pipeline, "predict_proba")
    # What has the most probable class need not be what `predict` answers: of a tie, or of an SVM.
    tested.predicted.append(scores.argmax(axis=1) if gives_probabilities else pipeline.predict(rows))
    if gives_probabilities:
        tested.probabilities.append(np.where(np.isfinite(scores), scores, 0.0))
    tested.areas.append(area_under_roc_curve(codes[test], scores))


def class_measures(confusion: Floats) -> dict[str, float]:
    """The measures that follow from the confusion matrix alone, (k, k)."""
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


def measures_of_probabilities(probabilities: Floats, actual: Positions) -> dict[str, float]:
    """Measures of (n, k) probabilities that say all that was predicted, beside (n,) true classes."""
    confusion = _confusion(actual, probabilities.argmax(axis=1), probabilities.shape[1])
    return {
        **class_measures(confusion),
        **_probability_measures(probabilities, actual),
        "area_under_roc_curve": area_under_roc_curve(actual, probabilities),
    }


def _confusion(actual: Positions, predicted: Positions, n_classes: int) -> Floats:
    confusion = np.zeros((n_classes, n_classes))
    np.add.at(confusion, (actual, predicted), 1)
    return confusion


def _probability_measures(probabilities: Floats | None, actual: Positions) -> dict[str, float]:
    if probabilities is None:
        return {"log_loss": float("nan"), "brier_score": float("nan")}
    of_actual = probabilities[np.arange(len(actual)), actual]
    return {
        "log_loss": float(-np.log(np.maximum(of_actual, _LEAST_PROBABILITY)).mean()),
        "brier_score": float(((probabilities**2).sum(axis=1) - 2 * of_actual + 1).mean()),
    }


def _mean_if_any(values: list[float]) -> float:
    defined = [value for value in values if not np.isnan(value)]
    return float(np.mean(defined)) if defined else float("nan")


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
