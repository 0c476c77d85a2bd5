"""Refusals of files that can't be opened; imports nothing heavy."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from warehouse.support.errors import UnreadableInput, reason_of


@contextmanager
def opening(path: Path) -> Iterator[None]:
    """Turn the errors of opening and reading `path` into refusals in one line.

    Raises:
        BadInput: there is no such file, or it can't be read.
    """
    shown = repr(str(path))
    try:
        yield
    except FileNotFoundError:
        raise UnreadableInput(f"there is no file {shown}") from None
    except IsADirectoryError:
        raise UnreadableInput(f"{shown} is a directory; give a file in it") from None
    except NotADirectoryError:
        raise UnreadableInput(f"{shown} leads through a file as if it were a directory") from None
    except PermissionError:
        raise UnreadableInput(f"no permission to read {shown}") from None
    except ValueError:
        raise UnreadableInput(f"{shown} is not a file name") from None
    except OSError as error:
        raise UnreadableInput(f"cannot read {shown}: {reason_of(error)}") from error
