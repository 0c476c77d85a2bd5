"""Starting points for FLAML's AutoML: its names, its ranges, and what they can't express."""

from typing import Any

import numpy as np
import pytest

from ingest.flows import get_flow
from recommend.flaml_points import FIT_SHARE, flaml_point
from recommend.space import Space
from warehouse.vocabulary.configuration import Configuration
from warehouse.vocabulary.task_types import CLASSIFICATION, REGRESSION


def default(flow: str, **values: Any) -> Configuration:
    return Configuration(flow, get_flow(flow).current(values))


def test_lightgbm_keeps_its_names_and_losses_are_reported() -> None:
    point = flaml_point(default("lightgbm", num_leaves=40, subsample=0.7), rows=1000, n_features=5)
    assert point is not None
    assert point.estimator == "lgbm"
    assert point.values == {
        "n_estimators": 100,
        "num_leaves": 40,
        "min_child_samples": 20,
        "learning_rate": 0.1,
        "colsample_bytree": 1.0,
        "reg_alpha": 0.001,
        "reg_lambda": 0.001,
        "log_max_bin": 8,
    }
    assert point.left_out == ("subsample=0.7",)
    assert point.moved == ()


def test_a_regressor_starts_the_same_estimator_and_losses_are_reported() -> None:
    of_numbers = flaml_point(default("lightgbm_regressor", num_leaves=40), rows=1000, n_features=5)
    of_classes = flaml_point(default("lightgbm", num_leaves=40), rows=1000, n_features=5)
    assert of_numbers == of_classes
    lacking = default("catboost_regressor", loss="absolute", target_transformation="log1p")
    point = flaml_point(lacking, rows=1000, n_features=5)
    assert point is not None
    assert set(point.left_out) >= {"loss='absolute'", "target_transformation='log1p'"}


@pytest.mark.parametrize("flow", ["ridge", "additive", "kernel_ridge", "gaussian_process", "svm_regressor"])
def test_regressors_that_flaml_lacks_give_no_points(flow: str) -> None:
    assert flaml_point(default(flow), rows=1000, n_features=5) is None


@pytest.mark.parametrize(
    ("leaves", "depth", "estimator", "limit"),
    [(30, 5, "xgboost", "max_leaves"), (32, 5, "xgb_limitdepth", "max_depth")],
)
def test_xgboost_uses_the_estimator_with_the_narrower_limit(
    leaves: int, depth: int, estimator: str, limit: str
) -> None:
    point = flaml_point(default("xgboost", max_leaves=leaves, max_depth=depth), rows=10_000, n_features=5)
    assert point is not None
    assert point.estimator == estimator
    assert point.values.keys() & {"max_leaves", "max_depth"} == {limit}


@pytest.mark.parametrize(("ratio", "estimator"), [(0.0, "lrl2"), (1.0, "lrl1"), (0.5, None)])
def test_logistic_regression_is_ridge_or_lasso(ratio: float, estimator: str | None) -> None:
    point = flaml_point(default("logistic_regression", l1_ratio=ratio), rows=100, n_features=5)
    assert (None if point is None else point.estimator) == estimator


def test_values_out_of_range_are_clipped_and_reported() -> None:
    point = flaml_point(default("lightgbm", n_estimators=2000), rows=100, n_features=5)
    assert point is not None
    assert point.values["n_estimators"] == 100 * FIT_SHARE - 1
    assert point.moved == ("n_estimators",)


FLOWS = (
    "lightgbm",
    "xgboost",
    "catboost",
    "hist_gradient_boosting",
    "random_forest",
    "extra_trees",
    "logistic_regression",
    "k_nearest_neighbors",
    "sgd",
    "lightgbm_regressor",
    "xgboost_regressor",
    "catboost_regressor",
    "hist_gradient_boosting_regressor",
    "random_forest_regressor",
    "extra_trees_regressor",
    "k_nearest_neighbors_regressor",
    "elastic_net",
)


@pytest.mark.parametrize("flow", FLOWS)
@pytest.mark.parametrize(("rows", "features"), [(3, 1), (40, 2), (1000, 300), (100_000, 20)])
def test_flaml_starts_from_every_point(flow: str, rows: int, features: int) -> None:
    """FLAML itself neither removes anything from a point nor adds to it."""
    state = pytest.importorskip("flaml.automl.state")
    name = {CLASSIFICATION: "binary", REGRESSION: "regression"}[get_flow(flow).task_type]
    task = pytest.importorskip("flaml.automl.task.factory").task_factory(name)
    space = Space([get_flow(flow)])
    for configuration in space.decoded(space.sample(20, np.random.default_rng(0))):
        point = flaml_point(configuration, rows, features)
        if point is None:
            continue
        estimator = task.estimators[point.estimator]
        fitted_on = np.zeros((max(int(FIT_SHARE * rows), 1), features))
        known = state.SearchState(
            estimator, fitted_on, task, starting_point=[point.values], max_iter=10, budget=10
        )
        assert known.init_config == [point.values]
        assert estimator.search_space(data_size=fitted_on.shape, task=task).keys() == point.values.keys()
