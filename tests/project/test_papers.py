"""The page on the five papers covers all their numbers, and names only existing things."""

import ast
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from ingest.flows import FLOWS
from metalearners import LEARNERS
from recommend.bo.simulation.methods import check
from recommend.bo.strategies import get_strategy
from recommend.bo.surrogates import all_surrogates
from recommend.bo.warmstart import NO_START, OPTIMAL, ORACLE, get_start
from tests.cases import each
from tests.project.documents import ROOT

PAGE = ROOT / "recommend" / "papers.md"
TEXT = PAGE.read_text(encoding="utf-8")
PAPERS = {section.split("\n", 1)[0]: section for section in TEXT.split("\n## ")[1:]}
"""Title -> section."""

Numbers = dict[str, dict[str, int]]
"""Kind -> chapter and its last number; chapter "" if numbers run through the whole paper."""
COUNTED: dict[str, Numbers] = {
    "van Hoof: ": {
        "Eq.": {"2.": 24, "3.": 2, "4.": 1, "5.": 2, "6.": 2, "7.": 1, "A.": 10},
        "Algorithm": {"": 3},
        "Table": {"3.": 8, "4.": 2, "5.": 3, "6.": 3, "B.": 1},
        "Figure": {"2.": 14, "3.": 1, "4.": 3, "5.": 10, "6.": 7, "7.": 3},
    },
    "van Hoof and Vanschoren": {
        "Eq.": {"": 8},
        "Algorithm": {"": 1},
        "Table": {"": 3, "A.": 0},
        "Figure": {"": 5, "A.": 1},
    },
    "Manolache": {"Eq.": {"": 21}, "Algorithm": {"": 2}, "Table": {"": 2}, "Figure": {"": 7}},
    "Rakotoarison": {"Eq.": {"": 5}, "Algorithm": {"": 1}, "Table": {}, "Figure": {"": 6}},
    "Fusi": {"Eq.": {"": 7}, "Algorithm": {}, "Table": {}, "Figure": {"": 3}},
}
"""Beginning of the title -> the paper's numbers, counted by hand. Hyperboost's Table A.0 counts from 0."""

NAMED_UNNUMBERED = {
    "van Hoof: ": (
        "UCB1-tuned",
        "epsilon-greedy",
        "increasing effort",
        "tree-level uncertainty",
        "extra trees",
        "learns from a space",
        "kappa",
        "KNN + LightGBM",
        "KNN-3",
        "OPT-3",
        "Hyperband",
        "every second trial at random",
    ),
    "van Hoof and Vanschoren": ("racing", "ROAR"),
    "Manolache": ("TST-R", "Matern 5/2"),
    "Rakotoarison": (
        "progressive widening",
        "playout",
        "MOSAIC.Vanilla",
        "MOSAIC.MetaLearning",
        "MOSAIC.Ensemble",
    ),
    "Fusi": ("expected improvement", "auto-sklearn, fmlp", "90 %"),
}
"""Unnumbered names of the papers that the project must have."""


def section(title: str) -> str:
    (found,) = (text for name, text in PAPERS.items() if name.startswith(title))
    return found


def rows(text: str) -> list[list[str]]:
    """The cells of each row of a section's table, without the header."""
    lines = [line for line in text.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines[2:]]


def stated(kind: str, text: str) -> Iterator[str]:
    """The numbers in the first cells of a section: "Eq. 2.2 to 2.4" is 2.2, 2.3 and 2.4."""
    numbers = re.compile(rf"{re.escape(kind)} (\w\.)?(\d+)(?: (?:to|and) (?:\w\.)?(\d+))?")
    for cell, *_ in rows(text):
        if found := numbers.fullmatch(cell):
            chapter, first, last = found.groups()
            yield from (f"{chapter or ''}{each}" for each in range(int(first), int(last or first) + 1))


def expected(numbers: Mapping[str, int]) -> list[str]:
    return [
        f"{chapter}{number}" for chapter, last in numbers.items() for number in range(min(last, 1), last + 1)
    ]


@each("title", COUNTED)
def test_every_number_and_every_name_of_a_paper_has_its_row(title: str) -> None:
    for kind, numbers in COUNTED[title].items():
        assert sorted(stated(kind, section(title))) == sorted(expected(numbers))
    unnumbered = "\n".join(what for number, what, *_ in rows(section(title)) if number.startswith("Section"))
    assert [name for name in NAMED_UNNUMBERED[title] if name not in unnumbered] == []


def test_a_row_has_a_reference_or_a_reason() -> None:
    for title in COUNTED:
        for number, what, where, remark in rows(section(title)):
            assert what, number
            assert where.startswith("`") or (where == "-" and remark), number


def named() -> set[tuple[str, str]]:
    """File and name of each reference, such as `recommend/seeds.py: choose_delta`; a file alone has ""."""
    found = re.findall(r"`([\w/]+\.(?:py|ipynb))(?:: ([\w., ]+))?`", TEXT)
    return {(file, name) for file, names in found for name in names.split(", ")}


def names_of(body: list[ast.stmt], prefix: str = "") -> Iterator[str]:
    """The names that a module or class defines, and the methods of its classes."""
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield prefix + node.name
        if isinstance(node, ast.ClassDef):
            yield from names_of(node.body, f"{prefix}{node.name}.")
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        for target in targets:
            parts = target.elts if isinstance(target, ast.Tuple) else [target]
            yield from (prefix + part.id for part in parts if isinstance(part, ast.Name))


def test_references_exist() -> None:
    assert [f"{file}: {name}" for file, name in sorted(named()) if not exists(ROOT / file, name)] == []


def exists(path: Path, name: str) -> bool:
    """Whether the file exists and defines this name, if any."""
    if not path.is_file() or not name:
        return path.is_file()
    return name in names_of(ast.parse(path.read_text(encoding="utf-8")).body)


def test_surrogates_strategies_starts_learners_flows_and_methods_exist() -> None:
    kinds = (
        r"(surrogate|strategy|strategies|start|learner|flow|method)s? ((?:`[^`]+`(?:, (?:and )?| and )?)+)"
    )
    for kind, quoted in re.findall(kinds, TEXT):
        for name in re.findall(r"`([^`]+)`", quoted):
            if kind == "surrogate":
                assert name in all_surrogates()
            elif kind == "start":
                assert name in (NO_START, OPTIMAL, ORACLE) or get_start(name)
            elif kind == "learner":
                assert name in LEARNERS
            elif kind == "flow":
                assert name in FLOWS
            elif kind == "method":
                check(name, "model")
            else:
                get_strategy(name)


def test_commands_name_methods_that_exist() -> None:
    methods = re.findall(r"--method (\S+)", TEXT)
    assert methods
    for method in methods:
        check(method, "table")


def test_readme_and_contributing_link_to_the_page() -> None:
    for document in ("README.md", "CONTRIBUTING.md"):
        assert f"({PAGE.relative_to(ROOT)})" in (ROOT / document).read_text(encoding="utf-8")
