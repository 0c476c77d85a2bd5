"""The examples of docstrings and documents run, and give what they say."""

import doctest
from importlib import import_module
from pathlib import Path

import pytest

from tests.project.documents import ROOT, documents

PACKAGES = ("warehouse", "ingest", "metalearners", "recommend")
MODULES = sorted(
    path.relative_to(ROOT).with_suffix("").as_posix().removesuffix("/__init__").replace("/", ".")
    for package in PACKAGES
    for path in (ROOT / package).rglob("*.py")
    if "\n    >>> " in path.read_text(encoding="utf-8")
)
DOCUMENTS = [
    path.relative_to(ROOT).as_posix()
    for path in documents()
    if "```python" in path.read_text(encoding="utf-8")
]


@pytest.fixture(autouse=True)
def _newcomer(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Someone in the project's root who has no warehouse yet."""
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def test_every_package_shows_how_it_is_used() -> None:
    assert set(PACKAGES) <= set(MODULES)


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_of_a_docstring_give_what_they_say(name: str) -> None:
    result = doctest.testmod(import_module(name))
    assert result.attempted
    assert not result.failed


@pytest.mark.parametrize("document", DOCUMENTS)
def test_the_python_of_a_document_runs(document: str) -> None:
    text = (ROOT / document).read_text(encoding="utf-8")
    for block in text.split("```python\n")[1:]:
        exec(compile(block.split("```")[0], document, "exec"), {})
