"""Interrupts (Ctrl-C and the signals treated alike by `console.main`) as exceptions, or deferred.

What a command does with them before it has begun, and after it has ended, is in `signals`.
"""

from __future__ import annotations

import _thread
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType
from typing import Any

from warehouse.support.signals import REQUESTS


@dataclass
class Interrupts:
    """Whether somebody has asked to end."""

    noted: bool = False

    def note(self, number: int, frame: FrameType | None) -> None:
        """Handle a signal; whoever asks a second time gets a `KeyboardInterrupt` at once."""
        if self.noted:
            signal.default_int_handler(number, frame)
        self.noted = True

    def note_and_raise(self, number: int, frame: FrameType | None) -> None:
        """Handle a signal by a `KeyboardInterrupt`."""
        self.noted = True
        signal.default_int_handler(number, frame)


@contextmanager
def raised_interrupts() -> Iterator[Interrupts]:
    """Signals that ask to end raise `KeyboardInterrupt`, and are noted: what they raise may be lost.

    A library may turn it into an error of its own. Where nothing can be raised, as in a finalizer, it comes
    once more. What the process was told to ignore, as by nohup, stays ignored.
    """
    interrupts = Interrupts()
    before = {number: signal.getsignal(number) for number in REQUESTS}
    for number, handler in before.items():
        if handler != signal.SIG_IGN:
            signal.signal(number, interrupts.note_and_raise)
    hook, sys.unraisablehook = sys.unraisablehook, _raise_again
    try:
        yield interrupts
    finally:
        sys.unraisablehook = hook
        for number, handler in before.items():
            signal.signal(number, handler)


def _raise_again(unraisable: Any) -> None:
    if issubclass(unraisable.exc_type, KeyboardInterrupt):
        again = threading.Timer(0.02, _thread.interrupt_main)  # after the hook, from which nothing is raised
        again.daemon = True
        again.start()
    else:
        sys.__unraisablehook__(unraisable)


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
            for number in REQUESTS
            if callable(signal.getsignal(number))
        }
    try:
        yield interrupts
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
