"""LightGBM's trees, read from its text: they predict what LightGBM predicts."""

from typing import Any

import numpy as np
import pytest

from metalearners.learners.lightgbm_trees import REPRODUCIBLE, read_forest
from tests.metalearners.learners.boosters import rows, target, trained


@pytest.mark.parametrize("leaves", [2, 4, 16, 17, 33, 64])
def test_equals_lightgbm_on_numbers_and_missing_values(leaves: int) -> None:
    rng = np.random.default_rng(0)
    X = rows(rng)
    booster = trained(X, target(X, rng), num_leaves=leaves)
    # NaN also where training had none, on thresholds, and infinite values.
    new = rows(rng, 3000, missing=0.5)
    new[::3, 4] = np.nan
    new[:400] = X
    new[400] = np.inf
    new[401] = -np.inf
    new[402] = np.nan
    expected = booster.predict(new, num_threads=1)
    np.testing.assert_allclose(
        read_forest(booster.model_to_string()).predict(new), expected, atol=1e-12, rtol=0
    )


def test_missing_values_go_left_or_right_as_training_found_best() -> None:
    values = np.repeat([1.0, 2.0, np.nan], 20)[:, None]
    for of_missing in (-5.0, 5.0):
        y = np.repeat([-1.0, 1.0, of_missing], 20)
        booster = trained(values, y, num_leaves=3)
        np.testing.assert_allclose(
            read_forest(booster.model_to_string()).predict(values), booster.predict(values), atol=1e-12
        )


def test_equals_lightgbm_without_missing_handling() -> None:
    rng = np.random.default_rng(1)
    X = rows(rng, missing=0)
    booster = trained(X, target(X, rng), use_missing=False)
    new = rows(rng, missing=0.5)
    np.testing.assert_allclose(
        read_forest(booster.model_to_string()).predict(new), booster.predict(new), atol=1e-12
    )


def test_trees_of_a_single_leaf_are_constants() -> None:
    X = rows(np.random.default_rng(2))
    booster = trained(X, np.full(len(X), 3.5))
    assert read_forest(booster.model_to_string()).predict(X[:3]).tolist() == [3.5, 3.5, 3.5]


@pytest.mark.parametrize(
    "parameters",
    [
        {"zero_as_missing": True},
        {"linear_tree": True},
        {"categorical": [3]},
        {"objective": "poisson"},
        {"objective": "regression", "reg_sqrt": True},
        {"boosting": "rf", "bagging_fraction": 0.5, "bagging_freq": 1},
        {"num_leaves": 65},
    ],
)
def test_refuses_models_that_it_would_read_wrongly(parameters: dict[str, Any]) -> None:
    rng = np.random.default_rng(3)
    X = rows(rng)
    X[rng.random(len(X)) < 0.5, 0] = 0
    booster = trained(X, np.abs(target(X, rng)), **parameters)
    with pytest.raises(ValueError, match="can't read"):
        read_forest(booster.model_to_string())


A_TREE = """tree
version=v4
max_feature_idx=1
objective=regression

Tree=0
num_leaves=3
num_cat=0
split_feature=0 1
threshold=0.5 2.5
decision_type=8 10
left_child=-1 -2
right_child=1 -3
leaf_value=1 20 300
is_linear=0

Tree=1
num_leaves=1
num_cat=0
split_feature=
threshold=
decision_type=
left_child=
right_child=
leaf_value=0.25
is_linear=0


end of trees
"""


def test_trees_written_by_hand() -> None:
    """x0 <= 0.5: 1; else x1 <= 2.5: 20; else 300. A second tree adds 0.25 to all.

    Decision type 8 = NaN counts as missing and goes right; 10 = NaN goes left.
    """
    forest = read_forest(A_TREE)
    X = np.array([[0.5, 9.0], [0.6, 2.5], [0.6, 2.6], [np.nan, 9.0], [1.0, np.nan]])
    assert forest.n_features == 2
    assert forest.predict(X).tolist() == [1.25, 20.25, 300.25, 300.25, 20.25]


def test_equal_data_give_equal_trees_in_a_reproducible_training() -> None:
    rng = np.random.default_rng(6)
    X = rows(rng)
    y = target(X, rng)
    one, again = (
        trained(X, y, trees=30, categorical="auto", **REPRODUCIBLE).model_to_string() for _ in range(2)
    )
    assert one == again
