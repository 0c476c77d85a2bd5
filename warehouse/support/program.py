"""A process that runs a single command: its start and its end."""

import atexit
import gc
import os
import sys
from contextlib import suppress
from importlib import import_module

from warehouse.support.signals import end_at_once

_ALLOCATIONS = 300_000
"""Objects made between runs of the garbage collector; `recommend` makes fewer, most of them in imports."""


class _Ending:
    """The last action of the process."""

    code = 1
    """Exit code; the default is that of an unhandled exception."""

    def end(self) -> None:
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError):
                stream.flush()
        os._exit(self.code)


def run(module: str) -> None:
    """Run the function `main` of a module as the whole of this process.

    A request to end the process during the module's imports, which take a second, ends it immediately.
    Imported modules stay until the process ends, so the garbage collector need not look at them, and the
    interpreter need not tear them down, which takes up to half a second. A module that can't be used on this
    system is refused in one line.
    """
    end_at_once()
    from warehouse.support.errors import HeadstartError  # imported late, as it takes time

    ending = _Ending()
    # Registered first, so called last. Handlers registered before us, as by a coverage tool, are not called:
    # such tools call `main` of a `cli.py` themselves.
    atexit.register(ending.end)
    gc.disable()
    try:
        command = import_module(module).main
    except HeadstartError as error:
        sys.stderr.write(f"error: {error}\n")
        ending.code = error.exit_code
        return
    gc.freeze()
    gc.set_threshold(_ALLOCATIONS)
    gc.enable()
    try:
        command()
        ending.code = 0
    except SystemExit as ended:
        if ended.code is None or isinstance(ended.code, int):
            ending.code = ended.code or 0
        raise
