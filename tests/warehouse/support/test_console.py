"""Shared parts of all command lines."""

import io
import logging
import os
import pty
import subprocess
import sys
from collections.abc import Callable, Mapping
from importlib.metadata import version
from typing import Any

import pytest
import typer

from ingest.cli import main as ingest
from metalearners.cli import main as metalearners
from recommend.bo.cli import main as tune
from recommend.cli import main as recommend
from tests.commands import Run
from warehouse.cli import main as warehouse
from warehouse.support import console


@pytest.mark.parametrize("main", [ingest, metalearners, recommend, tune, warehouse])
def test_every_command_prints_its_version(main: Callable[[], None], run_command: Run) -> None:
    code, out, _ = run_command(main, "--version")
    assert (code, out) == (0, f"headstart {version('headstart')}\n")


def test_without_a_terminal_each_step_is_a_line_and_progress_one_a_minute(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 0.0
    monkeypatch.setattr("time.monotonic", lambda: now)
    with console.progress(False) as show:
        logging.getLogger("recommend.somewhere").info("training on %d runs", 3)
        show("1 of 9")
        now = 59.0
        show("2 of 9")
        now = 60.0
        show("3 of 9")
        now = 61.0
        show("4 of 9")
    logging.getLogger("recommend.somewhere").info("afterwards")
    captured = capsys.readouterr()
    assert captured.err.splitlines() == ["training on 3 runs", "3 of 9"]
    assert captured.out == ""


def test_in_a_notebook_each_line_replaces_the_one_before(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = type("OutStream", (io.StringIO,), {"__module__": "ipykernel.iostream"})()
    monkeypatch.setattr(sys, "stderr", stream)
    with console.progress(False) as show:
        for line in ("1 of 9, one failed", "2 of 9"):
            show(line)
    assert stream.getvalue() == "\r1 of 9, one failed\r2 of 9            \n"


def test_quiet_shows_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    with console.progress(True) as show:
        logging.getLogger("recommend.somewhere").info("training")
        show("1 of 9")
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("main", "arguments"),
    [
        (recommend, ["my.csv", "--budget"]),
        (recommend, ["my.csv", "--verify"]),
        (tune, ["my.csv", "--time"]),
        (tune, ["my.csv", "--trial-time"]),
        (ingest, ["experiments", "--time-limit"]),
    ],
)
@pytest.mark.parametrize("time", ["nan", "1e18", "-5", "0"])
def test_invalid_times_are_refused_alike_before_any_work(
    main: Callable[[], None], arguments: list[str], time: str, run_command: Run
) -> None:
    code, _, err = run_command(main, *arguments, time)
    value = f"error: Invalid value for '{arguments[-1]}': '{time}'"
    assert (code, err) == (2, f"{value} is not a time: write 60s, 5m or 1h, at most 480h\n")


@pytest.mark.parametrize("time", ["nan", "1e18", "-5"])
def test_a_budget_of_metafeatures_may_be_0_but_not_invalid(time: str) -> None:
    assert console.seconds_or_zero("0") == 0
    with pytest.raises(typer.BadParameter, match="is not a time"):
        console.seconds_or_zero(time)


SAYS = r"""
from warehouse.support import console
app = console.new_app("")

@app.command(no_args_is_help=False)
def say() -> None:
    print(console.bold("name"), "\u00b1 \x1b[31m")

console.main(app)
"""


SHOWS = r"""
from warehouse.support import console

for name in ("a[/b].csv", "[red]x[/red]\x1b[31m.csv"):
    with console.progress(False) as show:
        show(f"reading {name}")
"""


def in_a_terminal(environment: Mapping[str, str], program: str = SAYS, stream: str = "stdout") -> str:
    """Output of a program in a terminal; by default a bold name, a sign and an escape sequence."""
    parent, child = pty.openpty()
    streams: dict[str, Any] = {stream: child}
    subprocess.run([sys.executable, "-c", program], env={**os.environ, **environment}, check=True, **streams)
    os.close(child)
    sent = os.read(parent, 10_000).decode()
    os.close(parent)
    return sent.strip()


def test_names_are_not_markup_in_progress() -> None:
    sent = in_a_terminal({"TERM": "xterm", "NO_COLOR": "1"}, SHOWS, "stderr")
    assert "reading a[/b].csv" in sent
    assert "reading [red]x[/red]\\x1b[31m.csv" in sent


def test_only_headstarts_own_styles_reach_a_terminal() -> None:
    assert in_a_terminal({"TERM": "xterm", "NO_COLOR": ""}) == "\x1b[1mname\x1b[0m \u00b1 \\x1b[31m"
    assert in_a_terminal({"TERM": "xterm", "NO_COLOR": "1"}) == "name \u00b1 \\x1b[31m"


def test_signs_are_spelled_out_in_ascii_output() -> None:
    ascii_only = {"TERM": "dumb", "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONIOENCODING": "ascii"}
    assert in_a_terminal(ascii_only) == "name +/- \\x1b[31m"
