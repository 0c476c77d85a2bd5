"""The commands of the documentation run, in order, and print the output shown.

`pytest tests/project/test_transcripts.py --renew` writes the current output into the documents.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import os
import re
import shlex
import shutil
import sys
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path

import pytest

import ingest.cli
import metalearners.cli
import recommend.bo.cli
import recommend.cli
import warehouse.cli
from recommend.bo.tuning import deadline
from tests.openml_server.generated import generated_world
from tests.openml_server.server import OpenMLServer
from tests.project.blocks import Block, assert_shown, blocks, steps
from tests.project.documents import ROOT, documents
from tests.recommend.code.scripts import run_scripts

PROGRAMS: dict[str, Callable[[], None]] = {
    "ingest": ingest.cli.main,
    "metalearners": metalearners.cli.main,
    "recommend": recommend.cli.main,
    "tune": recommend.bo.cli.main,
    "warehouse": warehouse.cli.main,
}
"""Called in this process, since starting processes would take most of the time."""
COMMANDS = ("sh", "console")
TUTORIALS = ROOT / "docs" / "pages" / "tutorials"
"""Their Python blocks continue one another and the commands; others stand alone (`test_examples`)."""
SERVER = "http://127.0.0.1:8123"
"""Address of `tests.openml_server` in documents; a test serves at a free port instead."""
EXAMPLES = ROOT / "recommend" / "examples"


def is_run(block: Block, document: Path) -> bool:
    is_python = block.language == "python" and document.is_relative_to(TUTORIALS)
    return block.not_run is None and (block.language in COMMANDS or is_python)


PAGES = [path for path in documents() if any(is_run(block, path) for block in blocks(path))]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, asked_once: None) -> Path:  # noqa: ARG001
    """A newcomer's folder: the examples, tables `my.csv` and `large.csv`, and no warehouse yet."""
    work = tmp_path / "work"
    shutil.copytree(EXAMPLES, work / "recommend" / "examples")
    for name in ("my.csv", "large.csv"):
        shutil.copy(EXAMPLES / "subscribers.csv", work / name)
    monkeypatch.chdir(work)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr(
        deadline, "LEAST_LIMIT", 600.0
    )  # cut off by the end of a brief verification, not failed
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]))
    return work


@pytest.fixture
def server() -> Iterator[str]:
    """The address of a server with a small world of runs."""
    with OpenMLServer(generated_world()) as serving:
        yield serving.url.partition("/api")[0]


@pytest.mark.parametrize("document", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_the_commands_of_a_page_print_what_it_shows(
    document: Path,
    folder: Path,
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    names: dict[str, object] = {"__name__": "__main__"}
    server = request.getfixturevalue("server") if SERVER in document.read_text(encoding="utf-8") else SERVER
    for block in blocks(document):
        where = f"{document.relative_to(ROOT)}, line {block.line}"
        if block.file is not None:
            (folder / block.file).write_text(block.text, encoding="utf-8")
        if not is_run(block, document):
            continue
        if block.language == "python":
            exec(compile(block.text, where, "exec"), names)
            continue
        with without(block.without, monkeypatch):
            for step in steps(block):
                command = step.command.replace(SERVER, server)
                if step.printed is None:
                    command = re.sub(r"--trials \d+", "--trials 2", command)
                printed = outcome(command, monkeypatch, capsys)
                if step.printed is None:
                    continue
                try:
                    assert_shown(step.printed, printed)
                except pytest.fail.Exception:
                    if not request.config.getoption("--renew") or "..." in step.printed:
                        raise
                    renew(document, step.printed, printed)


def renew(document: Path, shown: Sequence[str], printed: str) -> None:
    """Replace the output shown in a document by what a command prints."""
    text = document.read_text(encoding="utf-8")
    document.write_text(text.replace("\n".join(shown) + "\n", printed, 1), encoding="utf-8")


def outcome(line: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> str:
    """Output of a command, which must succeed. Verifications are shortened."""
    command, _, into = re.sub(r"--verify \d+s", "--verify 2s", line).partition(" > ")
    program, *arguments = shlex.split(command)
    if program == "python":
        printed, complaints = run_scripts([tuple(arguments)], Path.cwd())
        assert not complaints, complaints
        return printed
    assert program in PROGRAMS, f"{program!r} is none of ours: mark the block as not run, and say why"
    monkeypatch.setattr(sys, "argv", [program, *arguments])
    capsys.readouterr()
    with pytest.raises(SystemExit) as end:
        PROGRAMS[program]()
    captured = capsys.readouterr()
    assert not end.value.code, f"{line}\n{captured.err}"
    if into:
        Path(into.strip()).write_text(captured.out, encoding="utf-8")
    return captured.out


@contextlib.contextmanager
def without(packages: Collection[str], monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Simulate that these packages are not installed."""
    find = importlib.util.find_spec
    with monkeypatch.context() as patch:
        patch.setattr(
            "ingest.flows.base.find_spec",
            lambda name, package=None: None if name in packages else find(name, package),
        )
        yield


def test_blocks_of_commands_have_a_language() -> None:
    """Blocks without a language are not run, so they must not contain Headstart's commands."""
    programs = {*PROGRAMS, "python", "pip", "make"}
    assert [
        f"{document.relative_to(ROOT)}, line {block.line}: say sh or console"
        for document in documents()
        for block in blocks(document)
        if block.language in ("", "text")
        if programs & {line.removeprefix("$ ").split(" ")[0] for line in block.text.splitlines() if line}
    ] == []


def test_shown_output_is_compared_with_printed_output() -> None:
    for shown, printed, are_alike in [
        (["fit 0.1 s, 0.753"], "fit   0.3 s,  0.754\n", True),
        (["0.753"], "0.793\n", False),
        (["Logistic regression"], "LightGBM\n", False),
        (["first", "...", "last"], "first\nsecond\nlast\n", True),
        (["first"], "first\nsecond\n", False),
        (["first", "second"], "first\n", False),
        (["in /home/me/runs"], "in /tmp/x/runs\n", True),
        (["1,000 rows"], "1,500 rows\n", False),
    ]:
        with contextlib.nullcontext() if are_alike else pytest.raises(pytest.fail.Exception):
            assert_shown(shown, printed)
