"""Measures of predicted numbers by hand, and splits of rows."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.dummy import DummyRegressor

from ingest.reading.target.strata import STRATA, strata_of
from ingest.running.predictions import Predictions
from ingest.running.regression import NumberScorer, number_measures
from warehouse.vocabulary.task_types import REGRESSION

SCORER = NumberScorer()


def of_fold(predicted: list[float], prior: float) -> Predictions:
    answers = np.array(predicted)
    return Predictions(answers, answers[:, None], True, prior)


def test_measures_of_four_predictions_by_hand() -> None:
    """Errors 1, -1, 0, 4 for numbers with training mean 4."""
    y, p = np.array([2.0, 4.0, 6.0, 8.0]), np.array([1.0, 5.0, 6.0, 4.0])
    found = number_measures(y, p, np.full(4, 4.0))
    assert found["root_mean_squared_error"] == pytest.approx(np.sqrt(18 / 4))
    assert found["mean_absolute_error"] == pytest.approx(6 / 4)
    assert found["median_absolute_error"] == 1.0
    assert found["root_relative_squared_error"] == pytest.approx(np.sqrt(18 / 24))  # 4 + 0 + 4 + 16
    assert found["relative_absolute_error"] == pytest.approx(6 / 8)
    assert found["r2"] == pytest.approx(1 - 18 / 24)
    assert found["pinball_loss_0.9"] == pytest.approx((0.9 * 1 + 0.1 * 1 + 0 + 0.9 * 4) / 4)
    assert found["pinball_loss_0.1"] == pytest.approx((0.1 * 1 + 0.9 * 1 + 0 + 0.1 * 4) / 4)
    logs = np.log([3 / 2, 5 / 6, 1, 9 / 5])
    assert found["root_mean_squared_log_error"] == pytest.approx(np.sqrt(np.mean(logs**2)))


def test_every_run_has_the_measures_of_the_task_type() -> None:
    assert set(number_measures(np.array([1.0, 2.0]), np.array([1.0, 1.0]), np.zeros(2))) == {
        *REGRESSION.measures
    }


def test_measures_pool_the_predictions_of_folds_each_with_its_own_training_mean() -> None:
    found = SCORER.measures(
        [of_fold([1.0, 2.0], prior=0.0), of_fold([5.0], prior=4.0)], [np.array([1.0, 4.0]), np.array([6.0])]
    )
    assert found["root_mean_squared_error"] == pytest.approx(np.sqrt((0 + 4 + 1) / 3))
    assert found["root_relative_squared_error"] == pytest.approx(np.sqrt(5 / (1 + 16 + 4)))


def test_log_error_is_missing_for_negative_targets_and_clips_negative_predictions() -> None:
    assert np.isnan(
        number_measures(np.array([-1.0, 1.0]), np.ones(2), np.zeros(2))["root_mean_squared_log_error"]
    )
    clipped = number_measures(np.array([0.0, 0.0]), np.array([-5.0, 0.0]), np.ones(2))
    assert clipped["root_mean_squared_log_error"] == 0.0


def test_undefined_measures_are_missing_and_never_infinite() -> None:
    constant = number_measures(np.ones(3), np.zeros(3), np.ones(3))
    assert np.isnan(constant["r2"])
    assert np.isnan(constant["relative_absolute_error"])
    huge = number_measures(np.array([0.0, 1e308]), np.array([-1e308, 0.0]), np.zeros(2))
    assert not np.isinf(list(huge.values())).any()


def test_predictions_that_are_not_finite_are_a_failure() -> None:
    rows, outcomes = pd.DataFrame({"a": [1.0, 2.0]}), np.array([1.0, 2.0])
    exploded = DummyRegressor().fit(rows, outcomes)
    exploded.constant_ = np.array([[np.inf]])
    with pytest.raises(ValueError, match="not finite"):
        SCORER.predict(exploded, rows, outcomes, np.array([0]))


def test_predictions_have_the_mean_of_their_training_rows() -> None:
    rows, outcomes = pd.DataFrame({"a": [1.0, 2.0, 3.0]}), np.array([1.0, 3.0, 100.0])
    fitted = DummyRegressor().fit(rows[:2], outcomes[:2])
    assert SCORER.predict(fitted, rows[2:], outcomes, np.array([0, 1])).prior == 2.0


def test_an_average_is_the_weighted_mean_of_numbers() -> None:
    together = SCORER.average([np.array([[1.0], [2.0]]), np.array([[5.0], [6.0]])], [0.75, 0.25])
    assert together.answers.tolist() == [2.0, 3.0]
    assert together.can_be_averaged


@given(st.lists(st.integers(-3, 3), min_size=1, max_size=400))
def test_strata_follow_the_order_of_the_target_and_keep_equal_numbers_together(numbers: list[int]) -> None:
    target = pd.Series(numbers, dtype=float)
    strata = strata_of(target)
    order = np.argsort(target.to_numpy(), kind="stable")
    assert (np.diff(strata[order]) >= 0).all()
    assert {*strata.tolist()} == {*range(strata.max() + 1)}
    assert strata.max() < STRATA
    assert all(len({*strata[target == number].tolist()}) == 1 for number in set(numbers))


def test_strata_are_tenths_of_a_target_without_ties() -> None:
    assert (
        np.bincount(strata_of(pd.Series(np.random.default_rng(0).normal(size=1000)))).tolist() == [100] * 10
    )
