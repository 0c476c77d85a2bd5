"""Requests to end are deferred to a safe place."""

import os
import signal
import threading
import time
from collections.abc import Iterator

import pytest

from tests.commands import handled
from warehouse.support.interrupts import SAME, noted_interrupts, raised_interrupts


@pytest.fixture(autouse=True)
def usual_handlers() -> Iterator[None]:
    with handled():
        yield


@pytest.fixture(autouse=True)
def now(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The time, which stands still until a test sets it."""
    seconds = [0.0]
    monkeypatch.setattr("warehouse.support.interrupts.monotonic", lambda: seconds[0])
    return seconds


def test_the_first_request_is_noted_and_a_later_one_ends(now: list[float]) -> None:
    with noted_interrupts() as interrupts:
        assert not interrupts.noted
        for _ in range(3):  # one request, sent to the process, to its group, and by a batch system
            os.kill(os.getpid(), signal.SIGINT)
            assert interrupts.noted
        now[0] = SAME
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)


def test_a_command_notes_requests_from_its_search_to_its_end() -> None:
    with raised_interrupts() as interrupts:
        with noted_interrupts() as of_search:
            assert of_search is interrupts
        os.kill(os.getpid(), signal.SIGTERM)  # unhandled, it would lose the output
        assert interrupts.noted


def test_repeated_requests_do_not_disturb_the_end_of_a_command() -> None:
    with raised_interrupts():
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGTERM)
        for number in (signal.SIGTERM, signal.SIGHUP):
            os.kill(os.getpid(), number)


def test_afterwards_signal_handlers_are_restored() -> None:
    before = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)
    with noted_interrupts():
        assert signal.getsignal(signal.SIGINT) != before[0]
        assert signal.getsignal(signal.SIGTERM) == before[1]  # its default ends the process
    assert (signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)) == before


def test_ignored_signals_stay_ignored() -> None:
    with handled({signal.SIGHUP: signal.SIG_IGN}), noted_interrupts() as interrupts:
        os.kill(os.getpid(), signal.SIGHUP)
        assert not interrupts.noted


def test_another_thread_notes_nothing_and_changes_nothing() -> None:
    seen = []

    def work() -> None:
        with noted_interrupts() as interrupts:
            seen.append((interrupts.noted, signal.getsignal(signal.SIGINT)))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [(False, signal.getsignal(signal.SIGINT))]


def test_requests_raise_within_a_command_and_are_noted() -> None:
    before = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)
    for number in (signal.SIGINT, signal.SIGTERM):
        with raised_interrupts() as interrupts:
            with pytest.raises(KeyboardInterrupt):
                os.kill(os.getpid(), number)
            assert interrupts.noted
    assert (signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)) == before


def test_a_request_during_a_finalizer_is_raised_again() -> None:
    class Closed:
        def __del__(self) -> None:
            os.kill(os.getpid(), signal.SIGINT)

    def work() -> None:
        closed = Closed()
        del closed
        end = time.monotonic() + 60
        while time.monotonic() < end:
            pass

    with raised_interrupts(), pytest.raises(KeyboardInterrupt):
        work()
