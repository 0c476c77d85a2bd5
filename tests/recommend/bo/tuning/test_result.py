"""Results of a search: values, incumbents, and scores on rows held out."""

from pathlib import Path

import numpy as np
import pytest
from recommend.bo.tuning.reevaluation import Reevaluation, evaluate_trials

from ingest.flows import FLOWS
from ingest.reading.datasets import Dataset
from ingest.running.evaluation import Evaluation
from ingest.running.limits import Outcome
from recommend.bo.tuning import Search
from recommend.bo.tuning.history import TrialHistory
from recommend.bo.tuning.result import incumbents, result
from recommend.bo.tuning.session import Session
from recommend.bo.tuning.trials import Trial
from tests.recommend.bo.tuning.searches import QUICK
from warehouse.vocabulary.configuration import Configuration

TREE = Configuration("decision_tree", FLOWS["decision_tree"].default())


def trial(value: float, measure: str = "predictive_accuracy") -> Evaluation:
    return Evaluation(Outcome.success, 1.0, {measure: value})


def entry(number: int, came_of_it: Evaluation | None, configuration: Configuration = TREE) -> Trial:
    return Trial(number, configuration, "model", came_of_it)


CRASH = Evaluation(Outcome.crash, 1.0, message="no")


@pytest.mark.parametrize(
    ("measure", "expected"), [("predictive_accuracy", [1, 4, 6]), ("log_loss", [1, 3, 5])]
)
def test_incumbents_are_better_than_all_before_them(measure: str, expected: list[int]) -> None:
    """0.5, 0.4, 0.7, 0.2, 0.9 after a failure; a value that is reached again counts once."""
    came = [CRASH, *(trial(value, measure) for value in (0.5, 0.5, 0.4, 0.7, 0.2, 0.9, 0.9)), None]
    assert [one.number for one in incumbents([entry(*pair) for pair in enumerate(came)], measure)] == expected


def test_a_trial_on_a_share_of_the_rows_is_no_incumbent() -> None:
    entries = [
        Trial(0, TREE, "model", trial(0.9), share=1 / 9),
        entry(1, trial(0.5)),
        Trial(2, TREE, "model", trial(0.8), share=1 / 3),
        entry(3, trial(0.6)),
    ]
    assert [one.number for one in incumbents(entries, "predictive_accuracy")] == [1, 3]


def split(dataset: Dataset) -> tuple[np.ndarray, np.ndarray]:
    """Three rows in four to learn from, and the others."""
    rows = np.arange(len(dataset.features))
    return rows[rows % 4 > 0], rows[rows % 4 == 0]


def test_the_value_on_rows_held_out_is_that_of_a_model_of_the_others(dataset: Dataset) -> None:
    """As scikit-learn finds it by hand."""
    learned, held_out = split(dataset)
    label = dataset.target.astype(str).to_numpy()
    model = FLOWS["decision_tree"].pipeline(TREE.values, dataset.roles)
    model.fit(dataset.features.iloc[learned], label[learned])
    expected = (model.predict(dataset.features.iloc[held_out]) == label[held_out]).mean()
    found = evaluate_trials("held-out", [entry(0, None)], dataset, [(learned, held_out)], Session(QUICK))[0]
    assert found.value("predictive_accuracy") == pytest.approx(expected)
    assert found.predictions is not None
    assert found.predictions.shape == (len(held_out), 2)


@pytest.mark.parametrize(
    ("held_out", "interrupted", "judged"),
    [(True, False, {1, 3}), (True, True, set()), (False, False, set())],
)
def test_the_first_and_the_best_are_judged_on_rows_held_out(
    dataset: Dataset, tmp_path: Path, held_out: bool, interrupted: bool, judged: set[int]
) -> None:
    """Unless the user could not wait, or no rows were held out."""
    rows = split(dataset) if held_out else (np.arange(160), np.arange(0))
    with TrialHistory(tmp_path, {}) as history:
        for number, came in enumerate([CRASH, trial(0.5), trial(0.6), trial(0.7), trial(0.1)]):
            history.begin(entry(number, None))
            history.end(number, came)
        history.begin(entry(5, None))
        tuned = result(dataset, history, Session(Search()), rows, Reevaluation(), interrupted=interrupted)
    assert [one.number for one in tuned.trials] == [0, 1, 2, 3, 4]
    assert [one.number for one in tuned.incumbents] == [1, 2, 3]
    assert tuned.best is not None
    assert tuned.best.number == 3
    assert set(tuned.held_out) == judged
    assert tuned.rows == (len(rows[0]), len(rows[1]))
    assert tuned.interrupted == interrupted


def test_the_best_is_that_on_average_over_both_times_and_the_ensemble_is_judged(
    dataset: Dataset, tmp_path: Path
) -> None:
    with TrialHistory(tmp_path, {}) as history:
        for number, came in enumerate([trial(0.5), trial(0.8), trial(0.7)]):
            history.begin(entry(number, None))
            history.end(number, came)
        finals = Reevaluation(again={1: 0.5, 2: 0.7}, weights={0: 0.25, 2: 0.75})
        tuned = result(dataset, history, Session(Search()), split(dataset), finals, interrupted=False)
    assert tuned.best is not None
    assert tuned.best.number == 2
    assert set(tuned.held_out) == {0, 2}
    assert tuned.ensemble_held_out == tuned.held_out[2]  # all three are the same tree
