"""Classifiers that model each class as a normal distribution: posteriors worked by hand."""

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
    """Of the second of two classes, whose rows are at 0 and 2, while those of the first are at -2 and 0."""
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
def test_two_classes_one_apart_from_the_middle_have_log_odds_of_twice_the_place(
    flow: Flow, values: Values, x: float
) -> None:
    """Means of -1 and 1, variances of 1: ((x + 1)^2 - (x - 1)^2) / 2 = 2x, whatever the scaling."""
    assert _log_odds(flow, values, x) == pytest.approx(2 * x, abs=1e-6)


def test_smoothing_adds_a_share_of_the_whole_variance() -> None:
    """The whole variance is 2, so each class's becomes 1 + 2 and the log odds a third."""
    assert _log_odds(naive_bayes, {"var_smoothing": 1.0}, 0.5) == pytest.approx(1 / 3)


def test_classes_that_differ_only_in_spread_are_told_by_the_quadratic_discriminant_alone() -> None:
    frame = pd.DataFrame({"x": [-3.0, -2.0, 2.0, 3.0, -0.2, -0.1, 0.1, 0.2]})
    codes = [0] * 4 + [1] * 4
    linear, quadratic = (flow.pipeline({}, ROLES).fit(frame, codes) for flow in DISCRIMINANTS)
    assert quadratic.predict(frame).tolist() == codes
    assert linear.predict_proba(frame) == pytest.approx(np.full((8, 2), 0.5))


@each(("shrinkage", "predicted"), [(1e-4, 1), (1.0, 0)])
def test_full_shrinkage_of_the_linear_discriminant_forgets_that_columns_go_together(
    shrinkage: float, predicted: int
) -> None:
    """Rows lie along the diagonal, those of the second class a little above it.

    A row far down the diagonal and a little above it is the second class's, unless distances to the means
    count: the first class's mean is nearer, because its rows lie further down.
    """
    along = np.linspace(-1, 1, 21)
    below = np.column_stack([along - 0.3, along - 0.4])
    above = np.column_stack([along + 0.3, along + 0.4])
    frame, roles = as_frame(np.vstack([below, above]))
    values = {"shrinkage": shrinkage}
    pipeline = linear_discriminant_analysis.pipeline(values, roles).fit(frame, [0] * 21 + [1] * 21)
    assert pipeline.predict(pd.DataFrame({"a": [-1.0], "b": [-0.9]})).tolist() == [predicted]


@each_discriminant
def test_indicators_that_add_up_to_one_can_be_fitted_at_the_low_end_of_shrinkage(flow: Flow) -> None:
    """Their covariance matrices are singular, all the more as neither class has all colours."""
    frame = pd.DataFrame({"colour": ["red", "red", "green", "green", "blue", "blue"] * 2})
    codes = [0, 0, 0, 1, 1, 1] * 2
    low = {"shrinkage": flow.space()["shrinkage"].lower}
    pipeline = flow.pipeline(low, {"colour": Role.categorical}).fit(frame, codes)
    chances = pipeline.predict_proba(frame)[:6, 1]
    assert (chances[[0, 5]] > 0.5).tolist() == [False, True]
    assert np.isfinite(chances).all()
