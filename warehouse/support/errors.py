"""Errors by what the caller can do next, and the text of other libraries' errors in one line."""

import errno
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TypeVar

T = TypeVar("T")


class HeadstartError(Exception):
    """Root of every error that Headstart raises on purpose; its text is one line for the user."""

    exit_code = 1


class BadInput(HeadstartError):
    """Input that cannot be used: change it and try again (exit code 2).

    An option, a file that is missing or damaged, a permission, a disk that is full.
    """

    exit_code = 2


class UnknownName(BadInput):
    """An unknown name; the text lists the known ones if they are few."""


def look_up(name: str, known: Mapping[str, T], what: str) -> T:
    """What is known by this name; raises `UnknownName` with the known names where nothing is."""
    if name not in known:
        raise UnknownName(f"unknown {what} {name!r}; known are {', '.join(known)}")
    return known[name]


class BadOption(BadInput):
    """An option, setting or argument that is missing, out of range, or excluded by another one."""


class UnreadableInput(BadInput):
    """A file that is missing or has the wrong content."""


class UnusableDataset(BadInput):
    """A dataset that can be read and not be learned from."""


class UnfitConfiguration(BadInput):
    """A configuration that a flow or a search space does not have, or has no more."""


class TooFewRuns(BadInput):
    """Nothing, or too little, to learn from or to compare."""


class DamagedModel(BadInput):
    """A stored model or encoding that is cut off, changed, or of another version."""


class UnusableWarehouse(BadInput):
    """A directory without a warehouse, without the version that is asked for, or that may not be written."""


class NoWarehouse(UnusableWarehouse):
    """A place where there is no warehouse, and where one could be made."""


class Unwritable(BadInput):
    """A file or folder that can't be written: the disk is full or read-only, or permission is missing."""


class SystemRefusal(BadInput):
    """The system refuses, which says nothing about the content of files: too many are open, no permission."""


class RefusedRows(BadInput):
    """Rows that contradict each other, the warehouse, or their table."""


class MissingPackage(BadInput):
    """A package that is not installed."""


class Failed(HeadstartError):
    """The input was fine, the work could not be done (exit code 1).

    A server that does not answer, a time that is over, another process that does not let go.
    """


_REFUSALS = (
    errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.ENOSPC, errno.EDQUOT, errno.EACCES, errno.EPERM,
    errno.EROFS,
)  # fmt: skip
_TOO_MANY_FILES = "too many open files: raise the limit with `ulimit -n`"


def reason_of(error: BaseException) -> str:
    """The operating system's message in an error of a library, else the error's own text; one line."""
    code = _code_of(error)
    if code in (errno.EMFILE, errno.ENFILE):
        return _TOO_MANY_FILES
    return os.strerror(code) if code else one_line(error)


def raise_refusal(error: BaseException) -> None:
    """Raise `SystemRefusal` where a library's error is one of the system, and not about a damaged file."""
    code = _code_of(error)
    if isinstance(error, MemoryError) or code in _REFUSALS:
        name = getattr(error, "filename", None)
        reason = os.strerror(errno.ENOMEM) if isinstance(error, MemoryError) else reason_of(error)
        raise SystemRefusal(f"{name}: {reason}" if name else reason) from error


@contextmanager
def telling_refusals() -> Iterator[None]:
    """Raise `SystemRefusal` for a refusal of the system that nothing inside has told."""
    try:
        yield
    except (OSError, MemoryError) as error:
        raise_refusal(error)
        raise


def is_panic(error: BaseException) -> bool:
    """Whether a library in Rust gave up; `except Exception` does not catch that."""
    return type(error).__name__ == "PanicException"


def _code_of(error: BaseException) -> int | None:
    """The number of the system's error that a library's error tells of; None where there is none."""
    code = getattr(error, "errno", None)
    if code:
        return int(code)
    text = str(error)
    # As Rust's libraries, their panics, and Arrow tell it.
    number = re.search(r"(?:\(os error |Os { code: |\[errno )(\d+)", text)
    if number:
        return int(number[1])
    # DuckDB has the system's words.
    return next((code for code in _REFUSALS if re.search(rf": {os.strerror(code)}\b", text)), None)


def one_line(text: object) -> str:
    """`text`, such as the error of a library, without line breaks and runs of blanks."""
    return " ".join(str(text).split())
