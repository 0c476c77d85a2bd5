"""Blocks of code in Markdown, and how the output that a document shows is compared with a real one.

A comment in the lines above a block says what differs from just running it:

    <!-- not run: REASON -->            the block is not run, and why
    <!-- shown without: PACKAGES -->    what it prints where these packages are not installed
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

_FENCE = re.compile(r"^```(\w*)(?: title=\"([^\"]+)\")?$")
_COMMENT = re.compile(r"^<!-- (not run|shown without): (.+) -->$")
_VOLATILE = (
    (re.compile(r"\b\d[\d.]*(?:e-?\d+)? (?:ms|s|min|h)\b|\b0 s\b"), "TIME"),
    (re.compile(r"\b[0-9a-f]{16}\b"), "HASH"),
    (re.compile(r"\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d\S*"), "DATE"),
    (re.compile(r"(?<=[ ])/\S+/(?=\S)"), ""),
)
_NUMBER = re.compile(r"(?<![\w.])[-+]?\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?")
_LEAST_DIFFERENCE = 0.006
"""Up to which numbers are equal, or up to 2 % of them: another processor adds in another order."""


@dataclass(frozen=True)
class Block:
    """What stands between two fences."""

    line: int
    """Of the document, where it begins."""
    language: str
    file: str | None
    """Name of the file that it shows."""
    not_run: str | None
    """Why it is not run."""
    without: tuple[str, ...]
    """Packages that are not installed where it is run."""
    text: str


@dataclass(frozen=True)
class Step:
    """A command, and what it is shown to print; None where nothing is said of that."""

    command: str
    printed: tuple[str, ...] | None


def blocks(path: Path) -> Iterator[Block]:
    """The blocks of a Markdown document, in their order."""
    opened: tuple[int, re.Match[str]] | None = None
    remarks: dict[str, str] = {}
    inside: list[str] = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        fence = _FENCE.match(line)
        if opened is not None:
            if line == "```":
                at, head = opened
                without = tuple(remarks.get("shown without", "").split())
                text = "\n".join(inside) + "\n"
                yield Block(at, head[1], head[2], remarks.get("not run"), without, text)
                opened, remarks, inside = None, {}, []
            else:
                inside.append(line)
        elif fence:
            opened = number, fence
        elif remark := _COMMENT.match(line):
            remarks[remark[1]] = remark[2]
        elif line:
            remarks = {}


def steps(block: Block) -> list[Step]:
    """The commands of a block: all lines of `sh`, and those of `console` that begin with a dollar."""
    lines = block.text.replace("\\\n", " ").splitlines()
    if block.language != "console":
        commands = [line.split("  #")[0].strip() for line in lines]
        return [Step(command, None) for command in commands if command and not command.startswith("#")]
    found: list[Step] = []
    for line in lines:
        if line.startswith("$ "):
            found.append(Step(line[2:].strip(), ()))
        else:
            found[-1] = Step(found[-1].command, (*(found[-1].printed or ()), line))
    return found


def assert_shown(shown: Sequence[str], printed: str) -> None:
    """Compare what a document shows with what was printed, line by line.

    Times, dates and folders count for nothing, numbers may differ in the last digit that is shown, and a
    line `...` stands for any lines.
    """
    have = [normal for line in printed.splitlines() if (normal := _normal(line))]
    want = [normal for line in shown if (normal := _normal(line))]
    at, any_lines = 0, False
    for line in want:
        if line == "...":
            any_lines = True
            continue
        found = next((place for place in range(at, len(have)) if _alike(line, have[place])), None)
        if found is None or (found > at and not any_lines):
            pytest.fail(
                f"the document has\n  {line}\nwhere this is printed:\n" + "\n".join(have[at : at + 12])
            )
        at, any_lines = found + 1, False
    if at < len(have) and not any_lines:
        pytest.fail("the document lacks\n" + "\n".join(have[at:]))


def _normal(line: str) -> str:
    for pattern, word in _VOLATILE:
        line = pattern.sub(word, line)
    return " ".join(line.split())


def _alike(one: str, other: str) -> bool:
    if _NUMBER.sub("0", one) != _NUMBER.sub("0", other):
        return False
    pairs = zip(_NUMBER.findall(one), _NUMBER.findall(other), strict=True)
    return all(
        abs(x - y) <= max(_LEAST_DIFFERENCE, 0.02 * abs(x))
        for x, y in ((_value(a), _value(b)) for a, b in pairs)
    )


def _value(number: str) -> float:
    return float(number.replace(",", ""))
