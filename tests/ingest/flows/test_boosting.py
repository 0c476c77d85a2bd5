"""Boosted trees predict like their libraries, accept categories, and can do without penalties."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import ClassifierMixin
from threadpoolctl import threadpool_limits

from ingest.flows import Values, get_flow
from ingest.flows.boosting import LEAST, adaboost
from ingest.reading.column_types.roles import Role
from ingest.running.resampling import hold_out
from tests.cases import each
from tests.ingest.flows.small_data import as_frame, numbers, where_installed

SIZES = {
    "lightgbm": "n_estimators",
    "xgboost": "n_estimators",
    "catboost": "iterations",
    "hist_gradient_boosting": "max_iter",
}
"""Gradient booster -> its number of trees."""

# The libraries' own defaults


def plain_default(flow: str) -> ClassifierMixin:
    """The library's default estimator."""
    if flow == "lightgbm":
        from lightgbm import LGBMClassifier

        return LGBMClassifier(n_jobs=1, verbose=-1)
    if flow == "xgboost":
        from xgboost import XGBClassifier

        return XGBClassifier(n_jobs=1)
    if flow == "catboost":
        from catboost import CatBoostClassifier

        return CatBoostClassifier(random_seed=0, thread_count=1, verbose=False, allow_writing_files=False)
    from sklearn.ensemble import HistGradientBoostingClassifier

    # It stops early above 10,000 rows, Headstart's flow never by default.
    return HistGradientBoostingClassifier(random_state=0)


@each("flow", where_installed(SIZES))
def test_default_booster_predicts_as_the_library_does(flow: str) -> None:
    X, codes = numbers(80)
    X[::11, 1] = np.nan
    frame, roles = as_frame(X)
    with threadpool_limits(1):
        ours = get_flow(flow).pipeline({}, roles).fit(frame, codes)
        theirs = plain_default(flow).fit(X, codes)
        assert ours.predict_proba(frame) == pytest.approx(theirs.predict_proba(X), abs=1e-9)


@each("early_stopping", [False, True])
@each("classes", [2, 3])
def test_automatic_learning_rate_is_catboosts_own(classes: int, early_stopping: bool) -> None:
    """CatBoost derives another rate if it gets validation rows."""
    from catboost import CatBoostClassifier

    X, codes = numbers(150, classes)
    frame, roles = as_frame(X)
    values = {"iterations": 50, "early_stopping": early_stopping, "grow_policy": "Depthwise"}
    ours = get_flow("catboost").pipeline(values, roles).fit(frame, codes)["classifier"].model_
    theirs = CatBoostClassifier(iterations=50, thread_count=1, verbose=False, allow_writing_files=False)
    if early_stopping:
        train, valid = hold_out(codes, 5, 0)
        theirs.fit(X[train], codes[train], eval_set=(X[valid], codes[valid]))
    else:
        theirs.fit(X, codes)
    rates = [model.get_all_params()["learning_rate"] for model in (ours, theirs)]
    assert rates[0] == rates[1]
    fixed = get_flow("catboost").pipeline(values | {"automatic_learning_rate": False}, roles)
    given = fixed.fit(frame, codes)["classifier"].model_.get_all_params()["learning_rate"]
    assert given == pytest.approx(0.03)
    assert given != pytest.approx(rates[0])


# Categories


@each("flow", where_installed(SIZES))
def test_flow_predicts_categories_that_training_did_not_have(flow: str) -> None:
    X, codes = numbers(100)
    frame = pd.DataFrame({"size": X[:, 0], "colour": np.where(codes, "red", "blue")})
    frame.loc[::9, ["size", "colour"]] = None
    roles = {"size": Role.numeric, "colour": Role.categorical}
    with threadpool_limits(1):
        pipeline = get_flow(flow).pipeline({SIZES[flow]: 20}, roles).fit(frame, codes)
        strange = pd.DataFrame({"size": [None, 0.5, None], "colour": ["violet", "violet", None]})
        probabilities = pipeline.predict_proba(strange.astype({"size": float}))
    assert probabilities.sum(axis=1) == pytest.approx(np.ones(3), abs=1e-5)


ONE_SPLIT = {
    "lightgbm": {"n_estimators": 1, "num_leaves": 2, "min_child_samples": 1, "learning_rate": 0.5},
    "xgboost": {"n_estimators": 1, "max_depth": 1, "learning_rate": 0.5},
    "catboost": {"iterations": 1, "depth": 1, "automatic_learning_rate": False, "learning_rate": 0.5},
    "hist_gradient_boosting": {
        "max_iter": 1,
        "max_leaf_nodes": 2,
        "min_samples_leaf": 1,
        "learning_rate": 0.5,
    },
}
"""One tree of two leaves, with half its weight."""


@each("flow", where_installed(ONE_SPLIT))
def test_one_split_may_separate_any_set_of_categories(flow: str) -> None:
    """Every other of five categories is one class: no ordered split of their codes separates the classes."""
    frame = pd.DataFrame({"place": pd.Series(["a", "b", "c", "d", "e"] * 100, dtype="category")})
    codes = frame["place"].isin(["a", "c", "e"]).to_numpy().astype(int)
    with threadpool_limits(1):
        pipeline = get_flow(flow).pipeline(ONE_SPLIT[flow], {"place": Role.categorical}).fit(frame, codes)
        assert (pipeline.predict(frame) == codes).all()


# Penalties and class weights

PENALIZED: list[tuple[str, Values, float]] = [
    ("lightgbm", {"reg_alpha": LEAST, "reg_lambda": LEAST}, 0.6),
    ("lightgbm", {"reg_alpha": LEAST, "reg_lambda": 2.5}, 0.3),
    ("lightgbm", {"reg_alpha": 1.0, "reg_lambda": LEAST}, 0.4),
    ("xgboost", {"reg_alpha": LEAST, "reg_lambda": LEAST}, 0.6),
    ("xgboost", {"reg_alpha": LEAST, "reg_lambda": 2.5}, 0.3),
    ("xgboost", {"reg_alpha": 1.0, "reg_lambda": LEAST}, 0.4),
    ("hist_gradient_boosting", {"l2_regularization": 1e-10}, 0.6),
    ("hist_gradient_boosting", {"l2_regularization": 2.5}, 0.3),
]


@each(("flow", "penalties", "log_odds"), PENALIZED)
def test_a_penalty_at_its_low_end_is_off_and_a_higher_one_shrinks_leaves(
    flow: str, penalties: Values, log_odds: float
) -> None:
    """Of ten rows in a leaf, eight are of the second class; each has a gradient of 0.5, a curvature of 0.25.

    The leaf's log odds are half of (8 - 2) * 0.5 / (10 * 0.25 + lambda), with alpha subtracted from the
    numerator: 0.6 without penalty, 0.3 with lambda = 2.5, 0.4 with alpha = 1. A lambda of 0.001 would give
    0.5998.
    """
    if flow == "xgboost":
        pytest.importorskip("xgboost")
    frame = pd.DataFrame({"x": np.repeat([0.0, 1.0], 10)})
    codes = [1, 1, *[0] * 8, *[1] * 8, 0, 0]
    with threadpool_limits(1):
        pipeline = get_flow(flow).pipeline({**ONE_SPLIT[flow], **penalties}, {"x": Role.numeric})
        chance = pipeline.fit(frame, codes).predict_proba(frame)[-1, 1]
    assert np.log(chance / (1 - chance)) == pytest.approx(log_odds, abs=1e-5)


@each("flow", where_installed(SIZES))
def test_balanced_classes_are_equally_likely_if_features_are_uninformative(flow: str) -> None:
    """Three in four rows are of the second class, whatever their number."""
    frame = pd.DataFrame({"x": [0.0, 1.0] * 40})
    codes = np.arange(80) // 2 % 4 > 0
    with threadpool_limits(1):
        chances = [
            get_flow(flow)
            .pipeline({SIZES[flow]: 100, "class_weight": weight}, {"x": Role.numeric})
            .fit(frame, codes)
            .predict_proba(frame)[:, 1]
            for weight in ("none", "balanced")
        ]
    assert chances[0] == pytest.approx(np.full(80, 0.75), abs=0.05)
    assert chances[1] == pytest.approx(np.full(80, 0.5), abs=1e-3)


def test_adaboost_adds_up_trees_of_the_given_depth() -> None:
    """No sum of stumps is an exclusive or, but a tree of two levels is."""
    frame = pd.DataFrame({"a": [0, 0, 1, 1] * 5, "b": [0, 1, 0, 1] * 5})
    codes = frame["a"] ^ frame["b"]
    roles = {"a": Role.numeric, "b": Role.numeric}
    right = [
        (adaboost.pipeline({"max_depth": depth}, roles).fit(frame, codes).predict(frame) == codes).mean()
        for depth in (1, 2)
    ]
    assert right == [0.5, 1.0]
