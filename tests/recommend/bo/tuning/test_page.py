"""A search as a page."""

from dataclasses import replace
from pathlib import Path

import pytest
from recommend.bo.tuning.reevaluation import Reevaluation

from ingest.flows import get_flow
from ingest.reading.datasets import Dataset
from ingest.running.evaluation import Evaluation
from ingest.running.limits import Outcome
from recommend.bo.tuning import Budget, Finish, SearchResult, tune
from recommend.bo.tuning.page import curve_of, tuning_page
from recommend.bo.tuning.result import incumbents
from recommend.bo.tuning.trials import Trial
from tests.recommend.bo.tuning.searches import QUICK
from tests.recommend.reporting.html.pages import HOSTILE, Page, assert_is_harmless
from warehouse.store import Warehouse
from warehouse.vocabulary.configuration import Configuration

TREE = get_flow("decision_tree")


def searched(dataset: Dataset, *values: float | None) -> SearchResult:
    """Trials of trees of a growing depth, which have these values; None = the trial crashed."""
    entries = [
        Trial(
            number,
            Configuration(TREE.name, TREE.default() | {"max_depth": number + 1}),
            "model",
            Evaluation(Outcome.crash, 1.0, message=HOSTILE)
            if value is None
            else Evaluation(Outcome.success, 0.5, {"predictive_accuracy": value}),
        )
        for number, value in enumerate(values)
    ]
    better = incumbents(entries, "predictive_accuracy")
    return SearchResult(
        dataset=dataset,
        search=QUICK,
        trials=entries,
        incumbents=better,
        best=better[-1] if better else None,
        finals=Reevaluation(),
        held_out={},
        ensemble_held_out=None,
        rows=(120, 40),
        folder=Path("h"),
        interrupted=False,
    )


def test_the_curve_rises_with_each_better_trial(dataset: Dataset) -> None:
    curve = curve_of(searched(dataset, 0.5, None, 0.4, 0.75, 0.6))
    assert curve is not None
    assert [point.trial.number for point in curve.points if point.is_good] == [0, 3]
    first, last = (curve.values.at(value) for value in (0.5, 0.75))
    corners = [tuple(map(float, corner.split(","))) for corner in curve.best.split()]
    assert [y for _, y in corners] == [first, first, last, last]
    assert corners[0][0] == curve.trials.at(0)
    assert corners[-1][0] == curve.trials.end


def test_a_search_without_success_is_a_page_too(dataset: Dataset) -> None:
    for tuned in (searched(dataset), searched(dataset, None)):
        assert curve_of(tuned) is None
        assert "No trial has succeeded" in Page(tuning_page(tuned)).text


def test_the_page_shows_leaders_and_ensemble(dataset: Dataset) -> None:
    tuned = searched(dataset, 0.5, 0.75, 0.625)
    finals = Reevaluation(again={1: 0.7, 2: 0.6}, weights={1: 0.75, 2: 0.25})
    page = Page(tuning_page(replace(tuned, finals=finals, held_out={1: 0.6875}, ensemble_held_out=0.71875)))
    for text in ("Trial 1: Decision tree", "0.6875", "Ensemble of 2", "0.7188", "75%", "evaluated again"):
        assert text in page.text


def test_hostile_names_and_messages_do_nothing(dataset: Dataset) -> None:
    hostile = replace(dataset, name=HOSTILE, target_choice=HOSTILE)
    assert_is_harmless(Page(tuning_page(searched(hostile, 0.5, None, 0.6))))


def test_a_search_can_be_watched_as_it_goes(dataset: Dataset, world: Warehouse, tmp_path: Path) -> None:
    seen: list[SearchResult] = []
    tuned = tune(
        dataset,
        QUICK,
        Budget(3),
        warehouse=world,
        folder=tmp_path,
        watch=seen.append,
        finish=Finish(leaders=0),
    )
    assert [len(one.trials) for one in seen] == [1, 2, 3]
    assert all("The search goes on" in tuning_page(one, is_over=False) for one in seen)
    assert "The search goes on" not in tuning_page(tuned)
    assert "interrupted" not in tuning_page(seen[0], is_over=False)


@pytest.mark.parametrize("preprocessing", [False, True])
def test_a_real_search_is_a_page(
    dataset: Dataset, world: Warehouse, tmp_path: Path, preprocessing: bool
) -> None:
    search = replace(QUICK, start="none", preprocessing=preprocessing)
    tuned = tune(
        dataset, search, Budget(8), warehouse=world, folder=tmp_path, finish=Finish(leaders=2, ensemble=3)
    )
    page = Page(tuning_page(tuned))
    assert page.tags.count("svg") > 1
    assert "Ensemble of" in page.text
