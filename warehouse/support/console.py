"""Common parts of the command lines: one-line errors, exit codes, `--debug`, `--version`.

Typer parses; this module decides how a failure looks to the user: a line on stderr, exit code 2 for bad input
and 1 for failed work, a traceback only with `--debug`.
"""

import codecs
import errno
import io
import logging
import os
import shutil
import sys
import textwrap
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from importlib.metadata import version
from typing import Annotated, Any, Literal

import typer
from typer.core import TyperGroup

from warehouse.support.errors import BadInput, BadOption, HeadstartError, one_line, reason_of
from warehouse.support.interrupts import Interrupts, raised_interrupts
from warehouse.support.signals import INTERRUPTED
from warehouse.support.text import counted, parse_duration, printable

JsonOption = Annotated[
    Literal["table", "json"], typer.Option("--format", metavar="table|json", help="Output format.")
]
_PACKAGES = ("ingest", "metalearners", "recommend", "warehouse")
"""Packages whose log messages `progress` shows."""
_SECONDS_BETWEEN_LINES = 60.0
_REFUSALS = {
    errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO,
    errno.EEXIST, errno.ENOENT, errno.EISDIR, errno.ENOTDIR, errno.ELOOP, errno.ENAMETOOLONG,
}  # fmt: skip
"""System errors about a path or a disk, which are not bugs of Headstart."""
_BOLD, _PLAIN = "\ufdd0", "\ufdd1"
"""Placeholders for the start and end of bold text until output: Unicode has no characters there."""
_IN_ASCII = {"\u00b1": "+/-", "\u2013": "-", "\u2014": "-", "\u2026": "...", "\u00d7": "x"}
QuietOption = Annotated[bool, typer.Option("--quiet", help="No progress on stderr.")]


def began() -> float:
    """Start time of this process, on the clock of `time.monotonic`."""
    import psutil

    return time.monotonic() - (time.time() - float(psutil.Process().create_time()))


def new_app(help_text: str, group: type[TyperGroup] | None = None) -> typer.Typer:
    """A Typer application with plain help and without error handling of its own.

    Args:
        group: class that tells arguments from subcommands; None = Typer's.
    """
    return typer.Typer(
        help=help_text,
        cls=group,
        add_completion=True,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        no_args_is_help=True,
        context_settings={"help_option_names": ["-h", "--help"]},
    )


def assignment(text: str) -> tuple[str, str]:
    """The two parts of `NAME=VALUE`; the name may contain equals signs, the value not."""
    name, sign, value = text.rpartition("=")
    if not (name and sign and value):
        raise BadOption(f"{text!r} is not of the form NAME=VALUE")
    return name, value


def seconds(text: object, *, or_zero: bool = False) -> float:
    """Parse a time for an option; Typer prefixes the option's name to an error."""
    try:
        return parse_duration(str(text), or_zero=or_zero)
    except BadOption as error:
        raise typer.BadParameter(str(error)) from None


def seconds_or_zero(text: object) -> float:
    """Parse a time like `seconds`, but accept 0."""
    return seconds(text, or_zero=True)


@contextmanager
def progress(quiet: bool) -> Iterator[Callable[[str], None]]:
    """A function that shows a line of progress on stderr; our packages' log messages are shown as well.

    At a terminal and in a notebook each line replaces the previous one. Elsewhere, as in the log of a batch
    job, lines stay: each log message, and progress once a minute. With `--quiet` nothing is shown.
    """
    if quiet:
        yield lambda _: None
        return
    if sys.stderr.isatty():
        shown = _at_terminal()
    elif type(sys.stderr).__module__.startswith("ipykernel"):
        shown = _in_notebook()
    else:
        shown = _in_log()
    with shown as (show, step), _steps(step):
        yield show


_Shown = Iterator[tuple[Callable[[str], None], Callable[[str], None]]]
"""Functions that show progress and a log message."""


@contextmanager
def _at_terminal() -> _Shown:
    """One changing line; nothing is imported before the first one."""
    with ExitStack() as stack:
        lines: list[Any] = []

        def show(text: str) -> None:
            from rich.console import Console
            from rich.text import Text

            if not lines:
                lines.append(stack.enter_context(Console(stderr=True).status("")))
            lines[0].update(Text(printable(text)))  # names from outside must not be markup

        yield show, show


@contextmanager
def _in_notebook() -> _Shown:
    """One changing line, in the output of a cell."""
    longest = 0

    def show(text: str) -> None:
        nonlocal longest
        longest = max(longest, len(text))
        print(f"\r{text:{longest}}", end="", file=sys.stderr, flush=True)

    try:
        yield show, show
    finally:
        if longest:
            print(file=sys.stderr)


@contextmanager
def _in_log() -> _Shown:
    """Lines that stay: each log message, and progress once a minute."""
    last = time.monotonic()

    def step(text: str) -> None:
        nonlocal last
        last = time.monotonic()
        print(text, file=sys.stderr, flush=True)

    def show(text: str) -> None:
        if time.monotonic() - last >= _SECONDS_BETWEEN_LINES:
            step(text)

    yield show, step


class _Steps(logging.Handler):
    """Passes on log messages of level INFO; warnings are handled as usual."""

    def __init__(self, tell: Callable[[str], None]) -> None:
        super().__init__()
        self._tell = tell

    def emit(self, record: logging.LogRecord) -> None:
        if record.levelno == logging.INFO:
            self._tell(record.getMessage())
        elif record.levelno >= logging.WARNING and logging.lastResort is not None:
            logging.lastResort.handle(record)


@contextmanager
def _steps(tell: Callable[[str], None]) -> Iterator[None]:
    """Pass our packages' log messages within the block to `tell`."""
    handler = _Steps(tell)
    before = [(logger, logger.level) for logger in map(logging.getLogger, _PACKAGES)]
    for logger, _ in before:
        logger.addHandler(handler)
        logger.setLevel(logging.INFO)
    try:
        yield
    finally:
        for logger, level in before:
            logger.removeHandler(handler)
            logger.setLevel(level)


def rows_written(added: Mapping[str, int], changed: Mapping[str, int]) -> str:
    """Changes of each table in words: `added 3 runs, 6 evaluations; nothing changed`."""
    parts = []
    for verb, counts in (("added", added), ("changed", changed)):
        tables = ", ".join(counted(count, table) for table, count in counts.items() if count)
        parts.append(f"{verb} {tables}" if tables else f"nothing {verb}")
    return "; ".join(parts)


def duration(seconds: float) -> str:
    """A time for people: `0.4 s`, `40 s`, `12 min`, `3.5 h`."""
    if 0.05 <= seconds < 0.95:
        return f"{seconds:.1f} s"
    if seconds < 90:
        return f"{seconds:.0f} s"
    if seconds < 5400:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"


def short(value: object) -> str:
    """A hyperparameter's value for people."""
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def settings(values: Mapping[str, object]) -> str:
    """Hyperparameters with their values for people: `max_depth=3, alpha=0.1234`."""
    return ", ".join(f"{name}={short(value)}" for name, value in values.items())


def wrapped_table(header: Sequence[str], rows: Sequence[Sequence[str]], align: str) -> list[str]:
    """Lines of a table whose last column is wrapped at the width of the terminal.

    Args:
        align: `<` or `>` for each column but the last.
    """
    starts = aligned([row[:-1] for row in [header, *rows]], align)
    indent = " " * (len(starts[0]) + 2)
    width = max(shutil.get_terminal_size((110, 24)).columns, len(indent) + 40)
    return [
        line
        for start, row in zip(starts, [header, *rows], strict=True)
        for line in textwrap.wrap(
            f"{start}  {row[-1]}", width, subsequent_indent=indent, break_on_hyphens=False
        )
    ]


def aligned(rows: Sequence[Sequence[str]], align: str) -> list[str]:
    """Lines of a table, all of the same length.

    Args:
        align: `<` or `>` for each column.
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(f"{cell:{side}{width}}" for cell, side, width in zip(row, align, widths, strict=True))
        for row in rows
    ]


def bold(text: str) -> str:
    """`text`, in bold if standard output is a terminal (`_Terminal`)."""
    return f"{_BOLD}{text}{_PLAIN}" if isinstance(sys.stdout, _Terminal) and sys.stdout.has_styles else text


def main(app: typer.Typer) -> None:
    """Run `app` on the process's arguments and end the process with the right exit code.

    `--debug` may be anywhere, and shows the traceback of an error; `--version` must be the only argument.
    Signals that ask the process to end are treated as Ctrl-C: work in progress is ended and results so far
    are kept.
    """
    with raised_interrupts() as interrupts:
        try:
            _run(app, interrupts)
        except KeyboardInterrupt:
            _fail("interrupted", INTERRUPTED)


def _run(app: typer.Typer, interrupts: Interrupts) -> None:
    arguments = sys.argv[1:]
    if isinstance(sys.stdout, io.TextIOWrapper) and sys.stdout.isatty():
        encoding = sys.stdout.encoding
        sys.stdout = _Terminal(sys.stdout.detach(), encoding=encoding, line_buffering=True)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and not stream.encoding.lower().startswith("utf"):
            stream.reconfigure(errors="headstart.ascii")
    debug = "--debug" in arguments
    arguments = [argument for argument in arguments if argument != "--debug"]
    if arguments == ["--version"]:
        print(f"headstart {version('headstart')}")
        sys.exit(0)
    try:
        result: Any = app(arguments, standalone_mode=False)
        sys.stdout.flush()  # raises now, before the exit code, if it can't be written
    except BrokenPipeError:
        # The reader of our output went away (`| head`), which is no error.
        _drop_output()
        sys.exit(1)
    except Exception as error:
        if interrupts.noted:  # a library may have replaced the KeyboardInterrupt
            raise KeyboardInterrupt from error
        if debug:
            raise
        if type(error).__name__ == "NoArgsIsHelpError":  # its message is the help, which has many lines
            print(_formatted(error), file=sys.stderr)
            sys.exit(2)
        if isinstance(error, OSError) and error.errno in _REFUSALS:
            _drop_output()
            _fail(f"{error.filename or 'output'}: {reason_of(error)}", BadInput.exit_code)
        # Typer's own usage errors carry the code 2.
        _fail(_message(error), getattr(error, "exit_code", 1))
    else:
        if result == INTERRUPTED:  # Typer returns it for a KeyboardInterrupt
            raise KeyboardInterrupt
        if interrupts.noted:  # the results so far are printed
            sys.exit(INTERRUPTED)
        sys.exit(result if isinstance(result, int) else 0)


def _drop_output() -> None:
    """Discard output that can't be written, which the interpreter would otherwise try again at exit."""
    with suppress(OSError, ValueError):
        sys.stdout.flush()
        return
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


class _Terminal(io.TextIOWrapper):
    """Standard output of a terminal, which names from outside can't control."""

    @property
    def has_styles(self) -> bool:
        """Whether text may be bold: unless NO_COLOR is set or the terminal is dumb."""
        return not os.environ.get("NO_COLOR") and os.environ.get("TERM", "dumb") != "dumb"

    def write(self, text: str) -> int:
        styled = printable(text).replace(_BOLD, "\x1b[1m").replace(_PLAIN, "\x1b[0m")
        return super().write(styled)


def _in_ascii(error: UnicodeError) -> tuple[str, int]:
    """Replacement for characters missing from the output's encoding."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    lacking = error.object[error.start : error.end]
    return "".join(_IN_ASCII.get(character, "?") for character in lacking), error.end


codecs.register_error("headstart.ascii", _in_ascii)


def _message(error: Exception) -> str:
    text = _formatted(error)
    if not isinstance(error, HeadstartError) and not hasattr(error, "format_message"):
        text = f"{type(error).__name__}: {text} (run again with --debug for the details)"
    return one_line(text)


def _formatted(error: Exception) -> str:
    format_message = getattr(error, "format_message", None)
    text: str = format_message() if callable(format_message) else str(error)
    return text.replace("Value error, ", "")  # pydantic's prefix


def _fail(message: str, code: int) -> None:
    print(f"error: {printable(message)}", file=sys.stderr)
    sys.exit(code)
