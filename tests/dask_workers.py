"""Shared parts of tests with Dask."""

from __future__ import annotations

import os
import signal
from typing import Protocol

from distributed import Client


class _Progress(Protocol):
    @property
    def done(self) -> int: ...


class KillABusyWorker:
    """A `report` that kills one busy worker of a cluster once enough is done."""

    def __init__(self, client: Client, after: int) -> None:
        self.killed: str | None = None
        """Address of the worker."""
        self._client = client
        self._after = after
        self._process_of = client.run(os.getpid)

    def __call__(self, progress: _Progress) -> None:
        """Check the progress, and kill."""
        busy = [worker for worker, tasks in self._client.processing().items() if tasks]
        if progress.done >= self._after and busy and self.killed is None:
            self.killed = busy[0]
            os.kill(self._process_of[self.killed], signal.SIGKILL)
