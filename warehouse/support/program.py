"""A process that runs one command and nothing else: how it begins and how it ends."""

import atexit
import gc
import os
import sys
from contextlib import suppress
from importlib import import_module

from warehouse.support.signals import end_at_once


class _Ending:
    """The last that the process does."""

    code = 1
    """Exit code; that of an exception which nobody handles, unless the command ends otherwise."""

    def end(self) -> None:
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError):
                stream.flush()
        os._exit(self.code)


def run(module: str) -> None:
    """Run the function `main` of a module as the whole of this process.

    A request to end the process during the imports of the module, which take a second, ends it at once.
    Imported modules stay until the process ends: the garbage collector need not look at them, and the
    interpreter need not take them down, which takes up to half a second. A module that can't be used on this
    system is refused in one line.
    """
    end_at_once()
    from warehouse.support.errors import HeadstartError  # which takes a moment

    ending = _Ending()
    # The first to be registered is the last to be called. What came before us, as a tool that counts lines
    # might, is not called: such tools call `main` of a `cli.py` themselves.
    atexit.register(ending.end)
    gc.disable()
    try:
        command = import_module(module).main
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
