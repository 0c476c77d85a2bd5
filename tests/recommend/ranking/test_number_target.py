"""Numeric targets: how what is learned is shown in the measure that was asked for."""

import numpy as np
import pandas as pd
import pytest

from ingest.reading.datasets import load_dataset
from recommend.ranking.number_target import NumberTarget
from recommend.ranking.performance_forecast import PerformanceForecast
from tests.cases import each
from warehouse.vocabulary.measures import MAE, R2, RMSE, RRSE

Y = np.linspace(0.5, 100.5, 101)
"""Standard deviation 29.15, mean absolute deviation 25.25."""
TARGET = NumberTarget(load_dataset(pd.DataFrame({"a": range(101), "price": Y})))


@each(("measure", "value"), [(RMSE, 0.5 * Y.std()), (MAE, 0.5 * 25.247524752475247), (R2, 0.75), (RRSE, 0.5)])
def test_relative_errors_become_what_was_asked_for(measure: str, value: float) -> None:
    assert TARGET.shown(measure, 0.5) == pytest.approx(value)


def test_what_does_not_follow_from_a_relative_error_is_unknown() -> None:
    assert np.isnan(TARGET.shown("median_absolute_error", 0.5))
    forecast = PerformanceForecast(0.5, 0.4, 0.6, 0.1, 0.9)
    assert forecast.shown("median_absolute_error", "relative_absolute_error", lambda _: float("nan")) is None


def test_expected_value_in_r2() -> None:
    """RRSE .6 where the reference has .8: R2 .64 against .36."""
    promise = PerformanceForecast(0.6, 0.5, 0.7, 0.2, 0.9).shown(R2, RRSE, lambda rrse: 1 - rrse**2)
    assert promise is not None
    assert (promise.value, promise.low, promise.high) == pytest.approx((0.64, 0.51, 0.75))
    assert promise.gain == pytest.approx(0.28)
    assert promise.beats_default == 0.9


def test_a_recommendation_shows_r2_with_its_range_and_the_share_of_the_error_saved() -> None:
    spread = float(Y.std())
    promise = PerformanceForecast(0.6 * spread, 0.5 * spread, 0.7 * spread, 0.2 * spread, 0.9)
    assert [*TARGET.columns(RMSE)] == ["expected", "R2", "80 % range", "gain", "likely"]
    assert TARGET.cells(RMSE, promise) == ("17.49", "0.640", "0.510-0.750", "+25.0%", "90%")


def test_another_measure_shows_its_own_range() -> None:
    promise = PerformanceForecast(12000.0, 10000.0, 15000.0, 3000.0, None)
    assert [*TARGET.columns(MAE)] == ["expected", "80 % range", "gain", "likely"]
    assert TARGET.cells(MAE, promise) == ("12,000", "10,000-15,000", "+20.0%", "")
