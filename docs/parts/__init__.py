"""What the pages of the reference say that is made of the code.

A line `{{ NAME }}` or `{{ NAME ARGUMENT }}` of a page gives way to the Markdown that the function of this
name returns. A new part is a function and an entry of `PARTS`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from docs.parts import api, commands, files, learning, registries, searching

PARTS: Mapping[str, Callable[..., str]] = {
    "api": api.public_names,
    "command": commands.command,
    "environment": commands.exit_codes,
    "schema": files.schema,
    "fields": files.fields,
    "docstring": files.docstring,
    "tables": registries.tables,
    "measures": registries.measures,
    "metafeatures": registries.metafeatures,
    "selections": registries.selections,
    "flows": registries.flows,
    "preprocessors": registries.preprocessors,
    "decisions": registries.decisions,
    "learners": learning.learners,
    "surrogates": searching.surrogates,
    "acquisitions": searching.acquisitions,
    "strategies": searching.strategies,
    "starts": searching.starts,
    "bibliography": registries.bibliography,
}
"""Name -> function, of one argument or none, that returns Markdown."""

_MARKER = re.compile(r"^\{\{ (?P<name>[\w-]+)(?: (?P<argument>\S+))? \}\}$", re.MULTILINE)


def parts_in(markdown: str) -> list[tuple[str, ...]]:
    """Name, and argument where there is one, of each part that a page asks for."""
    return [tuple(filter(None, match.groups())) for match in _MARKER.finditer(markdown)]


def expanded(markdown: str) -> str:
    """A page with its parts.

    Raises:
        KeyError: it asks for a part that there is not.
    """
    return _MARKER.sub(lambda match: _part(*filter(None, match.groups())), markdown)


def _part(name: str, *arguments: str) -> str:
    return PARTS[name](*arguments)
