"""The average of the first recommendations."""

import numpy as np
import pytest

from recommend.ranking.averaging import average_of, weights_of
from recommend.ranking.performance_forecast import PerformanceForecast
from warehouse.vocabulary.configuration import Configuration
from warehouse.vocabulary.measures import RRSE

RANKED = [Configuration("random_forest", {"max_features": share / 10}) for share in range(1, 6)]
FOREIGN = Configuration("my-boosting", {"eta": 0.1})


def promised(*values: float, width: float = 0.05, gain: float | None = 0.02) -> list[PerformanceForecast]:
    return [PerformanceForecast(value, value - width, value + width, gain, 0.7) for value in values]


def test_the_first_of_three_counts_twice() -> None:
    assert weights_of(RANKED) == dict(zip(RANKED[:3], (1 / 2, 1 / 4, 1 / 4), strict=True))


def test_fewer_configurations_than_members_are_all_averaged() -> None:
    assert weights_of(RANKED[:2]) == dict(zip(RANKED[:2], (2 / 3, 1 / 3), strict=True))
    assert weights_of(RANKED[:1]) == {RANKED[0]: 1.0}


@pytest.mark.parametrize(("measure", "better"), [("predictive_accuracy", 1), ("log_loss", -1), (RRSE, -1)])
def test_the_average_of_equals_has_a_higher_expected_value_than_each(measure: str, better: int) -> None:
    found = average_of(RANKED[:3], promised(0.8, 0.8, 0.8), np.array([1.0, 2.0, 3.0]), measure)
    assert found is not None
    promise = found.expectation
    assert promise is not None
    assert 0 < better * (promise.value - 0.8) < 0.05
    assert promise.low < promise.value < promise.high
    default = 0.8 - better * 0.02
    assert promise.gain == pytest.approx(better * (promise.value - default))
    assert found.fit_seconds == 6.0


def test_the_range_is_that_of_the_members() -> None:
    found = average_of(RANKED[:2], promised(0.7, 0.8), np.array([np.nan, 1.0]), "predictive_accuracy")
    assert found is not None
    assert found.expectation is not None
    assert 0.05 < found.expectation.high - found.expectation.low < 0.12
    assert found.fit_seconds is None


@pytest.mark.parametrize("measure", ["kappa", "predictive_accuracy"])
def test_there_is_no_expected_value_without_enough_knowledge(measure: str) -> None:
    unknown = promised(0.8, 0.8) if measure == "kappa" else None
    found = average_of(RANKED[:2], unknown, np.ones(2), measure)
    assert found is not None
    assert found.expectation is None


@pytest.mark.parametrize("ranked", [RANKED[:1], [RANKED[0], FOREIGN]])
def test_single_configurations_and_flows_not_built_here_are_not_averaged(ranked: list[Configuration]) -> None:
    assert average_of(ranked, None, np.ones(len(ranked)), "predictive_accuracy") is None
