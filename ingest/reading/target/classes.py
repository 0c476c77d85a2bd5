"""Read the values of a target: class labels, or numbers."""

from __future__ import annotations

import re
import shlex
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import pandas as pd

from ingest.reading.column_types.columns import as_words, label, labels, read_column, tidied
from ingest.reading.column_types.numbers import LONGEST, PLAIN
from ingest.reading.column_types.role_detection import detect_role
from ingest.reading.column_types.roles import Role
from ingest.reading.column_types.words import Column
from ingest.reading.formats.encoding import quoted
from ingest.reading.tables import visible
from ingest.reading.target.task_choice import (
    TaskChoice,
    are_squarable,
    are_whole,
    choose_task,
    names_rows,
)
from warehouse.support.errors import BadOption, UnknownName, UnusableDataset
from warehouse.support.text import counted
from warehouse.vocabulary.task_types import CLASSIFICATION, REGRESSION, TaskName

NumericTarget = Literal["keep", "binarize"]
RareClasses = Literal["keep", "drop"]

_TRUE, _FALSE = ("true", "t", "yes", "y", "1"), ("false", "f", "no", "n", "0")
_GAP_WORD = 0.5  # share of one word in the rows without a target, above which it may be a class
_NEARLY_CONSTANT = 0.99  # of the rows with one number


@dataclass(frozen=True, eq=False)
class TargetValues:
    """A target on the rows that are kept, with notes and doubts about it (see `Dataset`)."""

    values: pd.Series
    """(n,) labels as `category`, or float64, without missing values."""
    task: TaskChoice
    notes: list[str]
    doubts: list[str]


def read_target(words: pd.Series, decimal: str | None, role: Role | None, task: TaskName | None) -> Column:
    """Read the target's column, like `ingest.reading.column_types.columns.read_column`.

    Args:
        words: (n,) the column in the source's form.
        decimal: decimal sign of the file; None = unknown.
        role: the user's role for it, which must be one of classes.
        task: the user's task type; regression converts declared categories and codes to numbers.

    Raises:
        BadInput: role and task exclude each other, or the words are not numbers.
    """
    target = quoted(words.name)
    if task not in (None, *get_args(TaskName)):
        raise UnknownName(f"unknown task {quoted(task)}; the tasks are {' and '.join(get_args(TaskName))}")
    if role not in (None, Role.categorical, Role.boolean):
        raise UnusableDataset(
            f"the target {target} cannot have the role {role}: give --task regression to predict numbers, "
            "--task classification or the role categorical to predict classes"
        )
    if task != "regression":
        return read_column(words, decimal, None if role is None else "words")
    if role is not None:
        raise BadOption(f"the role {role} of the target {target} and --task regression exclude each other")
    is_declared = isinstance(words.dtype, pd.CategoricalDtype)
    column = read_column(labels(tidied(words)) if is_declared else words, decimal, "numbers")
    present = int(column.values.notna().sum())
    if present and not pd.api.types.is_numeric_dtype(column.values.dtype):
        odd: Iterable[str] = labels(column.values.dropna())
    else:
        cells = words.dropna().astype("str").str.strip()
        odd = cells[cells.isin(column.odd)]
        if len(odd) <= present:
            return column
    raise UnusableDataset(
        f"the target {target} holds {quoted(next(iter(odd)))} and the like, which can't be predicted as "
        "numbers: leave out --task regression, or choose another --target"
    )


def target_values(
    words: pd.Series,
    values: pd.Series,
    role: Role | None,
    task: TaskName | None,
    numeric_target: NumericTarget,
    rare_classes: RareClasses,
) -> TargetValues:
    """The target's labels as categories, or its numbers, on the rows that are kept.

    Args:
        words: (n,) the column in the source's form; words become the labels.
        values: (n,) the values from `read_target`.
        role: the user's role for it.
        task: see `load_dataset`.
        numeric_target: see `load_dataset`.
        rare_classes: see `load_dataset`.

    Raises:
        BadInput: nothing can be learned from these values.
    """
    target = quoted(words.name)
    present = values.dropna()
    if present.empty:
        raise UnusableDataset(f"the target {target} has no values: choose another --target")
    if pd.api.types.is_datetime64_dtype(present.dtype):
        raise UnusableDataset(
            f"the target {target} holds dates, which can't be predicted: choose another --target"
        )
    remarks: list[str] = []
    choice = TaskChoice(CLASSIFICATION)
    if role is None and _is_binarizable(present, numeric_target):
        remarks.append("target binarized at its mean")
        is_below = present < present.astype(float).mean()
        present = is_below.map({True: "P", False: "N"})
    elif role is None:
        choice = choose_task(present, task)
        if choice.task_type is REGRESSION:
            if not are_squarable(present):
                raise UnusableDataset(
                    f"the target {target} has numbers too large or too small to square: use another unit, or "
                    "choose another --target"
                )
            notes = _dropped(len(values) - len(present), "a finite target value")
            return TargetValues(
                present.astype(float), choice, notes, [*_doubts_about_numbers(present, target)]
            )
        if pd.api.types.is_string_dtype(words.dtype):
            present = as_words(words).dropna()
    gaps = len(values) - len(present)
    notes = [*_dropped(gaps, "a target value"), *remarks]
    classes = labels(present).astype("category").rename(str(words.name))
    _refuse_no_classes(classes, target, gaps)
    if rare_classes == "drop":
        classes, rare = _without_rare_classes(classes)
        notes += [f"{counted(rare, 'rows')} dropped, each the only one of its class"] if rare else []
    doubts = [] if role else [*doubts_about_gaps(words, classes.index)]
    return TargetValues(classes, choice, notes, [*doubts, *doubts_about_labels(classes.cat.categories)])


def _dropped(rows: int, what: str) -> list[str]:
    return [f"{counted(rows, 'rows')} without {what} dropped"] if rows else []


def _doubts_about_numbers(numbers: pd.Series, target: str) -> Iterator[str]:
    """Doubts about numbers that name rows, or that are nearly always the same."""
    is_numbering = are_whole(numbers) and numbers.is_unique and np.ptp(numbers) == len(numbers) - 1
    if is_numbering or detect_role(numbers, str(numbers.name)) is Role.identifier:
        yield (
            f"the target {target} looks like numbers of rows: each comes once; for another one, give "
            "--target NAME"
        )
    counts = numbers.value_counts()
    if counts.iloc[0] >= _NEARLY_CONSTANT * len(numbers):
        others = counted(len(numbers) - int(counts.iloc[0]), "rows")
        yield (
            f"the target {target} is {label(counts.index[0])} in all but {others}, so there is little to "
            "learn; for another one, give --target NAME"
        )


def doubts_about_gaps(words: pd.Series, kept: pd.Index) -> Iterator[str]:
    """Doubts about a word for a missing value that may be a class, such as `NA` or `None`.

    Args:
        words: (n,) the target in the source's form.
        kept: index of the rows with a target.
    """
    gaps = words.drop(index=kept)
    if gaps.empty or not isinstance(words.dtype, pd.StringDtype):
        return
    said = gaps[gaps.str.strip() != ""].str.strip().value_counts()
    if len(said) and said.iloc[0] >= _GAP_WORD * len(gaps):
        name = str(words.name)
        yield (
            f"{said.iloc[0]:,} rows whose {name!r} is {str(said.index[0])!r} count as rows without a value "
            f"and are left out: if that is a class, give --role {shlex.quote(f'{name}=categorical')}"
        )


def doubts_about_labels(classes: Iterable[str]) -> Iterator[str]:
    """Doubts about labels that may be spellings of one class: by case, separators, a number or truth."""
    known = [str(one) for one in classes]
    for alike, how in (
        (_groups(known, lambda word: word.casefold().rstrip(". ")), "case or a full stop"),
        (_groups(known, _shown), "blanks, hyphens or invisible signs"),
        (_groups(known, _number), "the way a number is written"),
        (_groups(known, _truth) if all(map(_truth, known)) else [], "how truth is written"),
    ):
        if alike:
            named = "; ".join(" and ".join(map(quoted, group)) for group in alike[:3])
            yield (
                f"classes that differ in {how} only are taken as different ({named}): "
                "if they are the same, write them alike in the file"
            )
            return


def _groups(words: list[str], key: Callable[[str], object]) -> list[list[str]]:
    """Groups of several words with the same key, not None."""
    found: dict[object, list[str]] = defaultdict(list)
    for word in words:
        found[key(word)].append(word)
    return [group for same, group in found.items() if same is not None and len(group) > 1]


def _shown(word: str) -> str:
    """A word as it looks, in lower case, with one blank for all that stands between its parts."""
    letters = unicodedata.normalize("NFKC", visible(word)).casefold()
    return re.sub(r"(?<=[^\W_])[\s_-]+(?=[^\W_])", " ", letters)


def _number(word: str) -> float | None:
    if len(word) > LONGEST or not PLAIN.fullmatch(word):
        return None
    # Beyond 2^53 different whole numbers may be the same float.
    return int(word) if re.fullmatch(r"[+-]?\d+", word) else float(word)


def _truth(word: str) -> str | None:
    lower = word.casefold()
    return "true" if lower in _TRUE else "false" if lower in _FALSE else None


def _is_binarizable(present: pd.Series, numeric_target: NumericTarget) -> bool:
    is_numeric = pd.api.types.is_numeric_dtype(present.dtype)
    return numeric_target == "binarize" and is_numeric and present.nunique() > 2


def _refuse_no_classes(values: pd.Series, target: str, gaps: int) -> None:
    classes = values.cat.categories
    if len(classes) == 1:
        cells = counted(gaps, "empty cells")
        empty = f", or, if its {cells} are a class, write a word into them" if gaps else ""
        raise UnusableDataset(
            f"the target {target} has one value only ({quoted(classes[0])}), so there is nothing to learn: "
            f"choose another --target{empty}"
        )
    if names_rows(len(classes), len(values)):
        raise UnusableDataset(
            f"the target {target} has {len(classes)} different values in {counted(len(values), 'rows')}; "
            "it names rows, not classes: choose another --target"
        )


def refuse_single_rows(classes: pd.Series) -> None:
    """Refuse a target without two classes of several rows, since no model of it can be tested.

    Raises:
        UnusableDataset: it has none or one.
    """
    if (classes.value_counts() > 1).sum() < 2:
        raise UnusableDataset(
            f"the target {quoted(classes.name)} has fewer than two classes with more than one row: "
            "choose another --target"
        )


def _without_rare_classes(values: pd.Series) -> tuple[pd.Series, int]:
    """The rows of classes with several rows, and the number of other rows."""
    refuse_single_rows(values)
    counts = values.value_counts()
    rare = counts.index[counts < 2]
    if len(rare) == 0:
        return values, 0
    return values[~values.isin(rare)].cat.remove_unused_categories(), len(rare)
