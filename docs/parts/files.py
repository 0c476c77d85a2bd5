"""Formats of files: JSON schemas as tables, and what modules, functions and fields say of the others."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import MISSING
from functools import reduce
from importlib import import_module
from pathlib import Path
from typing import Any

import recommend
from docs.parts.markdown import code, codes, fields_of, plain, table, text_of, value


def schema(name: str) -> str:
    """Every key of a document, as `recommend/NAME.schema.json` has it."""
    text = Path(recommend.__file__).with_name(f"{name}.schema.json").read_text(encoding="utf-8")
    return table(["key", "type", "meaning"], keys_of(json.loads(text)))


def keys_of(schema: Mapping[str, Any], path: str = "") -> Iterator[tuple[str, str, str]]:
    """Path, type and meaning of each key of a JSON schema; `[]` stands for the items of an array."""
    required = schema.get("required", ())
    for name, own in schema.get("properties", {}).items():
        place = f"{path}.{name}" if path else name
        optional = "" if name in required else "may be absent"
        parts = filter(None, [plain(own.get("description", "")), _limits(own), optional])
        yield code(place), _kind(own), "; ".join(parts)
        yield from keys_of(own, place)
        items = own.get("items")
        if isinstance(items, dict):
            yield from keys_of(items, f"{place}[]")
        if isinstance(own.get("additionalProperties"), dict):
            yield from keys_of(own["additionalProperties"], f"{place}.*")


def fields(address: str) -> str:
    """The fields of a dataclass, `module:Class`, with their defaults."""
    rows = [
        (code(own.name), _default(own.default), plain(own.meaning.replace("None =", "absent =")))
        for own in fields_of(_named(address))
    ]
    return table(["key", "default", "meaning"], rows)


def docstring(address: str) -> str:
    """What a module, or `module:name`, says of itself."""
    return text_of(_named(address).__doc__)


def _named(address: str) -> Any:
    module, _, name = address.partition(":")
    return reduce(getattr, filter(None, name.split(".")), import_module(module))


def _default(own: object) -> str:
    if own is MISSING:
        return "required"
    is_plain = isinstance(own, str | int | float)
    return value(own) if is_plain else ""


def _kind(own: Mapping[str, Any]) -> str:
    if "const" in own:
        return code(own["const"])
    if "enum" in own:
        return codes(own["enum"])
    kinds = own.get("type", "")
    kind = " or ".join([kinds] if isinstance(kinds, str) else kinds)
    items = own.get("items")
    if isinstance(items, dict) and isinstance(items.get("type"), str):
        return f"{kind} of {items['type']}s"
    return kind


def _limits(own: Mapping[str, Any]) -> str:
    low, high = own.get("minimum"), own.get("maximum")
    if low is not None and high is not None:
        return f"{low} to {high}"
    return "" if low is None else f"{low} or more"
