"""The commands of the documentation are those of the programs."""

import re
import shlex
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

from typer.exceptions import TyperException
from typer.main import get_command

from ingest.cli import app as ingest
from metalearners.cli import app as metalearners
from recommend.bo.cli import app as tune
from recommend.cli import app as recommend
from tests.project.documents import ROOT, documents
from warehouse.cli import app as warehouse

PROGRAMS: dict[str, Any] = {
    "ingest": get_command(ingest),
    "metalearners": get_command(metalearners),
    "recommend": get_command(recommend),
    "tune": get_command(tune),
    "warehouse": get_command(warehouse),
}


def commands() -> Iterator[str]:
    """Every line that calls one of the programs, of the code blocks of documents and the examples of help."""
    for path in documents():
        for line in filter(is_command, code_lines(path)):
            yield line.partition(" > ")[0]
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
    commands: Mapping[str, Any] = getattr(PROGRAMS[program], "commands", {})
    return commands.keys()


def test_documented_commands_are_understood() -> None:
    """Their subcommands exist, and take these options and arguments; nothing is run."""
    refused = []
    for line in sorted(set(commands())):
        program, *arguments = shlex.split(line, comments=True)
        command = PROGRAMS[program]
        if arguments[0] in subcommands(program):
            command = command.commands[arguments.pop(0)]
        try:
            command.make_context(program, arguments).close()
        except TyperException as error:
            refused.append(f"{line}: {error}")
    assert refused == []


WRITTEN_BY_USERS = {
    "best.py",
    "first.py",
    "metalearners/learners/ridge.py",
    "tests/metalearners/learners/test_ridge.py",
}


def names_of_modules(text: str) -> Iterator[str]:
    """In text: the programs of studies, which fenced blocks call, are in the history."""
    yield from re.findall(r"`([\w/]+\.py)`", text)
    for module in re.findall(r"`python -m (tests[\w.]*\w)[ `]", text):
        path = module.replace(".", "/")
        yield f"{path}/__main__.py" if (ROOT / path).is_dir() else f"{path}.py"


def test_modules_that_documents_name_exist() -> None:
    """By their path, or by the end of it."""
    packages = ("docs", "ingest", "metalearners", "recommend", "tests", "warehouse")
    known = [f"/{path.relative_to(ROOT)}" for package in packages for path in (ROOT / package).rglob("*.py")]
    missing = [
        f"{document.relative_to(ROOT)}: {name}"
        for document in documents()
        for name in names_of_modules(document.read_text(encoding="utf-8"))
        if name not in WRITTEN_BY_USERS and not any(path.endswith(f"/{name}") for path in known)
    ]
    assert missing == []
