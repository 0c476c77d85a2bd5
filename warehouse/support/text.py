"""What people write on command lines."""


def comma_separated(text: str) -> list[str]:
    """The words of a comma-separated list, without blanks around them and without empty ones.

    >>> comma_separated("a, b,,c ")
    ['a', 'b', 'c']
    """
    return [word.strip() for word in text.split(",") if word.strip()]
