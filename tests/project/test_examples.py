"""The examples of docstrings and documents run, and give what they say."""

import ast
import doctest
import re
from importlib import import_module
from pathlib import Path

import pytest

from tests.cases import each
from tests.project.blocks import blocks
from tests.project.documents import ROOT, documents

PACKAGES = ("warehouse", "ingest", "metalearners", "recommend")
MODULES = sorted(
    path.relative_to(ROOT).with_suffix("").as_posix().removesuffix("/__init__").replace("/", ".")
    for package in PACKAGES
    for path in (ROOT / package).rglob("*.py")
    if "\n    >>> " in path.read_text(encoding="utf-8")
)
TUTORIALS = ROOT / "docs" / "pages" / "tutorials"
"""Whose blocks go on from one another, and are run with their commands (`test_transcripts`)."""
BLOCKS = [
    (path.relative_to(ROOT).as_posix(), block.text)
    for path in documents()
    if not path.is_relative_to(TUTORIALS)
    for block in blocks(path)
    if block.language == "python" and block.not_run is None
]
OPTIONAL = {"flaml", "optuna", "ray", "smac"}
"""Packages that an installation need not have: what shows them is skipped without them."""


@pytest.fixture(autouse=True)
def _newcomer(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Someone in the project's root who has no warehouse yet."""
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def test_every_package_shows_how_it_is_used() -> None:
    assert set(PACKAGES) <= set(MODULES)


def test_the_examples_of_docstrings_give_what_they_say() -> None:
    results = {name: doctest.testmod(import_module(name)) for name in MODULES}
    assert [name for name, result in results.items() if result.failed or not result.attempted] == []


@pytest.fixture
def folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A folder that has the project's packages, for what a document writes."""
    for package in PACKAGES:
        (tmp_path / package).symlink_to(ROOT / package)
    monkeypatch.chdir(tmp_path)


@pytest.mark.usefixtures("folder", "asked_once")
@each(("document", "code"), BLOCKS)
def test_the_python_of_a_document_runs(document: str, code: str) -> None:
    for package in sorted(imported(code) & OPTIONAL):
        pytest.importorskip(package)
    brief = re.sub(r"\btrials=\d+", "trials=2", re.sub(r"time_budget=\d+", "time_budget=1", code))
    exec(compile(brief, document, "exec"), {})


def imported(code: str) -> set[str]:
    """Packages that the code imports."""
    nodes = list(ast.walk(ast.parse(code)))
    named = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    named += [str(node.module) for node in nodes if isinstance(node, ast.ImportFrom)]
    return {name.split(".")[0] for name in named}
