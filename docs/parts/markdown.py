"""Tables and prose in Markdown, and what the source says of fields."""

from __future__ import annotations

import ast
import inspect
import json
import re
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import MISSING, dataclass, fields
from html import escape
from typing import Any

_SECTION = re.compile(r"(Args|Returns|Raises|Example|Notation)\b.*:?\n")
_ENTRY = re.compile(r"(?P<name>\S+(?: \S+)*?) {2,}(?P<meaning>\S.*)")


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table; cells are Markdown of one line."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(_cell(cell) for cell in line)} |" for line in lines)


def code(text: object) -> str:
    """`text` as code."""
    return f"`{text}`"


def codes(names: Iterable[object]) -> str:
    """Names as code, separated by commas."""
    return ", ".join(map(code, names))


def plain(text: object) -> str:
    """`text` with nothing in it that Markdown or HTML would read, except code."""
    parts = str(text).split("`")
    parts[::2] = [re.sub(r"([*_\[\]])", r"\\\1", escape(part, quote=False)) for part in parts[::2]]
    return "`".join(parts)


def value(own: object) -> str:
    """A value as JSON writes it, as code; long lists are cut."""
    if isinstance(own, tuple | list) and len(own) > 4:
        return f"{len(own)} names, {code(own[0])} first"
    return code(json.dumps(own))


def first_paragraph(docstring: str | None) -> str:
    """What a docstring says before its first empty line, in one line."""
    return " ".join(inspect.cleandoc(docstring or "").partition("\n\n")[0].split())


def gist(docstring: str | None) -> str:
    """The first paragraph without its full stop, as a cell of a table has it."""
    return plain(first_paragraph(docstring).removesuffix("."))


def preformatted(text: str, language: str = "") -> str:
    """A block of code."""
    return f"```{language}\n{textwrap.dedent(text).strip()}\n```"


def text_of(docstring: str | None) -> str:
    """A docstring as Markdown: paragraphs, lists of names with what they are as tables, and code.

    What it says of arguments, results and errors is left out.
    """
    paragraphs = inspect.cleandoc(docstring or "").split("\n\n")
    return "\n\n".join(_paragraph(each) for each in paragraphs if not _SECTION.match(each))


def _paragraph(text: str) -> str:
    lines = textwrap.dedent(text).splitlines()
    entries: list[list[str]] = []
    for line in lines:
        if entry := _ENTRY.match(line):
            entries.append([code(entry["name"]), plain(entry["meaning"])])
        elif entries and line.startswith("  "):
            entries[-1][1] += f" {plain(line.strip())}"
        else:
            entries.clear()
            break
    if entries:
        return table(["name", "what it is"], entries)
    return preformatted(text) if text.startswith("  ") else plain(text)


@dataclass(frozen=True)
class Field:
    """A field of a dataclass as its source has it."""

    name: str
    kind: str
    """Type of the field, as it is written."""
    default: object
    """`MISSING` where it has none."""
    meaning: str
    """The docstring below it."""


def fields_of(cls: type[Any]) -> list[Field]:
    """The public fields of a dataclass, those of its bases first."""
    written: dict[str, tuple[str, str]] = {}
    for base in reversed(cls.__mro__):
        for name, (kind, meaning) in _annotated(base):
            written[name] = kind, meaning or written.get(name, ("", ""))[1]
    found = []
    for own in fields(cls):
        kind, meaning = written[own.name]
        if not own.name.startswith("_"):
            default = own.default if own.default_factory is MISSING else own.default_factory()
            found.append(Field(own.name, kind, default, meaning))
    return found


def _annotated(cls: type[Any]) -> Iterator[tuple[str, tuple[str, str]]]:
    """Name, type and docstring of each annotated name that a class itself has."""
    try:
        (node,) = ast.parse(textwrap.dedent(inspect.getsource(cls))).body
    except (OSError, TypeError):  # a class of Python's own
        return
    assert isinstance(node, ast.ClassDef)
    for statement, after in zip(node.body, [*node.body[1:], None], strict=True):
        if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
            meaning = ""
            if isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant):
                meaning = " ".join(str(after.value.value).split())
            yield statement.target.id, (ast.unparse(statement.annotation), meaning)


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
