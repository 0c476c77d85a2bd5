"""The commands of the documentation are those of the programs."""

import shlex
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from ingest.cli import app as ingest
from metalearners.cli import app as metalearners
from recommend.bo.cli import app as tune
from recommend.cli import app as recommend
from tests.project.documents import ROOT, documents
from warehouse.cli import app as warehouse

PROGRAMS = {
    "ingest": ingest,
    "metalearners": metalearners,
    "recommend": recommend,
    "tune": tune,
    "warehouse": warehouse,
}


def commands() -> Iterator[str]:
    """Every line that calls one of the programs, of the code blocks of documents and the examples of help."""
    for path in documents():
        yield from filter(is_command, code_lines(path))
    for program in PROGRAMS:
        for path in (ROOT / program).rglob("cli.py"):
            yield from filter(is_command, map(str.strip, path.read_text(encoding="utf-8").splitlines()))


def code_lines(path: Path) -> Iterator[str]:
    """The lines of a document that stand between fences."""
    inside = False
    for line in path.read_text(encoding="utf-8").replace("\\\n", " ").splitlines():  # one line of several
        if line.startswith("```"):
            inside = not inside
        elif inside:
            yield line.strip()


def is_command(line: str) -> bool:
    program, *words = line.split(" ")
    return program in PROGRAMS and bool(words) and (words[0] in subcommands(program) or words[0] == "my.csv")


def subcommands(program: str) -> Collection[str]:
    return getattr(get_command(PROGRAMS[program]), "commands", {}).keys()


@pytest.mark.parametrize("line", sorted(set(commands())))
def test_a_documented_command_is_understood(line: str) -> None:
    """Its subcommand exists, and takes these options and arguments; nothing is run."""
    program, *arguments = shlex.split(line, comments=True)
    command: Any = get_command(PROGRAMS[program])
    if arguments[0] in subcommands(program):
        command = command.commands[arguments.pop(0)]
    command.make_context(program, arguments).close()
