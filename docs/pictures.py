"""Draws `pages/images/gains.svg`, which suits light and dark pages.

    python docs/pictures.py

Its figures come from the first table of the section on whole tables in `pages/explanation/how-good-it-is.md`.
`overview.svg` beside it was drawn with the same style and is edited by hand.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

PAGES = Path(__file__).parent / "pages"
PICTURE = PAGES / "images" / "gains.svg"
TABLES = 60
"""Number of tables on which all contenders were trained."""
STYLE = """\
  <style>
    svg {
      --ink: #1f2328; --quiet: #59636e; --page: #ffffff; --line: #d1d9e0; --card: #f6f8fa; --on: #ffffff;
      --blue: #0072b2; --grey: #b0b8c0; --orange: #e69f00;
      font: 14px system-ui, -apple-system, "Segoe UI", Helvetica, Arial, sans-serif;
    }
    @media (prefers-color-scheme: dark) {
      svg {
        --ink: #f0f6fc; --quiet: #9198a1; --page: #0d1117; --line: #3d444d; --card: #151b23; --on: #0d1117;
        --blue: #56b4e9; --grey: #8b949e;
      }
    }
    text { fill: var(--ink) }
    .quiet { fill: var(--quiet) } .on { fill: var(--on) } .dark { fill: #1f2328 } .tip { fill: var(--quiet) }
    .small { font-size: 12px } .strong { font-weight: 600 } .end { text-anchor: end }
    .middle { text-anchor: middle } .mono { font-family: ui-monospace, Menlo, monospace }
    .page { fill: var(--page) } .card { fill: var(--card); stroke: var(--line) }
    .line { stroke: var(--quiet); fill: none; stroke-width: 1.5 }
    .better { fill: var(--blue) } .same { fill: var(--grey) } .worse { fill: var(--orange) }
  </style>"""


def picture() -> str:
    """The picture as SVG."""
    return gains(contenders((PAGES / "explanation" / "how-good-it-is.md").read_text(encoding="utf-8")))


@dataclass(frozen=True)
class Contender:
    """A competitor of a recommendation."""

    name: str
    better: int
    """Tables on which the recommendation was better."""
    worse: int
    p: str


def contenders(page: str) -> list[tuple[str, list[Contender]]]:
    """Read the first comparison on whole tables: the competitors of our first, and those of our average."""
    section = page.split("## On whole tables")[1].split("\n## ")[0]
    found: dict[str, list[Contender]] = {"Our first, against": [], "Our average of three, against": []}
    table = section.split("\n\n| ")[1].split("\n\n")[0]
    for line in table.splitlines()[2:]:
        name, *cells = (cell.strip() for cell in line.strip("|").split("|"))
        for (won, p), rows in zip((cells[2:4], cells[4:6]), found.values(), strict=True):
            if not name.startswith("**") and (counts := re.match(r"(\d+) - (\d+)", won)):
                rows.append(Contender(name, int(counts[1]), int(counts[2]), p))
    return list(found.items())


def gains(groups: Sequence[tuple[str, Sequence[Contender]]]) -> str:
    """A bar for each contender: the tables on which Headstart was better, as good, and worse."""
    left, width, height = 330, 330, 24
    scale = width / TABLES
    parts, y = [], 84
    for heading, rows in groups:
        parts.append(text(12, y, heading, "strong"))
        y += 14
        for row in rows:
            same = TABLES - row.better - row.worse
            parts.append(text(left - 10, y + 16, row.name, "end"))
            start = float(left)
            for count, kind, ink in (
                (row.better, "better", "on"),
                (same, "same", "dark"),
                (row.worse, "worse", "dark"),
            ):
                if count:
                    span = count * scale
                    size = f'width="{span - 1:.1f}" height="{height - 4}"'
                    parts.append(f'<rect class="{kind}" x="{start:.1f}" y="{y}" {size}/>')
                    parts.append(text(start + span / 2, y + 15, str(count), f"middle small {ink}"))
                    start += span
            parts.append(text(left + width + 12, y + 15, f"p = {row.p}", "quiet small"))
            y += height
        y += 28
    head = [
        text(12, 24, f"On how many of {TABLES} held-out tables Headstart's recommendation was:", "strong"),
        *legend(12, 38),
    ]
    foot = text(
        12,
        y - 8,
        "Accuracy on held-out rows; no run on the table or its near copies was known. "
        "p: Wilcoxon, two-sided, Holm.",
        "quiet small",
    )
    told = "Headstart's recommendation is better than each contender"
    label = f"Bars: on how many of {TABLES} held-out tables {told}."
    return svg(760, y + 8, label, [*head, *parts, foot])


def legend(x: float, y: float) -> list[str]:
    """Three colours with their meanings."""
    parts = []
    for kind, words, wide in (
        ("better", "better than", 110),
        ("same", "exactly as good as", 166),
        ("worse", "worse than", 100),
    ):
        parts.append(f'<rect class="{kind}" x="{x}" y="{y}" width="14" height="14"/>')
        parts.append(text(x + 20, y + 12, words))
        x += wide
    return parts


def text(x: float, y: float, words: str, kind: str = "") -> str:
    """A line of text whose baseline is at (x, y)."""
    of_kind = f' class="{kind}"' if kind else ""
    return f'<text{of_kind} x="{x:g}" y="{y:g}" xml:space="preserve">{escape(words)}</text>'


def svg(width: int, height: int, label: str, parts: Sequence[str]) -> str:
    """A complete picture, with a label for screen readers."""
    size = f'viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-label="{escape(label)}">',
        STYLE,
    ]
    # Its own background: the surrounding page may be dark while the system is light, or vice versa.
    page = f'  <rect class="page" width="{width}" height="{height}" rx="8"/>'
    return "\n".join([*lines, page, *(f"  {part}" for part in parts), "</svg>", ""])


if __name__ == "__main__":
    PICTURE.write_text(picture(), encoding="utf-8")
