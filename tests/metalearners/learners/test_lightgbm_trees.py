"""LightGBM's trees as a forest predict what LightGBM predicts."""

import numpy as np

from metalearners.learners.lightgbm_trees import REPRODUCIBLE, forest_of
from tests.cases import each
from tests.metalearners.learners.boosters import rows, target, trained


@each("leaves", [2, 4, 16, 17, 33, 64])
def test_equals_lightgbm_on_numbers_and_missing_values(leaves: int) -> None:
    rng = np.random.default_rng(0)
    X = rows(rng)
    booster = trained(X, target(X, rng), num_leaves=leaves)
    # NaN in columns without NaN in training, values at thresholds, and infinite values.
    new = rows(rng, 3000, missing=0.5)
    new[::3, 4] = np.nan
    new[:400] = X
    new[400] = np.inf
    new[401] = -np.inf
    new[402] = np.nan
    expected = booster.predict(new, num_threads=1)
    np.testing.assert_allclose(forest_of(booster).predict(new), expected, atol=1e-12, rtol=0)


def test_missing_values_go_left_or_right_as_trained() -> None:
    values = np.repeat([1.0, 2.0, np.nan], 20)[:, None]
    for of_missing in (-5.0, 5.0):
        y = np.repeat([-1.0, 1.0, of_missing], 20)
        booster = trained(values, y, num_leaves=3)
        np.testing.assert_allclose(forest_of(booster).predict(values), booster.predict(values), atol=1e-12)


def test_equals_lightgbm_without_missing_handling() -> None:
    rng = np.random.default_rng(1)
    X = rows(rng, missing=0)
    booster = trained(X, target(X, rng), use_missing=False)
    new = rows(rng, missing=0.5)
    np.testing.assert_allclose(forest_of(booster).predict(new), booster.predict(new), atol=1e-12)


def test_trees_of_a_single_leaf_are_constants() -> None:
    X = rows(np.random.default_rng(2))
    booster = trained(X, np.full(len(X), 3.5))
    assert forest_of(booster).predict(X[:3]).tolist() == [3.5, 3.5, 3.5]


def test_equal_data_give_equal_trees_in_a_reproducible_training() -> None:
    rng = np.random.default_rng(6)
    X = rows(rng)
    y = target(X, rng)
    one, again = (
        trained(X, y, trees=30, categorical="auto", **REPRODUCIBLE).model_to_string() for _ in range(2)
    )
    assert one == again
