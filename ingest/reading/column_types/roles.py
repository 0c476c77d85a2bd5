"""Roles of columns."""

from collections import Counter
from collections.abc import Mapping
from enum import StrEnum


class Role(StrEnum):
    """Role of a column."""

    numeric = "numeric"
    categorical = "categorical"
    boolean = "boolean"
    date = "date"
    text = "text"  # long free text
    constant = "constant"  # one distinct value in every row, or no value at all
    identifier = "identifier"  # names the row


NOT_LEARNED_FROM = (Role.constant, Role.identifier)
"""Roles of columns that no pipeline uses."""
_NAMED = 5  # columns to name individually


def roles_in_words(roles: Mapping[str, Role]) -> str:
    """Describe the number of columns of each role, and the names of ignored ones.

    >>> roles_in_words({"age": Role.numeric, "city": Role.categorical, "row": Role.identifier})
    '1 numeric, 1 categorical; ignored: row (identifier)'
    """
    counts = Counter(roles.values())
    used = [f"{counts[role]:,} {role}" for role in Role if counts[role] and role not in NOT_LEARNED_FROM]
    ignored = [f"{name} ({role})" for name, role in roles.items() if role in NOT_LEARNED_FROM]
    if len(ignored) > _NAMED:
        ignored[_NAMED:] = [f"{len(ignored) - _NAMED:,} more"]
    parts = [", ".join(used) or "none to learn from"]
    return "; ".join([*parts, *([f"ignored: {', '.join(ignored)}"] if ignored else [])])
