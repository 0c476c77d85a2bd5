"""A recommendation as a page."""

from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from ingest.reading.datasets import load_dataset
from recommend import recommend
from recommend.explaining.column_importance import ColumnImportance
from recommend.ranking.performance_forecast import PerformanceForecast
from recommend.recommendation import Recommendation
from recommend.reporting.page import MOST_KNOWN, columns_of, data_options, recommendation_page, scale_of
from tests.recommend.conftest import numbers
from tests.recommend.reporting.html.pages import HOSTILE, Page, assert_is_harmless
from warehouse.store import Warehouse
from warehouse.vocabulary.measures import ACCURACY


@pytest.fixture(scope="module")
def recommendation(small_world: Path) -> Recommendation:
    dataset = load_dataset(numbers(900, seed=99).assign(k=1), target="class", name="mine")
    return recommend(dataset, warehouse=Warehouse.open(small_world), top=2)


def promised(recommendation: Recommendation, *values: float) -> Recommendation:
    """The recommendation with expected values, each 0.1 better than the default."""
    items = [
        replace(item, expectation=PerformanceForecast(value, value - 0.2, value + 0.1, 0.1, 0.75))
        for item, value in zip(recommendation.configurations, values, strict=True)
    ]
    return replace(recommendation, configurations=items)


def test_the_page_shows_what_to_try_its_expected_value_and_the_next_commands(
    recommendation: Recommendation,
) -> None:
    page = Page(recommendation_page(promised(recommendation, 0.8, 0.75)))
    for text in ("What to try first on mine", "Decision tree", "max_depth", "0.800", "+0.100", "75%"):
        assert text in page.text
    assert "Average of 1 and 2" in page.text
    assert "128 runs" in page.text
    assert "recommend.tune(dataset" in page.text  # a data frame has no command
    assert "import pandas as pd" in page.text


def test_the_page_explains_the_recommendation(small_world: Path) -> None:
    dataset = load_dataset(numbers(900, seed=99), target="class", name="mine")
    explained = recommend(dataset, warehouse=Warehouse.open(small_world), top=2, explain=True)
    assert explained.explanation is not None
    page = Page(recommendation_page(explained))
    assert "The best expected accuracy of" in page.text
    for known in explained.explanation.known[:MOST_KNOWN]:
        assert known.dataset in page.text
        assert f"weighs {known.weight / explained.explanation.total_weight:.0%}" in page.text


def test_the_page_shows_which_columns_matter_or_why_not(recommendation: Recommendation) -> None:
    unknown = ColumnImportance(recommendation.configurations[0].configuration, ACCURACY, failure="no time")
    found = replace(unknown, fitted_rows=600, tested_rows=300, losses=[("x", 0.25), ("k", 0.0)])
    assert "Not known: no time." in Page(recommendation_page(recommendation, unknown)).text
    text = Page(recommendation_page(recommendation, found)).text
    assert "0.250" in text
    assert "1 column matters less or not at all" in text


def test_gains_start_at_the_default(recommendation: Recommendation) -> None:
    promises = [item.expectation for item in promised(recommendation, 0.8, 0.75).configurations]
    known = [promise for promise in promises if promise is not None]
    scale, default = scale_of(known, ACCURACY)
    assert default == pytest.approx(0.7)
    assert scale is not None
    assert scale.low == pytest.approx(0.55)
    assert scale_of(known, "log_loss")[1] == pytest.approx(0.9)
    assert scale_of([], ACCURACY) == (None, None)


def test_a_notebook_shows_the_ranking_in_its_own_style(recommendation: Recommendation) -> None:
    items = promised(recommendation, 0.8, 0.75).configurations
    long = replace(recommendation, configurations=items * 20)
    html = long._repr_html_()
    page = Page(html)
    assert len(html.encode()) < 30_000
    assert "0.800" in page.text
    assert "30 configurations more follow" in page.text
    assert not {"html", "body", "script", "table"} & set(page.tags)
    style = html[html.index("<style>") : html.index("</style>")].splitlines()[1:]
    assert [line for line in style if line and not line.startswith(" ")] == [".headstart {", "}"]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("my data.csv", "'my data.csv' --target class --measure log_loss"),
        ("openml:31", "openml:31 --target class --measure log_loss"),
        ("data frame", ""),
    ],
)
def test_commands_quote_the_path_for_a_shell(source: str, expected: str) -> None:
    dataset = replace(load_dataset(numbers(40), target="class"), source=source)
    assert data_options(dataset, "log_loss") == expected


def test_columns_are_listed_with_their_missing_values() -> None:
    frame = numbers(40).assign(gap=[None] * 10 + list("abcde") * 6, k=1)
    columns = dict(columns_of(load_dataset(frame, target="class")))
    assert columns["gap"] == "categorical, 25.0% missing, 5 values"
    assert columns["k"] == "constant, ignored, 1 value"
    assert columns["x"] == "numeric, 40 values"


def test_hostile_names_do_nothing(small_world: Path) -> None:
    frame = numbers(60).rename(columns={"x": HOSTILE, "class": f"{HOSTILE} class"})
    frame.iloc[:, -1] = frame.iloc[:, -1] + HOSTILE
    assert isinstance(frame, pd.DataFrame)
    dataset = load_dataset(frame, target=f"{HOSTILE} class", name=HOSTILE)
    assert_is_harmless(
        Page(recommendation_page(recommend(dataset, warehouse=Warehouse.open(small_world), top=1)))
    )
