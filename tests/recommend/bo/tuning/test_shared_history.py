"""Several workers on one history: no trial twice, none lost, whoever ends in the middle of one."""

import json
import os
import signal
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import ExitStack
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.reading.datasets import Dataset
from ingest.running.limits import Outcome, Trial
from recommend.bo.candidates import SpaceCandidates
from recommend.bo.optimizer import Optimizer
from recommend.bo.scoring import Scorer
from recommend.bo.tuning import Budget, Search
from recommend.bo.tuning.deadline import Deadline
from recommend.bo.tuning.history import Entry, TrialHistory
from recommend.bo.tuning.loop import Loop
from recommend.bo.tuning.proposals import Proposals
from recommend.bo.tuning.workers import LOST
from recommend.space import Space
from tests.recommend.bo.toys import PLANE, Recorder
from tests.recommend.bo.tuning.searches import noisy
from warehouse.configurations.configuration import Configuration

Submitted = Callable[[Configuration], Trial]
SEARCH = Search(flows=("plane",), trial_seconds=10.0)


def accuracy(value: float) -> Trial:
    return Trial(Outcome.success, ({"predictive_accuracy": value}, None), None, 1.0)


def success(value: float) -> Trial:
    return Trial(Outcome.success, {"predictive_accuracy": value}, None, 1.0)


def by_u(configuration: Configuration) -> Trial:
    return accuracy(float(configuration.values["u"]))  # type: ignore[arg-type]


def entry(number: int) -> Entry:
    return Entry(number, Configuration("plane", {"u": number / 100, "v": 0.5}), "random")


def loop(history: TrialHistory, dataset: Dataset, trials: int, outcome: Submitted) -> Loop:
    """A loop whose trials end at once."""
    candidates = SpaceCandidates(Space([PLANE]))
    optimizer = Optimizer(candidates, Scorer(Recorder()), random_every=1)

    def submit(*given: Any) -> Future[Trial]:
        future: Future[Trial] = Future()
        future.set_result(outcome(given[0]))
        return future

    proposals = Proposals(optimizer, candidates, history, SEARCH.measure)
    budget = Budget(trials=trials)
    return Loop(proposals, history, dataset, SEARCH, budget, submit, lambda _: None, Deadline(None))


def records(folder: Path, kind: str) -> list[dict[str, Any]]:
    lines = (folder / "history.jsonl").read_text().split("\n")
    return [record for line in lines if line and kind in (record := json.loads(line))]


def best(history: TrialHistory) -> Configuration:
    return max(
        history.entries, key=lambda one: one.trial and one.trial.result["predictive_accuracy"]
    ).configuration


def work(folder: Path, dataset: Dataset, trials: int, outcome: Submitted, results: Any) -> None:
    with TrialHistory(folder, {}) as history:
        loop(history, dataset, trials, outcome).run(1)
        results.put(best(history))


def kill_at_third(folder: Path) -> Submitted:
    def outcome(configuration: Configuration) -> Trial:
        if len(records(folder, "begun")) == 3:
            os.kill(os.getpid(), signal.SIGKILL)
        return by_u(configuration)

    return outcome


@pytest.fixture(scope="module")
def data() -> Dataset:
    return noisy(20)


def test_three_processes_share_the_trials_and_find_the_same(data: Dataset, tmp_path: Path) -> None:
    context = get_context("fork")
    results = context.Queue()
    workers = [context.Process(target=work, args=(tmp_path, data, 24, by_u, results)) for _ in range(3)]
    for worker in workers:
        worker.start()
    found = {results.get(timeout=60) for _ in workers}
    for worker in workers:
        worker.join()
    assert [record["begun"] for record in records(tmp_path, "begun")] == [*range(24)]
    assert Counter(record["ended"] for record in records(tmp_path, "ended")) == Counter(range(24))
    assert len(found) == 1
    assert records(tmp_path, "taken") == []
    with TrialHistory(tmp_path / "alone", {}) as alone:
        loop(alone, data, 24, by_u).run(1)
    configurations = [(one["hyperparameters"]) for one in records(tmp_path, "begun")]
    assert configurations == [dict(one.configuration.values) for one in alone.entries]


def test_the_trial_of_a_process_that_was_killed_is_run_by_another(data: Dataset, tmp_path: Path) -> None:
    context = get_context("fork")
    arguments = (tmp_path, data, 9, kill_at_third(tmp_path), context.Queue())
    killed = context.Process(target=work, args=arguments)
    killed.start()
    killed.join()
    assert killed.exitcode == -signal.SIGKILL
    with TrialHistory(tmp_path, {}) as history:
        assert not loop(history, data, 9, by_u).run(1)
        assert all(one.trial is not None for one in history.entries)
    assert [record["taken"] for record in records(tmp_path, "taken")] == [2]
    assert sorted(record["ended"] for record in records(tmp_path, "ended")) == [*range(9)]


def test_a_worker_of_another_machine_keeps_its_trial_until_it_is_lost(tmp_path: Path) -> None:
    with TrialHistory(tmp_path, {}) as history:
        history.begin(entry(0))
    journal = tmp_path / "history.jsonl"
    name = records(tmp_path, "begun")[0]["by"]
    journal.write_text(journal.read_text().replace(name, "elsewhere-7-0abc"))
    heart = tmp_path / "workers" / "elsewhere-7-0abc"
    heart.touch()
    with TrialHistory(tmp_path, {}) as history:
        assert history.take() is None
        assert history.is_elsewhere(history.entries[0])
        assert history.unfinished() == {0: "process 7 on elsewhere runs it"}
        then = heart.stat().st_mtime - LOST - 1
        os.utime(heart, (then, then))
        assert history.unfinished() == {0: "its worker was lost"}
        taken = history.take()
        assert taken is not None
        assert taken.number == 0
        assert history.take() is None


def test_what_a_worker_ended_itself_is_no_outcome_and_is_run_again(tmp_path: Path) -> None:
    with TrialHistory(tmp_path, {}) as ended, TrialHistory(tmp_path, {}) as other:
        for number in range(3):
            ended.begin(entry(number))
        ended.end(2, success(0.5))
        ended.stop(0, "interrupted")
        ended.stop(1, "time")
        ended.stop(2, "interrupted")
        assert ended.unfinished() == {
            0: "ended by us when interrupted",
            1: "ended by us when the time was up",
        }
        assert [one.trial for one in ended.entries] == [None, None, success(0.5)]
        again = [other.take(), other.take(), other.take()]
        assert [one and one.number for one in again] == [0, 1, None]
        other.end(0, success(0.9))
        assert other.shares() == {other._worker.name: 1, ended._worker.name: 1}


@pytest.fixture
def interruptible() -> Iterator[None]:
    """Ctrl-C as usual; a shell's background ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interruptible")
def test_an_interrupt_ends_the_trials_that_run(data: Dataset, tmp_path: Path) -> None:
    def interrupted(configuration: Configuration) -> Trial:
        if len(records(tmp_path, "begun")) == 4:
            os.kill(os.getpid(), signal.SIGINT)
            return Trial(Outcome.memout, None, "killed with its owner", 1.0)
        return by_u(configuration)

    with TrialHistory(tmp_path, {}) as history:
        assert loop(history, data, 9, interrupted).run(1)
        assert [one.trial is None for one in history.entries] == [False, False, False, True]
        assert history.entries[3].stopped == "interrupted"
    with TrialHistory(tmp_path, {}) as history:
        assert not loop(history, data, 9, by_u).run(1)
        assert [one.number for one in history.entries if one.trial is not None] == [*range(9)]
        assert history.shares() == {}


def test_who_was_taken_for_lost_and_ends_all_the_same_is_no_second_outcome(tmp_path: Path) -> None:
    with TrialHistory(tmp_path, {}) as halted, TrialHistory(tmp_path, {}) as other:
        halted.begin(entry(0))
        heart = tmp_path / "workers" / halted._worker.name
        then = heart.stat().st_mtime - LOST - 1
        os.utime(heart, (then, then))
        assert other.take() is not None
        halted.stop(0, "time")
        assert other.unfinished() != {}
        other.end(0, success(0.9))
        halted.end(0, success(0.1))
        assert halted.entries[0].trial == other.entries[0].trial == success(0.9)
    assert len(records(tmp_path, "ended")) == 1


def test_the_last_trial_of_another_worker_is_waited_for(
    data: Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with TrialHistory(tmp_path, {}) as other, TrialHistory(tmp_path, {}) as history:
        other.begin(entry(0))
        monkeypatch.setattr("recommend.bo.tuning.loop.LOOKS", 0.0)
        monkeypatch.setattr("time.sleep", lambda _: other.end(0, success(0.9)))
        assert not loop(history, data, 3, by_u).run(1)
        assert [one.trial is not None for one in history.entries] == [True] * 3


def test_a_history_without_workers_goes_on_at_once(tmp_path: Path) -> None:
    """As histories of before name none."""
    with TrialHistory(tmp_path, {}) as history:
        for number in range(2):
            history.begin(entry(number))
        history.end(0, success(0.9))
    lines = [json.loads(line) for line in (tmp_path / "history.jsonl").read_text().split("\n") if line]
    for line in lines:
        line.pop("by", None)
    (tmp_path / "history.jsonl").write_text("".join(f"\n{json.dumps(line)}" for line in lines))
    with TrialHistory(tmp_path, {}) as history:
        assert history.entries[0].trial == success(0.9)
        taken = history.take()
        assert taken is not None
        assert taken.number == 1


@pytest.mark.parametrize("name", ["../../etc/passwd", "", 7, ["a"], {"a": 1}])
def test_a_record_whose_worker_has_no_name_says_nothing(tmp_path: Path, name: object) -> None:
    with TrialHistory(tmp_path, {}) as history:
        history.begin(entry(0))
    begun = records(tmp_path, "begun")[0] | {"begun": 1, "by": name}
    with (tmp_path / "history.jsonl").open("a") as file:
        file.write(f"\n{json.dumps(begun)}")
    with TrialHistory(tmp_path, {}) as history:
        assert len(history.entries) == 1


steps = st.lists(
    st.tuples(st.integers(0, 2), st.sampled_from(["next", "end", "stop", "die", "join"])), max_size=25
)


@given(steps=steps)
@settings(max_examples=40, deadline=None)
def test_whatever_workers_do_in_whatever_order_each_trial_is_run_by_one(steps: list[tuple[int, str]]) -> None:
    """And ends once; numbers have no gaps; all that a worker left is found by the next."""
    with TemporaryDirectory() as name, ExitStack() as stack:
        folder = Path(name)
        present: dict[int, tuple[TrialHistory, ExitStack]] = {}
        runs: dict[int, int] = {}  # number of a trial -> who runs it
        ended: set[int] = set()

        def join(who: int) -> None:
            own = stack.enter_context(ExitStack())
            present[who] = own.enter_context(TrialHistory(folder, {})), own

        for who, step in steps:
            if who not in present:
                join(who)
            history, own = present[who]
            mine = [number for number, runner in runs.items() if runner == who]
            if step == "next":
                with history.turn():
                    found = history.take()
                    if found is None:
                        history.begin(entry(len(history.entries)))
                        found = history.entries[-1]
                assert found.number not in runs.keys() | ended
                runs[found.number] = who
            elif step == "die":
                own.close()
                del present[who]
                runs = {number: runner for number, runner in runs.items() if runner != who}
            elif mine and step == "end":
                history.end(mine[0], success(mine[0] / 100))
                ended.add(mine[0])
                del runs[mine[0]]
            elif mine and step == "stop":
                history.stop(mine[0], "interrupted")
                del runs[mine[0]]
        join(3)
        last = present[3][0]
        assert [one.number for one in last.entries] == [*range(len(last.entries))]
        assert {one.number for one in last.entries if one.trial is not None} == ended
        assert {one.number for one in last.entries if last.is_elsewhere(one)} == set(runs)
