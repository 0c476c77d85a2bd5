"""The leaders of a search, tried again on other folds."""

from dataclasses import replace

import pytest

from ingest.flows import FLOWS
from ingest.reading.datasets import Dataset
from ingest.running.cross_validation import cross_validate
from ingest.running.limits import Outcome, Trial
from recommend.bo.tuning.finals import Finals, run_finals, winner
from recommend.bo.tuning.history import Entry
from recommend.bo.tuning.specification import Finish
from tests.recommend.bo.tuning.searches import QUICK
from warehouse.configurations.configuration import Configuration


def tree(depth: int) -> Configuration:
    return Configuration("decision_tree", FLOWS["decision_tree"].default() | {"max_depth": depth})


def entry(number: int, value: float | None) -> Entry:
    outcome = Outcome.crash if value is None else Outcome.success
    trial = Trial(outcome, None if value is None else {"predictive_accuracy": value}, None, 1.0)
    return Entry(number, tree(number + 1), "model", trial)


ENTRIES = [entry(number, value) for number, value in enumerate([0.6, None, 0.9, 0.8])]


def test_the_best_are_evaluated_on_other_folds(dataset: Dataset) -> None:
    found = run_finals(ENTRIES, dataset, QUICK, Finish(leaders=2), jobs=2)
    expected = {
        number: cross_validate(
            "decision_tree", tree(number + 1).values, dataset, folds=QUICK.folds, seed=QUICK.seed + 1
        )["predictive_accuracy"]
        for number in (2, 3)
    }
    assert found.again == pytest.approx(expected, abs=0.02)  # estimators have the seed of the search
    assert found.weights == {}


@pytest.mark.parametrize("leaders", [0, 1])
def test_a_single_leader_is_not_tried_again(dataset: Dataset, leaders: int) -> None:
    assert run_finals(ENTRIES, dataset, QUICK, Finish(leaders=leaders), jobs=1) == Finals()


def test_an_ensemble_is_made_of_the_leaders(dataset: Dataset) -> None:
    weights = run_finals(ENTRIES, dataset, QUICK, Finish(leaders=3, ensemble=6), jobs=1).weights
    assert set(weights) <= {0, 2, 3}
    assert sum(weights.values()) == pytest.approx(1)


def test_leaders_that_fail_the_second_time_are_no_winners(dataset: Dataset) -> None:
    no_time = replace(QUICK, trial_seconds=0.001)
    assert run_finals(ENTRIES, dataset, no_time, Finish(ensemble=3), jobs=1) == Finals()


@pytest.mark.parametrize(
    ("again", "measure", "best"),
    [
        ({}, "predictive_accuracy", 2),
        ({2: 0.5, 3: 0.7}, "predictive_accuracy", 3),
        ({2: 0.7}, "predictive_accuracy", 2),
        ({0: 0.9, 3: 0.75}, "predictive_accuracy", 3),
    ],
)
def test_the_winner_is_best_on_average_over_both(again: dict[int, float], measure: str, best: int) -> None:
    found = winner(ENTRIES, Finals(again), measure)
    assert found is not None
    assert found.number == best


def test_without_a_success_nobody_wins() -> None:
    assert winner([entry(0, None)], Finals(), "predictive_accuracy") is None


def test_an_ensemble_may_have_the_best_of_other_algorithms(dataset: Dataset) -> None:
    linear = Configuration("logistic_regression", FLOWS["logistic_regression"].default())
    entries = [*ENTRIES, *(replace(entry(number, 0.5), configuration=linear) for number in (4, 5))]
    alone = run_finals(entries, dataset, QUICK, Finish(leaders=2), jobs=1)
    assert set(alone.again) == {2, 3}
    assert set(run_finals(entries, dataset, QUICK, Finish(2, ensemble=3), jobs=2).again) == {2, 3, 4}
