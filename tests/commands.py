"""Call commands in the process of a test, and end them by signals."""

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
"""Source of a function for its program's peak memory in MiB; `ru_maxrss` would include the parent's."""

AT_A_TERMINAL: Mapping[int, Any] = MappingProxyType(
    {signal.SIGINT: signal.default_int_handler, signal.SIGTERM: signal.SIG_DFL, signal.SIGHUP: signal.SIG_DFL}
)
"""Signal -> its handler in a process started at a terminal."""


@contextmanager
def handled(handlers: Mapping[int, Any] = AT_A_TERMINAL) -> Iterator[None]:
    """Handle signals like this within the block, in this process and in those started there.

    Processes inherit ignored signals: under nohup, or in a shell's background, some are ignored.
    """
    before = {number: signal.signal(number, handler) for number, handler in handlers.items()}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
