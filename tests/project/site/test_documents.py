"""Links between Markdown files lead somewhere, in the repository and on the site."""

import re
from pathlib import Path

import pytest
from pymdownx.slugs import slugify

from docs.documents import DOCUMENTS, links, summary, with_links_of_site
from tests.project.documents import ROOT, documents

SLUG = slugify(case="lower")


def anchors(path: Path) -> set[str]:
    """Places in a document that a link can name; those of its headings."""
    text = re.sub(r"^```.*?^```", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    return {SLUG(heading.replace("`", ""), "-") for heading in re.findall(r"^#+ (.*)$", text, re.MULTILINE)}


@pytest.mark.parametrize("document", documents(), ids=lambda path: str(path.relative_to(ROOT)))
def test_links_of_a_document_lead_to_files_and_headings_that_exist(document: Path) -> None:
    for link in links(document.read_text(encoding="utf-8")):
        if link.is_external:
            continue
        target = (document.parent / link.target).resolve() if link.target else document
        assert target.is_relative_to(ROOT), link.whole
        assert target.exists(), link.whole
        if link.anchor and "{{ " not in target.read_text(encoding="utf-8"):  # the build checks those
            assert link.anchor in anchors(target), link.whole


def test_documents_that_are_shown_exist_and_have_places_of_their_own() -> None:
    assert all((ROOT / source).is_file() for source in DOCUMENTS)
    assert len({document.page for document in DOCUMENTS.values()}) == len(DOCUMENTS)


@pytest.mark.parametrize(
    ("markdown", "page", "expected"),
    [
        ("[a](../../README.md)", "index.md", "[a](project/readme.md)"),
        (
            "[a](../README.md#how-good-it-is)",
            "explanation/papers.md",
            "[a](../project/readme.md#how-good-it-is)",
        ),
        ("[a](../glossary.md)", "reference/measures.md", "[a](../glossary.md)"),
        ("[a](ranges.py)", "how-to/other-tools.md", "a"),
        ("[a](https://example.org/b.md)", "index.md", "[a](https://example.org/b.md)"),
        ("[a](#b)", "index.md", "[a](#b)"),
        (
            "![a](pictures/starter.png)",
            "explanation/meta-learners.md",
            "![a](../pictures/metalearners/pictures/starter.png)",
        ),
        ("`[a](ranges.py)`", "how-to/other-tools.md", "`[a](ranges.py)`"),
        ("a ` tick\n\n[a](ranges.py) `", "how-to/other-tools.md", "a ` tick\n\na `"),
        ("```\n[a](ranges.py)\n```", "how-to/other-tools.md", "```\n[a](ranges.py)\n```"),
        ("``` python\nx[0](y)\n```\n[a](ranges.py)", "how-to/other-tools.md", "``` python\nx[0](y)\n```\na"),
    ],
)
def test_links_are_those_of_the_site(markdown: str, page: str, expected: str) -> None:
    assert with_links_of_site(markdown, page) == expected


@pytest.mark.parametrize(
    ("markdown", "page", "expected"),
    [
        ("---\ndescription: What it is.\n---\n# Title\n\nText.", "a.md", ("Title", "What it is.")),
        ("# Title\n\nText.", "a.md", ("Title", "")),
        ("# Changelog\n", "project/changelog.md", ("Changelog", "What changed, and what it brought.")),
    ],
)
def test_a_page_is_summed_up_by_title_and_description(
    markdown: str, page: str, expected: tuple[str, str]
) -> None:
    assert summary(markdown, page) == expected
