"""Numeric targets: learned errors are shown in the requested measure."""

import numpy as np
import pandas as pd
import pytest

from ingest.reading.datasets import load_dataset
from recommend.explaining.target_words import target_words
from recommend.ranking.performance_forecast import PerformanceForecast
from recommend.ranking.target_kinds import target_kind
from tests.cases import each
from warehouse.support.errors import BadOption
from warehouse.vocabulary.measures import MAE, R2, RMSE, RMSLE, RRSE, measure_title
from warehouse.vocabulary.task_types import REGRESSION

Y = np.linspace(0.5, 100.5, 101)
"""Standard deviation 29.15, mean absolute deviation 25.25."""
DATASET = load_dataset(pd.DataFrame({"a": range(101), "price": Y}))
TARGET, WORDS = target_kind(DATASET), target_words(DATASET)


@each(("measure", "value"), [(RMSE, 0.5 * Y.std()), (MAE, 0.5 * 25.247524752475247), (R2, 0.75), (RRSE, 0.5)])
def test_relative_errors_are_converted_to_the_requested_measure(measure: str, value: float) -> None:
    assert TARGET.shown(measure, 0.5) == pytest.approx(value)


def test_measures_that_do_not_follow_from_a_relative_error_are_unknown() -> None:
    assert np.isnan(TARGET.shown("median_absolute_error", 0.5))
    forecast = PerformanceForecast(0.5, 0.4, 0.6, 0.1, 0.9)
    assert forecast.shown("median_absolute_error", "relative_absolute_error", lambda _: float("nan")) is None


def test_expected_value_in_r2() -> None:
    """RRSE .6, where the reference has .8: R2 .64 against .36."""
    expected = PerformanceForecast(0.6, 0.5, 0.7, 0.2, 0.9, {"catboost_regressor": 0.1})
    promise = expected.shown(R2, RRSE, lambda rrse: 1 - rrse**2)
    assert promise is not None
    assert (promise.value, promise.low, promise.high) == pytest.approx((0.64, 0.51, 0.75))
    assert promise.gain == pytest.approx(0.28)
    assert promise.other_gains == pytest.approx({"catboost_regressor": 0.13})
    assert promise.beats_default == 0.9


def test_a_recommendation_shows_r2_with_its_range_and_the_share_of_the_error_saved() -> None:
    spread = float(Y.std())
    other = {"catboost_regressor": 0.15 * spread}
    promise = PerformanceForecast(0.6 * spread, 0.5 * spread, 0.7 * spread, 0.2 * spread, 0.9, other)
    assert [*WORDS.columns(RMSE)] == ["RMSE", "R2", "80 % of R2", "vs LightGBM", "chance"]
    assert WORDS.cells(RMSE, promise) == ("17.49", "0.640", "0.510-0.750", "+25.0%", "90%")
    assert WORDS.other_gains(RMSE, promise) == {"CatBoost": "+20.0%"}
    assert WORDS.beside(RMSE, promise) == "R2 0.640, from 0.510 to 0.750"


def test_another_measure_shows_its_own_range() -> None:
    promise = PerformanceForecast(12000.0, 10000.0, 15000.0, 3000.0, None)
    assert [*WORDS.columns(MAE)] == ["MAE", "80 % range", "vs LightGBM", "chance"]
    assert WORDS.cells(MAE, promise) == ("12,000", "10,000-15,000", "+20.0%", "")
    assert WORDS.beside(MAE, promise) == ""


def test_a_range_that_begins_below_zero_has_no_second_minus() -> None:
    spread = float(Y.std())
    promise = PerformanceForecast(0.9 * spread, 0.8 * spread, 1.1 * spread, None, None)
    assert WORDS.cells(RMSE, promise)[2] == "-0.210 to 0.360"
    of_r2 = PerformanceForecast(0.19, -0.21, 0.36, 0.1, None)
    assert WORDS.cells(R2, of_r2) == ("0.1900", "-0.2100 to 0.3600", "+0.100", "")


def test_a_gain_that_rounds_to_zero_has_no_minus() -> None:
    assert WORDS.gain(MAE, PerformanceForecast(10.0, 8.0, 12.0, -1e-9, None)) == "+0.0%"
    assert WORDS.gain(R2, PerformanceForecast(0.5, 0.4, 0.6, -1e-9, None)) == "+0.000"


def test_only_measures_in_the_targets_unit_are_shown_with_it() -> None:
    with_unit = {
        measure
        for measure in REGRESSION.measures
        if "in the unit" in WORDS.columns(measure)[measure_title(measure)]
    }
    assert with_unit == {RMSE, MAE, "median_absolute_error", "pinball_loss_0.1", "pinball_loss_0.9"}
    assert "percent" in WORDS.columns(RMSLE)["vs LightGBM"]
    assert WORDS.columns(R2)["vs LightGBM"] == "difference from LightGBM with its default settings"


DIGITS = [
    (0, "0"),
    (0.5, "0.5000"),
    (17.489, "17.49"),
    (1853.2, "1,853"),
    (12e6, "12,000,000"),
    (-3.21987, "-3.220"),
    (2.5e-7, "2.500e-07"),
    (1e12, "1.000e+12"),
]


@each(("value", "text"), DIGITS)
def test_numbers_have_four_digits(value: float, text: str) -> None:
    assert WORDS.number(value) == text


def test_a_measure_undefined_for_the_target_is_refused() -> None:
    TARGET.check_measure(RMSLE)
    below = target_kind(load_dataset(pd.DataFrame({"a": range(101), "profit": Y - 50})))
    with pytest.raises(BadOption, match="'profit' has negative numbers; use another one"):
        below.check_measure(RMSLE)
    with pytest.raises(BadOption, match="the target 'price' is a number; use one of root_mean_squared_error"):
        TARGET.check_measure("predictive_accuracy")
