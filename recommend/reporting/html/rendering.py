"""Rendering of templates; inserted text is escaped, and invisible characters are replaced by a mark."""

from __future__ import annotations

from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from warehouse.support import console
from warehouse.support.text import counted
from warehouse.vocabulary.measures import measure_title

NO_BREAK = "\N{NO-BREAK SPACE}"
INVISIBLE = "\N{REPLACEMENT CHARACTER}"


def render(template: str, **values: Any) -> str:
    """The HTML of a template of this package."""
    return _environment().get_template(template).render(**values)


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("recommend.reporting.html"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=lambda value: shown(value) if type(value) is str else value,
    )
    environment.filters |= {
        "short": console.short,
        "duration": duration,
        "counted": counted,
        "measure_title": measure_title,
        "sentence": lambda text: text[:1].upper() + text[1:],
    }
    return environment


def duration(seconds: float) -> str:
    """Human-readable seconds, on one line."""
    return console.duration(max(seconds, 0.1)).replace(" ", NO_BREAK)


def shown(text: str) -> str:
    """The text with a mark in place of each unprintable character, such as those that change direction."""
    return "".join(
        letter if letter.isprintable() or letter in f"\n\t{NO_BREAK}" else INVISIBLE for letter in text
    )
