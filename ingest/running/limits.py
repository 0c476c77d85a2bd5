"""Run a function in its own process, with hard limits on time and memory.

A fork server imports scikit-learn once; each call is a fork of it, which takes milliseconds. Limits are
enforced from outside (SIGKILL to the child and its descendants, after `seconds` or when they exceed the
memory together) and by the kernel (`RLIMIT_AS` of each process), so that compiled code that never returns to
Python is ended, too.
"""

from __future__ import annotations

import math
import multiprocessing
import os
import resource
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any, Self

import psutil

from ingest.running.process_tree import ProcessTree, adopt_orphans, end_descendants
from warehouse.support.errors import Failed, one_line, reason_of
from warehouse.support.signals import REQUESTS

MEBIBYTE = 2**20  # bytes, by definition

_FIRST_LOOK, _BETWEEN_LOOKS = 0.2, 1.0
"""Seconds before the first look at a call's processes, and most between later ones. Listing all processes of
a machine takes some milliseconds; one that leaves the group is only found while its parent is running."""
_GRACE = 0.5
"""Seconds to wait for an owner that is being ended together with its processes."""
_ATTEMPTS = 3
"""Attempts to start a process if the fork server ends meanwhile."""

_starting = threading.Lock()
_preloaded: set[str] = set()
"""Modules that the fork server imports when it begins."""


class Outcome(StrEnum):
    """Ways in which a limited call ends."""

    success = "success"
    timeout = "timeout"
    memout = "memout"
    crash = "crash"


@dataclass(frozen=True)
class LimitedCall:
    """Outcome of a call, with its result or the reason for its failure."""

    outcome: Outcome
    result: Any
    message: str | None
    seconds: float


class Processes:
    """The processes of one owner, such as a search; they end with it.

    Use it as a context manager. Several threads may make calls for one owner.
    """

    def __init__(self) -> None:
        self._running: set[ProcessTree] = set()
        self._ended = threading.Event()
        self._lock = threading.Lock()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    @property
    def ended(self) -> bool:
        """Whether the owner has ended them all."""
        return self._ended.is_set()

    def end_within(self, seconds: float) -> bool:
        """Wait this many seconds for the owner to end; returns whether it did."""
        return self._ended.wait(seconds)

    def end(self) -> None:
        """End the running processes, and each that is started from now on; their calls return at once."""
        with self._lock:
            self._ended.set()
            running = tuple(self._running)
        for tree in running:
            tree.kill()

    @contextmanager
    def holding(self, tree: ProcessTree) -> Iterator[None]:
        """Add these processes until the block ends, then kill them."""
        with self._lock:
            self._running.add(tree)
            if self.ended:
                tree.kill()
        try:
            yield
        finally:
            tree.kill()
            with self._lock:
                self._running.discard(tree)


def run_limited(
    function: Callable[..., Any],
    *arguments: Any,
    seconds: float,
    memory: int,
    cpu_seconds: float | None = None,
    processes: Processes | None = None,
    **keywords: Any,
) -> LimitedCall:
    """Call `function(*arguments, **keywords)` in a process of its own.

    Args:
        function: importable by name; it, its arguments and its result travel between processes.
        seconds: wall-clock limit; the call returns within milliseconds of it.
        memory: bytes that the call may use beyond a fresh process; the kernel limits each process, and those
            that the call starts are added up every second.
        cpu_seconds: processor time that the call may use, in whole seconds; None = no limit.
        processes: those of the owner who may cancel the call; None = nobody.

    Raises:
        CancelledError: the owner cancelled it.
    """
    context = _context()
    receiver, sender = context.Pipe(duplex=False)
    call = partial(function, *arguments, **keywords)
    process = context.Process(target=_child, args=(sender, seconds, cpu_seconds, memory, call), daemon=True)
    start = time.perf_counter()
    owner = processes or Processes()
    try:
        _start(process)
        sender.close()
        tree = ProcessTree(process.pid)
        with owner.holding(tree):
            exceeded = _watch(receiver, seconds, tree, memory)
            if owner.ended:
                raise CancelledError
            if exceeded is not None:
                return LimitedCall(exceeded[0], None, exceeded[1], time.perf_counter() - start)
            try:
                outcome, result, message = receiver.recv()
            except EOFError:
                process.join(5)
                was_killed = process.exitcode == -signal.SIGKILL
                # If the owner is being ended, too, the cause is not memory.
                if owner.ended or (processes is not None and was_killed and processes.end_within(_GRACE)):
                    raise CancelledError from None
                outcome, result, message = _death(process.exitcode, cpu_seconds)
            return LimitedCall(outcome, result, message, time.perf_counter() - start)
    finally:
        if process.pid is not None:
            process.kill()  # an interrupt may have come before `holding`
            process.join()
        receiver.close()


def _watch(
    receiver: Connection, seconds: float, tree: ProcessTree, memory: int
) -> tuple[Outcome, str] | None:
    """Wait for an answer; returns the limit that was exceeded first, with a message, or None."""
    end, wait = time.monotonic() + seconds, _FIRST_LOOK
    while not receiver.poll(min(wait, max(0.0, end - time.monotonic()))):
        wait = min(2 * wait, _BETWEEN_LOOKS)
        if time.monotonic() >= end:
            return Outcome.timeout, f"stopped after {seconds:.4g} s"
        tree.look()
        if tree.memory() > memory:
            return Outcome.memout, f"its processes together needed more than {memory // MEBIBYTE} MiB"
    return None


@contextmanager
def _without_main() -> Iterator[None]:
    """Start processes without importing the user's script, as `multiprocessing` would.

    A script without `if __name__ == "__main__"` would run again in every call.
    """
    main = sys.modules["__main__"]
    with _starting:
        kept: dict[str, Any] = {
            name: vars(main)[name] for name in ("__file__", "__spec__") if name in vars(main)
        }
        vars(main).pop("__file__", None)
        vars(main)["__spec__"] = None
        try:
            yield
        finally:
            vars(main).update(kept)


def start_server(*modules: str) -> None:
    """Have the fork server import its modules in the background, before the first process is needed.

    Args:
        modules: more modules to import, besides those that every run needs; a running server is not changed.
    """
    _context(*modules)
    with _without_main():
        _run_server()


def wait_for_server() -> None:
    """Wait until the fork server can start a process at once."""
    run_limited(os.getpid, seconds=60.0, memory=256 * MEBIBYTE)


def _context(*modules: str) -> Any:
    context = multiprocessing.get_context("forkserver")
    if modules or not _preloaded:
        _preloaded.update(["ingest.running.preload", *modules])
        context.set_forkserver_preload(sorted(_preloaded))
    return context


def _run_server() -> None:
    """Start the fork server and its resource tracker, unless they are running.

    Signals to a whole process group must not end these two: both start with the signals blocked. `preload`
    unblocks and ignores them.
    """
    from multiprocessing import forkserver, resource_tracker

    before = signal.pthread_sigmask(signal.SIG_BLOCK, REQUESTS)
    try:
        resource_tracker.ensure_running()
        signal.pthread_sigmask(signal.SIG_BLOCK, REQUESTS)  # of which the tracker has unblocked two
        forkserver.ensure_running()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _start(process: BaseProcess) -> None:
    """Start a process, with a new fork server if the old one was ended.

    Raises:
        Failed: it can't be started.
    """
    for attempt in range(_ATTEMPTS):
        if attempt:
            time.sleep(attempt)  # until the system has ended the server
        with _without_main():
            try:
                _run_server()
                process.start()
            except (EOFError, OSError) as error:
                reason = reason_of(error)
            else:
                return
    raise Failed(f"no process can be started: {reason}")


def _child(
    sender: Connection,
    seconds: float,
    cpu_seconds: float | None,
    memory: int,
    call: Callable[[], Any],
) -> None:
    os.setsid()  # one group with all that the function starts, so that it can be killed
    adopt_orphans()
    threading.Thread(target=_end_with_parent, daemon=True).start()
    _limit(resource.RLIMIT_AS, psutil.Process().memory_info().vms + memory)
    _limit(resource.RLIMIT_CORE, 0)
    # Compiled code may block the thread that ends this process with its parent; the kernel ends it at last.
    unwatched = int(seconds * (os.cpu_count() or 1)) + 10
    _limit(resource.RLIMIT_CPU, unwatched if cpu_seconds is None else math.ceil(cpu_seconds))
    answer: tuple[Outcome, Any, str | None]
    try:
        answer = (Outcome.success, call(), None)
    except Exception as error:  # noqa: BLE001 (whatever fails is the outcome of the call)
        if isinstance(error, MemoryError) or "bad_alloc" in str(error):  # the message of C++ libraries
            answer = (Outcome.memout, None, f"needed more than {memory // MEBIBYTE} MiB")
        else:
            answer = (Outcome.crash, None, one_line(f"{type(error).__name__}: {error}")[:300])
    _limit(resource.RLIMIT_AS, resource.RLIM_INFINITY)  # the answer itself needs some memory
    end_descendants()
    with suppress(BrokenPipeError):  # our parent has ended
        sender.send(answer)


def _end_with_parent() -> None:
    """End this process and its group when the process that waits for the answer ends."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        end_descendants()
        os.killpg(0, signal.SIGKILL)


def _limit(what: int, soft: int) -> None:
    hard = resource.getrlimit(what)[1]
    resource.setrlimit(what, (soft if hard == resource.RLIM_INFINITY else min(soft, hard), hard))


def _death(exitcode: int | None, cpu_seconds: float | None) -> tuple[Outcome, None, str]:
    """Cause of death of a child that ended without an answer."""
    if exitcode is not None and exitcode < 0:
        name = signal.Signals(-exitcode).name
        if name == "SIGXCPU" and cpu_seconds is not None:
            return Outcome.timeout, None, f"stopped after {cpu_seconds:.4g} s of processor time"
        if name == "SIGKILL":
            return Outcome.memout, None, "killed by the system, most likely for memory"
        return Outcome.crash, None, f"ended by {name}"
    return Outcome.crash, None, f"ended with exit code {exitcode}"
