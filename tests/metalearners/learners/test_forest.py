"""The forest as arrays predicts what LightGBM predicts."""

from typing import Any

import numpy as np
import pytest

from metalearners.codec import decode, encode
from metalearners.learners.forest import Forest, constant_forest
from metalearners.learners.lightgbm_trees import read_forest
from warehouse.support.errors import DamagedModel

lightgbm = pytest.importorskip("lightgbm")


def rows(rng: np.random.Generator, n: int = 400, missing: float = 0.1) -> np.ndarray:
    """(n, 6): continuous, few-valued and binary features, NaN in the first three."""
    X = np.column_stack([rng.normal(size=(n, 3)), rng.integers(0, 5, (n, 2)), rng.integers(0, 2, n)]).astype(
        float
    )
    X[:, :3][rng.random((n, 3)) < missing] = np.nan
    return X


def trained(
    X: np.ndarray, y: np.ndarray, trees: int = 30, categorical: list[int] | str = "auto", **parameters: Any
) -> Any:
    settings = {
        "objective": "regression",
        "verbosity": -1,
        "min_data_in_leaf": 1,
        "num_threads": 1,
        "seed": 0,
    }
    data = lightgbm.Dataset(X, y, categorical_feature=categorical)
    return lightgbm.train(settings | parameters, data, num_boost_round=trees)


def target(X: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    filled = np.nan_to_num(X, nan=1.0)
    return filled[:, 0] * filled[:, 3] + np.sin(filled[:, 1]) + filled[:, 5] + rng.normal(size=len(X))


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


def test_a_constant_forest_needs_no_features() -> None:
    assert constant_forest(0.25, 0).predict(np.empty((2, 0))).tolist() == [0.25, 0.25]


def test_no_rows_give_no_predictions() -> None:
    assert constant_forest(0.25, 3).predict(np.empty((0, 3))).shape == (0,)


def test_rows_of_another_width_are_an_error() -> None:
    with pytest.raises(ValueError, match="expected rows of 3 features"):
        constant_forest(0.0, 3).predict(np.zeros((2, 4)))


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


def test_arrays_give_the_same_forest() -> None:
    rng = np.random.default_rng(4)
    X = rows(rng)
    forest = read_forest(trained(X, target(X, rng)).model_to_string())
    np.testing.assert_array_equal(decode(Forest, *encode(forest)).predict(X), forest.predict(X))


@pytest.mark.parametrize(
    ("name", "array"),
    [
        ("feature", np.array([0], dtype=np.int32)),
        ("threshold", np.array([["text"]])),
        ("leaf_value", np.zeros((0, 4))),
        ("leaf_value", np.zeros((1, 65))),
    ],
)
def test_arrays_that_do_not_fit_together_are_refused(name: str, array: np.ndarray) -> None:
    rng = np.random.default_rng(5)
    X = rows(rng)
    facts, arrays = encode(read_forest(trained(X, target(X, rng), trees=2).model_to_string()))
    with pytest.raises(DamagedModel):
        decode(Forest, facts, arrays | {name: array})
    with pytest.raises(DamagedModel):
        decode(Forest, {"n_features": 1}, arrays)
    del arrays[name]
    with pytest.raises(DamagedModel, match=f"lacks {name}"):
        decode(Forest, facts, arrays)
