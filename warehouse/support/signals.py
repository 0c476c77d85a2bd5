"""Signals (Ctrl-C, SIGTERM, SIGHUP) before a command has results to keep: it ends immediately.

Commands import this module first, so it imports next to nothing.
"""

import os
import signal
from types import FrameType

REQUESTS = tuple(number for number in signal.Signals if number.name in ("SIGINT", "SIGTERM", "SIGHUP"))
"""Windows has no SIGHUP."""
INTERRUPTED = 130
"""Exit code of an interrupted command."""


def end_at_once() -> None:
    """Make a request to end this process end it immediately, with one line and `INTERRUPTED`.

    A `KeyboardInterrupt` during an import might be printed, or taken for a failure of the import. Requests
    that the process was started to ignore, as by nohup, stay ignored.
    """
    for number in REQUESTS:
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, _end)


def _end(number: int, frame: FrameType | None) -> None:  # noqa: ARG001 (handlers get them)
    try:
        os.write(2, b"error: interrupted\n")
    finally:
        os._exit(INTERRUPTED)
