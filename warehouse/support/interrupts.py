"""Requests to end (Ctrl-C and what `console.main` takes for it), noted and answered at a safe place."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType

_REQUESTS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@dataclass
class Interrupts:
    """Whether somebody has asked to end."""

    noted: bool = False

    def note(self, number: int, frame: FrameType | None) -> None:
        """Handle a signal; whoever asks a second time gets a `KeyboardInterrupt` at once."""
        if self.noted:
            signal.default_int_handler(number, frame)
        self.noted = True


@contextmanager
def noted_interrupts() -> Iterator[Interrupts]:
    """Signals that would raise `KeyboardInterrupt` are noted instead.

    The exception would come wherever the program is: a library may swallow it in a callback, or turn it into
    an error of its own. Outside of the main thread, where signals never come, nothing changes.
    """
    interrupts = Interrupts()
    before = {}
    if threading.current_thread() is threading.main_thread():
        before = {
            number: signal.signal(number, interrupts.note)
            for number in _REQUESTS
            if signal.getsignal(number) is signal.default_int_handler
        }
    try:
        yield interrupts
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
