"""Python source from values: safe literals, and lines broken as by a formatter.

External text, such as a column's name, becomes source only through `literal` or `plain`.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

WIDTH = 88
"""Characters of a line, the default of Black and Ruff."""
INDENT = "    "


@dataclass(frozen=True)
class Raw:
    """Source written verbatim; never made from external text."""

    source: str


@dataclass(frozen=True)
class Call:
    """A call of a function or class."""

    function: str
    arguments: Sequence[Any] = ()
    keywords: Mapping[str, Any] = field(default_factory=dict)


def literal(value: object) -> str:
    """A text, number, truth value or None as source on one line."""
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, float) and not math.isfinite(value):
        return "np.nan" if math.isnan(value) else f'float("{value}")'
    if value is None or isinstance(value, bool | int | float):
        return repr(value).replace("e+", "e")
    raise TypeError(f"not a Python literal: {value!r}")


def _text(text: str) -> str:
    """A text in double quotes unless that needs more escapes; unprintable characters are escaped."""
    quote = '"' if text.count('"') <= text.count("'") else "'"
    return quote + "".join(f"\\{c}" if c == quote else _escaped(c) for c in text) + quote


def _escaped(character: str) -> str:
    return "'" if character == "'" else repr(character)[1:-1]


def plain(text: str) -> str:
    """A text for a comment or docstring: one line, without anything that would end it."""
    return "".join(_escaped(c) for c in text).replace('"', "'")


def width(source: str) -> int:
    """Columns that one line of source takes: wide characters take two, combining ones none."""
    return sum(
        0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in source
    )


def written(node: object, *, before: str = "", after: str = "", indent: str = "") -> str:
    """Source of a node (`Raw`, `Call`, list, tuple, dictionary or literal), broken where it is too long.

    Args:
        before: text before it on its first line, without the indent.
        after: text after it on its last line.
        indent: indentation of its lines.
    """
    flat = before + _flat(node) + after
    if width(indent + flat) <= WIDTH:
        return flat
    opened, items, closed = _parts(node)
    if not items:
        return flat
    inner = indent + INDENT
    lines = [inner + written(item, before=name, after=",", indent=inner) + "\n" for name, item in items]
    return f"{before}{opened}\n{''.join(lines)}{indent}{closed}{after}"


def assigned(name: str, value: object) -> str:
    """`name = value` on lines of its own; a text that is too long goes between parentheses."""
    source = written(value, before=f"{name} = ")
    flat = _flat(value)
    if isinstance(value, str) and width(source) > WIDTH and width(INDENT + flat) <= WIDTH:
        return f"{name} = (\n{INDENT}{flat}\n)\n"
    return source + "\n"


def _flat(node: object) -> str:
    if isinstance(node, Raw):
        return node.source
    opened, items, closed = _parts(node)
    if not items and not opened:
        return literal(node)
    inside = ", ".join(name + _flat(item) for name, item in items)
    only = isinstance(node, tuple) and len(items) == 1
    return f"{opened}{inside}{',' if only else ''}{closed}"


def _parts(node: object) -> tuple[str, list[tuple[str, Any]], str]:
    """Opening text of a node, its items with their prefixes, and closing text."""
    if isinstance(node, Call):
        named = [(f"{name}=", value) for name, value in node.keywords.items()]
        return f"{node.function}(", [*(("", one) for one in node.arguments), *named], ")"
    if isinstance(node, list):
        return "[", [("", one) for one in node], "]"
    if isinstance(node, tuple):
        return "(", [("", one) for one in node], ")"
    if isinstance(node, dict):
        return "{", [(f"{literal(key)}: ", value) for key, value in node.items()], "}"
    return "", [], ""
