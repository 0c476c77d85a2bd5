"""A recommendation as a page."""

from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from ingest.reading.datasets import load_dataset
from recommend import recommend
from recommend.ranking.performance_forecast import PerformanceForecast
from recommend.recommendation import Recommendation
from recommend.reporting.page import columns_of, intervals_of, map_of, recommendation_page
from tests.recommend.conftest import numbers
from tests.recommend.reporting.html.pages import HOSTILE, Page, assert_is_harmless
from warehouse.store import Warehouse


@pytest.fixture(scope="module")
def recommendation(small_world: Path) -> Recommendation:
    dataset = load_dataset(numbers(900, seed=99).assign(k=1), target="class", name="mine")
    return recommend(dataset, warehouse=Warehouse.open(small_world), top=2)


def promised(recommendation: Recommendation, *values: float) -> Recommendation:
    """The recommendation with values that are expected, each 0.1 better than the default."""
    items = [
        replace(item, expectation=PerformanceForecast(value, value - 0.2, value + 0.1, 0.1, 0.75))
        for item, value in zip(recommendation.configurations, values, strict=True)
    ]
    return replace(recommendation, configurations=items)


def test_the_page_says_what_to_try_and_on_what_grounds(recommendation: Recommendation) -> None:
    page = Page(recommendation_page(promised(recommendation, 0.8, 0.75)))
    for text in ("What to try first on mine", "1. Decision tree", "max_depth", "0.800", "+0.100", "75%"):
        assert text in page.text
    assert "Average of 1 and 2" in page.text
    assert "128 runs" in page.text
    assert page.tags.count("svg") == 2  # intervals and the map


def test_the_page_says_why(small_world: Path) -> None:
    dataset = load_dataset(numbers(900, seed=99), target="class", name="mine")
    explained = recommend(dataset, warehouse=Warehouse.open(small_world), top=2, explain=True)
    assert explained.explanation is not None
    page = Page(recommendation_page(explained))
    assert "Why: the best expected accuracy of" in page.text
    for known in explained.explanation.known:
        assert known.dataset in page.text
        assert f"{known.weight:.3f}" in page.text


def test_the_default_lies_where_the_gain_starts_from(recommendation: Recommendation) -> None:
    items = promised(recommendation, 0.8, 0.75).configurations
    found = intervals_of(items, "predictive_accuracy")
    assert found is not None
    assert found.default == pytest.approx(0.7)
    assert found.axis.low == pytest.approx(0.55)
    cost = intervals_of(items, "log_loss")
    assert cost is not None
    assert cost.default == pytest.approx(0.9)


def test_the_map_has_the_known_datasets_and_this_one(recommendation: Recommendation) -> None:
    found = map_of(recommendation)
    assert found is not None
    assert len(found.known) == 8
    assert {place.features for place in found.known} == {2}
    assert (found.here.rows, found.here.features, found.here.classes) == (900, 3, 2)


def test_columns_are_listed_with_what_is_missing() -> None:
    frame = numbers(40).assign(gap=[None] * 10 + list("abcde") * 6, k=1)
    columns = {column.name: column for column in columns_of(load_dataset(frame, target="class"))}
    assert columns["gap"].missing == 0.25
    assert columns["gap"].distinct == 5
    assert not columns["k"].is_learned_from
    assert columns["x"].is_learned_from


def test_hostile_names_do_nothing(small_world: Path) -> None:
    frame = numbers(60).rename(columns={"x": HOSTILE, "class": f"{HOSTILE} class"})
    frame.iloc[:, -1] = frame.iloc[:, -1] + HOSTILE
    assert isinstance(frame, pd.DataFrame)
    dataset = load_dataset(frame, target=f"{HOSTILE} class", name=HOSTILE)
    assert_is_harmless(
        Page(recommendation_page(recommend(dataset, warehouse=Warehouse.open(small_world), top=1)))
    )
