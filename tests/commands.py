"""Commands, called in the process of a test, and the signals that end them."""

import signal
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import MappingProxyType
from typing import Any, NamedTuple


class Ended(NamedTuple):
    """How a command ended."""

    returncode: int
    stdout: str
    stderr: str


Run = Callable[..., Ended]

PEAK_MEMORY = """
from pathlib import Path
def peak() -> int:
    own = dict(line.split(":") for line in Path("/proc/self/status").read_text().splitlines())
    return int(own["VmHWM"].split()[0]) >> 10
"""
"""Source of a function that tells the most MiB that its program had; `ru_maxrss` begins with its parent's."""

AT_A_TERMINAL: Mapping[int, Any] = MappingProxyType(
    {signal.SIGINT: signal.default_int_handler, signal.SIGTERM: signal.SIG_DFL, signal.SIGHUP: signal.SIG_DFL}
)
"""Signal -> its handler in a process that was started at a terminal."""


@contextmanager
def handled(handlers: Mapping[int, Any] = AT_A_TERMINAL) -> Iterator[None]:
    """Handle signals so within the block, here and in the processes that begin there.

    These inherit what is ignored: under nohup, or in a shell's background, that is some of the signals.
    """
    before = {number: signal.signal(number, handler) for number, handler in handlers.items()}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
