"""Operations on a warehouse by processes that halt before each call to the disk until told to continue.

One process works at a time, so that any order of events can be chosen and repeated.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import IO, Any

import pyarrow.parquet as pq
from deltalake import DeltaTable

from tests.warehouse.worlds import runs, values
from warehouse.store import Warehouse
from warehouse.support.errors import BadInput

WAITS = "sleep"
"""The call of a process that waits for the lock; processes always halt there."""
CALLS: tuple[tuple[Any, str], ...] = (
    *((os, name) for name in ("open", "fsync", "mkdir", "unlink", "rename", "replace")),
    (pq.ParquetWriter, "close"),
    *((DeltaTable, name) for name in ("create_checkpoint", "restore", "repair")),
    (time, WAITS),
)


def write(path: str, name: str, value: float) -> int:
    return Warehouse.open(path).write(runs(name=name, accuracies={"openml:1": value}), source="test").version


def merge(path: str, other: str) -> int:
    return Warehouse.open(path).merge(other).version


def restore(path: str, version: int) -> int:
    warehouse = Warehouse.open(path)
    warehouse.restore(min(version, warehouse.version))
    return warehouse.version


def repair(path: str) -> int:
    return Warehouse.repair(path).version


def verify(path: str) -> list[str]:
    return [str(one) for one in Warehouse.verify(path, deep=True).damage]


def export(path: str, to: str) -> tuple[int, list[float]]:
    copy = Warehouse.open(path).export(to)
    return copy.version, values(copy)


OPERATIONS: dict[str, Callable[..., Any]] = {
    function.__name__: function for function in (write, merge, restore, repair, verify, export)
}


class Processes:
    """Start processes as copies of one that has imported everything."""

    def __init__(self, folder: Path) -> None:
        """Create its files in `folder`."""
        self.folder = folder
        self._numbers = count()
        environment = os.environ | {
            "PYTHONPATH": str(Path(__file__).parents[2]),
            "OPENBLAS_NUM_THREADS": "1",  # copies have no threads
        }
        self._origin = subprocess.Popen(
            [sys.executable, "-m", "tests.warehouse.interleaving"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
            start_new_session=True,
        )

    def start(self, operation: str, *arguments: Any) -> Process:
        """Start an operation, which waits for its first turn."""
        answers, turns = (self.folder / f"{next(self._numbers)}" for _ in range(2))
        for one in (answers, turns):
            os.mkfifo(one)
        self.say([str(answers), str(turns), operation, *arguments])
        return Process(self, answers, turns)

    def say(self, what: Any) -> None:
        assert self._origin.stdin is not None
        self._origin.stdin.write(json.dumps(what) + "\n")
        self._origin.stdin.flush()

    def ended(self, number: int) -> None:
        """Wait until a process has ended and released its locks."""
        self.say(number)
        assert self._origin.stdout is not None
        assert self._origin.stdout.readline()

    def end(self) -> None:
        """End all processes, even those waiting for a turn after a failed check."""
        os.killpg(self._origin.pid, signal.SIGKILL)
        self._origin.communicate()


class Process:
    """One operation of a process."""

    def __init__(self, processes: Processes, answers: Path, turns: Path) -> None:
        self._processes = processes
        self._answers, self._turns = answers.open(), turns.open("w")
        self.number = int(self._answers.readline())
        self.result: Any = None
        self.is_over = False

    def go_on(self, calls: int) -> None:
        """Let it make this many calls, or fewer if it ends or waits."""
        if self.is_over:
            return
        self._turns.write(f"{calls}\n")
        self._turns.flush()
        answer = self._answers.readline().strip()
        assert answer, "the process has died"
        if answer.startswith("["):
            (self.result,) = json.loads(answer)
            self._close()

    def kill(self) -> None:
        os.kill(self.number, signal.SIGKILL)
        self._close()

    def _close(self) -> None:
        self.is_over = True
        self._processes.ended(self.number)
        self._answers.close()
        self._turns.close()


def _work(answers: IO[str], turns: IO[str], operation: str, arguments: list[Any]) -> None:
    def say(what: str) -> None:
        answers.write(f"{what}\n")
        answers.flush()

    left = 0

    def halting(call: Callable[..., Any], name: str) -> Callable[..., Any]:
        def halt(*given: Any, **options: Any) -> Any:
            nonlocal left
            if not left or name == WAITS:
                say(name)
                left = int(turns.readline() or os._exit(1))
            left -= 1
            return None if name == WAITS else call(*given, **options)

        return halt

    say(str(os.getpid()))
    left = int(turns.readline())
    for owner, name in CALLS:
        setattr(owner, name, halting(getattr(owner, name), name))
    try:
        result = OPERATIONS[operation](*arguments)
    except BadInput as error:
        result = {"error": str(error)}
    say(json.dumps([result]))


def main() -> None:
    """The process that is copied; each line of its input starts a copy, or waits for one."""
    for line in sys.stdin:
        order = json.loads(line)
        if isinstance(order, int):
            os.waitpid(order, 0)
            sys.stdout.write("gone\n")
            sys.stdout.flush()
        elif os.fork() == 0:
            answers, turns, operation, *arguments = order
            with Path(answers).open("w") as said, Path(turns).open() as heard:
                _work(said, heard, operation, arguments)
            os._exit(0)


if __name__ == "__main__":
    main()
