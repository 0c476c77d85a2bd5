"""Descriptions of searches, and settings refused before any work."""

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from ingest.flows import installed_flows
from ingest.reading.datasets import load_dataset
from recommend.bo.tuning.settings import Budget, Search, check, completed
from warehouse.store import STARTER, Warehouse
from warehouse.support.errors import BadInput, BadOption, UnfitConfiguration, UnknownName
from warehouse.vocabulary.configuration import Configuration
from warehouse.vocabulary.task_types import CLASSIFICATION, REGRESSION

SEARCH = Search(flows=("svm", "mlp"), measure="predictive_accuracy")
ENOUGH = Budget(trials=5)


def test_a_description_is_json_and_has_everything_that_trials_depend_on() -> None:
    seeds = (Configuration("svm", {"C": 2.0, "kernel": "rbf"}),)
    search = replace(SEARCH, seeds=seeds, preprocessing=True)
    description = json.loads(json.dumps(search.description()))
    assert description["flows"] == ["svm", "mlp"]
    assert description["seeds"] == [["svm", {"C": 2.0, "kernel": "rbf"}]]
    assert description.keys() == vars(SEARCH).keys() - {"ensemble"}


def test_the_dataset_determines_flows_and_measure_by_default() -> None:
    numbers = load_dataset(pd.DataFrame({"a": range(40), "price": np.linspace(0.5, 9, 40)}))
    found = completed(Search(), numbers, Warehouse.open(STARTER))
    assert found.flows == installed_flows(REGRESSION)
    assert found.measure == "root_mean_squared_error"
    named = completed(Search(flows=("lightgbm",), measure="mae"), numbers, Warehouse.open(STARTER))
    assert (named.flows, named.measure) == (("lightgbm_regressor",), "mean_absolute_error")


@pytest.mark.parametrize(
    ("change", "budget", "jobs", "refusal", "message"),
    [
        ({"start": "top@oracle"}, ENOUGH, 1, UnknownName, "unknown learner 'oracle'"),
        ({}, Budget(), 1, BadOption, "a search needs a limit: a number of trials, or a time"),
        ({}, ENOUGH, 0, BadOption, "jobs must be more than 0, not 0"),
        ({"folds": 0}, ENOUGH, 1, BadOption, "folds must be more than 0"),
        ({"trial_seconds": 0.0}, ENOUGH, 1, BadOption, "trial seconds must be more than 0"),
        ({}, Budget(seconds=float("inf")), 1, BadOption, "time must be more than 0, not inf"),
        ({}, Budget(seconds=1e9), 1, BadOption, "times must be at most"),
        ({"ensemble": -1}, ENOUGH, 1, BadOption, "ensemble must be 0 or more picks, not -1"),
        ({"measure": "webb_bias"}, ENOUGH, 1, BadOption, "measure 'webb_bias' can't be used to select"),
        (
            {"seeds": (Configuration("svm", {}), Configuration("mlp", {"hidden_layers": 1e9}))},
            ENOUGH,
            1,
            UnfitConfiguration,
            "seed 2: hidden_layers can't be 1000000000.0: expected a whole number from 1 to 3",
        ),
        (
            {"flows": ("ridge",), "preprocessing": True},
            ENOUGH,
            1,
            BadOption,
            "preprocessing can't be searched",
        ),
        ({"trial_memory": -1}, ENOUGH, 1, BadOption, "trial memory must be more than 0"),
    ],
)
def test_invalid_settings_are_refused_in_one_line(
    change: dict[str, Any], budget: Budget, jobs: int, refusal: type[BadInput], message: str
) -> None:
    with pytest.raises(refusal, match=message) as caught:
        check(replace(SEARCH, **change), budget, jobs, CLASSIFICATION)
    assert "\n" not in str(caught.value)
