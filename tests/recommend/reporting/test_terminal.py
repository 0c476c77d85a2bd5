"""A recommendation in a terminal: columns and their meaning."""

from dataclasses import replace
from pathlib import Path

import pytest

import recommend as recommend_package
from ingest.reading.datasets import load_dataset
from recommend import recommend
from recommend.ranking.performance_forecast import PerformanceForecast
from recommend.recommendation import Recommendation
from recommend.reporting.page import recommendation_page
from recommend.reporting.terminal import in_words, next_steps
from tests.recommend.conftest import prices
from tests.recommend.reporting.html.pages import Page
from warehouse.store import STARTER, Warehouse
from warehouse.vocabulary.configuration import Configuration
from warehouse.vocabulary.parameters import Choice, Number
from warehouse.vocabulary.searched_flow import SearchedFlow

EXAMPLES = Path(recommend_package.__file__).parent / "examples"


@pytest.fixture(scope="module")
def promised(world_of_numbers: Path) -> Recommendation:
    """Two configurations for numbers with a spread of about 82, with expected values."""
    dataset = load_dataset(prices(900, seed=99), name="homes")
    found = recommend(dataset, warehouse=Warehouse.open(world_of_numbers), top=2)
    promise = PerformanceForecast(20.0, 18.0, 23.0, 5.0, 0.75, {"catboost_regressor": 1.25})
    items = [replace(item, expectation=promise) for item in found.configurations]
    return replace(found, configurations=items)


def explained(found: Recommendation) -> list[str]:
    """R2 of errors of 20, 23 and 18."""
    spread = float(found.dataset.target.std(ddof=0))
    return [f"{1 - (error / spread) ** 2:.3f}" for error in (20, 23, 18)]


def printed(
    found: Recommendation, monkeypatch: pytest.MonkeyPatch, width: int, *, legend: bool = False
) -> list[str]:
    monkeypatch.setenv("COLUMNS", str(width))
    return in_words(found, is_default_measure=True, legend=legend).splitlines()


def test_errors_are_shown_with_r2_and_gains_over_both_usual_defaults(
    promised: Recommendation, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = printed(promised, monkeypatch, 120, legend=True)
    titles = next(line for line in lines if line.startswith("#  try"))
    assert titles.split("  ")[-1].strip() == "fit"
    assert " ".join(titles.split()) == "# try RMSE R2 80 % of R2 vs LightGBM chance vs CatBoost fit"
    first = next(line for line in lines if line.startswith("1  Decision tree"))
    value, low, high = explained(promised)
    assert first.split()[3:] == ["20.00", value, f"{low}-{high}", "+20.0%", "75%", "+5.9%"]
    legend = "\n".join(lines)
    assert "in the unit of price" in legend
    assert "the same against CatBoost" in legend
    assert "mean of the numbers that they predict" in legend


def test_a_narrow_terminal_shows_only_the_first_default(
    promised: Recommendation, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = printed(promised, monkeypatch, 75)
    assert max(map(len, lines)) <= 75
    assert not any("vs CatBoost" in line for line in lines)
    assert any("vs LightGBM" in line for line in lines)


def test_long_names_are_wrapped_if_the_table_is_slightly_too_wide(
    promised: Recommendation, monkeypatch: pytest.MonkeyPatch
) -> None:
    flow = replace(promised.configurations[0].flow, title="Histogram gradient boosting")
    found = replace(promised, configurations=[replace(promised.configurations[0], flow=flow)], average=None)
    lines = printed(found, monkeypatch, 85)
    width = max(len(line) for line in lines if line.startswith(("#  ", "1  Histogram")))
    assert any(line.startswith("1  Histogram gradient boosting  20.00") for line in lines)
    shorter = printed(found, monkeypatch, width - 5)
    at = next(place for place, line in enumerate(shorter) if line.startswith("1  Histogram gradient  20.00"))
    assert shorter[at + 1] == "   boosting"


@pytest.mark.parametrize("width", [40, 60])
def test_numbers_follow_each_name_if_the_table_is_too_wide(
    promised: Recommendation, monkeypatch: pytest.MonkeyPatch, width: int
) -> None:
    lines = printed(promised, monkeypatch, width)
    assert max(map(len, lines)) <= width
    at = lines.index("1  Decision tree")
    assert lines[at + 1].startswith("   RMSE 20.00, R2 ")
    assert "chance 75%" in " ".join(line.strip() for line in lines[at : at + 4])


def test_the_first_screen_has_ranking_values_reasons_times_and_next_commands(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The example in README, from the bundled starter, fits into 24 lines of 80 columns."""
    found = recommend(load_dataset(EXAMPLES / "subscribers.csv"), warehouse=Warehouse.open(STARTER))
    lines = [*printed(found, monkeypatch, 80), "", *next_steps(found)]
    assert len(lines) <= 24
    assert max(map(len, lines)) <= 80
    text = " ".join(" ".join(lines).split())
    for answer in (
        "is the target because",
        "accuracy",
        "80 % range",
        "vs LightGBM",
        " fit ",
        "configurations",
    ):
        assert answer in text
    assert text.count("the best expected accuracy of") == 1
    assert "predictive_accuracy" not in text
    assert lines[-1].startswith("Next: --why")


def test_all_varying_values_of_a_foreign_flow_are_shown(
    promised: Recommendation, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its defaults are unknown: the usual value in its runs may be the best."""
    hyperparameters = (Number("eta", 0.1, 0.9, default=0.3), Choice("booster", ("gbtree",), "gbtree"))
    flow = SearchedFlow("other:my-boosting", "my-boosting", hyperparameters)
    own = Configuration(flow.name, {"eta": 0.3, "booster": "gbtree"})
    items = [replace(promised.configurations[0], flow=flow, configuration=own)]
    lines = printed(replace(promised, configurations=items, average=None), monkeypatch, 120)
    assert "   eta=0.3" in lines


def test_the_page_has_the_same_values(promised: Recommendation) -> None:
    text = " ".join(Page(recommendation_page(promised)).text.split())
    assert "18.00 to 23.00" in text
    assert "R2 {}, from {} to {}.".format(*explained(promised)) in text
    assert "vs LightGBM+20.0%" in text
    assert "vs CatBoost+5.9%" in text
    assert "mean of the target" in text
    assert "values of price" in text
    assert " 0 classes" not in text


def test_gains_over_other_defaults_are_in_the_document_if_known(promised: Recommendation) -> None:
    expected = promised.document()["configurations"][0]["expectation"]
    assert expected["other_gains"] == {"catboost_regressor": 1.25}
    assert "other_gains" not in PerformanceForecast(0.8, 0.7, 0.9, 0.1, 0.7).document()
