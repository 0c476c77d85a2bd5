"""Pages with hostile names, and a parser of pages."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser

HOSTILE = "<script>alert('x')</script>\N{RIGHT-TO-LEFT OVERRIDE}\x1b[31m&amp;\"{{ 7 * 7 }}"
"""A name that would run code, reverse, colour or hide the text around it."""


@dataclass
class Page(HTMLParser):
    """The tags and the text of a page."""

    html: str
    tags: list[str] = field(default_factory=list)
    attributes: list[tuple[str, str | None]] = field(default_factory=list)
    text: str = ""

    def __post_init__(self) -> None:
        super().__init__()
        self.feed(self.html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Record it."""
        self.tags.append(tag)
        self.attributes += attrs

    def handle_data(self, data: str) -> None:
        """Record it."""
        self.text += data


def assert_is_harmless(page: Page) -> None:
    """Check that nothing runs or is fetched, and that invisible characters are marked."""
    assert "script" not in page.tags
    assert not {name for name, _ in page.attributes if name.startswith("on") or name in ("src", "href")}
    assert not {"\x1b", "\N{RIGHT-TO-LEFT OVERRIDE}"} & set(page.html)
    assert "{{ 7 * 7 }}" in page.text
    assert "default-src 'none'" in page.html
