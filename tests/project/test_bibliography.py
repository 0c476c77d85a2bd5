"""Every publication that a docstring cites stands in the bibliography of the documentation."""

import re

from tests.project.documents import ROOT

PACKAGES = ("warehouse", "ingest", "metalearners", "recommend")
NAME = r"(?:van |Le )?[A-Z][a-z]+(?:-[A-Z][a-z]+)*"
CITATION = re.compile(rf"({NAME})((?:, {NAME})*(?: and {NAME}| and others| et al\.)?),? \(?(\d{{4}})\b")
"""Authors, and a year after them: "Jones, Schonlau and Welch 1998", "Feurer et al. 2022"."""
NO_AUTHOR = {"June 2026"}


def cited() -> set[str]:
    """First author and year of every citation."""
    found = set()
    for package in PACKAGES:
        for path in (ROOT / package).rglob("*.py"):
            text = re.sub(r"\s+", " ", path.read_text(encoding="utf-8"))
            found |= {f"{first} {year}" for first, _, year in CITATION.findall(text)}
    return found - NO_AUTHOR


def references() -> set[str]:
    """First author and year of every publication in the bibliography."""
    page = (ROOT / "docs" / "pages" / "bibliography.md").read_text(encoding="utf-8")
    return set(re.findall(r"^- \*\*(.+ \d{4})\*\*: .+", page, re.MULTILINE))


def test_citations_and_the_bibliography_are_the_same_publications() -> None:
    assert references() - {"van Hoof 2018"} == cited() - {"van Hoof 2018"}  # docstrings call it the thesis
