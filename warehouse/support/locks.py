"""Locks of folders with one writer at a time, and who holds them."""

from __future__ import annotations

import json
import logging
import os
import platform
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from filelock import FileLock, Timeout

from warehouse.support.errors import Failed
from warehouse.support.text import duration_in, printable

WAIT = "HEADSTART_WAIT"
"""Environment variable: how long to wait for a lock; the option `--wait` sets it."""
LOCK = ".lock"
"""Lock file in a folder."""
HOLDER = ".writing"
"""File beside it that names the holder of the lock; it stays if the process is killed."""
_USUAL_WAIT = "10m"  # a commit takes one or two seconds
_SILENT = 2.0
"""Seconds of waiting before a message names the holder."""

logger = logging.getLogger(__name__)


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold the exclusive right to write below `folder`; after 2 s of waiting a warning names the holder.

    Raises:
        Failed: another process held it for the time given by `WAIT`.
        OSError: the lock can't be written.
    """
    lock = FileLock(folder / LOCK)
    longest, begun = duration_in(WAIT, _USUAL_WAIT, or_zero=True), time.monotonic()
    try:
        lock.acquire(timeout=min(longest, _SILENT))
    except Timeout:
        if longest > _SILENT:
            logger.warning("waiting for %s, which is writing to %s", holder_of(folder), folder)
        try:
            lock.acquire(timeout=max(longest - _SILENT, 0.0))
        except Timeout as error:
            raise Failed(
                f"{holder_of(folder)} is writing to {folder}: given up after"
                f" {time.monotonic() - begun:.0f} s; try again later, or wait longer (--wait)"
            ) from error
    try:
        yield
    finally:
        lock.release()


def introduce(folder: Path) -> None:
    """Tell waiting processes who holds the lock of `folder`; the caller holds it."""
    program = Path(sys.argv[0])
    name = program.parent.name if program.name == "__main__.py" else program.name
    command = [name, *(word for word in sys.argv[1:2] if not word.startswith("-"))]
    us = {
        "process": os.getpid(),
        "host": platform.node(),
        "command": " ".join(command),
        "since": datetime.now(UTC).isoformat(sep=" ", timespec="seconds"),
    }
    (folder / HOLDER).write_text(json.dumps(us))


def holder_of(folder: Path) -> str:
    """Who holds the lock of `folder`, in words; "another process" if unknown."""
    import psutil

    try:
        them = json.loads((folder / HOLDER).read_text())
        is_here = them["host"] == platform.node()
        if is_here and not psutil.pid_exists(them["process"]):  # it was killed, and another one is working
            return "another process"
        where = "" if is_here else f" on {them['host']}"
        return printable(f"process {them['process']}{where} ({them['command']}, since {them['since']})")
    except (OSError, ValueError, KeyError, TypeError, OverflowError):
        return "another process"
