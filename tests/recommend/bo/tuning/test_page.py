"""A search as a page."""

import re
from dataclasses import replace
from pathlib import Path

from ingest.reading.datasets import Dataset
from recommend.bo.tuning import Budget, SearchResult, tune
from recommend.bo.tuning.page import curve_of, importance_for, tuning_page
from tests.recommend.bo.tuning.searches import QUICK, result_of, tree, trial
from tests.recommend.reporting.html.pages import HOSTILE, Page, assert_is_harmless
from warehouse.store import Warehouse


def searched(dataset: Dataset, *values: float | None) -> SearchResult:
    return result_of(dataset, [trial(*pair, message=HOSTILE) for pair in enumerate(values)])


def test_the_curve_rises_with_each_better_trial(dataset: Dataset) -> None:
    curve = curve_of(searched(dataset, 0.5, None, 0.4, 0.75, 0.6))
    assert curve is not None
    assert [point.trial.number for point in curve.points if point.is_good] == [0, 3]
    first, last = (curve.values.at(value) for value in (0.5, 0.75))
    corners = [tuple(map(float, corner.split(","))) for corner in curve.best.split()]
    assert [y for _, y in corners] == [first, first, last, last]
    assert corners[0][0] == curve.trials.at(0)
    assert corners[-1][0] == curve.trials.end


def test_a_search_without_success_has_a_page(dataset: Dataset) -> None:
    for tuned in (searched(dataset), searched(dataset, None)):
        assert curve_of(tuned) is None
        assert "There is no model." in Page(tuning_page(tuned)).text


def test_the_page_shows_the_model_the_best_trials_and_the_remarks(dataset: Dataset) -> None:
    tuned = searched(dataset, 0.5, 0.75, 0.625)
    weights = {tree(2): 0.75, tree(3): 0.25}
    page = Page(tuning_page(replace(tuned, weights=weights, value=0.71875, remarks=["Too little time."])))
    for text in ("The average of 2 configurations", "0.7188", "75% of the model", "Too little time."):
        assert text in page.text
    assert page.text.index("0.7500") < page.text.index("0.6250") < page.text.index("0.5000")


def test_every_trial_is_listed_once_the_best_first_and_failures_last(dataset: Dataset) -> None:
    values = [0.5 + number / 100 for number in range(9)]
    page = tuning_page(searched(dataset, None, *values))
    listed = re.findall(r"<b>([^<]+)</b></summary>", page)
    assert listed == [*(f"{value:.4f}" for value in reversed(values)), "crash"]


def test_a_notebook_shows_the_model_and_the_best_trials(dataset: Dataset) -> None:
    html = searched(dataset, *[0.5 + number / 100 for number in range(40)])._repr_html_()
    assert len(html.encode()) < 30_000
    assert "0.8900" in Page(html).text
    assert Page(html).tags.count("details") == 10 + 1
    assert "script" not in Page(html).tags


def test_hostile_names_and_messages_do_nothing(dataset: Dataset) -> None:
    hostile = replace(dataset, name=HOSTILE, target_choice=HOSTILE)
    assert_is_harmless(Page(tuning_page(searched(hostile, 0.5, None, 0.6))))


def test_the_page_is_updated_during_a_search(dataset: Dataset, world: Warehouse, tmp_path: Path) -> None:
    """The search has preprocessing hyperparameters."""
    seen: list[SearchResult] = []
    search = replace(QUICK, flows=("decision_tree",), start="none", preprocessing=True)
    tuned = tune(dataset, search, Budget(5), warehouse=world, folder=tmp_path, watch=seen.append)
    assert [len(one.trials) for one in seen] == [*range(1, 6)]
    assert all("The search goes on" in tuning_page(one, is_over=False) for one in seen)
    importance = importance_for(tuned, 30.0)
    assert importance is not None
    page = tuning_page(tuned, importance=importance)
    assert "The search goes on" not in page
    assert "Which columns matter" in page
    assert "Script of the model" in page
    assert Page(page).tags.count("svg") > 1
