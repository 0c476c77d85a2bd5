"""Functions that mkdocs calls while it builds the site.

Markdown files of the packages become pages (`docs.documents`), lines `{{ part }}` become generated parts of
the reference (`docs.reference`), and the first page of a section ends with a list of its pages.
"""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.nav import Section
from mkdocs.structure.pages import Page

from docs.documents import DOCUMENTS, ROOT, summary, with_links_of_site
from docs.reference import expanded

SECTIONS = ("tutorials", "how-to", "reference", "explanation", "project")
"""Folders whose first page lists the others."""


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the Markdown files that lie elsewhere in the repository."""
    for source, document in DOCUMENTS.items():
        files.append(File.generated(config, document.page, abs_src_path=str(ROOT / source)))
    return files


def on_page_markdown(markdown: str, page: Page, **_: Any) -> str:
    """Complete a page's Markdown before it becomes HTML."""
    text = with_links_of_site(expanded(markdown), page.file.src_uri)
    place = PurePosixPath(page.file.src_uri)
    if place.name == "index.md" and str(place.parent) in SECTIONS and page.parent is not None:
        text = f"{text.rstrip()}\n\n{_list_of_pages(page.parent, place.parent)}\n"
    return text


def _list_of_pages(section: Section, folder: PurePosixPath) -> str:
    """List the pages of a section with their titles and summaries."""
    items = []
    for child in section.children:
        if isinstance(child, Section):
            items.append(_list_of_pages(child, folder))
        elif isinstance(child, Page) and child.file.src_uri != f"{folder}/index.md":
            title, about = summary(child.file.content_string, child.file.src_uri)
            link = PurePosixPath(child.file.src_uri).relative_to(folder)
            items.append(f"- [{child.title or title}]({link})" + (f": {about}" if about else ""))
    return "\n".join(items)
