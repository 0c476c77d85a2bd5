"""Classifiers that model each class as a normal distribution: posteriors computed by hand."""

import numpy as np
import pandas as pd
import pytest

from ingest.flows import Flow, Values
from ingest.flows.bayes import (
    linear_discriminant_analysis,
    naive_bayes,
    quadratic_discriminant_analysis,
)
from ingest.reading.column_types.roles import Role
from tests.cases import each
from tests.ingest.flows.small_data import as_frame

ROLES = {"x": Role.numeric}
DISCRIMINANTS = [linear_discriminant_analysis, quadratic_discriminant_analysis]

each_discriminant = pytest.mark.parametrize("flow", DISCRIMINANTS, ids=lambda flow: flow.name)


def _log_odds(flow: Flow, values: Values, x: float) -> float:
    """Log odds of the second of two classes; its rows are at 0 and 2, the first's at -2 and 0."""
    frame = pd.DataFrame({"x": [-2.0, 0.0, 0.0, 2.0]})
    pipeline = flow.pipeline(values, ROLES).fit(frame, [0, 0, 1, 1])
    other, chance = pipeline.predict_proba(pd.DataFrame({"x": [x]}))[0]
    return float(np.log(chance / other))


@each(
    ("flow", "values"),
    [
        (naive_bayes, {}),
        (linear_discriminant_analysis, {}),
        (quadratic_discriminant_analysis, {}),
        (quadratic_discriminant_analysis, {"shrinkage": 1.0}),
    ],
)
@each("x", [-3.0, 0.0, 0.5])
def test_log_odds_of_two_unit_normals_at_minus_1_and_1_are_twice_the_position(
    flow: Flow, values: Values, x: float
) -> None:
    """Means of -1 and 1, variances of 1: ((x + 1)^2 - (x - 1)^2) / 2 = 2x, whatever the scaling."""
    assert _log_odds(flow, values, x) == pytest.approx(2 * x, abs=1e-6)


def test_smoothing_adds_a_share_of_the_whole_variance() -> None:
    """The whole variance is 2, so each class's becomes 1 + 2, and the log odds a third."""
    assert _log_odds(naive_bayes, {"var_smoothing": 1.0}, 0.5) == pytest.approx(1 / 3)


def test_only_the_quadratic_discriminant_separates_classes_that_differ_in_spread() -> None:
    frame = pd.DataFrame({"x": [-3.0, -2.0, 2.0, 3.0, -0.2, -0.1, 0.1, 0.2]})
    codes = [0] * 4 + [1] * 4
    linear, quadratic = (flow.pipeline({}, ROLES).fit(frame, codes) for flow in DISCRIMINANTS)
    assert quadratic.predict(frame).tolist() == codes
    assert linear.predict_proba(frame) == pytest.approx(np.full((8, 2), 0.5))


@each(("shrinkage", "predicted"), [(1e-4, 1), (1.0, 0)])
def test_full_shrinkage_of_the_linear_discriminant_ignores_correlations(
    shrinkage: float, predicted: int
) -> None:
    """Rows lie along the diagonal, those of the second class slightly above it.

    A row far down the diagonal and slightly above it belongs to the second class, unless only the distances
    to the means count: the first class's mean is nearer, because its rows lie further down.
    """
    along = np.linspace(-1, 1, 21)
    below = np.column_stack([along - 0.3, along - 0.4])
    above = np.column_stack([along + 0.3, along + 0.4])
    frame, roles = as_frame(np.vstack([below, above]))
    values = {"shrinkage": shrinkage}
    pipeline = linear_discriminant_analysis.pipeline(values, roles).fit(frame, [0] * 21 + [1] * 21)
    assert pipeline.predict(pd.DataFrame({"a": [-1.0], "b": [-0.9]})).tolist() == [predicted]


@each_discriminant
def test_indicators_that_add_up_to_one_can_be_fitted_with_the_least_shrinkage(flow: Flow) -> None:
    """Their covariance matrices are singular, especially as neither class has all colours."""
    frame = pd.DataFrame({"colour": ["red", "red", "green", "green", "blue", "blue"] * 2})
    codes = [0, 0, 0, 1, 1, 1] * 2
    low = {"shrinkage": flow.space()["shrinkage"].lower}
    pipeline = flow.pipeline(low, {"colour": Role.categorical}).fit(frame, codes)
    chances = pipeline.predict_proba(frame)[:6, 1]
    assert (chances[[0, 5]] > 0.5).tolist() == [False, True]
    assert np.isfinite(chances).all()
