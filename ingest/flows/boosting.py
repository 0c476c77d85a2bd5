"""Boosted trees.

Ranges: AdaBoost as in van Hoof's thesis (OpenML flow 6970). The gradient boosters' are wide enough for the
configurations of TabRepo (Salinas and Erickson 2023), FLAML (`flaml.default`) and auto-sklearn 2, and for
the tunable ranges of Probst, Boulesteix and Bischl (2019). Those of the regressors are wide enough for
FLAML's configurations for regression, for pytabkit's tuned defaults (Holzmueller, Grinsztajn and Steinwart
2024) and for TabArena's ranges. Boosters take categories and missing numbers as they are and so have no
imputation. The low end of a logarithmic range of regularization stands for none.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from ingest.flows.base import (
    CLASS_WEIGHT,
    IMPUTATION,
    LOSS,
    TARGET_TRANSFORMATION,
    Flow,
    Make,
    Values,
    of_sklearn,
)
from warehouse.vocabulary.parameters import Choice, Number

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

    from ingest.flows.boosters import Booster

LEAST = 1e-3
"""Low end of the ranges of regularization; stands for 0."""
FITTED_AGAIN_BELOW = 10_000
"""A booster for use with fewer rows is fitted again on all of them after early stopping. With more, where 5
percent are held out, that makes no difference."""
EARLY_STOPPING = Choice("early_stopping", (False, True), default=False)


def _adaboost(make: Make) -> BaseEstimator:
    """A classifier, or a regressor if the configuration has a loss."""
    values = make.values
    loss = {"loss": values["error_weighting"]} if "error_weighting" in values else {}
    kind = "Regressor" if loss else "Classifier"
    return of_sklearn(f"ensemble.AdaBoost{kind}")(
        of_sklearn(f"tree.DecisionTree{kind}")(max_depth=values["max_depth"]),
        learning_rate=values["learning_rate"],
        n_estimators=values["n_estimators"],
        random_state=make.seed,
        **loss,
    )


def _with_zeros(values: Values, least: float, *names: str) -> dict[str, Any]:
    """`values` with 0 in place of the low end `least` of these logarithmic ranges: no regularization."""
    return {name: 0.0 if name in names and value <= least else value for name, value in values.items()}


def _booster(library: str, make: Make, **more: Any) -> Booster:
    """A classifier, or a regressor if the configuration has a loss."""
    from ingest.flows.boosters import BoosterClassifier, BoosterRegressor

    settings = _with_zeros(make.values, LEAST, "reg_alpha", "reg_lambda") | more
    options: dict[str, Any] = {
        "early_stopping": bool(settings.pop("early_stopping")),
        "for_use": make.for_use,
        "n_categorical": make.n_categorical,
        "seed": make.seed,
    }
    if (loss := settings.pop(LOSS.name, None)) is not None:
        return BoosterRegressor(library, settings, loss=loss, **options)
    balanced = settings.pop(CLASS_WEIGHT.name) == "balanced"
    return BoosterClassifier(library, settings, balanced=balanced, **options)


def _catboost(make: Make) -> Booster:
    settings = dict(make.values)
    if settings.pop("automatic_learning_rate"):
        # CatBoost derives the learning rate only if none of these is given.
        for name in ("learning_rate", "l2_leaf_reg", LEAF_ITERATIONS.name):
            settings.pop(name, None)
    if settings.get(LEAF_ITERATIONS.name) == LEAF_ITERATIONS.default:
        del settings[LEAF_ITERATIONS.name]
    return _booster("catboost", replace(make, values=settings))


def _hist_gradient_boosting(make: Make) -> BaseEstimator:
    """A classifier, or a regressor if the configuration has a loss."""
    from ingest.flows.lenient import LenientClassifier, LenientRegressor

    settings = {
        "random_state": make.seed,
        "categorical_features": list(range(make.n_categorical)) or None,
        "validation_fraction": 0.15,
        "n_iter_no_change": 20,
        **_with_zeros(make.values, 1e-10, "l2_regularization"),
    }
    if LOSS.name in settings:
        settings[LOSS.name] += "_error"
        return LenientRegressor(of_sklearn("ensemble.HistGradientBoostingRegressor")(**settings))
    settings[CLASS_WEIGHT.name] = make.class_weight
    return LenientClassifier(of_sklearn("ensemble.HistGradientBoostingClassifier")(**settings))


_REGRESSION = (LOSS, TARGET_TRANSFORMATION, EARLY_STOPPING)
LEAF_ITERATIONS = Choice(
    "leaf_estimation_iterations", ("automatic", 1, 2, 5, 10, 20), default="automatic", optional=True
)
"""CatBoost's steps to the value of a leaf; `automatic`: the library's choice, 10 for two classes, else 1."""
_ADABOOST = (
    Number("learning_rate", 0.01, 2.0, log=True, default=1.0),
    Number("n_estimators", 50, 500, default=50),
)
_LIGHTGBM = (
    Number("n_estimators", 20, 2000, log=True, default=100),
    Number("learning_rate", 0.005, 0.5, log=True, default=0.1),
    Number("num_leaves", 2, 255, log=True, default=31),
    Number("min_child_samples", 1, 200, log=True, default=20),
    Number("colsample_bytree", 0.2, 1.0, default=1.0),
    Number("subsample", 0.3, 1.0, default=1.0),
    Number("reg_alpha", LEAST, 100.0, log=True, default=LEAST),
    Number("reg_lambda", LEAST, 100.0, log=True, default=LEAST),
    Choice("extra_trees", (False, True), default=False),
    Number("cat_smooth", 1e-3, 100.0, log=True, default=10.0),
)
_XGBOOST = (
    Number("n_estimators", 20, 2000, log=True, default=100),
    Number("learning_rate", 0.005, 0.5, log=True, default=0.3),
    Number("max_depth", 1, 12, default=6),
    Number("max_leaves", 4, 4096, log=True, default=4096),
    Choice("grow_policy", ("depthwise", "lossguide"), default="depthwise"),
    Number("min_child_weight", 1e-2, 128.0, log=True, default=1.0),
    Number("colsample_bytree", 0.2, 1.0, default=1.0),
    Number("colsample_bynode", 0.2, 1.0, default=1.0),
    Number("subsample", 0.3, 1.0, default=1.0),
    Number("reg_alpha", LEAST, 100.0, log=True, default=LEAST),
    Number("reg_lambda", LEAST, 100.0, log=True, default=1.0),
)
_HIST = (
    Number("max_iter", 20, 1000, log=True, default=100),
    Number("learning_rate", 0.005, 1.0, log=True, default=0.1),
    Number("max_leaf_nodes", 3, 1024, log=True, default=31),
    Number("min_samples_leaf", 1, 200, log=True, default=20),
    Number("l2_regularization", 1e-10, 10.0, log=True, default=1e-10),
    Number("max_features", 0.2, 1.0, default=1.0),
)
# CatBoost derives its learning rate from the numbers of rows and iterations, at the default `l2_leaf_reg`.
_AUTOMATIC = Choice("automatic_learning_rate", (True, False), default=True)
_CTR = (
    Number("max_ctr_complexity", 1, 5, default=4),
    Number("one_hot_max_size", 2, 64, log=True, default=2),
)

adaboost = Flow(
    name="adaboost",
    title="AdaBoost of decision trees",
    hyperparameters=(
        Choice("algorithm", ("SAMME",), default="SAMME"),
        *_ADABOOST,
        Number("max_depth", 1, 10, default=1),
        IMPUTATION,
    ),
    estimator=_adaboost,
    openml=(6970,),
    retired={"algorithm": {"SAMME.R": "scikit-learn removed SAMME.R in version 1.6; use SAMME"}},
)
adaboost_regressor = adaboost.regressor(
    *_ADABOOST,
    Number("max_depth", 1, 10, default=3),
    # scikit-learn's `loss`: how much a row's weight grows with its error (Drucker 1997, AdaBoost.R2).
    Choice("error_weighting", ("linear", "square", "exponential"), default="linear"),
    TARGET_TRANSFORMATION,
    IMPUTATION,
)
lightgbm = Flow(
    name="lightgbm",
    title="LightGBM",
    hyperparameters=(*_LIGHTGBM, CLASS_WEIGHT, EARLY_STOPPING),
    estimator=partial(_booster, "lightgbm", subsample_freq=1),
    encoding="codes of 254",
    longer_for_use=True,
)
lightgbm_regressor = lightgbm.regressor(
    *_LIGHTGBM,
    *_REGRESSION,
)
xgboost = Flow(
    name="xgboost",
    title="XGBoost",
    hyperparameters=(*_XGBOOST, CLASS_WEIGHT, EARLY_STOPPING),
    estimator=partial(_booster, "xgboost"),
    encoding="codes of 254",
    requires="xgboost",
    longer_for_use=True,
)
xgboost_regressor = xgboost.regressor(
    *_XGBOOST,
    *_REGRESSION,
)
catboost = Flow(
    name="catboost",
    title="CatBoost",
    hyperparameters=(
        Number("iterations", 20, 2000, log=True, default=1000),
        _AUTOMATIC,
        Number("learning_rate", 0.005, 0.3, log=True, default=0.03),
        Number("depth", 2, 8, default=6),
        Choice("grow_policy", ("SymmetricTree", "Depthwise"), default="SymmetricTree"),
        Number("l2_leaf_reg", 1e-3, 30.0, log=True, default=3.0),
        Number("rsm", 0.2, 1.0, default=1.0),
        *_CTR,
        CLASS_WEIGHT,
        EARLY_STOPPING,
    ),
    estimator=_catboost,
    encoding="codes",
    longer_for_use=True,
    further=(LEAF_ITERATIONS,),
)
catboost_regressor = catboost.regressor(
    Number("iterations", 20, 2000, log=True, default=1000),
    LOSS,
    # Under absolute loss CatBoost derives no rate and takes 0.03.
    _AUTOMATIC,
    Number("learning_rate", 0.005, 0.3, log=True, default=0.03),
    Number("depth", 2, 9, default=6),
    Choice("grow_policy", ("SymmetricTree", "Depthwise"), default="SymmetricTree"),
    Number("l2_leaf_reg", 1e-5, 30.0, log=True, default=3.0),
    # Under absolute loss the value of a leaf is exact.
    Number(LEAF_ITERATIONS.name, 1, 20, log=True, default=1),
    Number("random_strength", 0.0, 2.0, default=1.0),
    Number("subsample", 0.5, 1.0, default=0.8),
    Number("rsm", 0.2, 1.0, default=1.0),
    *_CTR,
    TARGET_TRANSFORMATION,
    EARLY_STOPPING,
)
hist_gradient_boosting = Flow(
    name="hist_gradient_boosting",
    title="Histogram gradient boosting",
    hyperparameters=(*_HIST, CLASS_WEIGHT, EARLY_STOPPING),
    estimator=_hist_gradient_boosting,
    encoding="codes of 254",
)
hist_gradient_boosting_regressor = hist_gradient_boosting.regressor(
    *_HIST,
    *_REGRESSION,
)
