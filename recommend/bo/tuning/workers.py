"""Processes that work on one search, on one machine or on several that share a file system.

Each worker has a file in a folder of the search, locks it as long as it lives, and touches it every few
seconds. On its own machine a process that has ended is told by its lock at once. Another machine's is told by
the time of its last touch, which the file system states: clocks of machines differ, so that time is compared
with the time of a touch of one's own. The file of a killed worker is removed by the next that begins on its
machine a minute later.
"""

from __future__ import annotations

import fcntl
import os
import re
import secrets
import socket
import threading
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import IO, Self

from warehouse.support.errors import Unwritable, reason_of

BEAT = 5.0
"""Seconds from one touch to the next."""
LOST = 60.0
"""Seconds after the last touch from which on a worker counts as lost; set by hand."""

_NAME = re.compile(r"(?P<machine>[\w-][\w.-]*)-(?P<process>\d+)-[0-9a-f]+", re.ASCII)


class Worker:
    """This process as one of those that work on a search. At work while it is used as a context."""

    def __init__(self, folder: Path) -> None:
        """A worker whose file is to be in `folder`; its name is its machine, process, and a random part."""
        machine = re.sub(r"[^\w-]", "_", socket.gethostname(), flags=re.ASCII) or "_"
        self.name = f"{machine}-{os.getpid()}-{secrets.token_hex(4)}"
        self._folder = folder
        self._file: IO[bytes] | None = None
        self._ended = threading.Event()
        self._beating = threading.Thread(target=self._beat, daemon=True)

    def __enter__(self) -> Self:
        try:
            self._folder.mkdir(exist_ok=True)
            self._file = (self._folder / self.name).open("xb")
            with suppress(OSError):  # a file system without locks: then signs of life must do
                fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self._clear()
        except OSError as error:
            raise Unwritable(f"{self._folder} can't be used: {reason_of(error)}") from error
        self._beating.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ended.set()
        self._beating.join()
        (self._folder / self.name).unlink(missing_ok=True)
        if self._file is not None:
            self._file.close()

    def is_alive(self, name: str) -> bool:
        """Whether the worker of this name is at work."""
        try:
            # A network file system may state times of a minute ago, unless a file is opened for them.
            with (self._folder / name).open("rb") as file:
                if place_of(name)[0] == place_of(self.name)[0] and _is_unlocked(file):
                    return False
                return self._now() - os.fstat(file.fileno()).st_mtime < LOST
        except OSError:
            return False

    def _clear(self) -> None:
        """Remove files of killed workers of this machine; that of one which just begins has no lock yet."""
        for path in self._folder.iterdir():
            with suppress(OSError, ValueError), path.open("rb") as file:
                is_ours = place_of(path.name)[0] == place_of(self.name)[0]
                if is_ours and self._now() - os.fstat(file.fileno()).st_mtime > LOST and _is_unlocked(file):
                    path.unlink()

    def _now(self) -> float:
        """Seconds by the clock of the file system, of which the operating system's differs on a network."""
        file = self._file
        if file is None:
            raise RuntimeError("a worker is used as a context")
        os.utime(file.fileno())
        return os.fstat(file.fileno()).st_mtime

    def _beat(self) -> None:
        while not self._ended.wait(BEAT):
            with suppress(OSError):  # it may succeed the next time
                self._now()


def place_of(name: str) -> tuple[str, int]:
    """Machine and number of the process of a worker.

    Raises:
        ValueError: no worker has this name.
    """
    parts = _NAME.fullmatch(name)
    if parts is None:
        raise ValueError(name)
    return parts["machine"], int(parts["process"])


def described(name: str) -> str:
    """A worker in words."""
    machine, process = place_of(name)
    return f"process {process} on {machine}"


def _is_unlocked(file: IO[bytes]) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:  # it is locked, or there are no locks
        return False
    return True
