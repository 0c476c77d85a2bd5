"""Differences between task types in benchmarks on real tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import skew
from sklearn.base import BaseEstimator
from sklearn.dummy import DummyClassifier, DummyRegressor

from ingest.reading.datasets import Dataset
from recommend.calibration import with_probabilities
from warehouse.vocabulary.measures import ACCURACY, AUC, LOG_LOSS, MAE, R2, RMSE
from warehouse.vocabulary.task_types import CLASSIFICATION, REGRESSION, TaskType

PLANS = Path(__file__).resolve().parents[2] / "ingest" / "plans"


@dataclass(frozen=True)
class TaskKind:
    """One task type in benchmarks."""

    task_type: TaskType
    told: str
    """Measure that searches optimize."""
    judged: tuple[str, ...]
    """Measures by which searches are compared."""
    recommended_for: tuple[str, ...]
    """Measures of first recommendations."""
    defaults: tuple[str, ...]
    """Flows whose defaults are compared, by users' names (`ingest.flows.flow_for`)."""
    usual: tuple[str, ...]
    """Those of them from which the best on validation rows is compared, too."""
    pool: Path
    """Configurations that are run for the starter, among them pytabkit's tuned defaults."""
    estimator: str
    """Name of our scikit-learn estimator."""
    flaml_suffix: str
    """End of the names of FLAML's zero-shot estimators."""
    problem_type: str
    """AutoGluon's name of the task; empty = AutoGluon infers it."""
    peer_metric: Callable[[str, int], str]
    """Measure and number of classes -> FLAML's and AutoGluon's name of the measure."""
    without_model: Callable[[], BaseEstimator]
    """Makes the replacement of a contender that fails."""
    with_scores: Callable[[Any], BaseEstimator]
    """Unfitted pipeline of a flow -> the same with scores that can be averaged."""
    coded: Callable[[Any, Dataset], Any]
    """Model fitted to a dataset's target -> the same fitted to its outcomes (`ingest.running.scorer`)."""
    skewness: Callable[[np.ndarray], float]
    """Skewness of outcomes; 0 if they have no order."""

    @property
    def name(self) -> str:
        """Name on command lines, which is also FLAML's."""
        return self.task_type.words


def _class_metric(measure: str, n_classes: int) -> str:
    area = "roc_auc" if n_classes == 2 else "roc_auc_ovr_weighted"
    return {AUC: area, LOG_LOSS: "log_loss", ACCURACY: "accuracy"}[measure]


def _number_metric(measure: str, n_classes: int) -> str:  # noqa: ARG001
    return {RMSE: "rmse", MAE: "mae", R2: "r2"}[measure]


def _with_codes(model: Any, dataset: Dataset) -> Any:
    labels = dataset.target.cat.categories.astype(str)
    codes = labels.get_indexer(pd.Index(model.classes_))
    return SimpleNamespace(predict_proba=model.predict_proba, classes_=codes)


KINDS: Mapping[str, TaskKind] = {
    kind.name: kind
    for kind in (
        TaskKind(
            task_type=CLASSIFICATION,
            told=AUC,
            judged=(AUC, LOG_LOSS, ACCURACY),
            recommended_for=(ACCURACY, AUC, LOG_LOSS),
            defaults=("catboost", "lightgbm", "random_forest", "logistic_regression"),
            usual=("catboost", "lightgbm", "random_forest", "logistic_regression"),
            pool=PLANS / "pool.json",
            estimator="HeadstartClassifier",
            flaml_suffix="Classifier",
            problem_type="",
            peer_metric=_class_metric,
            without_model=lambda: DummyClassifier(strategy="prior"),
            with_scores=with_probabilities,
            coded=_with_codes,
            skewness=lambda codes: 0.0,  # noqa: ARG005
        ),
        TaskKind(
            task_type=REGRESSION,
            told=RMSE,
            judged=(RMSE, MAE, R2),
            recommended_for=(RMSE, MAE),
            defaults=("catboost", "lightgbm", "random_forest", "extra_trees", "ridge"),
            usual=("catboost", "extra_trees", "ridge"),
            pool=PLANS / "regression_pool.json",
            estimator="HeadstartRegressor",
            flaml_suffix="Regressor",
            problem_type="regression",
            peer_metric=_number_metric,
            without_model=DummyRegressor,
            with_scores=lambda pipeline: pipeline,
            coded=lambda model, dataset: model,  # noqa: ARG005
            skewness=lambda numbers: float(skew(numbers)),
        ),
    )
}
"""Task types in benchmarks, by their names on command lines."""
