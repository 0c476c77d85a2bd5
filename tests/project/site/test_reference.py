"""The reference leaves out nothing that can be named, and says what each of it is."""

import re
from collections.abc import Iterable
from functools import cache
from importlib import import_module

import pytest

from docs.reference import PACKAGES, PARTS, PROGRAMS, addresses, expanded, plain, program, table
from ingest.flows import FLOWS
from ingest.flows.pipelines import PREPROCESSOR_SUMMARIES, PREPROCESSORS
from metalearners import LEARNERS
from recommend.bo.acquisition import ACQUISITIONS
from recommend.bo.strategies import all_strategies
from recommend.bo.surrogates import all_surrogates
from recommend.bo.warmstart import STARTS, UNLEARNED_STARTS
from tests.cases import each
from tests.project.documents import ROOT
from warehouse.vocabulary.measures import MEASURES
from warehouse.vocabulary.qualities import QUALITIES, SELECTIONS
from warehouse.vocabulary.schema import TABLES

PAGES = ROOT / "docs" / "pages"


@cache
def page(path: str) -> str:
    """A page as the site has it, before it becomes HTML."""
    return expanded((PAGES / path).read_text(encoding="utf-8"))


def missing(names: Iterable[str], path: str) -> list[str]:
    """Those of the names that do not stand as code on the page."""
    return [name for name in names if f"`{name}`" not in page(path)]


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_option_of_every_command_is_there_with_its_meaning(name: str) -> None:
    shown = page(f"reference/commands/{name}.md")
    own = program(name)
    for command in (own, *getattr(own, "commands", {}).values()):
        for option in (option for parameter in command.params for option in parameter.opts):
            assert re.search(rf"^\* `.*{re.escape(option.upper().strip('-'))}.*`: \w", shown.upper(), re.M), (
                option
            )
    assert import_module(PROGRAMS[name]).main


@each(
    ("names", "path"),
    [
        ([name for own in MEASURES.values() for name in (own.name, *own.aliases)], "measures"),
        ([*(quality.name for quality in QUALITIES), *SELECTIONS], "metafeatures"),
        (
            [
                name
                for flow in FLOWS.values()
                for name in (flow.name, *(p.name for p in flow.hyperparameters))
            ],
            "flows",
        ),
        ([*PREPROCESSORS, *(p.name for own in PREPROCESSORS.values() for p in own)], "preprocessing"),
        ([*all_surrogates(), *ACQUISITIONS, *all_strategies(), *STARTS, *UNLEARNED_STARTS], "search"),
        ([column for own in TABLES.values() for column in own.schema.names], "tables"),
    ],
)
def test_everything_with_a_name_is_there(names: list[str], path: str) -> None:
    assert missing(names, f"reference/{path}.md") == []


def test_everything_with_a_name_says_what_it_is() -> None:
    assert all(measure.definition for measure in MEASURES.values())
    assert all(quality.definition and quality.source for quality in QUALITIES)
    assert all(own.meaning for own in TABLES.values())
    assert set(PREPROCESSOR_SUMMARIES) == set(PREPROCESSORS)
    registries = (all_surrogates(), all_strategies(), STARTS)
    assert all(one.summary for registry in registries for one in registry.values())


@each("name", LEARNERS)
def test_every_learner_is_there(name: str) -> None:
    assert f"## {name}\n" in page("reference/learners.md")


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


def test_every_part_is_on_a_page_and_an_unknown_one_is_refused() -> None:
    pages = [path.read_text(encoding="utf-8") for path in PAGES.rglob("*.md")]
    assert {name for text in pages for name in re.findall(r"^\{\{ ([\w-]+)", text, re.MULTILINE)} == set(
        PARTS
    )
    with pytest.raises(KeyError, match="magic"):
        expanded("# Title\n\n{{ magic }}\n")


def test_cells_of_a_table_have_one_line_and_keep_bars() -> None:
    assert table(["a", "b"], [("x | y", "one\ntwo")]) == "| a | b |\n| --- | --- |\n| x \\| y | one two |"


def test_text_is_escaped_outside_of_code() -> None:
    assert plain("a <b> *c* `<d> _e_` f_g") == "a &lt;b&gt; \\*c\\* `<d> _e_` f\\_g"
