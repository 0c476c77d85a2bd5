"""A process with its descendants: measure their memory, and end them."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from contextlib import suppress

import psutil

_PR_SET_CHILD_SUBREAPER = 36  # of Linux's prctl(2)


class ProcessTree:
    """A process that leads its own group, with all processes that it and its children have started.

    A child may leave the group (`setsid`). It is still found through its ancestors, or through the process
    itself if that called `adopt_orphans`.
    """

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._started: set[psutil.Process] = set()
        self._own_memory: int | None = None

    def look(self) -> None:
        """Record the current descendants, so that they are known when their parent is gone."""
        with suppress(psutil.Error):
            self._started |= set(psutil.Process(self._pid).children(recursive=True))

    def memory(self) -> int:
        """Bytes that the recorded processes use, the first one's counted from the first call.

        Shared pages count once (proportional set size); 0 if there is only one process.
        """
        self._started = {process for process in self._started if process.is_running()}
        if not self._started:
            return 0
        own = _memory(psutil.Process(self._pid)) if psutil.pid_exists(self._pid) else 0
        if self._own_memory is None:
            self._own_memory = own
        return max(0, own - self._own_memory) + sum(map(_memory, self._started))

    def kill(self) -> None:
        """End all of them with SIGKILL."""
        self.look()
        for kill in (os.killpg, os.kill):  # the process may not have its group yet
            with suppress(ProcessLookupError, PermissionError):
                kill(self._pid, signal.SIGKILL)
        for process in self._started:
            with suppress(psutil.Error):
                process.kill()


def adopt_orphans() -> None:
    """Become the parent of descendants whose own parent ends; only on Linux."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def end_descendants() -> None:
    """End all processes that this one has started and not waited for."""
    try:
        os.waitpid(-1, os.WNOHANG)
    except ChildProcessError:  # the usual case: there are none
        return
    for process in psutil.Process().children(recursive=True):
        with suppress(psutil.Error):
            process.kill()


def _memory(process: psutil.Process) -> int:
    try:
        full = process.memory_full_info()
    except psutil.Error:
        return 0
    return int(getattr(full, "pss", full.uss))
