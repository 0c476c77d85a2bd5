"""Errors, classified by what the caller can do next, and other libraries' errors as one line of text."""

import errno
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TypeVar

T = TypeVar("T")


class HeadstartError(Exception):
    """Base of every error that Headstart raises on purpose; its text is one line for the user."""

    exit_code = 1


class BadInput(HeadstartError):
    """Input that can't be used: change it and try again (exit code 2).

    For example an option, a missing or damaged file, a permission, or a full disk.
    """

    exit_code = 2


class UnknownName(BadInput):
    """An unknown name; the text lists the known ones if they are few."""


def look_up(name: str, known: Mapping[str, T], what: str) -> T:
    """The value of this name; raises `UnknownName` with the known names if there is none."""
    if name not in known:
        raise UnknownName(f"unknown {what} {name!r}; known are {', '.join(known)}")
    return known[name]


class BadOption(BadInput):
    """An option, setting or argument that is missing, out of range, or excluded by another one."""


class UnreadableInput(BadInput):
    """A file that is missing or has the wrong content."""


class UnusableDataset(BadInput):
    """A readable dataset that can't be learned from."""


class UnfitConfiguration(BadInput):
    """A configuration that a flow or a search space does not have, or no longer has."""


class TooFewRuns(BadInput):
    """Nothing, or too little, to learn from or to compare."""


class DamagedModel(BadInput):
    """A stored model or encoding that is cut off, changed, or of another version."""


class UnusableWarehouse(BadInput):
    """A directory that is not a warehouse, lacks the requested version, or can't be written."""


class NoWarehouse(UnusableWarehouse):
    """A place without a warehouse where one could be created."""


class Unwritable(BadInput):
    """A file or folder that can't be written: the disk is full or read-only, or permission is missing."""


class SystemRefusal(BadInput):
    """A refusal by the system that is not about the content of files: too many open files, no permission."""


class RefusedRows(BadInput):
    """Rows that contradict each other, the warehouse, or their table."""


class MissingPackage(BadInput):
    """A package that is not installed."""


class Failed(HeadstartError):
    """Work that could not be done although the input was fine (exit code 1).

    For example no answer from a server, a time limit, or a lock held by another process.
    """


_REFUSALS = (
    errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.ENOSPC, errno.EDQUOT, errno.EACCES, errno.EPERM,
    errno.EROFS,
)  # fmt: skip
_TOO_MANY_FILES = "too many open files: raise the limit with `ulimit -n`"


def reason_of(error: BaseException) -> str:
    """The operating system's message behind a library's error, else the error's own text; one line."""
    code = _code_of(error)
    if code in (errno.EMFILE, errno.ENFILE):
        return _TOO_MANY_FILES
    return os.strerror(code) if code else one_line(error)


def raise_refusal(error: BaseException) -> None:
    """Raise `SystemRefusal` if a library's error comes from the system, not from a damaged file."""
    code = _code_of(error)
    if isinstance(error, MemoryError) or code in _REFUSALS:
        name = getattr(error, "filename", None)
        reason = os.strerror(errno.ENOMEM) if isinstance(error, MemoryError) else reason_of(error)
        raise SystemRefusal(f"{name}: {reason}" if name else reason) from error


@contextmanager
def telling_refusals() -> Iterator[None]:
    """Raise `SystemRefusal` for refusals by the system within the block."""
    try:
        yield
    except (OSError, MemoryError) as error:
        raise_refusal(error)
        raise


def is_panic(error: BaseException) -> bool:
    """Whether a Rust library panicked, which `except Exception` does not catch."""
    return type(error).__name__ == "PanicException"


def _code_of(error: BaseException) -> int | None:
    """Number of the system error behind a library's error; None if there is none."""
    code = getattr(error, "errno", None)
    if code:
        return int(code)
    text = str(error)
    # Formats of Rust's libraries, their panics, and Arrow.
    number = re.search(r"(?:\(os error |Os { code: |\[errno )(\d+)", text)
    if number:
        return int(number[1])
    # DuckDB quotes the system's message.
    return next((code for code in _REFUSALS if re.search(rf": {os.strerror(code)}\b", text)), None)


def one_line(text: object) -> str:
    """`text`, such as a library's error, without line breaks and repeated blanks."""
    return " ".join(str(text).split())
