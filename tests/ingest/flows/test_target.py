"""Regressors adapt to their target's unit, transformation and range."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from threadpoolctl import threadpool_limits

from ingest.flows import FLOWS, flows_of, get_flow
from ingest.flows.target import SignedLog, signed_expm1, signed_log1p
from ingest.reading.column_types.roles import Role
from tests.cases import each
from tests.ingest.flows.small_data import as_frame, where_installed
from warehouse.vocabulary.parameters import Value
from warehouse.vocabulary.task_types import REGRESSION

REGRESSORS = where_installed(flows_of(REGRESSION))
FEW_TREES: dict[str, dict[str, Value]] = {
    "catboost_regressor": {"iterations": 30, "automatic_learning_rate": False, "learning_rate": 0.2},
    "xgboost_regressor": {"reg_alpha": 1.0, "max_depth": 3},
    "lightgbm_regressor": {"reg_alpha": 1.0},
}
"""Values that differ from the defaults; none is an absolute penalty, which would have the target's unit."""
# Trees choose between equally good splits by rounding errors.
ROUNDED = ("random_forest_regressor", "adaboost_regressor", "xgboost_regressor")


def skewed(rows: int = 120) -> tuple[pd.DataFrame, dict[str, Role], np.ndarray]:
    """Three numbers, and a target that grows exponentially with the first."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(rows, 3))
    return *as_frame(X), np.exp(2 * X[:, 0] + rng.normal(0, 0.3, rows))


def predicted(name: str, y: np.ndarray, *, seed: int = 0, **values: Value) -> np.ndarray:
    """(n,) predictions for the training rows of the flow."""
    frame, roles, _ = skewed(len(y))
    with threadpool_limits(1):
        fitted = get_flow(name).pipeline(FEW_TREES.get(name, {}) | values, roles, seed=seed).fit(frame, y)
        return np.asarray(fitted.predict(frame))


@each("transformation", ["none", "quantile_normal"])
@each("name", REGRESSORS)
def test_predictions_follow_a_shift_and_a_scale_of_the_target(name: str, transformation: str) -> None:
    y = skewed()[2]
    first = predicted(name, y, target_transformation=transformation)
    other = predicted(name, 1000 * y - 50, target_transformation=transformation)
    differences = np.abs((other + 50) / 1000 - first) / y.std()
    # A few rows may differ, but not most.
    assert np.median(differences) < (0.05 if name in ROUNDED else 1e-4)


@each("loss", ["squared", "absolute"])
@each("name", [name for name in REGRESSORS if any(own.name == "loss" for own in FLOWS[name].hyperparameters)])
def test_squared_loss_predicts_means_and_absolute_loss_medians(name: str, loss: str) -> None:
    """Rows are indistinguishable: three in four are 0 and one is 8, with a mean of 2 and a median of 0."""
    frame = pd.DataFrame({"x": [0.0, 1.0] * 40})
    y = np.where(np.arange(80) // 2 % 4 == 0, 8.0, 0.0)
    pipeline = get_flow(name).pipeline({"loss": loss}, {"x": Role.numeric})
    with threadpool_limits(1):
        means = pipeline.fit(frame, y).predict(frame)
    assert means == pytest.approx(np.full(80, 2.0 if loss == "squared" else 0.0), abs=0.05)


@each("transformation", ["log1p", "quantile_normal"])
@each("name", ["ridge", "additive", "svm_regressor", "k_nearest_neighbors_regressor", "lightgbm_regressor"])
def test_predictions_of_a_transformed_target_stay_within_its_range(name: str, transformation: str) -> None:
    frame, roles, y = skewed()
    pipeline = get_flow(name).pipeline({"target_transformation": transformation}, roles).fit(frame, y)
    far = pipeline.predict(frame * 100)
    assert far.min() >= y.min() * (1 - 1e-9)
    assert far.max() <= y.max() * (1 + 1e-9)


def test_additive_model_is_constant_outside_the_training_range() -> None:
    frame = pd.DataFrame({"x": np.linspace(-1, 1, 100)})
    pipeline = get_flow("additive").pipeline({}, {"x": Role.numeric}).fit(frame, frame["x"] ** 2)
    at_the_end, far = pipeline.predict(pd.DataFrame({"x": [1.0, 1e6]}))
    assert far == pytest.approx(at_the_end)


def test_splines_fit_a_curve_that_a_line_does_not() -> None:
    frame = pd.DataFrame({"x": np.linspace(-1, 1, 100)})
    y = frame["x"] ** 2
    errors = [
        np.abs(get_flow(name).pipeline({"alpha": 1e-3}, {"x": Role.numeric}).fit(frame, y).predict(frame) - y)
        for name in ("ridge", "additive")
    ]
    assert errors[0].mean() > 0.2
    assert errors[1].max() < 0.05


@each("name", REGRESSORS)
def test_a_constant_target_is_predicted_exactly(name: str) -> None:
    """A network is only close to it."""
    close = 0.1 if name == "mlp_regressor" else 1e-6
    assert predicted(name, np.full(40, 7.0)) == pytest.approx(np.full(40, 7.0), abs=close)


@each("name", REGRESSORS)
def test_the_seed_decides_the_predictions(name: str) -> None:
    y = skewed(60)[2]
    first, again = (predicted(name, y, seed=3) for _ in range(2))
    assert (first == again).all()


def test_no_transformation_gives_the_plain_estimator() -> None:
    pipeline = get_flow("ridge").pipeline({}, {"x": Role.numeric})
    assert repr(pipeline["regressor"]) == "Ridge()"


@given(st.floats(-1e300, 1e300))
def test_signed_logarithms_are_inverted(y: float) -> None:
    logs = signed_log1p(np.array([[y]]))
    assert np.sign(logs) == np.sign(y)
    assert signed_expm1(logs).item() == pytest.approx(y, rel=1e-9)


def test_inverse_of_a_logarithm_does_not_leave_the_range() -> None:
    fitted = SignedLog().fit(np.array([[-3.0], [0.0], [10.0]]))
    assert fitted.inverse_transform(np.array([[-50.0], [50.0]])).ravel() == pytest.approx([-3, 10])


@each("name", ["svm_regressor", "kernel_ridge"])
def test_a_kernel_machine_uses_mean_distances(name: str) -> None:
    """Duplicated columns change nothing."""
    frame, roles, y = skewed()
    twice = pd.concat([frame, frame.add_prefix("again_")], axis=1)
    once, again = (
        get_flow(name).pipeline({}, dict.fromkeys(own, Role.numeric)).fit(own, y).predict(own)
        for own in (frame, twice)
    )
    assert again == pytest.approx(once, rel=1e-3)
    assert len(roles) == 3


def test_separate_length_scales_of_a_gaussian_process_ignore_uninformative_columns() -> None:
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, size=(200, 6))
    y = np.sin(3 * X[:, 0])
    frame = pd.DataFrame(X, columns=list("abcdef"))
    errors = {
        scales: np.abs(
            get_flow("gaussian_process")
            .pipeline({"length_scales": scales}, dict.fromkeys(frame, Role.numeric))
            .fit(frame[:100], y[:100])
            .predict(frame[100:])
            - y[100:]
        ).mean()
        for scales in ("shared", "separate")
    }
    assert errors["separate"] < 0.1 < errors["shared"]
