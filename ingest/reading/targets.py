"""Choice of the target among the columns, where the user names none."""

import difflib
import re
from collections.abc import Sequence

import pandas as pd

from ingest.reading.columns import tidied
from ingest.reading.encoding import quoted
from ingest.reading.tables import RawTable
from warehouse.support.errors import UnknownName

MOST_CLASSES = 30
"""Different whole numbers that still are classes: a choice, not a rule."""

_NAMED = 5  # columns that are named one by one
_NAMES = ("class", "target", "label", "y")
_OUTCOMES = frozenset({
    "approved", "attrition", "canceled", "cancelled", "choice", "churn", "churned", "classes",
    "classification", "converted", "death", "defaulted", "diagnosis", "died", "fraud", "fraudulent",
    "outcome", "purchase", "purchased", "response", "survival", "survived", "vote", "voted",
})  # fmt: skip
_LABEL_LIKE = frozenset({"label", "outcome", "target"})
_FILLERS = frozenset({"binary", "final", "flag", "has", "indicator", "is", "was"})
_WORD_BOUNDARY_IN_CAMEL_CASE = re.compile(r"([a-z0-9])([A-Z])")


def choose_target(table: RawTable, given: str | None) -> tuple[str, str]:
    """The target's column, and the sentence that says why.

    In this order: the one that is given; the one that the source names; a column called class, target, label
    or y (in any case of letters); the only column of classes whose name is that of an outcome (`churned`,
    `is_fraud`, `final_outcome`), or the last one, if it is among several such; the column of classes that
    the dataset is named after (`room_type` of `airbnb_room_type.csv`); the last column.

    Raises:
        BadInput: there is no column `given`.
    """
    columns = list(table.frame.columns)
    if given is not None:
        if given not in columns:
            raise UnknownName(f"there is no column {quoted(given)}; {suggestion(given, columns)}")
        return given, f"{quoted(given)} is the target because it was given"
    if table.target in columns:
        who = "OpenML" if table.source.startswith("openml:") else "scikit-learn"
        return table.target, f"{quoted(table.target)} is the target because {who} says so"
    named = _called_target(columns) or _called_as_outcome(table.frame)
    if named is not None:
        return named, f"{quoted(named)} is the target because of its name"
    namesake = _namesake(table)
    if namesake is not None:
        return namesake, f"{quoted(namesake)} is the target because the dataset is named after it"
    return (
        columns[-1],
        f"{quoted(columns[-1])} is the target because it is the last column and no name tells another",
    )


def suggestion(name: str, columns: Sequence[str]) -> str:
    """What may have been meant by the name of no column, or which columns there are."""
    by_lower = {column.lower(): column for column in columns}
    close = difflib.get_close_matches(name.lower(), by_lower, n=3)
    if close:
        return f"did you mean {' or '.join(quoted(by_lower[match]) for match in close)}?"
    shown = ", ".join(map(quoted, columns[:10])) + (", ..." if len(columns) > 10 else "")
    return f"the columns are {shown}"


def alternatives(frame: pd.DataFrame, target: str) -> str:
    """The columns beside `target` that could be a target with classes, in words."""
    numbers = {str(name): tidied(column).nunique() for name, column in frame.items() if name != target}
    found = [
        f"{quoted(name)} ({number} values)" for name, number in numbers.items() if 2 <= number <= MOST_CLASSES
    ]
    if not found:
        return "no other column has classes"
    more = f" and {len(found) - _NAMED:,} more" if len(found) > _NAMED else ""
    return f"columns with classes are {', '.join(found[:_NAMED])}{more}"


def _called_target(columns: Sequence[str]) -> str | None:
    by_name = {column.lower(): column for column in reversed(columns)}
    for name in _NAMES:
        is_coordinate = name == "y" and "x" in by_name and columns[-1].lower() != "y"
        if name in by_name and not is_coordinate:
            return by_name[name]
    return None


def _called_as_outcome(frame: pd.DataFrame) -> str | None:
    found = [column for column in frame.columns if _names_outcome(column) and _has_classes(frame[column])]
    if len(found) == 1 or frame.columns[-1] in found:
        return found[-1]
    return None


def _names_outcome(column: str) -> bool:
    words = [word for word in _words(column) if word not in _FILLERS]
    return (len(words) == 1 and words[0] in _OUTCOMES) or (0 < len(words) <= 3 and words[-1] in _LABEL_LIKE)


def _namesake(table: RawTable) -> str | None:
    """The column whose whole name is part of the dataset's: the longest, if there is just one."""
    of_dataset = _words(table.name)
    found = [
        column
        for column in table.frame.columns
        if _follow_each_other(_words(column), of_dataset) and _has_classes(table.frame[column])
    ]
    longest = max(map(len, map(_words, found)), default=0)
    found = [column for column in found if len(_words(column)) == longest]
    return found[0] if len(found) == 1 else None


def _words(name: str) -> list[str]:
    """The words of a name, in lower case, whether written in camel case or with anything between them."""
    return re.findall(r"[^\W_]+", _WORD_BOUNDARY_IN_CAMEL_CASE.sub(r"\1 \2", name).lower())


def _follow_each_other(words: Sequence[str], within: Sequence[str]) -> bool:
    places = range(len(within) - len(words) + 1)
    return bool(words) and any(list(within[place : place + len(words)]) == list(words) for place in places)


def _has_classes(column: pd.Series) -> bool:
    return 2 <= tidied(column).nunique() <= MOST_CLASSES
