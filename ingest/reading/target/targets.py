"""Choose the target column if the user names none."""

import difflib
import math
import shlex
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass

import pandas as pd

from ingest.reading.column_types.columns import read_column
from ingest.reading.column_types.role_detection import detect_role
from ingest.reading.column_types.roles import NOT_LEARNED_FROM, Role
from ingest.reading.formats.encoding import quoted
from ingest.reading.tables import RawTable
from ingest.reading.target.target_names import name_weakness, names_amount, names_circumstances, words
from ingest.reading.target.task_choice import MOST_CLASSES
from warehouse.support.errors import UnknownName

_ASKED_ABOUT = 2  # alternatives that a question names
_ROWS_LOOKED_AT = 5000
_ROWS_COUNTED = 1000  # in which all columns are examined
_EMPTY = 0.5  # share of the rows without a value, above which the target is a doubt
_UNPREDICTED = (Role.identifier, Role.date, Role.text)
_ANYWHERE, _LAST = 1, 3  # greatest weakness of a name that makes the column the target there
_NAMESAKE = 2  # weakness of the column that the dataset is named after
_LAST_COLUMN, _OTHER_COLUMN = 2.5, 3.5  # weakness of columns without a suggestive name


@dataclass(frozen=True)
class TargetChoice:
    """The target's column, a sentence with the reason, and questions to the user about it (see `Dataset`)."""

    column: str
    reason: str
    doubts: tuple[str, ...] = ()


def choose_target(table: RawTable, given: str | None) -> TargetChoice:
    """Choose the target's column: the given one, the one named by the source, or the most likely one.

    Names come first: one of weakness 1 (`ingest.reading.target.target_names`) makes any column the target,
    and one of weakness up to 3 the last column. The column that the dataset is named after (`room_type` of
    `airbnb_room_type.csv`) has weakness 2. Otherwise the target is a guess: a column with a weaker name, or
    the last column that is no identifier, constant, date, text, place or comment and has most of its values.
    A guess is a doubt, and so are an equally good second name and a target that lacks half of its values.

    Raises:
        BadInput: there is no column `given`, or OpenML names no target or several.
    """
    columns = list(table.frame.columns)
    if given is not None:
        if given not in columns:
            raise UnknownName(f"there is no column {quoted(given)}; {suggestion(given, columns)}")
        return TargetChoice(given, f"{quoted(given)} is the target because it was given")
    if len(table.targets) == 1:
        target = table.targets[0]
        who = "OpenML" if table.source.startswith("openml:") else "scikit-learn"
        return TargetChoice(target, f"{quoted(target)} is the target because {who} names it")
    if table.source.startswith("openml:"):
        named = f"several targets ({', '.join(table.targets)})" if table.targets else "no target"
        raise UnknownName(f"OpenML names {named} of {table.name}; choose one with --target COLUMN")
    return _likeliest(table)


def suggestion(name: str, columns: Sequence[str]) -> str:
    """Similar names to an unknown column, or the list of columns."""
    by_lower = {column.lower(): column for column in columns}
    close = difflib.get_close_matches(name.lower(), by_lower, n=3)
    if close:
        return f"did you mean {' or '.join(quoted(by_lower[match]) for match in close)}?"
    shown = ", ".join(map(quoted, columns[:10])) + (", ..." if len(columns) > 10 else "")
    return f"the columns are {shown}"


# ---- the likeliest column ------------------------------------------------------------------------


class _Columns:
    """The columns of some rows of a table, each examined once and only when needed."""

    def __init__(self, table: RawTable) -> None:
        self.frame = table.frame.iloc[:: math.ceil(len(table.frame) / _ROWS_LOOKED_AT)]
        self.names = list(table.frame.columns)
        self._decimal = None if table.text is None else table.text.decimal
        self._looked_at: dict[str, tuple[pd.Series, Role]] = {}

    def values(self, name: str) -> pd.Series:
        return self._look(name)[0]

    def role(self, name: str) -> Role:
        return self._look(name)[1]

    def share_empty(self, name: str) -> float:
        return float(self.values(name).isna().mean())

    def is_usual(self, name: str) -> bool:
        """Whether people are likely to predict such a column, ignoring what its name says of outcomes."""
        is_predictable = self.role(name) not in (*_UNPREDICTED, Role.constant)
        is_index = name == "Unnamed: 0"
        return (
            is_predictable
            and not is_index
            and not names_circumstances(name)
            and self.share_empty(name) < _EMPTY
        )

    def has_two_values(self, name: str) -> bool:
        few = self.frame[name].iloc[:: math.ceil(len(self.frame) / _ROWS_COUNTED)]
        with suppress(TypeError):  # cells may be lists
            return few.nunique() == 2
        return False

    def first(self, is_counted: Callable[[str], bool]) -> str:
        """The first of the columns that count, or of all if none does."""
        return next(filter(is_counted, self.names), self.names[0])

    def last(self, is_counted: Callable[[str], bool]) -> str:
        return next(filter(is_counted, reversed(self.names)), self.names[-1])

    def _look(self, name: str) -> tuple[pd.Series, Role]:
        if name not in self._looked_at:
            values = read_column(self.frame[name], self._decimal).values
            self._looked_at[name] = values, detect_role(values, name)
        return self._looked_at[name]


@dataclass(frozen=True)
class _Candidate:
    """A possible target column, with the reason; `is_sure` if its name and position leave no doubt."""

    column: str
    because: str
    weakness: float
    is_sure: bool = False


def _likeliest(table: RawTable) -> TargetChoice:
    columns = _Columns(table)
    named = sorted(_by_name(columns, table.name), key=_order)
    placed: list[_Candidate] = []
    if named and named[0].is_sure:
        chosen, rivals = named[0], named[1:]
        is_guess = any(rival.is_sure or rival.weakness <= chosen.weakness for rival in rivals)
    else:
        placed = [*_by_place(columns)]
        chosen, is_guess = min([*named, *placed], key=_order), True
    target = quoted(chosen.column)
    findings = [f"the target {target} is a guess"] if is_guess else []
    empty = columns.share_empty(chosen.column)
    if empty >= _EMPTY:
        findings.append(f"the target {target} has no value in {empty:.0%} of the rows, which are left out")
    doubts: tuple[str, ...] = ()
    if findings:
        others = sorted([*named, *(placed or _by_place(columns))], key=_order)
        names = list(dict.fromkeys(other.column for other in others if other.column != chosen.column))
        options = " or ".join(f"--target {shlex.quote(name)}" for name in names[:_ASKED_ABOUT])
        doubts = tuple(
            f"{finding}; for another one, give {options or '--target NAME'}" for finding in findings
        )
    return TargetChoice(chosen.column, f"{target} is the target because {chosen.because}", doubts)


def _order(candidate: _Candidate) -> tuple[bool, float]:
    return not candidate.is_sure, candidate.weakness


def _by_name(columns: _Columns, dataset: str) -> Iterator[_Candidate]:
    """Columns with a suggestive name, the last and the first one before those between them."""
    namesake = _namesake(columns.names, dataset)
    for name in (columns.names[-1], columns.names[0], *reversed(columns.names[1:-1])):
        weakness = None if _is_ordinate(name, columns.names) else name_weakness(name)
        because = "of its name"
        if name == namesake and (weakness is None or weakness > _NAMESAKE):
            weakness, because = _NAMESAKE, "the dataset is named after it"
        if weakness is not None and columns.role(name) not in _UNPREDICTED:
            yield _Candidate(name, because, weakness, _is_sure(name, weakness, columns))


def _is_sure(name: str, weakness: int, columns: _Columns) -> bool:
    """Whether the name makes the column the target at its position, and the values fit the name.

    A constant is still chosen, since its refusal says what is wrong.
    """

    def is_counted(other: str) -> bool:
        return other == name or columns.role(other) not in NOT_LEARNED_FROM

    distinct = columns.values(name).nunique()
    is_number = pd.api.types.is_numeric_dtype(columns.values(name).dtype)
    if (distinct > MOST_CLASSES and not is_number) or (names_amount(name) and 2 < distinct <= MOST_CLASSES):
        return False
    if distinct > MOST_CLASSES and weakness < _LAST:
        weakness += 1
    return weakness <= _ANYWHERE or (weakness <= _LAST and name == columns.last(is_counted))


def _by_place(columns: _Columns) -> Iterator[_Candidate]:
    """The last usual column, the only one with two values, and the first one."""
    last = columns.last(columns.is_usual)
    where = "the last column" if last == columns.names[-1] else "the last likely column"
    yield _Candidate(last, f"it is {where}, and no column name suggests another", _LAST_COLUMN)
    binary = [name for name in columns.names if columns.has_two_values(name) and columns.is_usual(name)]
    if len(binary) == 1:
        yield _Candidate(binary[0], "it is the only column with two values", _OTHER_COLUMN)
    yield _Candidate(columns.first(columns.is_usual), "it is the first column", _OTHER_COLUMN)


def _is_ordinate(column: str, columns: Sequence[str]) -> bool:
    """Whether a column is a coordinate next to `x`."""
    return column.lower() == "y" and column != columns[-1] and "x" in map(str.lower, columns)


def _namesake(columns: Sequence[str], dataset: str) -> str | None:
    """The column whose whole name is part of the dataset's; the longest, if there is only one."""
    of_dataset = words(dataset)
    found = [
        column for column in columns if not column.isdigit() and _follow_each_other(words(column), of_dataset)
    ]
    longest = max(map(len, map(words, found)), default=0)
    found = [column for column in found if len(words(column)) == longest]
    return found[0] if len(found) == 1 else None


def _follow_each_other(found: Sequence[str], within: Sequence[str]) -> bool:
    places = range(len(within) - len(found) + 1)
    return bool(found) and any(list(within[place : place + len(found)]) == list(found) for place in places)
