"""Text of command lines: parsing of times and lists, formatting of counts and messages."""

import os
import re
import unicodedata

from warehouse.support.errors import BadOption

LONGEST_SECONDS = 480 * 3600.0
"""Longest time limit: 20 days. Waiting system calls accept little more."""

_NOT_FOR_TERMINALS = {"Cc", "Cf", "Cs", "Zl", "Zp"}
_UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0}


def comma_separated(text: str) -> list[str]:
    """The words of a comma-separated list, stripped, without empty ones.

    >>> comma_separated("a, b,,c ")
    ['a', 'b', 'c']
    """
    return [word.strip() for word in text.split(",") if word.strip()]


def counted(count: int, things: str) -> str:
    """A number with its noun, given in the plural: `3 runs`, `1 run`.

    >>> counted(1, "runs"), counted(0, "runs"), counted(1200, "other datasets")
    ('1 run', '0 runs', '1,200 other datasets')
    >>> counted(1, "qualities"), counted(1, "classes"), counted(1, "searches"), counted(1, "values")
    ('1 quality', '1 class', '1 search', '1 value')
    """
    if count != 1:
        return f"{count:,} {things}"
    return "1 " + re.sub("ies$", "y", re.sub("(?<=ss|ch|sh)es$|(?<!ie)s$", "", things))


def printable(text: str) -> str:
    r"""`text` for a terminal, with escapes for what moves its cursor or changes colour or text direction.

    Line breaks and tabs stay. The escaped characters have Unicode's categories Cc, Cf, Cs, Zl and Zp.

    >>> printable("a\x1b[31m.csv")
    'a\\x1b[31m.csv'
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        character.encode("unicode_escape").decode()
        if unicodedata.category(character) in _NOT_FOR_TERMINALS and character not in "\n\t"
        else character
        for character in text
    )


def duration_in(variable: str, default: str, *, or_zero: bool = False) -> float:
    """Seconds in an environment variable.

    Args:
        default: the time if the variable is not set.
        or_zero: whether 0 is allowed.

    Raises:
        BadInput: as for `parse_duration`.
    """
    try:
        return parse_duration(os.environ.get(variable) or default, or_zero=or_zero)
    except BadOption as error:
        raise BadOption(f"{variable}: {error}") from None


def parse_duration(text: str, *, or_zero: bool = False) -> float:
    """Seconds of `90`, `60s`, `5m`, `1.5h`.

    Args:
        or_zero: whether 0 is allowed.

    Raises:
        BadInput: it has another form, is not positive, or exceeds `LONGEST_SECONDS`.
    """
    if or_zero and text.strip() in ("0", "0.0", "0s"):
        return 0.0
    found = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)([smh]?)", text.strip().lower())
    seconds = float(found[1]) * _UNITS[found[2] or "s"] if found else 0.0
    if not 0 < seconds <= LONGEST_SECONDS:
        hours = LONGEST_SECONDS / 3600
        raise BadOption(f"{text[:30]!r} is not a time: write 60s, 5m or 1h, at most {hours:g}h")
    return seconds
