"""Results of a search, for programs and people."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import recommend
from ingest.flows import get_flow
from ingest.reading.datasets import Dataset
from ingest.running.evaluation import Evaluation
from ingest.running.limits import Outcome
from ingest.running.resampling import Resampling
from recommend.bo.tuning import Progress, SearchResult
from recommend.bo.tuning.fitting import Model
from recommend.bo.tuning.report import document, table
from recommend.bo.tuning.result import incumbents
from recommend.bo.tuning.trials import Trial
from tests.recommend.bo.tuning.searches import result_of, tree, trial

NAN = float("nan")


@pytest.fixture
def tuned(dataset: Dataset) -> SearchResult:
    """A crash, 0.75, a NaN, and 0.875, which is the best; then an average of two of them."""
    found = result_of(dataset, [trial(0, None), trial(1, 0.8, 0.7), trial(2, NAN), trial(3, 0.875)])
    weights = {tree(4): 0.75, tree(2): 0.25}
    model = Model(
        weights, dict.fromkeys(weights, "a pipeline"), dict.fromkeys(weights, len(dataset.features))
    )
    return replace(found, weights=weights, value=0.8125, model=model, folder=Path("h"))


def as_json(one: SearchResult) -> Any:
    return json.loads(json.dumps(document(one), allow_nan=False))


# ---- trials --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("measure", "expected"), [("predictive_accuracy", [1, 4, 6]), ("log_loss", [1, 3, 5])]
)
def test_incumbents_are_better_than_all_before_them(measure: str, expected: list[int]) -> None:
    """0.5, 0.4, 0.7, 0.2, 0.9 after a failure; a repeated value counts once."""

    def of(number: int, value: float | None) -> Trial:
        outcome = Outcome.crash if value is None else Outcome.success
        return Trial(number, tree(1), "model", [Evaluation(outcome, 1.0, {measure: value or NAN})])

    trials = [of(*pair) for pair in enumerate([None, 0.5, 0.5, 0.4, 0.7, 0.2, 0.9, 0.9])]
    trials.append(Trial(8, tree(1), "model"))
    assert [one.number for one in incumbents(trials, measure)] == expected


def test_trials_on_a_share_of_the_rows_are_neither_incumbents_nor_on_the_leaderboard(
    dataset: Dataset,
) -> None:
    trials = [trial(0, 0.9, share=1 / 9), trial(1, 0.5), trial(2, 0.8, share=1 / 3), trial(3, 0.6)]
    assert [one.number for one in incumbents(trials, "predictive_accuracy")] == [1, 3]
    assert [one.number for one in result_of(dataset, trials).leaderboard] == [3, 1]


def test_the_leaderboard_is_sorted_by_mean_value_and_ties_by_time(
    dataset: Dataset,
) -> None:
    trials = [trial(0, 0.7), trial(1, 0.9, 0.5), trial(2, 0.6, 0.9), trial(3, None)]
    found = result_of(dataset, trials)
    assert [one.number for one in found.leaderboard] == [2, 0, 1]
    assert found.failure is None


def test_if_all_fail_the_most_frequent_reason_is_reported(dataset: Dataset) -> None:
    trials = [trial(0, None), trial(1, None, message="no"), trial(2, None, message="no")]
    found = result_of(dataset, trials)
    assert found.best is None
    assert found.failure == "no (2 of 3)"


# ---- for programs --------------------------------------------------------------------------------


def test_the_document_follows_its_schema(tuned: SearchResult) -> None:
    schema = json.loads(Path(recommend.__file__).with_name("search.schema.json").read_text(encoding="utf-8"))
    nothing = replace(tuned, trials=[], weights={}, value=None, model=None, folder=None)
    interrupted = replace(
        tuned, interrupted=True, unfinished={4: "ended by us when interrupted"}, remarks=["No time."]
    )
    fewer_rows = replace(tuned, resampling=Resampling(1, train_rows=500))
    for one in (tuned, nothing, interrupted, fewer_rows):
        jsonschema.validate(as_json(one), schema, jsonschema.Draft202012Validator)


def test_the_document_has_every_trial_and_the_model(tuned: SearchResult) -> None:
    found = as_json(tuned)
    assert (found["best"], found["incumbents"]) == (3, [1, 3])
    assert found["dataset"]["rows"] == 160
    assert found["resampling"] == {"folds": 2, "train_rows": None}
    assert [one["value"] for one in found["trials"]] == [None, 0.75, None, 0.875]
    assert [one["evaluations"] for one in found["trials"]] == [1, 2, 1, 1]
    crashed = found["trials"][0]
    flow = get_flow("decision_tree")
    assert [crashed[name] for name in ("outcome", "message", "flow")] == ["crash", "no memory", flow.id]
    assert found["trials"][3]["hyperparameters"] == flow.default() | {"max_depth": 4}
    model = found["model"]
    assert (model["value"], model["fitted"]) == (0.8125, True)
    assert [(one["trial"], one["weight"]) for one in model["members"]] == [(3, 0.75), (1, 0.25)]


def test_a_member_without_a_trial_has_no_number(tuned: SearchResult) -> None:
    members = as_json(replace(tuned, weights={tree(9): 1.0}))["model"]["members"]
    assert [one["trial"] for one in members] == [None]


# ---- for people ----------------------------------------------------------------------------------


def test_the_table_has_the_best_trials_and_the_model_with_its_expected_value(tuned: SearchResult) -> None:
    lines = table(tuned).splitlines()
    assert lines[0] == "frame: 160 rows; 'class' is the target because of its name"
    assert lines[1] == "4 trials (3 success, 1 crash), 12 s"
    rows = [line.split()[:5] for line in lines if line.split()[:1] in (["3"], ["1"])]
    assert rows == [["3", "0.8750", "1", "75%", "model"], ["1", "0.7500", "2", "25%", "model"]]
    assert "accuracy: by 2-fold cross-validation, averaged over repetitions." in lines
    assert lines[-1] == (
        "The model: the average of 2 configurations (2 of Decision tree), fitted on all rows, "
        "expected accuracy 0.8125 on new rows."
    )


def test_the_table_shows_members_that_are_not_among_the_best(dataset: Dataset) -> None:
    found = result_of(dataset, [trial(number, 0.9 - number / 100) for number in range(9)])
    lines = table(replace(found, weights={tree(1): 0.5, tree(9): 0.5})).splitlines()
    numbers = [line.split()[0] for line in lines if "Decision tree: " in line and "model" in line.split()]
    assert numbers == ["0", "1", "2", "3", "4", "8"]


def test_the_table_reports_exceptions(tuned: SearchResult) -> None:
    odd = replace(
        tuned,
        resampling=Resampling(1, train_rows=500),
        remarks=["Trials were fitted on 500 rows."],
        interrupted=True,
        unfinished={4: "ended by us when interrupted"},
        trials=[*tuned.trials, trial(5, 0.9, share=1 / 9)],
    )
    text = table(odd)
    assert "5 trials (4 success, 1 crash), interrupted, 12 s" in text
    assert "shares of the rows: 1 on 11%, 4 on all" in text
    assert "trial 4 has no outcome: ended by us when interrupted" in text
    assert "by one split," in text
    assert text.endswith("\nTrials were fitted on 500 rows.")


def test_a_search_without_a_model_says_so(dataset: Dataset) -> None:
    lines = table(result_of(dataset, [])).splitlines()
    assert lines[1:] == ["0 trials (none ended), 12 s", "There is no model."]


def test_progress_is_a_line() -> None:
    early = Progress(0, 0, None, 50.0, None)
    late = Progress(7, 2, 20, None, "kappa 0.5000 (svm)")
    assert early.line() == "trial 0, 50 s left"
    assert late.line() == "trial 7 of 20, 2 failed, best kappa 0.5000 (svm)"
