"""Markdown files of the repository as pages of the site, and links between them all.

Files link to one another by their places in the repository, so that the links work there, too. On the site,
a link to a file that isn't a page, such as a module, becomes plain text.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from mkdocs.utils.meta import get_data

ROOT = Path(__file__).resolve().parents[1]
PAGES = PurePosixPath("docs/pages")


@dataclass(frozen=True)
class Document:
    """A Markdown file that is shown on the site."""

    page: str
    """Path of the page on the site."""
    about: str
    """One-sentence summary."""


DOCUMENTS: Mapping[str, Document] = {
    "recommend/interop.md": Document(
        "how-to/other-tools.md", "Code to copy for Optuna, SMAC3, FLAML, Ray Tune and scikit-learn."
    ),
    "ingest/openml/README.md": Document(
        "how-to/openml.md", "Import other people's runs into your warehouse, over days if need be."
    ),
    "recommend/bo/README.md": Document(
        "explanation/search.md", "How `tune` works, its parts, and which search method wins when."
    ),
    "metalearners/README.md": Document(
        "explanation/meta-learners.md", "Models without some datasets, matrix factorization, and the thesis."
    ),
    "ingest/metafeatures/README.md": Document(
        "explanation/metafeatures.md", "Rules, agreement with OpenML, the benefit and cost of each group."
    ),
    "ingest/plans/README.md": Document(
        "explanation/starter.md", "Datasets, configurations, rows and families of the bundled starter."
    ),
    "recommend/papers.md": Document(
        "explanation/papers.md", "Each equation, algorithm, table and figure of five papers in the code."
    ),
    "README.md": Document("project/readme.md", "What Headstart does, what it prints, and how good it is."),
    "CONTRIBUTING.md": Document(
        "project/contributing.md", "Architecture, words, guarantees, and how to add a part."
    ),
    "CHANGELOG.md": Document("project/changelog.md", "What changed, and its effect."),
}
"""Repository file -> its page."""

_LINK = r"(?P<image>!?)\[(?P<text>(?:[^\[\]]|\[[^\]]*\])*)\]\((?P<target>[^)\s]+)\)"
_CODE = r"^(?P<fence>```|~~~).*?^(?P=fence)[ \t]*$|(?P<ticks>`+)(?!`)(?:(?!\n\n).)*?(?P=ticks)"
_LINK_OR_CODE = re.compile(f"{_CODE}|{_LINK}", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Link:
    """A link in a Markdown text."""

    text: str
    target: str
    """Path from the file that has the link; empty for a link within the file."""
    anchor: str
    """The anchor after `#`; may be empty."""
    is_image: bool
    whole: str

    @property
    def is_external(self) -> bool:
        """Whether it leads out of the repository."""
        return ":" in self.target


def links(markdown: str) -> Iterator[Link]:
    """The links in a text, except those in code."""
    for match in _LINK_OR_CODE.finditer(markdown):
        if match["target"] is not None:
            yield _link(match)


def with_links_of_site(markdown: str, page: str) -> str:
    """Rewrite the links of a page for the site.

    Args:
        markdown: text of the page.
        page: its path on the site.
    """
    source = next((file for file, one in DOCUMENTS.items() if one.page == page), f"{PAGES}/{page}")

    def of_site(match: re.Match[str]) -> str:
        if match["target"] is None:
            return match[0]
        link = _link(match)
        if not link.target or link.is_external:
            return link.whole
        there = _page_of(_joined(source, link.target))
        if there is None:
            return link.text
        path = os.path.relpath(there, PurePosixPath(page).parent)
        return f"{'!' * link.is_image}[{link.text}]({path}{'#' * bool(link.anchor)}{link.anchor})"

    return _LINK_OR_CODE.sub(of_site, markdown)


def summary(markdown: str, page: str) -> tuple[str, str]:
    """Title and summary of a page; the summary is its `description` or its document's, and may be empty."""
    body, facts = get_data(markdown)
    heading, _, _ = body.lstrip().partition("\n")
    of_document = next((one.about for one in DOCUMENTS.values() if one.page == page), "")
    about = str(facts.get("description", of_document))
    return heading.lstrip("# ").strip(), about


def _link(match: re.Match[str]) -> Link:
    target, _, anchor = match["target"].partition("#")
    return Link(match["text"], target, anchor, bool(match["image"]), match[0])


def _joined(source: str, target: str) -> str:
    """Repository path of a link's target."""
    return os.path.normpath(PurePosixPath(source).parent / target)


def _page_of(path: str) -> str | None:
    """Path on the site of a repository file; None if it has no page."""
    if PurePosixPath(path).is_relative_to(PAGES):
        return str(PurePosixPath(path).relative_to(PAGES))
    return DOCUMENTS[path].page if path in DOCUMENTS else None
