"""Every publication that a docstring cites stands in the bibliography."""

import re
from pathlib import Path

from warehouse.support.bibliography import REFERENCES

ROOT = Path(__file__).resolve().parents[3]
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
            if path.name != "bibliography.py":
                text = re.sub(r"\s+", " ", path.read_text(encoding="utf-8"))
                found |= {f"{first} {year}" for first, _, year in CITATION.findall(text)}
    return found - NO_AUTHOR


def test_every_citation_has_its_reference() -> None:
    assert cited() <= set(REFERENCES)


def test_every_reference_is_cited() -> None:
    assert set(REFERENCES) - cited() <= {"van Hoof 2018"}  # which is called the thesis


def test_a_reference_names_authors_a_title_and_the_year() -> None:
    for key, reference in REFERENCES.items():
        authors, title = reference.split(": ", 1)
        assert authors
        assert key.rpartition(" ")[2] in title
