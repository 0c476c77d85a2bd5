"""Workers of a search: which of them are at work, whatever clocks say."""

import errno
import os
import signal
import socket
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path

import pytest

from recommend.bo.tuning.workers import LOST, Worker, described, place_of


def seen_from_elsewhere(folder: Path, worker: Worker, seconds_ago: float) -> str:
    """The name of a worker of another machine that gave a sign of life so long ago, by the folder's clock."""
    name = "elsewhere-7-0abc"
    now = (folder / worker.name).stat().st_mtime
    (folder / name).touch()
    os.utime(folder / name, (now - seconds_ago, now - seconds_ago))
    return name


def test_a_worker_is_alive_until_it_leaves(tmp_path: Path) -> None:
    with Worker(tmp_path) as one:
        with Worker(tmp_path) as other:
            assert one.is_alive(other.name)
            assert other.is_alive(one.name)
            assert one.name != other.name
        assert not one.is_alive(other.name)
        assert [path.name for path in tmp_path.iterdir()] == [one.name]


def work_until_killed(folder: Path, ready: Connection) -> None:
    with Worker(folder) as worker:
        ready.send(worker.name)
        signal.pause()


def test_a_process_that_was_killed_on_this_machine_is_known_at_once(tmp_path: Path) -> None:
    context = get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=work_until_killed, args=(tmp_path, sender))
    process.start()
    name = receiver.recv()
    with Worker(tmp_path) as worker:
        assert worker.is_alive(name)
        process.kill()
        process.join()
        assert not worker.is_alive(name)


def test_files_of_killed_workers_are_removed_by_the_next_one_of_their_machine(tmp_path: Path) -> None:
    with Worker(tmp_path) as worker:
        begun = (tmp_path / worker.name).stat().st_mtime
        elsewhere = seen_from_elsewhere(tmp_path, worker, LOST + 1)
        old, young = (worker.name[:-8] + random_part for random_part in ("00000000", "11111111"))
        for name, age in ((old, LOST + 1), (young, 1), (worker.name, LOST + 1)):
            (tmp_path / name).touch()
            os.utime(tmp_path / name, (begun - age, begun - age))
        with Worker(tmp_path) as another:
            assert {path.name for path in tmp_path.iterdir()} == {
                worker.name,  # silent for long, and at work
                another.name,
                young,
                elsewhere,
            }


@pytest.mark.parametrize(
    ("seconds_ago", "alive"), [(-3600, True), (0, True), (LOST - 10, True), (LOST + 1, False)]
)
def test_a_worker_of_another_machine_is_lost_without_a_sign_of_life(
    tmp_path: Path, seconds_ago: float, alive: bool
) -> None:
    with Worker(tmp_path) as worker:
        assert worker.is_alive(seen_from_elsewhere(tmp_path, worker, seconds_ago)) == alive


def test_a_process_that_was_halted_for_long_counts_as_lost(tmp_path: Path) -> None:
    """It has its lock still, but gives no sign of life."""
    with Worker(tmp_path) as worker, Worker(tmp_path) as halted:
        then = (tmp_path / worker.name).stat().st_mtime - LOST - 1
        os.utime(tmp_path / halted.name, (then, then))
        assert not worker.is_alive(halted.name)


def test_a_machine_may_have_any_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket, "gethostname", lambda: "../nöde 1.local")
    with Worker(tmp_path / "workers") as worker:
        assert place_of(worker.name) == ("___n_de_1_local", os.getpid())
        assert described(worker.name) == f"process {os.getpid()} on ___n_de_1_local"


@pytest.mark.parametrize("name", ["", "node", "node-1", "../../node-1-ab", "a/b-1-ab", "-1-ab", "node-x-ab"])
def test_what_no_worker_is_called_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match=name or "^$"):
        place_of(name)


def test_without_locks_signs_of_life_tell_who_is_alive(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))

    monkeypatch.setattr("fcntl.flock", refuse)
    with Worker(tmp_path) as worker, Worker(tmp_path) as other:
        assert worker.is_alive(other.name)
        then = (tmp_path / worker.name).stat().st_mtime - LOST - 1
        os.utime(tmp_path / other.name, (then, then))
        assert not worker.is_alive(other.name)
