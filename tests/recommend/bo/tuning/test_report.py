"""What a search found, as programs and people read it."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from recommend.bo.tuning.reevaluation import Reevaluation

import recommend
from ingest.flows import get_flow
from ingest.reading.datasets import Dataset
from ingest.running.evaluation import Evaluation
from ingest.running.limits import Outcome
from recommend.bo.tuning import Progress, SearchResult
from recommend.bo.tuning.report import document, standing, table
from recommend.bo.tuning.trials import Trial
from tests.recommend.bo.tuning.searches import QUICK
from warehouse.vocabulary.configuration import Configuration

TREE = get_flow("decision_tree")


def entry(number: int, trial: Evaluation | None) -> Trial:
    return Trial(number, Configuration(TREE.name, TREE.default() | {"max_depth": number + 1}), "model", trial)


def success(value: float) -> Evaluation:
    return Evaluation(Outcome.success, 0.5, {"predictive_accuracy": value})


@pytest.fixture
def tuned(dataset: Dataset) -> SearchResult:
    """A crash, 0.75, a value that is no number, and 0.875, which is the best."""
    trials = [
        Evaluation(Outcome.crash, 1.0, message="no memory"),
        success(0.75),
        success(float("nan")),
        success(0.875),
    ]
    entries = [entry(*pair) for pair in enumerate(trials)]
    return SearchResult(
        dataset=dataset,
        search=QUICK,
        trials=entries,
        incumbents=[entries[1], entries[3]],
        best=entries[3],
        finals=Reevaluation(),
        held_out={1: 0.625, 3: 0.5},
        ensemble_held_out=None,
        rows=(1200, 40),
        folder=Path("h"),
        interrupted=False,
    )


def after_finals(tuned: SearchResult) -> SearchResult:
    """The trial that seemed best is worse than the other on other folds; both make an ensemble."""
    finals = Reevaluation(again={1: 0.8, 3: 0.5}, weights={1: 0.25, 3: 0.75})
    return replace(tuned, best=tuned.trials[1], finals=finals, ensemble_held_out=0.6875)


def test_the_document_is_as_its_schema_says(tuned: SearchResult) -> None:
    schema = json.loads(Path(recommend.__file__).with_name("search.schema.json").read_text(encoding="utf-8"))
    running = replace(tuned, trials=[entry(0, None)], incumbents=[], best=None, held_out={})
    interrupted = replace(tuned, unfinished={4: "ended by us when interrupted"})
    for one in (tuned, after_finals(tuned), running, interrupted):
        jsonschema.validate(json.loads(json.dumps(document(one), allow_nan=False)), schema)


def test_the_document_is_json_with_every_trial(tuned: SearchResult) -> None:
    found = json.loads(json.dumps(document(tuned), allow_nan=False))
    assert (found["best"], found["incumbents"]) == (3, [1, 3])
    assert found["dataset"]["rows"] == {"tuned": 1200, "held_out": 40}
    trials = {trial["number"]: trial for trial in found["trials"]}
    assert [trial["value"] for trial in trials.values()] == [None, 0.75, None, 0.875]
    assert [trial["held_out"] for trial in trials.values()] == [None, 0.625, None, 0.5]
    assert [trials[0][name] for name in ("outcome", "message", "flow")] == ["crash", "no memory", TREE.id]
    assert trials[3]["hyperparameters"] == TREE.default() | {"max_depth": 4}


def test_the_document_has_what_came_of_the_leaders(tuned: SearchResult) -> None:
    assert document(tuned)["ensemble"] == {"weights": [], "held_out": None}
    found = json.loads(json.dumps(document(after_finals(tuned)), allow_nan=False))
    assert found["best"] == 1
    assert [trial["again"] for trial in found["trials"]] == [None, 0.8, None, 0.5]
    assert found["ensemble"]["weights"] == [{"trial": 1, "weight": 0.25}, {"trial": 3, "weight": 0.75}]
    assert found["ensemble"]["held_out"] == 0.6875


def test_the_table_has_the_leaders_the_best_and_the_ensemble(tuned: SearchResult) -> None:
    assert "The best is trial 3." in table(tuned)
    text = table(after_finals(tuned))
    rows = [line.split() for line in text.splitlines() if line.endswith("Decision tree")]
    assert [row[:4] for row in rows] == [
        ["1", "0.7500", "0.8000", "0.6250"],
        ["3", "0.8750", "0.5000", "0.5000"],
    ]
    assert "The best is trial 1, on average over both." in text
    assert "Ensemble: 75% trial 3, 25% trial 1; held out 0.6875." in text


def test_the_table_has_the_incumbents_and_counts_the_outcomes(tuned: SearchResult) -> None:
    lines = table(tuned).splitlines()
    assert "1,200 rows to tune on, 40 held out" in lines[0]
    assert lines[1] == "4 trials (3 success, 1 crash)"
    assert lines[3].split()[:4] == ["trial", "predictive_accuracy", "held", "out"]
    rows = [line.split()[:4] for line in lines if line.split()[:1] in (["1"], ["3"])]
    assert rows == [["1", "0.7500", "0.6250", "model"], ["3", "0.8750", "0.5000", "model"]]
    assert "max_depth=4" in "".join(lines)


def test_a_search_without_a_success_says_so(tuned: SearchResult) -> None:
    failed = replace(tuned, trials=tuned.trials[:1], incumbents=[], best=None, held_out={}, interrupted=True)
    assert table(failed).splitlines()[1:] == ["1 trial (1 crash), interrupted", "No trial succeeded."]
    assert "0 trials (none ended)" in table(replace(failed, trials=[]))


def test_shares_of_rows_are_shown_where_a_trial_had_not_all(tuned: SearchResult) -> None:
    assert "share" not in document(tuned)["trials"][0]
    assert "fitted on" not in table(tuned)
    shares = [1 / 9, 1 / 3, 1 / 9, 1.0]
    entries = [replace(one, share=share) for one, share in zip(tuned.trials, shares, strict=True)]
    shared = replace(tuned, trials=entries, incumbents=entries[3:], held_out={3: 0.5})
    assert [trial["share"] for trial in document(shared)["trials"]] == shares
    assert table(shared).splitlines()[2] == "shares of the rows: 2 on 11%, 1 on 33%, 1 on all"
    early = replace(shared, trials=entries[:2], incumbents=[], best=None, held_out={})
    assert table(early).splitlines()[2:] == [
        "shares of the rows: 1 on 11%, 1 on 33%, 0 on all",
        "No trial on all rows succeeded.",
    ]


@pytest.mark.parametrize(
    ("progress", "line"),
    [
        ({"done": 0}, "trial 0"),
        ({"done": 3, "of": 9, "failed": 1}, "trial 3 of 9, 1 failed"),
        (
            {"done": 3, "of": 9, "best": 0.98765, "best_flow": "svm", "seconds_left": 600.0},
            "trial 3 of 9, best kappa 0.9877 (svm), 10 min left",
        ),
        (
            {"done": 3, "best": 0.0, "best_flow": "svm", "seconds_left": 0.0},
            "trial 3, best kappa 0.0000 (svm), 0 s left",
        ),
    ],
)
def test_one_line_says_where_a_search_stands(progress: dict[str, Any], line: str) -> None:
    """As much of it as is known."""
    nothing: dict[str, Any] = dict.fromkeys(["of", "seconds_left", "best", "best_flow"])
    assert standing(Progress(**nothing | {"failed": 0} | progress), "kappa") == line


def test_trials_without_an_outcome_are_named_with_the_reason(tuned: SearchResult) -> None:
    interrupted = replace(tuned, unfinished={4: "ended by us when interrupted"})
    assert "trial 4 has no outcome: ended by us when interrupted" in table(interrupted).splitlines()
    assert document(interrupted)["unfinished"] == [{"trial": 4, "why": "ended by us when interrupted"}]
    assert document(tuned)["unfinished"] == []
