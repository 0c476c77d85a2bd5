"""The trials of a search on disk, also after a kill."""

import re
import shutil
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ingest.running.evaluation import Evaluation
from ingest.running.limits import Outcome
from recommend.bo.tuning.history import TrialHistory
from recommend.bo.tuning.trials import Trial
from tests.flips import flipped_bit
from warehouse.support.errors import BadInput
from warehouse.vocabulary.configuration import Configuration

SEARCH = {"flows": ["svm"], "seed": 0}


def entry(number: int) -> Trial:
    values = {"C": 2.0**number, "shrinking": True, "imputation": "mean"}
    return Trial(number, Configuration("svm", values), "model")


def success(value: float, predictions: np.ndarray | None = None) -> Evaluation:
    return Evaluation(Outcome.success, 0.5, {"predictive_accuracy": value}, predictions)


def write(folder: Path) -> None:
    with TrialHistory(folder, SEARCH) as history:
        for number in range(3):
            history.begin(entry(number))
        history.end(1, success(0.9))
        history.end(0, Evaluation(Outcome.timeout, 1.0, message="stopped after 1 s"))


def test_written_trials_are_read_back(tmp_path: Path) -> None:
    write(tmp_path)
    with TrialHistory(tmp_path, SEARCH) as history:
        assert [one.configuration for one in history.trials] == [entry(n).configuration for n in range(3)]
        assert [one.evaluation and one.evaluation.outcome for one in history.trials] == [
            "timeout",
            "success",
            None,
        ]
        assert history.trials[1].evaluation == success(0.9)


def test_a_file_cut_off_at_any_byte_is_a_prefix_of_the_history(tmp_path: Path) -> None:
    write(tmp_path / "whole")
    content = (tmp_path / "whole" / "history.jsonl").read_bytes()
    known = 0
    for length in range(len(content) + 1):
        folder = tmp_path / f"cut-{length}"
        folder.mkdir()
        (folder / "history.jsonl").write_bytes(content[:length])
        with TrialHistory(folder, SEARCH) as history:
            facts = len(history.trials) + sum(one.evaluation is not None for one in history.trials)
            assert facts >= known, "a longer file knows no less"
            known = facts
            following = len(history.trials)
            history.begin(entry(following))
        with TrialHistory(folder, SEARCH) as history:
            assert len(history.trials) == following + 1, "what is added to a cut file is not lost"
    assert known == 5


def test_predictions_are_kept_beside_the_trials(tmp_path: Path) -> None:
    predicted = np.array([[0.25, 0.75], [1, 0]], dtype=np.float32)
    with TrialHistory(tmp_path, SEARCH) as history:
        history.begin(entry(0))
        history.end(0, success(0.8, predicted))
        assert history.trials[0].predictions == pytest.approx(predicted)
    with TrialHistory(tmp_path, SEARCH) as history:
        assert history.trials[0].predictions == pytest.approx(predicted)
        assert history.trials[0].value("predictive_accuracy") == 0.8


def test_repetitions_count_by_their_means_and_failed_ones_not_at_all(tmp_path: Path) -> None:
    half = np.array([[0.5, 0.5]])
    with TrialHistory(tmp_path, SEARCH) as history:
        history.begin(entry(0))
        history.end(0, success(0.8, np.array([[1.0, 0.0]])))
        history.end(0, success(0.6, half))
        history.end(0, Evaluation(Outcome.timeout, 1.0, message="stopped after 1 s"))
    with TrialHistory(tmp_path, SEARCH) as history:
        trial = history.trials[0]
        assert len(trial.evaluations) == 2
        assert trial.value("predictive_accuracy") == pytest.approx(0.7)
        assert trial.predictions == pytest.approx(np.array([[0.75, 0.25]]))
        assert trial.seconds == 1.0


def test_the_resampling_is_kept(tmp_path: Path) -> None:
    with TrialHistory(tmp_path, SEARCH) as history:
        assert history.resampling is None
        history.settle({"folds": 1, "train_rows": 500})
    with TrialHistory(tmp_path, SEARCH) as history:
        assert history.resampling == {"folds": 1, "train_rows": 500}


def test_a_history_may_be_kept_in_memory_alone() -> None:
    with TrialHistory(None, SEARCH) as history:
        history.settle({"folds": 5, "train_rows": None})
        history.begin(entry(0))
        history.end(0, success(0.8, np.ones((1, 2))))
        assert history.trials[0].predictions is not None
        assert history.resampling == {"folds": 5, "train_rows": None}


def predictions_in(folder: Path) -> Path:
    """The file with the predictions of the only trial of a new history."""
    with TrialHistory(folder, SEARCH) as history:
        history.begin(entry(0))
        history.end(0, success(0.8, np.ones((9, 2))))
    return folder / "probabilities" / "0.npy"


@pytest.mark.parametrize("kept", [0, 1, 60, 100, -1])
def test_truncated_predictions_count_as_missing(tmp_path: Path, kept: int) -> None:
    file = predictions_in(tmp_path)
    file.write_bytes(file.read_bytes()[:kept])
    with TrialHistory(tmp_path, SEARCH) as history:
        assert history.trials[0].predictions is None
        assert history.trials[0].evaluation == success(0.8)


def test_unfinished_files_of_a_killed_process_are_removed(tmp_path: Path) -> None:
    folder = predictions_in(tmp_path).parent
    (folder / ".0123456789abcdef").write_bytes(b"half")
    with TrialHistory(tmp_path, SEARCH) as history:
        assert history.trials[0].predictions is not None
    assert [file.name for file in folder.iterdir()] == ["0.npy"]


def test_predictions_with_an_endless_size_are_not_read(tmp_path: Path) -> None:
    file = predictions_in(tmp_path)
    file.write_bytes(file.read_bytes().replace(b"(9, 2)", b"(9999999999, 2)"))
    with TrialHistory(tmp_path, SEARCH) as history:
        assert history.trials[0].predictions is None


def test_the_share_of_rows_is_kept_and_is_all_by_default(tmp_path: Path) -> None:
    with TrialHistory(tmp_path, SEARCH) as history:
        for number, share in enumerate((1 / 9, 1.0)):
            history.begin(replace(entry(number), share=share))
    assert ["share" in line for line in (tmp_path / "history.jsonl").read_text().splitlines()[2:]] == [
        True,
        False,
    ]
    with TrialHistory(tmp_path, SEARCH) as history:
        assert [one.share for one in history.trials] == [1 / 9, 1.0]


def test_the_history_of_another_search_is_refused(tmp_path: Path) -> None:
    write(tmp_path)
    with (
        pytest.raises(BadInput, match=r"another search \(other seed\)"),
        TrialHistory(tmp_path, SEARCH | {"seed": 1}),
    ):
        pass


@pytest.mark.parametrize("first", ['{"run": 1}', '{"format": "headstart-history/1", "search": {}}'])
def test_foreign_histories_are_refused_in_one_line(tmp_path: Path, first: str) -> None:
    (tmp_path / "history.jsonl").write_text(first + "\n")
    with pytest.raises(BadInput, match="not a history of this version; choose another folder") as refused:
        TrialHistory(tmp_path, SEARCH).__enter__()
    assert "\n" not in str(refused.value)


DAMAGED = """
{"format": "headstart-history/2", "search": {"flows": ["svm"], "seed": 0}}
{"resampling": {"folds": "many"}}
{"resampling": {"folds": 3, "train_rows": null}}
{"begun": 0, "flow": "svm", "hyperparameters": {"C": 1.0}, "origin": "start"}
{"begun": 1, "flow": "svm", "hyperparameters": {"C": 2.0}, "origin": "model", "share": 7}
{"begun": 1, "flow": "svm", "hyperparameters": {"C": 2.0}, "origin": "model", "by": "somebody"}
{"begun": 3, "flow": "svm", "hyperparameters": {"C": 8.0}, "origin": "model"}
{"ended": 9, "repetition": 0, "outcome": "success", "result": {}, "message": null, "seconds": 1.0}
{"ended": 1, "repetition": 0, "outcome": "bliss", "result": {}, "message": null, "seconds": 1.0}
{"ended": 1, "repetition": 0, "outcome": "success", "result": {"kappa": 0.75}, "message": null, "seconds": 1}
{"ended": 1, "repetition": 0, "outcome": "success", "result": {"kappa": 0.5}, "message": null, "seconds": 1}
{"stopped": 0, "why": "boredom"}
{"judged": 1}
"""


def test_damaged_unknown_and_repeated_records_are_ignored(tmp_path: Path) -> None:
    (tmp_path / "history.jsonl").write_text(DAMAGED.lstrip())
    with TrialHistory(tmp_path, SEARCH) as history:
        assert history.resampling == {"folds": 3, "train_rows": None}
        assert [trial.value("kappa") for trial in history.trials] == [None, 0.75, None]
        assert [*history.unfinished()] == [0, 3]


def test_a_trial_cut_off_by_the_end_has_no_outcome_and_is_left_to_the_next_search(tmp_path: Path) -> None:
    with TrialHistory(tmp_path, SEARCH) as history:
        for number in range(4):
            history.begin(entry(number))
        history.end(3, success(0.5))
        history.stop(0, "interrupted")
        history.stop(1, "time")
        assert history.take() is None, "its own trials are under way"
        assert list(history.unfinished().values())[:2] == [
            "ended by us when interrupted",
            "ended by us when the time was up",
        ]
    with TrialHistory(tmp_path, SEARCH) as history:
        assert list(history.unfinished()) == [0, 1, 2]
        assert history.unfinished()[2] == "its search was killed"
        left = [history.take() for _ in range(4)]
        assert [one and one.number for one in left] == [0, 1, 2, None]


def test_a_history_belongs_to_one_search_at_a_time(tmp_path: Path) -> None:
    refused = pytest.raises(BadInput, match=f"^another search is using the history in {tmp_path}: wait until")
    with TrialHistory(tmp_path, SEARCH), refused, TrialHistory(tmp_path, SEARCH):
        pass
    with TrialHistory(tmp_path, SEARCH) as history:
        assert history.trials == []


def told(trial: Trial) -> dict[str, Any]:
    """A trial as a search sees it."""
    predictions = None if trial.predictions is None else trial.predictions.tolist()
    return {"trial": trial.configuration, "value": trial.value("kappa"), "predictions": predictions}


@pytest.fixture(scope="module")
def searched(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A history of four successful trials."""
    folder = tmp_path_factory.mktemp("searched")
    with TrialHistory(folder, SEARCH) as history:
        history.settle({"folds": 3, "train_rows": None})
        for number in range(4):
            history.begin(entry(number))
            predicted = np.full((9, 2), number / 8)
            history.end(number, Evaluation(Outcome.success, 0.5, {"kappa": number / 4}, predicted))
    return folder


@given(data=st.data())
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_flipped_bit_loses_its_record_and_is_reported(
    searched: Path, caplog: pytest.LogCaptureFixture, data: st.DataObject
) -> None:
    """Nothing false is read: no invented trial, no other value, no other predictions."""
    with TrialHistory(searched, SEARCH) as history:
        whole = [told(trial) for trial in history.trials]
    caplog.clear()
    files = [searched / "history.jsonl", *sorted((searched / "probabilities").iterdir())]
    with flipped_bit(data, files) as damaged, ExitStack() as stack:
        history = TrialHistory(searched, SEARCH)
        try:
            stack.enter_context(history)
        except BadInput as error:  # its settings are lost
            assert "damaged" in str(error)
        assert str(damaged) in caplog.text
        for trial in history.trials:
            of_trial = told(trial)
            assert {
                **whole[trial.number],
                **{name: None for name, one in of_trial.items() if one is None},
            } == of_trial
        assert len(history.trials) >= 3 or not history.trials


def test_a_trial_whose_start_is_lost_leaves_a_gap_in_the_numbers(searched: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(searched, tmp_path / "gap")
    file = folder / "history.jsonl"
    lines = file.read_text().split("\n")
    at = next(place for place, line in enumerate(lines) if line.startswith('{"begun": 1'))
    file.write_text("\n".join(["", *lines[1:at], lines[at].replace("svm", "svn"), *lines[at + 1 :]]))
    for began in range(2):
        with TrialHistory(folder, SEARCH) as history:
            assert [trial.number for trial in history.trials] == [0, 2, 3, 4][: 3 + began]
            assert [trial.value("kappa") for trial in history.trials][:3] == [0, 0.5, 0.75]
            assert history.next_number == 4 + began
            if not began:
                history.begin(entry(history.next_number))


def test_trials_whose_folds_are_lost_are_not_continued(searched: Path, tmp_path: Path) -> None:
    file = shutil.copytree(searched, tmp_path / "folds") / "history.jsonl"
    file.write_text(file.read_text().replace('"folds": 3', '"folds": 2'))
    with TrialHistory(file.parent, SEARCH) as history:
        assert history.resampling is None
        with pytest.raises(BadInput, match="the folds of its trials are lost"):
            history.settle({"folds": 5, "train_rows": None})


def test_a_history_of_an_older_headstart_has_no_checksums_and_is_read(searched: Path, tmp_path: Path) -> None:
    file = shutil.copytree(searched, tmp_path / "older") / "history.jsonl"
    file.write_text(re.sub(r'(, "predictions": "\w+")?, "crc32": "\w+"', "", file.read_text()))
    with TrialHistory(searched, SEARCH) as history, TrialHistory(file.parent, SEARCH) as older:
        assert [told(trial) for trial in older.trials] == [told(trial) for trial in history.trials]


steps = st.lists(st.sampled_from(["next", "end", "stop", "again"]), max_size=25)


@given(steps=steps)
@settings(max_examples=40, deadline=None)
def test_in_whatever_order_searches_end_no_trial_is_lost_or_run_twice(steps: list[str]) -> None:
    """Numbers have no gaps, and the next search finds all remaining trials."""
    with TemporaryDirectory() as name, ExitStack() as stack:
        history = stack.enter_context(TrialHistory(Path(name), SEARCH))
        runs: list[int] = []
        ended: list[int] = []
        for step in [*steps, "again"]:
            if step == "again":
                stack.close()
                history = stack.enter_context(TrialHistory(Path(name), SEARCH))
                runs = []
            elif step == "next":
                found = history.take()
                if found is None:
                    history.begin(entry(len(history.trials)))
                    found = history.trials[-1]
                assert found.number not in [*runs, *ended]
                runs.append(found.number)
            elif runs and step == "end":
                history.end(runs[0], success(runs[0] / 100))
                ended.append(runs.pop(0))
            elif runs:
                history.stop(runs.pop(0), "interrupted")
        assert [one.number for one in history.trials] == [*range(len(history.trials))]
        assert sorted(ended) == [one.number for one in history.trials if one.evaluation is not None]
