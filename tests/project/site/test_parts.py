"""The reference leaves out nothing that can be named, and says what each of it is."""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from typing import Any

import pytest

from docs.parts import PARTS, expanded, parts_in
from docs.parts.api import PACKAGES, addresses
from docs.parts.commands import PROGRAMS, options_of, program
from docs.parts.learning import learner_classes
from docs.parts.markdown import fields_of
from ingest.flows import FLOWS
from ingest.flows.pipelines import PREPROCESSOR_SUMMARIES, PREPROCESSORS
from metalearners import LEARNERS
from recommend.bo.acquisition import ACQUISITIONS
from recommend.bo.selection import STRATEGIES
from recommend.bo.surrogates import SURROGATES
from recommend.bo.warmstart import STARTS, UNLEARNED_STARTS
from tests.project.documents import ROOT
from warehouse.measures import MEASURES
from warehouse.qualities import QUALITIES, SELECTIONS
from warehouse.schema import TABLES
from warehouse.support.bibliography import REFERENCES

PAGES = ROOT / "docs" / "pages"


@cache
def page(path: str) -> str:
    """A page as the site has it, before it becomes HTML."""
    return expanded((PAGES / path).read_text(encoding="utf-8"))


def missing(names: Iterator[str] | Mapping[str, object] | list[str], path: str) -> list[str]:
    """Those of the names that do not stand as code on the page."""
    return [name for name in names if f"`{name}`" not in page(path)]


def commands(name: str) -> Iterator[tuple[Any, str]]:
    """A program and its subcommands, each with the words that call it."""
    own = program(name)
    yield own, name
    yield from ((sub, f"{name} {word}") for word, sub in getattr(own, "commands", {}).items())


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_option_of_every_command_is_there_with_its_meaning(name: str) -> None:
    for own, path in commands(name):
        for names, _, meaning in options_of(own, path):
            assert meaning, f"{path} {names}"
            for option in re.findall(r"--[\w-]+", names):
                assert f"`{option}`" in page(f"reference/commands/{name}.md"), f"{path} {option}"
        assert f"{path}\n" in page(f"reference/commands/{name}.md")


@pytest.mark.parametrize("name", PROGRAMS)
def test_examples_of_help_are_shown_as_code(name: str) -> None:
    shown = page(f"reference/commands/{name}.md")
    for own, path in commands(name):
        for example in re.findall(rf"^(?:Example: |  )?({name} .*)$", own.help or "", re.MULTILINE):
            assert f"\n{' '.join(example.split())}\n" in shown, path


def test_every_measure_is_there_with_its_short_names_range_and_definition() -> None:
    for name, measure in MEASURES.items():
        assert missing([name, *measure.aliases], "reference/measures.md") == []
        assert measure.definition
        assert f"| {measure.range} |" in page("reference/measures.md")


def test_every_metafeature_is_there_with_definition_and_source() -> None:
    assert missing([quality.name for quality in QUALITIES], "reference/metafeatures.md") == []
    assert missing(SELECTIONS, "reference/metafeatures.md") == []
    assert all(quality.definition and quality.source for quality in QUALITIES)


def test_every_flow_is_there_with_its_hyperparameters() -> None:
    for name, flow in FLOWS.items():
        assert missing([name, *(own.name for own in flow.hyperparameters)], "reference/flows.md") == []


def test_every_decision_of_preprocessing_is_there() -> None:
    names = [own.name for hyperparameters in PREPROCESSORS.values() for own in hyperparameters]
    assert missing([*PREPROCESSORS, *names], "reference/preprocessing.md") == []
    assert set(PREPROCESSOR_SUMMARIES) == set(PREPROCESSORS)


@pytest.mark.parametrize("name", LEARNERS)
def test_every_learner_is_there_with_the_meaning_of_its_settings(name: str) -> None:
    assert f"## {name}\n" in page("reference/learners.md")
    for setting in fields_of(learner_classes()[name]):
        assert setting.meaning, setting.name
        assert f"`{setting.name}`" in page("reference/learners.md")


def test_every_part_of_a_search_is_there_with_a_summary() -> None:
    registries = (SURROGATES, ACQUISITIONS, STRATEGIES, STARTS, UNLEARNED_STARTS)
    assert [name for registry in registries for name in missing(registry, "reference/search.md")] == []
    assert all(one.summary for registry in (SURROGATES, STRATEGIES, STARTS) for one in registry.values())


def test_every_column_of_the_warehouse_is_there_with_its_meaning() -> None:
    for table in TABLES.values():
        assert table.meaning
        assert missing(table.schema.names, "reference/tables.md") == []


@pytest.mark.parametrize(("name", "keys"), [("seeds", 100), ("search-json", 40)])
def test_every_key_of_a_document_has_a_meaning(name: str, keys: int) -> None:
    shown = page(f"reference/{name}.md").splitlines()
    rows = [line.split(" | ") for line in shown if line.startswith("| `")]
    assert len(rows) > keys
    assert [row[0] for row in rows if not row[2].strip(" |")] == []


@pytest.mark.parametrize("package", PACKAGES)
def test_every_public_function_and_class_is_there(package: str) -> None:
    shown = page("reference/api.md")
    assert [address for address in addresses(package) if f"::: {address}\n" not in shown] == []


def test_every_environment_variable_that_is_read_is_there() -> None:
    read = set()
    for package in PACKAGES:
        for path in (ROOT / package).rglob("*.py"):
            read |= set(re.findall(r"environ\.get\(\"(\w+)\"", path.read_text(encoding="utf-8")))
    assert len(read) >= 3
    assert missing(sorted(read), "reference/environment.md") == []


def test_every_publication_is_in_the_bibliography() -> None:
    assert [short for short in REFERENCES if f"**{short}**" not in page("bibliography.md")] == []


def test_every_part_is_on_a_page() -> None:
    asked = {name for path in PAGES.rglob("*.md") for name, *_ in parts_in(path.read_text(encoding="utf-8"))}
    assert asked == set(PARTS)


def test_a_part_that_there_is_not_is_refused() -> None:
    with pytest.raises(KeyError, match="magic"):
        expanded("# Title\n\n{{ magic }}\n")


def test_modules_of_the_programs_are_those_that_are_installed() -> None:
    for module in PROGRAMS.values():
        assert import_module(module).main
