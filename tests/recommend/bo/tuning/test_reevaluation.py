"""The leaders of a search, tried again on other folds."""

from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from recommend.bo.tuning.ensembles import voting_rows
from recommend.bo.tuning.reevaluation import Reevaluation, evaluate_trials, run_finals, winner

from ingest.flows import FLOWS
from ingest.reading.datasets import Dataset
from ingest.running.evaluation import Evaluation, Limits, cross_validate, evaluate
from ingest.running.limits import Outcome
from ingest.running.scorer import scorer_of
from recommend.bo.tuning.history import TrialHistory
from recommend.bo.tuning.session import Session
from recommend.bo.tuning.settings import Finish
from recommend.bo.tuning.setup import splits_of
from recommend.bo.tuning.trials import Trial
from tests.recommend.bo.tuning.searches import QUICK
from warehouse.vocabulary.configuration import Configuration


def tree(depth: int) -> Configuration:
    return Configuration("decision_tree", FLOWS["decision_tree"].default() | {"max_depth": depth})


def entry(number: int, value: float | None) -> Trial:
    outcome = Outcome.crash if value is None else Outcome.success
    measures = {} if value is None else {"predictive_accuracy": value}
    return Trial(number, tree(number + 1), "model", Evaluation(outcome, 1.0, measures))


def evaluated(configuration: Configuration, dataset: Dataset) -> Evaluation:
    """The evaluation of a trial, with the predictions of the rows that vote."""
    splits = splits_of(dataset, QUICK)
    evaluation = evaluate(configuration, dataset, [splits], Limits(60.0, 4096), seed=QUICK.seed)
    assert evaluation.predictions is not None
    return replace(evaluation, predictions=evaluation.predictions[voting_rows(splits)].astype(np.float32))


ENTRIES = [entry(number, value) for number, value in enumerate([0.6, None, 0.9, 0.8])]


def test_the_best_are_evaluated_on_other_folds(dataset: Dataset) -> None:
    found = run_finals(ENTRIES, dataset, Session(QUICK, jobs=2), Finish(leaders=2))
    splits = splits_of(dataset, QUICK, repetition=1)
    expected = {
        number: cross_validate(
            partial(FLOWS["decision_tree"].pipeline, tree(number + 1).values, dataset.roles), dataset, splits
        )[0]["predictive_accuracy"]
        for number in (2, 3)
    }
    assert found.again == pytest.approx(expected, abs=0.02)  # estimators have the seed of the search
    assert found.weights == {}


def predictions(dataset: Dataset) -> dict[int, np.ndarray]:
    """What trials of each of the entries predict."""
    found = {one.number: evaluated(one.configuration, dataset).predictions for one in ENTRIES}
    return {number: predicted for number, predicted in found.items() if predicted is not None}


def test_an_ensemble_is_made_of_all_that_succeeded(dataset: Dataset) -> None:
    """The last one predicts better than the others, and is no leader."""
    known = predictions(dataset)
    splits = splits_of(dataset, QUICK)
    rows = np.concatenate([test for _, test in splits])[voting_rows(splits)]
    known[0] = np.eye(2, dtype=np.float32)[scorer_of(dataset).outcomes(dataset.target)[rows]]
    found = run_finals(ENTRIES, dataset, Session(QUICK), Finish(leaders=2, ensemble=6), known.get)
    assert set(found.again) == {2, 3}
    assert found.weights == {0: 1.0}


def test_leaders_that_fail_the_second_time_are_no_winners(dataset: Dataset) -> None:
    no_time = replace(QUICK, trial_seconds=0.001)
    assert run_finals(ENTRIES, dataset, Session(no_time), Finish(ensemble=3)) == Reevaluation()


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
    found = winner(ENTRIES, Reevaluation(again), measure)
    assert found is not None
    assert found.number == best


def history_of(dataset: Dataset, folder: Path) -> TrialHistory:
    """A history of two trials of trees, with what they predicted."""
    history = TrialHistory(folder, {})
    with history:
        for number, depth in enumerate((1, 3)):
            begun = Trial(number, tree(depth), "model")
            history.begin(begun)
            history.end(number, evaluated(begun.configuration, dataset))
    return history


def test_what_was_judged_is_not_run_again(
    dataset: Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor is an ensemble chosen twice; another process finds both in the history."""
    history_of(dataset, tmp_path)
    finish = Finish(leaders=2, ensemble=3)

    def finals() -> Reevaluation:
        with TrialHistory(tmp_path, {}) as history:
            return run_finals(history.trials, dataset, Session(QUICK), finish, history.predictions, history)

    first = finals()
    assert set(first.again) == {0, 1}
    for name in ("evaluate", "select_ensemble"):
        monkeypatch.setattr(f"recommend.bo.tuning.reevaluation.{name}", lambda *_, **__: pytest.fail("again"))
    assert finals() == first


@pytest.mark.parametrize("left", [0.0, 0.001], ids=["not begun", "cut off"])
def test_leaders_for_which_no_time_is_left_are_not_judged_and_nothing_is_kept_of_them(
    dataset: Dataset, tmp_path: Path, left: float
) -> None:
    history_of(dataset, tmp_path)
    splits = splits_of(dataset, QUICK, repetition=1)
    with TrialHistory(tmp_path, {}) as history:
        session = Session(QUICK, left=lambda: left)
        found = evaluate_trials("again", history.trials, dataset, splits, session, history)
        assert found == {}
        assert history.elsewhere("again", 0) is None
