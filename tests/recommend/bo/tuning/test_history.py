"""The trials of a search on disk: what a kill leaves of them."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from filelock import FileLock

from ingest.running.limits import Outcome, Trial
from recommend.bo.tuning.history import Entry, TrialHistory
from warehouse.configurations.configuration import Configuration
from warehouse.support.errors import BadInput

SEARCH = {"flows": ["svm"], "seed": 0}


def entry(number: int) -> Entry:
    values = {"C": 2.0**number, "shrinking": True, "imputation": "mean"}
    return Entry(number, Configuration("svm", values), "model")


def success(value: float) -> Trial:
    return Trial(Outcome.success, {"predictive_accuracy": value}, None, 0.5)


def write(folder: Path) -> None:
    with TrialHistory(folder, SEARCH) as history:
        for number in range(3):
            history.begin(entry(number))
        history.end(1, success(0.9))
        history.end(0, Trial(Outcome.timeout, None, "stopped after 1 s", 1.0))


def test_what_was_written_is_read_again(tmp_path: Path) -> None:
    write(tmp_path)
    with TrialHistory(tmp_path, SEARCH) as history:
        assert [one.configuration for one in history.entries] == [entry(n).configuration for n in range(3)]
        assert [one.trial and one.trial.outcome for one in history.entries] == ["timeout", "success", None]
        assert history.entries[1].trial == success(0.9)


def test_a_file_cut_off_at_any_byte_is_a_prefix_of_the_history(tmp_path: Path) -> None:
    write(tmp_path / "whole")
    content = (tmp_path / "whole" / "history.jsonl").read_bytes()
    known = 0
    for length in range(len(content) + 1):
        folder = tmp_path / f"cut-{length}"
        folder.mkdir()
        (folder / "history.jsonl").write_bytes(content[:length])
        with TrialHistory(folder, SEARCH) as history:
            facts = len(history.entries) + sum(one.trial is not None for one in history.entries)
            assert facts >= known, "a longer file knows no less"
            known = facts
            following = len(history.entries)
            history.begin(entry(following))
        with TrialHistory(folder, SEARCH) as history:
            assert len(history.entries) == following + 1, "what is added to a cut file is not lost"
    assert known == 5


def test_predictions_are_kept_beside_the_trials(tmp_path: Path) -> None:
    predicted = np.array([[0.25, 0.75], [1, 0]], dtype=np.float32)
    with TrialHistory(tmp_path, SEARCH) as history:
        history.begin(entry(0))
        history.end(0, success(0.8), predicted)
        assert history.probabilities(0) == pytest.approx(predicted)
    with TrialHistory(tmp_path, SEARCH) as history:
        assert history.probabilities(0) == pytest.approx(predicted)
        assert history.probabilities(1) is None
        assert history.entries[0].trial == success(0.8)


@pytest.mark.parametrize("kept", [0, 1, 60, 100, -1])
def test_predictions_that_are_cut_off_count_as_not_kept(tmp_path: Path, kept: int) -> None:
    with TrialHistory(tmp_path, SEARCH) as history:
        history.begin(entry(0))
        history.end(0, success(0.8), np.ones((9, 2), dtype=np.float32))
        file = tmp_path / "probabilities" / "0.npy"
        file.write_bytes(file.read_bytes()[:kept])
        assert history.probabilities(0) is None


def test_predictions_that_say_they_are_endless_are_not_read(tmp_path: Path) -> None:
    with TrialHistory(tmp_path, SEARCH) as history:
        history.begin(entry(0))
        history.end(0, success(0.8), np.ones((9, 2), dtype=np.float32))
        file = tmp_path / "probabilities" / "0.npy"
        file.write_bytes(file.read_bytes().replace(b"(9, 2)", b"(9999999999, 2)"))
        assert history.probabilities(0) is None


def test_the_share_of_rows_is_kept_and_is_all_where_none_is_stated(tmp_path: Path) -> None:
    with TrialHistory(tmp_path, SEARCH) as history:
        for number, share in enumerate((1 / 9, 1.0)):
            history.begin(replace(entry(number), share=share))
    assert ["share" in line for line in (tmp_path / "history.jsonl").read_text().splitlines()[2:]] == [
        True,
        False,
    ]
    with TrialHistory(tmp_path, SEARCH) as history:
        assert [one.share for one in history.entries] == [1 / 9, 1.0]


@pytest.mark.parametrize("share", ["0", "1.5", "-1", "NaN", '"x"', "null", "[]"])
def test_a_share_that_is_none_says_nothing(tmp_path: Path, share: str) -> None:
    with TrialHistory(tmp_path, SEARCH) as history:
        history.begin(replace(entry(0), share=0.25))
    journal = tmp_path / "history.jsonl"
    journal.write_text(journal.read_text().replace("0.25", share))
    with TrialHistory(tmp_path, SEARCH) as history:
        assert history.entries == []


def test_a_trial_that_was_run_twice_counts_once(tmp_path: Path) -> None:
    with TrialHistory(tmp_path, SEARCH) as history:
        history.begin(entry(0))
        history.end(0, success(0.8))
        history.end(0, success(0.7))
    with TrialHistory(tmp_path, SEARCH) as history:
        assert history.entries[0].trial == success(0.8)


def test_the_history_of_another_search_is_refused(tmp_path: Path) -> None:
    write(tmp_path)
    with (
        pytest.raises(BadInput, match=r"another search \(other seed\)"),
        TrialHistory(tmp_path, SEARCH | {"seed": 1}),
    ):
        pass


def test_a_file_that_is_no_history_is_refused(tmp_path: Path) -> None:
    (tmp_path / "history.jsonl").write_text('{"run": 1}\n')
    with pytest.raises(BadInput, match="no history"), TrialHistory(tmp_path, SEARCH):
        pass


def test_who_keeps_the_lock_is_waited_for_and_then_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a search of an earlier version does as long as it lasts."""
    monkeypatch.setattr("recommend.bo.tuning.history.LONGEST_TURN", 0.01)
    with (
        FileLock(tmp_path / ".lock", thread_local=False, is_singleton=False),
        ThreadPoolExecutor(1) as other,
        pytest.raises(BadInput, match="in use"),
    ):
        other.submit(TrialHistory(tmp_path, SEARCH).__enter__).result()
