"""Configurations in the terms of FLAML's estimators, for `AutoML.fit(starting_points=...)`.

FLAML searches fewer hyperparameters than our flows, under its own names and in its own ranges, which depend
on the training size. A point has every hyperparameter that the estimator searches, with the flow's fixed
value if the flow does not vary it. It also lists the hyperparameters that FLAML lacks, and the values moved
into FLAML's ranges. Classification and regression have the same estimators: FLAML's `task` distinguishes
them.

Estimators and ranges: `search_space` of the estimators of FLAML 2.5 to 2.7.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from recommend.space import with_shares
from warehouse.vocabulary.configuration import Configuration
from warehouse.vocabulary.parameters import Value, same

FIT_SHARE = 0.9
"""Share of the rows that FLAML fits on if it holds rows out (the default of `split_ratio`)."""
MOST = 32768
"""FLAML's upper limit of trees and leaves, whatever the number of rows."""
ROUNDS = 8192
"""Rounds of CatBoost, which FLAML does not vary."""
PATIENCE = 20
"""Rounds without progress after which boosters here stop early."""
_BINS = {"log_max_bin": 8}  # 255 bins, the boosters' default
_PENALTY = 2**-10  # FLAML's smallest, for no penalty
_ALL: dict[str, Value] = {
    "imputation": "median",  # FLAML always does this
    "class_weight": "none",
    "target_transformation": "none",
    "loss": "squared",
}
"""Our hyperparameter -> the value that it has in every FLAML estimator, unless FLAML searches it."""

Range = tuple[float, float]


@dataclass(frozen=True)
class FlamlPoint:
    """One configuration as a starting point for FLAML."""

    estimator: str
    """FLAML's name, e.g. `lgbm`."""
    values: dict[str, Value]
    """Values under FLAML's names, within its ranges."""
    left_out: tuple[str, ...]
    """Hyperparameters of the configuration whose values FLAML's estimator can't have."""
    moved: tuple[str, ...]
    """FLAML's hyperparameters whose value was clipped to its range."""


@dataclass(frozen=True)
class _Meant:
    """A configuration in an estimator's terms, before its ranges are applied."""

    estimator: str
    values: dict[str, Value]
    said: tuple[str, ...]
    """Our hyperparameters expressed by `values`."""
    implied: dict[str, Value]
    """Our hyperparameter -> the estimator's implicit value."""
    ranges: Mapping[str, Range]


def flaml_point(configuration: Configuration, rows: int | None, n_features: int | None) -> FlamlPoint | None:
    """The configuration as a starting point; None if FLAML has no such estimator.

    Args:
        configuration: complete, of one of our flows.
        rows: number of rows for FLAML's `fit`; None = unknown, which limits nothing.
        n_features: of the dataset; None = unknown.
    """
    translate = _ESTIMATORS.get(configuration.algorithm.removesuffix("_regressor"))
    if translate is None:
        return None
    size = _Size(MOST if rows is None else max(int(FIT_SHARE * rows), 1), n_features)
    values = with_shares(configuration, n_features).values if n_features else configuration.values
    meant = translate(dict(values), size)
    if meant is None:
        return None
    implied = _ALL | meant.implied
    within = {name: _within(value, meant.ranges.get(name)) for name, value in meant.values.items()}
    return FlamlPoint(
        meant.estimator,
        within,
        tuple(
            f"{name}={value!r}"
            for name, value in configuration.values.items()
            if name not in meant.said and not (name in implied and same(implied[name], value))
        ),
        tuple(name for name, value in within.items() if value != meant.values[name]),
    )


@dataclass(frozen=True)
class _Size:
    """The data that FLAML fits on."""

    rows: int
    n_features: int | None

    @property
    def trees(self) -> Range:
        return (4, max(5, min(MOST, self.rows)) - 1)


def _within(value: Value, known: Range | None) -> Value:
    if known is None or isinstance(value, bool) or not isinstance(value, int | float):
        return value
    return type(value)(min(max(value, known[0]), known[1]))


def _lightgbm(values: dict[str, Any], size: _Size) -> _Meant:
    names = (
        "n_estimators",
        "num_leaves",
        "min_child_samples",
        "learning_rate",
        "colsample_bytree",
        "reg_alpha",
        "reg_lambda",
    )
    return _Meant(
        "lgbm",
        {name: values[name] for name in names} | _BINS,
        names,
        {
            "subsample": 1.0,
            "extra_trees": False,
            "cat_smooth": 10.0,
            "early_stopping": False,
        },
        _BOOSTING | {"n_estimators": size.trees, "num_leaves": size.trees, "min_child_samples": (2, 128)},
    )


def _xgboost(values: dict[str, Any], size: _Size) -> _Meant:
    """The estimator with the narrower limit: `xgboost` limits a tree's leaves, `xgb_limitdepth` its depth."""
    by_leaves = values["max_leaves"] < 2 ** values["max_depth"]
    limit = "max_leaves" if by_leaves else "max_depth"
    names = (
        "n_estimators",
        limit,
        "min_child_weight",
        "learning_rate",
        "subsample",
        "colsample_bytree",
        "reg_alpha",
        "reg_lambda",
    )
    deepest = min(max(6, int(math.log2(max(size.rows, 2)))), 16) - 1
    return _Meant(
        "xgboost" if by_leaves else "xgb_limitdepth",
        {name: values[name] for name in names} | {"colsample_bylevel": 1.0},
        names if by_leaves else (*names, "max_leaves"),  # implied by the depth
        {
            "grow_policy": "lossguide" if by_leaves else "depthwise",
            "colsample_bynode": 1.0,
            "early_stopping": False,
        },
        _BOOSTING
        | {
            "n_estimators": size.trees,
            "max_leaves": size.trees,
            "max_depth": (1, deepest),
            "min_child_weight": (0.001, 128.0),
        },
    )


def _catboost(values: dict[str, Any], size: _Size) -> _Meant:
    longest = max(min(round(1_500_000 / size.rows), 150), 12) - 1
    derives = values["automatic_learning_rate"]  # FLAML's own start is a rate of 0.1
    return _Meant(
        "catboost",
        {
            "early_stopping_rounds": PATIENCE if values["early_stopping"] else longest,
            "learning_rate": 0.1 if derives else values["learning_rate"],
            "n_estimators": ROUNDS,
        },
        ("early_stopping", "learning_rate")
        if derives
        else ("early_stopping", "learning_rate", "automatic_learning_rate"),
        {
            "depth": 6,
            "grow_policy": "SymmetricTree",
            "l2_leaf_reg": 3.0,
            "rsm": 1.0,
            "max_ctr_complexity": 4,
            "one_hot_max_size": 2,
            "random_strength": 1.0,
            "subsample": 0.8,
            **({"leaf_estimation_iterations": 1} if "loss" in values else {}),  # in regression only
        },
        {"early_stopping_rounds": (10, longest), "learning_rate": (0.005, 0.2)},
    )


def _forest(estimator: str, *, bootstrap: bool) -> Callable[[dict[str, Any], _Size], _Meant]:
    def translate(values: dict[str, Any], size: _Size) -> _Meant:
        criterion = {name: value for name, value in values.items() if name == "criterion"}  # of classes
        share = 0.1 if size.n_features is None or not criterion else min(0.1, size.n_features**-0.5)
        return _Meant(
            estimator,
            {
                "n_estimators": 100,
                "max_features": values["max_features"],
                # An upper limit of the number of leaves with so many rows each.
                "max_leaves": size.rows // values["min_samples_leaf"],
                **criterion,
            },
            ("max_features", "criterion"),
            {
                "bootstrap": bootstrap,
                "min_samples_leaf": 1,
                "min_samples_split": 2,
            },
            {
                "n_estimators": (4, max(5, min(2048, size.rows)) - 1),
                "max_features": (share, 1.0),
                "max_leaves": (4, max(5, min(MOST, size.rows >> 1)) - 1),
            },
        )

    return translate


def _hist_gradient_boosting(values: dict[str, Any], size: _Size) -> _Meant:
    return _Meant(
        "histgb",
        {
            "n_estimators": values["max_iter"],
            "max_leaves": values["max_leaf_nodes"],
            "min_samples_leaf": values["min_samples_leaf"],
            "learning_rate": values["learning_rate"],
            "l2_regularization": values["l2_regularization"],
        }
        | _BINS,
        ("max_iter", "max_leaf_nodes", "min_samples_leaf", "learning_rate", "l2_regularization"),
        {
            "max_features": 1.0,
            "early_stopping": size.rows > 10_000,  # scikit-learn's default
        },
        {
            "n_estimators": size.trees,
            "max_leaves": size.trees,
            "min_samples_leaf": (2, 128),
            "learning_rate": (_PENALTY, 1.0),
            "l2_regularization": (_PENALTY, 1024.0),
        },
    )


def _logistic_regression(values: dict[str, Any], _: _Size) -> _Meant | None:
    """Ridge and lasso; FLAML has no elastic net for classes."""
    estimator = {0.0: "lrl2", 1.0: "lrl1"}.get(values["l1_ratio"])
    if estimator is None:
        return None
    return _Meant(
        estimator,
        {"C": values["C"]},
        ("C", "l1_ratio"),
        {"tol": 1e-4},
        {"C": (0.03125, 32768.0)},
    )


def _k_nearest_neighbors(values: dict[str, Any], size: _Size) -> _Meant:
    return _Meant(
        "kneighbor",
        {"n_neighbors": values["n_neighbors"]},
        ("n_neighbors",),
        {"weights": "distance", "metric": "euclidean"},
        {"n_neighbors": (1, max(2, min(512, size.rows // 2)) - 1)},
    )


def _sgd(values: dict[str, Any], _: _Size) -> _Meant:
    ratio = values["l1_ratio"]
    return _Meant(
        "sgd",
        {
            "loss": values["loss"],
            "penalty": {0.0: "l2", 1.0: "l1"}.get(ratio, "elasticnet"),
            "alpha": values["alpha"],
            "l1_ratio": ratio if 0 < ratio < 1 else 0.15,
            "epsilon": 0.1,
            "learning_rate": "optimal",
            "eta0": 0.01,
            "power_t": 0.5,
            "average": values["average"],
        },
        ("loss", "alpha", "l1_ratio", "average"),
        {"tol": 1e-4},
        {"alpha": (1e-7, 0.1)},
    )


def _elastic_net(values: dict[str, Any], _: _Size) -> _Meant:
    return _Meant(
        "enet",
        {"alpha": values["alpha"], "l1_ratio": values["l1_ratio"], "selection": "cyclic"},
        ("alpha", "l1_ratio"),  # of a target with variance 1: see `recommend/interop.md`
        {},
        {},
    )


_BOOSTING: dict[str, Range] = {
    "learning_rate": (_PENALTY, 1.0),
    "colsample_bytree": (0.01, 1.0),
    "subsample": (0.1, 1.0),
    "reg_alpha": (_PENALTY, 1024.0),
    "reg_lambda": (_PENALTY, 1024.0),
}
_ESTIMATORS: dict[str, Callable[[dict[str, Any], _Size], _Meant | None]] = {
    "lightgbm": _lightgbm,
    "xgboost": _xgboost,
    "catboost": _catboost,
    "hist_gradient_boosting": _hist_gradient_boosting,
    "random_forest": _forest("rf", bootstrap=True),
    "extra_trees": _forest("extra_tree", bootstrap=False),
    "logistic_regression": _logistic_regression,
    "k_nearest_neighbors": _k_nearest_neighbors,
    "sgd": _sgd,
    "elastic_net": _elastic_net,
}
"""Flow, without the ending `_regressor` -> its translation."""
