"""Forecasts of performance, on the bundled starter."""

from pathlib import Path

import pandas as pd
import pytest

from ingest.reading.datasets import load_dataset
from recommend.recommendation import Recommendation
from recommend.recommender import recommend
from tests.recommend.conftest import numbers
from warehouse.store import STARTER, Warehouse


@pytest.fixture(scope="module")
def promised(tmp_path_factory: pytest.TempPathFactory) -> Recommendation:
    path = tmp_path_factory.mktemp("data") / "new.csv"
    numbers(800, seed=11).to_csv(path, index=False)
    return recommend(load_dataset(str(path)), warehouse=Warehouse.open(STARTER), top=10)


def test_forecasts_have_the_order_of_predicted_scores(promised: Recommendation) -> None:
    """Values, gains and probabilities do."""
    table = pd.DataFrame(
        [
            {"predicted": item.predicted, "value": item.expectation.value, "gain": item.expectation.gain}
            for item in promised.configurations
            if item.expectation is not None
        ]
    ).sort_values("predicted")
    assert len(table) == 10
    assert table["value"].is_monotonic_increasing
    assert table["gain"].is_monotonic_increasing


def test_an_expected_gain_is_more_likely_than_not(promised: Recommendation) -> None:
    for item in promised.configurations:
        promise = item.expectation
        assert promise is not None
        assert promise.gain is not None
        assert promise.beats_default is not None
        assert promise.low <= promise.value <= promise.high
        assert promise.gain * (promise.beats_default - 0.5) >= 0


def test_the_expected_value_of_a_cost_is_a_cost(tmp_path: Path) -> None:
    """Lower log loss is better, so a positive gain is a smaller value."""
    path = tmp_path / "new.csv"
    numbers(800, seed=11).to_csv(path, index=False)
    result = recommend(load_dataset(str(path)), warehouse=Warehouse.open(STARTER), top=20, measure="log_loss")
    promises = [item.expectation for item in result.configurations]
    assert all(promise is not None and 0 < promise.low <= promise.high for promise in promises)
    pairs = sorted((promise.gain or 0.0, promise.value) for promise in promises if promise is not None)
    values = [value for _, value in pairs]
    assert values == sorted(values, reverse=True)


def test_a_few_datasets_give_no_forecast(small_world: Path, csv: Path) -> None:
    result = recommend(load_dataset(str(csv)), warehouse=Warehouse.open(small_world))
    assert all(item.expectation is None for item in result.configurations)
