"""What people write on command lines, and what they read there."""

import unicodedata

_NOT_FOR_TERMINALS = {"Cc", "Cf", "Cs", "Zl", "Zp"}


def comma_separated(text: str) -> list[str]:
    """The words of a comma-separated list, without blanks around them and without empty ones.

    >>> comma_separated("a, b,,c ")
    ['a', 'b', 'c']
    """
    return [word.strip() for word in text.split(",") if word.strip()]


def printable(text: str) -> str:
    r"""`text` for a terminal: what would move its cursor, colour it or turn its direction is spelled out.

    Line breaks and tabs stay. Unicode's categories of these are Cc, Cf, Cs, Zl and Zp.

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
