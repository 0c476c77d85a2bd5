"""Record every call by which a command writes below a folder, from any library.

A small library in C (`recorder.c`) intercepts the system calls of the command's processes. To report that
something is written, a command writes to the file `REPORTS` in the folder, so that reports are ordered with
the other calls.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import wraps
from inspect import ismethod
from pathlib import Path
from typing import Any

REPORTS = "reports"
SOURCE = Path(__file__).with_name("recorder.c")
COMPILER = shutil.which("cc")
_CALL = re.compile(rb"(\w) (\d+) (-?\d+) (\d+) ([^\t\n]*)\t([^\n]*)\n")


@dataclass(frozen=True)
class Call:
    """One successful call."""

    kind: str
    """Letter of the call in `recorder.c`."""
    inode: int
    offset: int
    path: Path
    other: Path
    """Second name of a call with two."""
    content: bytes

    @property
    def is_report(self) -> bool:
        """Whether the call is a report of the command."""
        return self.kind == "W" and self.path.name == REPORTS


def compiled(folder: Path) -> Path:
    """The library, compiled in a folder."""
    library = folder / "recorder.so"
    subprocess.run(
        [str(COMPILER), "-shared", "-fPIC", "-O1", "-o", str(library), str(SOURCE), "-lpthread"], check=True
    )
    return library


def recorded(
    command: Sequence[str], folder: Path, library: Path, environment: Mapping[str, str]
) -> list[Call]:
    """Run a command in a folder (a real path) to its end; returns the calls by which it wrote."""
    file = folder.with_name(f"{folder.name}.calls")
    file.unlink(missing_ok=True)
    own = {"LD_PRELOAD": str(library), "RECORDED_FOLDER": str(folder), "RECORDED_CALLS": str(file)}
    subprocess.run(command, cwd=folder, env={**environment, **own}, check=True, stdout=subprocess.DEVNULL)
    content, place, calls = file.read_bytes(), 0, []
    while head := _CALL.match(content, place):
        kind, inode, offset, length, path, other = head.groups()
        place = head.end() + int(length)
        call = Call(
            kind.decode(),
            int(inode),
            int(offset),
            Path(os.path.normpath(path.decode())),
            Path(os.path.normpath(other.decode())),
            content[head.end() : place],
        )
        calls.append(call)
    assert place == len(content)
    return calls


def files_in(folder: Path) -> dict[Path, bytes]:
    """Path from the folder -> content."""
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def report() -> None:
    """Report, from within a command, that everything so far is written."""
    with Path(REPORTS).open("ab") as file:
        file.write(b".")


def reporting(*functions: tuple[Any, str]) -> None:
    """Make functions, given by owner and name, report when they return."""

    def wrapped(function: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(function)
        def call(*arguments: Any, **options: Any) -> Any:
            result = function(*arguments, **options)
            report()
            return result

        return call

    for owner, name in functions:
        function = getattr(owner, name)
        call = wrapped(function)
        setattr(owner, name, staticmethod(call) if ismethod(function) else call)
