"""A process that runs one command and nothing else: how it begins and how it ends."""

import atexit
import gc
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from warehouse.support.errors import HeadstartError
from warehouse.support.signals import end_at_once


@dataclass
class _Ending:
    """The last that the process does."""

    code: int = 1
    """Exit code; that of an exception which nobody handles, unless the command ends otherwise."""

    def end(self) -> None:
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError):
                stream.flush()
        os._exit(self.code)


def run(imported: Callable[[], Callable[[], None]]) -> None:
    """Run a command as the whole of this process.

    What is imported stays as long as the process: the garbage collector need not look at it, and the
    interpreter need not take it down, which takes up to half a second.

    Where what it imports can't be used on this system, that is told in one line.

    Args:
        imported: gives the command, after imports during which a request to end ends the process at once.
    """
    end_at_once()
    ending = _Ending()
    # The first to be registered is the last to be called. What came before us, as a tool that counts lines
    # might, is not called: such tools call `main` of a `cli.py` themselves.
    atexit.register(ending.end)
    gc.disable()
    try:
        command = imported()
    except HeadstartError as error:
        sys.stderr.write(f"error: {error}\n")
        ending.code = error.exit_code
        return
    gc.freeze()
    gc.enable()
    try:
        command()
        ending.code = 0
    except SystemExit as ended:
        if ended.code is None or isinstance(ended.code, int):
            ending.code = ended.code or 0
        raise
