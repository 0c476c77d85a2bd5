"""Links between Markdown files lead somewhere, in the repository and on the site."""

import re
from pathlib import Path

from pymdownx.slugs import slugify

from docs.documents import DOCUMENTS, Link, links, summary, with_links_of_site
from tests.cases import each
from tests.project.documents import ROOT, documents

SLUG = slugify(case="lower")


def anchors(path: Path) -> set[str]:
    """Places in a document that a link can name; those of its headings."""
    text = re.sub(r"^```.*?^```", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    return {SLUG(heading.replace("`", ""), "-") for heading in re.findall(r"^#+ (.*)$", text, re.MULTILINE)}


def test_links_of_documents_lead_to_files_and_headings_that_exist() -> None:
    assert [
        f"{document.relative_to(ROOT)}: {link.whole}"
        for document in documents()
        for link in links(document.read_text(encoding="utf-8"))
        if not link.is_external and not leads_somewhere(link, document)
    ] == []


def leads_somewhere(link: Link, document: Path) -> bool:
    """Whether a link of the document leads to a file of the repository, and to a heading there."""
    target = (document.parent / link.target).resolve() if link.target else document
    if not target.is_relative_to(ROOT) or not target.exists():
        return False
    if not link.anchor or "{{ " in target.read_text(encoding="utf-8"):  # whose anchors the build checks
        return True
    return link.anchor in anchors(target)


def test_documents_that_are_shown_exist_and_have_places_of_their_own() -> None:
    assert all((ROOT / source).is_file() for source in DOCUMENTS)
    assert len({document.page for document in DOCUMENTS.values()}) == len(DOCUMENTS)


@each(
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
            "![a](docs/pages/images/overview.svg)",
            "project/readme.md",
            "![a](../images/overview.svg)",
        ),
        ("`[a](ranges.py)`", "how-to/other-tools.md", "`[a](ranges.py)`"),
        ("a ` tick\n\n[a](ranges.py) `", "how-to/other-tools.md", "a ` tick\n\na `"),
        ("```\n[a](ranges.py)\n```", "how-to/other-tools.md", "```\n[a](ranges.py)\n```"),
        ("``` python\nx[0](y)\n```\n[a](ranges.py)", "how-to/other-tools.md", "``` python\nx[0](y)\n```\na"),
    ],
)
def test_links_are_those_of_the_site(markdown: str, page: str, expected: str) -> None:
    assert with_links_of_site(markdown, page) == expected


@each(
    ("markdown", "page", "expected"),
    [
        ("---\ndescription: What it is.\n---\n# Title\n\nText.", "a.md", ("Title", "What it is.")),
        ("# Title\n\nText.", "a.md", ("Title", "")),
        ("# Changelog\n", "project/changelog.md", ("Changelog", "What changed, and its effect.")),
    ],
)
def test_a_page_is_summed_up_by_title_and_description(
    markdown: str, page: str, expected: tuple[str, str]
) -> None:
    assert summary(markdown, page) == expected
