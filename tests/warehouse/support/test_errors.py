"""Errors: their exit codes, and messages of libraries in one line."""

import errno
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cases import each
from warehouse.support import errors
from warehouse.support.errors import (
    BadInput,
    Failed,
    HeadstartError,
    SystemRefusal,
    one_line,
    raise_refusal,
    telling_refusals,
)


def kinds_of(error: type[HeadstartError]) -> Iterator[type[HeadstartError]]:
    yield error
    for kind in error.__subclasses__():
        yield from kinds_of(kind)


def test_bad_input_of_every_kind_ends_a_command_with_2_and_failed_work_with_1() -> None:
    known = {kind for kind in kinds_of(HeadstartError) if kind.__module__ == errors.__name__}
    codes = {kind: kind("why").exit_code for kind in known}
    assert {kind for kind, code in codes.items() if code == 1} == {HeadstartError, Failed}
    assert {kind for kind, code in codes.items() if code == 2} == set(kinds_of(BadInput)) & known
    assert set(codes.values()) == {1, 2}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (ValueError("no such\n  column:\t'a'\n"), "no such column: 'a'"),
        (OSError(28, "No space left on device"), "[Errno 28] No space left on device"),
        ("a\r\nb\x0bc\u2028d\u00a0e", "a b c d e"),
        ("", ""),
    ],
)
def test_the_message_of_a_library_becomes_one_line(text: object, expected: str) -> None:
    assert one_line(text) == expected


@each(
    "error",
    [
        OSError(errno.EMFILE, "Too many open files"),
        OSError("Generic error: Too many open files (os error 24)"),  # deltalake
        OSError("Failed to open local file 'x'. Detail: [errno 24] Too many open files"),  # Arrow
        RuntimeError(
            'failed to create UnixStream: Os { code: 24, message: "Too many open files" }'
        ),  # a panic
        RuntimeError('IO Error: Cannot open file "x": Too many open files'),  # DuckDB
        OSError(errno.ENOSPC, "No space left on device"),
        PermissionError(errno.EACCES, "Permission denied", "x"),
        MemoryError(),
    ],
)
def test_refusals_of_the_system_are_not_damage(error: Exception) -> None:
    with pytest.raises(SystemRefusal) as refusal:
        raise_refusal(error)
    if "Too many" in str(error):
        assert str(refusal.value) == "too many open files: raise the limit with `ulimit -n`"


@each(
    "error", [OSError(errno.EIO, "Input/output error"), FileNotFoundError(errno.ENOENT, "x"), ValueError("x")]
)
def test_other_errors_of_a_file_may_be_damage(error: Exception) -> None:
    raise_refusal(error)


@each("error", [OSError(errno.EMFILE, "Too many open files"), MemoryError()])
def test_an_unhandled_refusal_is_reported_outside(error: Exception) -> None:
    with pytest.raises(SystemRefusal), telling_refusals():
        raise error


def test_other_errors_pass_unchanged() -> None:
    with pytest.raises(FileNotFoundError), telling_refusals():
        raise FileNotFoundError(errno.ENOENT, "x")


@given(text=st.text())
def test_one_line_keeps_every_word_and_has_no_line_break(text: str) -> None:
    line = one_line(text)
    assert line.split() == text.split()
    assert len(line.splitlines()) <= 1
    assert one_line(line) == line
