"""The values of a target: classes by their labels, or numbers."""

from __future__ import annotations

import re
import shlex
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from typing import Literal

import numpy as np
import pandas as pd

from ingest.reading.column_types.columns import as_words, labels
from ingest.reading.column_types.numbers import LONGEST, PLAIN
from ingest.reading.column_types.roles import Role
from ingest.reading.formats.encoding import quoted
from ingest.reading.target.targets import MOST_CLASSES
from warehouse.support.errors import UnusableDataset
from warehouse.support.text import counted

NumericTarget = Literal["keep", "binarize"]
RareClasses = Literal["keep", "drop"]

_TRUE, _FALSE = ("true", "t", "yes", "y", "1"), ("false", "f", "no", "n", "0")
_GAP_WORD = 0.5  # of the rows without a target that say one word, from which on it may be a class


def target_values(
    words: pd.Series,
    values: pd.Series,
    role: Role | None,
    numeric_target: NumericTarget,
    rare_classes: RareClasses,
) -> tuple[pd.Series, list[str]]:
    """The target's labels as categories, or its numbers, on the rows that are kept; notes on the rest.

    Args:
        words: (n,) the column as its source has it; where these are words, they are the labels.
        values: (n,) the same as `ingest.reading.column_types.columns.read_column` reads it.
        role: the one that the user gave it.
        numeric_target: see `load_dataset`.
        rare_classes: see `load_dataset`.

    Raises:
        BadInput: nothing can be learned from these values.
    """
    target = quoted(words.name)
    if role not in (None, Role.categorical, Role.boolean):
        raise UnusableDataset(
            f"the target {target} cannot have the role {role}; its role is detected, or categorical"
        )
    notes: list[str] = []
    present = _present(values, target, notes)
    if role is None and _is_binarizable(present, numeric_target):
        numbers = present.to_numpy(dtype=float)
        halves = np.where(numbers < numbers.mean(), "P", "N")
        present = pd.Series(halves, index=present.index, name=words.name)
        notes.append("target binarized at its mean")
    elif role is None and _is_measurement(present, target):
        return present.astype(float), notes
    elif pd.api.types.is_string_dtype(words.dtype):
        notes.clear()
        present = _present(values if role else as_words(words), target, notes)
    classes = labels(present).astype("category").rename(str(words.name))
    _refuse_no_classes(classes, target)
    return _without_rare_classes(classes, target, notes) if rare_classes == "drop" else (classes, notes)


def _present(values: pd.Series, target: str, notes: list[str]) -> pd.Series:
    """The values without missing ones, whose number is added as a note."""
    present = values.dropna()
    if present.empty:
        raise UnusableDataset(f"the target {target} has no values")
    if dropped := len(values) - len(present):
        notes.append(f"{counted(dropped, 'rows')} without a target value dropped")
    return present


def doubts_about_gaps(words: pd.Series, kept: pd.Index) -> Iterator[str]:
    """Whether a word that means a missing value may be a class, such as `NA` or `None`.

    Args:
        words: (n,) the target as its source has it.
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
    """Labels that may be spellings of one class: in case, a full stop, a number or truth."""
    known = [str(one) for one in classes]
    for alike, how in (
        (_groups(known, lambda word: word.casefold().rstrip(". ")), "case or a full stop"),
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
    """Groups of several words with one key that is not None."""
    found: dict[object, list[str]] = defaultdict(list)
    for word in words:
        found[key(word)].append(word)
    return [group for same, group in found.items() if same is not None and len(group) > 1]


def _number(word: str) -> float | None:
    if len(word) > LONGEST or not PLAIN.fullmatch(word):
        return None
    # Beyond 2^53 whole numbers that differ are one float.
    return int(word) if re.fullmatch(r"[+-]?\d+", word) else float(word)


def _truth(word: str) -> str | None:
    lower = word.casefold()
    return "true" if lower in _TRUE else "false" if lower in _FALSE else None


def _is_binarizable(present: pd.Series, numeric_target: NumericTarget) -> bool:
    is_numeric = pd.api.types.is_numeric_dtype(present.dtype)
    return numeric_target == "binarize" and is_numeric and present.nunique() > 2


def _is_measurement(present: pd.Series, target: str) -> bool:
    if pd.api.types.is_datetime64_dtype(present.dtype):
        raise UnusableDataset(f"the target {target} holds dates, not classes")
    if not pd.api.types.is_numeric_dtype(present.dtype):
        return False
    distinct = present.nunique()
    whole = bool((present == np.floor(present)).all())
    return distinct > 2 and (not whole or distinct > MOST_CLASSES)


def _refuse_no_classes(values: pd.Series, target: str) -> None:
    classes = values.cat.categories
    if len(classes) == 1:
        raise UnusableDataset(
            f"the target {target} has one value only ({quoted(classes[0])}); nothing to learn"
        )
    if len(classes) > max(len(values) / 2, 10):
        raise UnusableDataset(
            f"the target {target} has {len(classes)} different values in {counted(len(values), 'rows')}; "
            "it names rows, not classes"
        )


def _without_rare_classes(values: pd.Series, target: str, notes: list[str]) -> tuple[pd.Series, list[str]]:
    counts = values.value_counts()
    rare = counts.index[counts < 2]
    if len(rare) == 0:
        return values, notes
    kept = values[~values.isin(rare)].cat.remove_unused_categories()
    if len(kept.cat.categories) < 2:
        raise UnusableDataset(f"the target {target} has fewer than two classes with more than one row")
    return kept, [*notes, f"{counted(len(rare), 'rows')} dropped, each the only one of its class"]
