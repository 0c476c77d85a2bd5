"""Cross-validation of one configuration on one dataset, with OpenML's measures.

Notation: n rows, k classes; `codes` (n,) class codes 0..k-1; `scores` (n, k) decision scores or
probabilities, higher = more likely. Every measure but the times is better when higher.
"""

from __future__ import annotations

import resource
import time
import warnings
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

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
    """Stratified, shuffled cross-validation, or one split with a third of the rows to test on.

    Accuracy, F1 (weighted by class size) and kappa are computed over the predictions of all folds
    together, as OpenML does; the area under the ROC curve is the mean over folds, because scores of
    different fits share no scale. The times cover fitting and predicting of all folds.

    Args:
        flow: name of a flow, see `ingest.flows`.
        folds: number of folds, 1 = one split; the same `seed` gives every configuration the same folds.

    Returns:
        Measure -> value; the area under the ROC curve is NaN where no fold allows one.
    """
    codes = class_codes(dataset)
    return evaluate_splits(flow, values, dataset, _splits(codes, folds, seed), seed=seed)


def class_codes(dataset: Dataset) -> npt.NDArray[np.intp]:
    """(n,) number of each row's class, from 0."""
    codes: npt.NDArray[np.intp] = np.asarray(dataset.target.astype("category").cat.codes, dtype=np.intp)
    return codes


def evaluate_splits(
    flow: str,
    values: Mapping[str, Value],
    dataset: Dataset,
    splits: Iterable[tuple[np.ndarray, np.ndarray]],
    *,
    seed: int = 0,
) -> dict[str, float]:
    """As `cross_validate`, for (rows to learn from, rows to test on); no row is tested on twice."""
    from sklearn.metrics import accuracy_score, cohen_kappa_score, f1_score

    codes = class_codes(dataset)
    pipeline = get_flow(flow).pipeline(values, dataset.roles, seed=seed)
    predicted = np.empty_like(codes)
    tested = np.zeros(len(codes), dtype=bool)
    areas = []
    wall, cpu = time.perf_counter(), _cpu_seconds()
    with warnings.catch_warnings():
        # Not converged, rare class, constant column in a fold: the scores say what came of it.
        warnings.simplefilter("ignore")
        for train, test in splits:
            pipeline.fit(dataset.features.iloc[train], codes[train])
            rows = dataset.features.iloc[test]
            tested[test] = True
            predicted[test] = pipeline.predict(rows)
            scores = class_scores(pipeline, rows, int(codes.max()) + 1)
            areas.append(area_under_roc_curve(codes[test], scores))
        wall, cpu = time.perf_counter() - wall, _cpu_seconds() - cpu
        defined = [area for area in areas if not np.isnan(area)]
        actual, found = codes[tested], predicted[tested]
        return {
            "predictive_accuracy": float(accuracy_score(actual, found)),
            "area_under_roc_curve": float(np.mean(defined)) if defined else float("nan"),
            "f_measure": float(f1_score(actual, found, average="weighted", zero_division=0)),
            "kappa": float(cohen_kappa_score(actual, found)),
            "usercpu_time_millis": 1000 * cpu,
            "wall_clock_time_millis": 1000 * wall,
        }


def hold_out(codes: np.ndarray, every: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows to learn from and rows held out, in order: of each class one in `every` rows, drawn at random.

    Of a class with fewer rows than `every` there may be none among those held out, never none to learn from.
    """
    shuffled = np.random.default_rng(seed).permutation(len(codes))
    by_class = shuffled[np.argsort(codes[shuffled], kind="stable")]
    sizes = np.bincount(codes)
    place = np.arange(len(codes)) - np.repeat(np.cumsum(sizes) - sizes, sizes)  # within the class
    held_out = place % every == every - 1
    return np.sort(by_class[~held_out]), np.sort(by_class[held_out])


def _splits(codes: np.ndarray, folds: int, seed: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    from sklearn.model_selection import StratifiedKFold

    if folds == 1:
        yield hold_out(codes, 3, seed)
        return
    yield from StratifiedKFold(folds, shuffle=True, random_state=seed).split(codes, codes)


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
