"""Trials: limits are enforced, and outcomes say what happened."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import CancelledError, ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import numpy as np
import psutil
import pytest

from ingest.running.limits import MEBIBYTE, Outcome, Processes, run_limited
from tests.commands import handled
from warehouse.support.signals import REQUESTS

ROOM = 1000 * MEBIBYTE


@pytest.fixture(scope="module", autouse=True)
def _server_is_up() -> None:
    """Wait for the imports of the fork server."""
    run_limited(os.getpid, seconds=60, memory=ROOM)


def spin() -> None:
    while True:
        pass


def start_a_process_and_wait() -> None:
    subprocess.run(["sleep", "987654"], check=True)


def allocate_without_end() -> None:
    blocks = []
    while True:
        blocks.append(np.ones(10**7))


def test_the_result_of_another_process_is_returned() -> None:
    trial = run_limited(os.getpid, seconds=10, memory=ROOM)
    assert trial.outcome is Outcome.success
    assert trial.result != os.getpid()


def test_arrays_are_sent_there_and_back() -> None:
    trial = run_limited(np.cumsum, np.arange(100_000), seconds=10, memory=ROOM)
    assert trial.result[-1] == 99_999 * 100_000 / 2


@pytest.mark.parametrize("endless", [spin, start_a_process_and_wait])
def test_call_that_never_ends_is_ended_at_its_limit(endless: Callable[[], None]) -> None:
    start = time.perf_counter()
    trial = run_limited(endless, seconds=0.5, memory=ROOM)
    assert trial.outcome is Outcome.timeout
    assert trial.message == "stopped after 0.5 s"
    assert time.perf_counter() - start < 300, "on a busy machine, too"


WAITING = """
import time
from ingest.running.limits import MEBIBYTE, run_limited
run_limited(time.sleep, 600, seconds=600, memory=1000 * MEBIBYTE)
"""


def test_a_trial_ends_with_the_process_that_waits_for_it() -> None:
    with subprocess.Popen([sys.executable, "-c", WAITING]) as waiting:
        trial = first_leader_below(waiting.pid)
        waiting.kill()
        trial.wait(300)  # raises if it does not end


def first_leader_below(pid: int) -> psutil.Process:
    """Wait for the first process below `pid` that leads its own session, as trials do."""
    parent = psutil.Process(pid)
    while True:
        for child in parent.children(recursive=True):
            with suppress(ProcessLookupError, psutil.NoSuchProcess):
                if os.getsid(child.pid) == child.pid:
                    return child
        time.sleep(0.05)


def test_call_that_uses_up_its_processor_time_is_a_timeout() -> None:
    trial = run_limited(spin, seconds=60, memory=ROOM, cpu_seconds=1)
    assert (trial.outcome, trial.message) == (Outcome.timeout, "stopped after 1 s of processor time")


def test_processes_started_by_a_call_end_with_it() -> None:
    run_limited(start_a_process_and_wait, seconds=0.5, memory=ROOM)
    listing = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout
    assert "sleep 987654" not in listing


def start_a_daemon(path: str) -> None:
    """Start a process in its own session whose parent ends at once, so that it is in no one's group."""
    script = f"setsid sleep 987654 & echo $! > {path}"
    subprocess.run(["sh", "-c", script], check=True)


def start_a_daemon_and_wait(path: str) -> None:
    start_a_daemon(path)
    spin()


@pytest.mark.skipif(sys.platform != "linux", reason="orphans are adopted on Linux")
@pytest.mark.parametrize("function", [start_a_daemon, start_a_daemon_and_wait])
def test_a_process_that_left_the_group_ends_with_the_call(
    function: Callable[[str], None], tmp_path: Path
) -> None:
    run_limited(function, str(tmp_path / "pid"), seconds=60, memory=ROOM, cpu_seconds=1)
    with suppress(psutil.NoSuchProcess):
        psutil.Process(int((tmp_path / "pid").read_text())).wait(300)


def four_children_of_200_mebibytes() -> None:
    script = "import time; block = b'x' * 200 * 2**20; time.sleep(600)"
    for child in [subprocess.Popen([sys.executable, "-c", script]) for _ in range(4)]:
        child.wait()


def test_processes_that_take_too_much_together_are_a_memout() -> None:
    trial = run_limited(four_children_of_200_mebibytes, seconds=60, memory=500 * MEBIBYTE)
    assert trial.outcome is Outcome.memout
    assert trial.message == "its processes together needed more than 500 MiB"


def test_allocating_beyond_the_limit_is_a_memout() -> None:
    trial = run_limited(allocate_without_end, seconds=30, memory=300 * MEBIBYTE)
    assert trial.outcome is Outcome.memout
    assert trial.message == "needed more than 300 MiB"


def refuse_as_libraries_in_cpp_do() -> None:
    raise RuntimeError("std::bad_alloc")


def test_bad_alloc_of_a_cpp_library_is_a_memout() -> None:
    trial = run_limited(refuse_as_libraries_in_cpp_do, seconds=30, memory=300 * MEBIBYTE)
    assert (trial.outcome, trial.message) == (Outcome.memout, "needed more than 300 MiB")


def test_exception_is_a_crash_with_its_message() -> None:
    trial = run_limited(int, "no number", seconds=10, memory=ROOM)
    assert trial.outcome is Outcome.crash
    assert trial.message is not None
    assert trial.message.startswith("ValueError: invalid literal")


def exit_with_three() -> None:
    os._exit(3)


@pytest.mark.parametrize(("end", "reason"), [(os.abort, "SIGABRT"), (exit_with_three, "exit code 3")])
def test_death_without_an_answer_is_a_crash(end: Callable[[], None], reason: str) -> None:
    trial = run_limited(end, seconds=10, memory=ROOM)
    assert trial.outcome is Outcome.crash
    assert trial.message is not None
    assert reason in trial.message


def kill_itself(number: int) -> None:
    os.kill(os.getpid(), number)


def test_an_owner_ends_only_its_own_trials() -> None:
    mine, yours = Processes(), Processes()
    with ThreadPoolExecutor(2) as threads:
        ended = threads.submit(run_limited, spin, seconds=60, memory=ROOM, processes=mine)
        other = threads.submit(run_limited, time.sleep, 1.0, seconds=60, memory=ROOM, processes=yours)
        threading.Timer(0.3, mine.end).start()
        with pytest.raises(CancelledError):
            ended.result(300)
        assert other.result(300).outcome is Outcome.success


def test_an_ended_owner_starts_no_trial() -> None:
    with Processes() as processes:
        assert run_limited(os.getpid, seconds=60, memory=ROOM, processes=processes).outcome is Outcome.success
    with pytest.raises(CancelledError):
        run_limited(spin, seconds=60, memory=ROOM, processes=processes)


def test_a_trial_killed_together_with_its_owner_is_not_a_failure() -> None:
    class EndsToo(Processes):
        def end_within(self, seconds: float) -> bool:
            assert seconds < 1
            return True

    with pytest.raises(CancelledError):
        run_limited(kill_itself, signal.SIGKILL, seconds=60, memory=ROOM, processes=EndsToo())
    assert not Processes().end_within(0)
    assert run_limited(kill_itself, signal.SIGKILL, seconds=60, memory=ROOM).outcome is Outcome.memout


# ---- requests to end -------------------------------------------------------------------------------

BOMBARDED = """
import os, signal, sys, threading, time
from ingest.running.limits import run_limited

ended = threading.Event()

def bombard():
    while not ended.wait(0.01):
        for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
            os.killpg(0, number)

for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
    signal.signal(number, lambda *_: None)
threading.Thread(target=bombard).start()
try:
    for _ in range(20):
        called = run_limited(os.getpgrp, seconds=60, memory=10**9)
        assert called.outcome == "success", called
finally:
    ended.set()
"""


def test_trials_start_and_continue_while_their_group_gets_requests_to_end() -> None:
    with handled():
        done = subprocess.run(
            [sys.executable, "-c", BOMBARDED], stderr=subprocess.PIPE, start_new_session=True, check=False
        )
    assert (done.returncode, done.stderr) == (0, b"")


def test_a_trial_leaves_requests_to_end_to_the_process_that_waits_for_it() -> None:
    for number in REQUESTS:
        trial = run_limited(kill_itself, number, seconds=60, memory=ROOM)
        assert trial.outcome is Outcome.success


def end_the_server() -> None:
    os.kill(os.getppid(), signal.SIGKILL)


def test_a_killed_fork_server_is_replaced() -> None:
    assert run_limited(end_the_server, seconds=60, memory=ROOM).outcome is Outcome.success
    assert run_limited(os.getpid, seconds=60, memory=ROOM).outcome is Outcome.success


def test_a_script_is_not_run_again_by_its_trials_and_what_they_print_goes_to_stderr(tmp_path: Path) -> None:
    script = tmp_path / "mine.py"
    script.write_text(
        "import os\n"
        "from ingest.running.limits import run_limited\n"
        "print('begun')\n"
        "run_limited(os.system, 'echo of a program; echo error >&2', seconds=60, memory=10**9)\n"
        "trial = run_limited(print, 'of a trial', seconds=60, memory=10**9)\n"
        "print(trial.outcome, trial.message, __file__)\n"
    )
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["begun", f"success None {script}"]
    assert done.stderr.splitlines() == ["of a program", "error", "of a trial"]
