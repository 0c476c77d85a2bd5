"""Boosted trees. Ranges of AdaBoost: van Hoof's thesis (OpenML flow 6970).

The gradient boosters take missing numbers as they are and so have no imputation.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ingest.flows.base import IMPUTATION, Flow, Values
from ingest.flows.parameters import Choice, Number

if TYPE_CHECKING:
    from sklearn.base import ClassifierMixin


def _adaboost(values: Values, seed: int) -> ClassifierMixin:
    from sklearn.ensemble import AdaBoostClassifier
    from sklearn.tree import DecisionTreeClassifier

    return AdaBoostClassifier(
        DecisionTreeClassifier(max_depth=values["max_depth"]),
        learning_rate=values["learning_rate"],
        n_estimators=values["n_estimators"],
        random_state=seed,
    )


def _lightgbm(values: Values, seed: int) -> ClassifierMixin:
    from lightgbm import LGBMClassifier

    return LGBMClassifier(random_state=seed, n_jobs=1, verbose=-1, **values)


def _hist_gradient_boosting(values: Values, seed: int) -> ClassifierMixin:
    from sklearn.ensemble import HistGradientBoostingClassifier

    return HistGradientBoostingClassifier(random_state=seed, early_stopping=False, **values)


adaboost = Flow(
    name="adaboost",
    title="AdaBoost of decision trees",
    hyperparameters=(
        Choice("algorithm", ("SAMME",), default="SAMME"),
        Number("learning_rate", 0.01, 2.0, log=True, default=1.0),
        Number("n_estimators", 50, 500, default=50),
        Number("max_depth", 1, 10, default=1),
        IMPUTATION,
    ),
    estimator=_adaboost,
    openml=(6970,),
    retired={"algorithm": {"SAMME.R": "scikit-learn removed SAMME.R in version 1.6; SAMME is left"}},
)
lightgbm = Flow(
    name="lightgbm",
    title="LightGBM",
    hyperparameters=(
        Number("n_estimators", 50, 500, log=True, default=100),
        Number("learning_rate", 0.01, 0.3, log=True, default=0.1),
        Number("num_leaves", 4, 128, log=True, default=31),
        Number("min_child_samples", 1, 100, log=True, default=20),
        Number("colsample_bytree", 0.3, 1.0, default=1.0),
        Number("reg_lambda", 1e-3, 10.0, log=True, default=1e-3),
    ),
    estimator=_lightgbm,
)
hist_gradient_boosting = Flow(
    name="hist_gradient_boosting",
    title="Histogram gradient boosting",
    hyperparameters=(
        Number("max_iter", 50, 300, log=True, default=100),
        Number("learning_rate", 0.01, 0.5, log=True, default=0.1),
        Number("max_leaf_nodes", 4, 128, log=True, default=31),
        Number("min_samples_leaf", 1, 100, log=True, default=20),
        Number("l2_regularization", 1e-6, 10.0, log=True, default=1e-6),
        Number("max_features", 0.3, 1.0, default=1.0),
    ),
    estimator=_hist_gradient_boosting,
)
