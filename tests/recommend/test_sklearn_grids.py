"""Grids for scikit-learn: the parameters of the estimators that the flows build."""

import warnings
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV

from ingest.flows import FLOWS, get_flow
from recommend.sklearn_grids import sklearn_grid
from recommend.space import Space


def test_a_grid_has_the_parameters_that_differ_from_the_defaults() -> None:
    grid = sklearn_grid(
        get_flow("random_forest"),
        [{"max_features": 0.5, "class_weight": "balanced"}, {"min_samples_leaf": 3, "imputation": "mean"}],
    )
    assert grid == {
        "estimator": "sklearn.ensemble.RandomForestClassifier",
        "param_grid": [
            {"max_features": [0.5], "class_weight": ["balanced"]},
            {"max_features": [0.3], "min_samples_leaf": [3]},
        ],
        "left_out": ["imputation"],
    }


@pytest.mark.parametrize(
    ("flow", "values", "left_out"),
    [
        ("lightgbm", {"class_weight": "balanced"}, []),
        ("lightgbm", {"early_stopping": True}, ["early_stopping"]),
        ("adaboost", {"max_depth": 3}, ["algorithm", "imputation", "max_depth"]),
        ("mlp", {"hidden_layers": 2}, ["imputation", "scaling"]),
        ("lightgbm_regressor", {"loss": "absolute"}, ["target_transformation"]),
        (
            "gaussian_process",
            {},
            ["imputation", "kernel", "length_scales", "scaling", "target_transformation"],
        ),
        ("additive", {"knots": 4}, ["imputation", "knots", "scaling", "target_transformation"]),
    ],
)
def test_a_grid_states_what_it_leaves_out(flow: str, values: dict[str, object], left_out: list[str]) -> None:
    assert sklearn_grid(get_flow(flow), [values])["left_out"] == left_out  # type: ignore[list-item]


@pytest.mark.parametrize("name", FLOWS)
def test_grid_search_accepts_the_grid_of_every_flow(
    name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)  # where CatBoost writes a folder
    flow = get_flow(name)
    if not flow.installed:
        pytest.skip(f"{flow.requires} is not installed")
    space = Space([flow])
    vectors = space.sample(2, np.random.default_rng(1))
    grid = sklearn_grid(flow, [one.values for one in space.decoded(vectors)])
    module, kind = grid["estimator"].rsplit(".", 1)
    estimator = getattr(import_module(module), kind)()
    X = np.random.default_rng(0).normal(size=(250, 3))
    small = {"n_estimators": [5], "iterations": [5], "max_iter": [5]}
    points = [point | {own: small[own] for own in small if own in point} for point in grid["param_grid"]]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        search = GridSearchCV(estimator, points, cv=2, error_score="raise").fit(X, X[:, 0] > 0)
    assert len(search.cv_results_["params"]) == 2
