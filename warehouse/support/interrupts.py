"""Requests to end (Ctrl-C and the signals that `console.main` treats alike) as exceptions, or noted; timers.

Before a command begins and after it ends, `signals` handles them.
"""

from __future__ import annotations

import _thread
import math
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import monotonic
from types import FrameType
from typing import Any

from warehouse.support.signals import REQUESTS

SAME = 1.0
"""Seconds within which a signal repeats the previous request: `timeout`, batch systems and terminals send
several, to a process and to its group."""


@dataclass
class Interrupts:
    """Requests to end this process."""

    noted: bool = False
    raises: bool = True
    """Whether the first request raises `KeyboardInterrupt`; later ones always do."""
    _answered: float = field(default=-math.inf, init=False)
    """Time of the last answered request, on the clock of `time.monotonic`."""

    def answer(self, number: int, frame: FrameType | None) -> None:
        """Handle a signal."""
        is_later, self.noted = self.noted, True
        if monotonic() < self._answered + SAME:
            return
        self._answered = monotonic()
        if self.raises or is_later:
            signal.default_int_handler(number, frame)

    def raise_again(self, unraisable: Any) -> None:
        """Hook for an exception that can't be raised where it occurs, such as in a finalizer."""
        if not issubclass(unraisable.exc_type, KeyboardInterrupt):
            sys.__unraisablehook__(unraisable)
            return
        self._answered = -math.inf
        again = threading.Timer(0.02, _thread.interrupt_main)  # after the hook, which can't raise
        again.daemon = True
        again.start()


@contextmanager
def raised_interrupts() -> Iterator[Interrupts]:
    """Run a command in which signals that ask to end raise `KeyboardInterrupt`, and are noted.

    A library may replace the exception by an error of its own. If it can't be raised, as in a finalizer, it
    is raised again later. Signals that the process was started to ignore, as by nohup, stay ignored.
    """
    interrupts = Interrupts()
    before = {number: signal.getsignal(number) for number in REQUESTS}
    for number, handler in before.items():
        if handler != signal.SIG_IGN:
            signal.signal(number, interrupts.answer)
    hook, sys.unraisablehook = sys.unraisablehook, interrupts.raise_again
    try:
        yield interrupts
    finally:
        sys.unraisablehook = hook
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def noted_interrupts() -> Iterator[Interrupts]:
    """Note signals that would raise `KeyboardInterrupt`; only later repetitions raise it.

    The exception could occur anywhere: a library may swallow it in a callback, or replace it by an error of
    its own. In a command (`raised_interrupts`) they are noted until it ends, because its results are still to
    be printed. Outside of the main thread, which gets no signals, nothing changes.
    """
    if threading.current_thread() is not threading.main_thread():
        yield Interrupts()
        return
    before = {number: signal.getsignal(number) for number in REQUESTS}
    for handler in before.values():
        of_command = getattr(handler, "__self__", None)
        if isinstance(of_command, Interrupts):
            of_command.raises = False
            yield of_command
            return
    interrupts = Interrupts(raises=False)
    handled = {number: handler for number, handler in before.items() if callable(handler)}
    for number in handled:
        signal.signal(number, interrupts.answer)
    try:
        yield interrupts
    finally:
        for number, handler in handled.items():
            signal.signal(number, handler)


@contextmanager
def after(seconds: float | None, action: Callable[[], object]) -> Iterator[None]:
    """Call `action` in a thread after this many seconds within the block; None = never."""
    if seconds is None:
        yield
        return
    timer = threading.Timer(seconds, action)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
