"""Signals (Ctrl-C, SIGTERM, SIGHUP) before a command has results to keep: it ends at once.

Commands import this before all else, so it imports next to nothing.
"""

import os
import signal
from types import FrameType

REQUESTS = tuple(number for number in signal.Signals if number.name in ("SIGINT", "SIGTERM", "SIGHUP"))
"""Windows has no SIGHUP."""
INTERRUPTED = 130
"""Exit code of an interrupted command."""


def end_at_once() -> None:
    """Have a request to end this process end it at once, with one line and `INTERRUPTED`.

    A `KeyboardInterrupt` would come wherever an import is, which prints it or takes it for a failure of its
    own. A request that the process was told to ignore, as by nohup, stays ignored.
    """
    for number in REQUESTS:
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, _end)


def _end(number: int, frame: FrameType | None) -> None:  # noqa: ARG001 (what handlers are given)
    try:
        os.write(2, b"error: interrupted\n")
    finally:
        os._exit(INTERRUPTED)
