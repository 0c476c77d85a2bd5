"""What is searched for: descriptions of searches, and what is refused before any work."""

import json
from dataclasses import replace
from typing import Any

import pytest

from recommend.bo.tuning.settings import Budget, Finish, Search, check
from warehouse.support.errors import BadInput, BadOption, UnknownName
from warehouse.vocabulary.configuration import Configuration

SEARCH = Search(flows=("svm", "mlp"))
ENOUGH = Budget(trials=5)


def test_a_description_is_json_and_has_everything_that_trials_depend_on() -> None:
    seeds = (Configuration("svm", {"C": 2.0, "kernel": "rbf"}),)
    search = replace(SEARCH, seeds=seeds, preprocessing=True)
    description = json.loads(json.dumps(search.description()))
    assert description["flows"] == ["svm", "mlp"]
    assert description["seeds"] == [["svm", {"C": 2.0, "kernel": "rbf"}]]
    assert description.keys() == vars(SEARCH).keys()


def test_histories_of_searches_without_preprocessing_go_on() -> None:
    """They were begun before there was any."""
    assert "preprocessing" not in SEARCH.description()


@pytest.mark.parametrize(
    ("change", "budget", "jobs", "refusal", "message"),
    [
        ({"start": "top@oracle"}, ENOUGH, 1, UnknownName, "unknown learner 'oracle'"),
        ({}, Budget(), 1, BadOption, "a search needs a limit: a number of trials, or a time"),
        ({}, ENOUGH, 0, BadOption, "jobs must be more than 0, not 0"),
        ({"folds": 0}, ENOUGH, 1, BadOption, "folds must be more than 0"),
        ({"trial_seconds": 0.0}, ENOUGH, 1, BadOption, "trial seconds must be more than 0"),
        ({"trial_memory": -1}, ENOUGH, 1, BadOption, "trial memory must be more than 0"),
    ],
)
def test_what_cannot_work_is_refused_in_one_line(
    change: dict[str, Any], budget: Budget, jobs: int, refusal: type[BadInput], message: str
) -> None:
    with pytest.raises(refusal, match=message) as caught:
        check(replace(SEARCH, **change), budget, Finish(), jobs)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("measure", "finish", "message"),
    [
        ("fit_seconds", Finish(ensemble=5), "an ensemble can't be selected by fit_seconds"),
    ],
)
def test_an_ensemble_that_cannot_be_chosen_is_refused(measure: str, finish: Finish, message: str) -> None:
    with pytest.raises(BadOption, match=message):
        check(replace(SEARCH, measure=measure), ENOUGH, finish, 1)
