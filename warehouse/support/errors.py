"""Errors sorted by what the caller can do next, and how another's error becomes part of our one line."""


class HeadstartError(Exception):
    """Root of every error that Headstart raises on purpose; its text is one line for the user."""

    exit_code = 1


class BadInput(HeadstartError):
    """What came from outside cannot be used: change the input and try again (exit code 2)."""

    exit_code = 2


class Failed(HeadstartError):
    """The input was fine, the work could not be done (exit code 1)."""


def one_line(text: object) -> str:
    """`text`, such as the error of a library, without line breaks and runs of blanks."""
    return " ".join(str(text).split())
