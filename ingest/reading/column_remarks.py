"""Remarks on the cells of a column: notes say what was changed, doubts what only the user can decide."""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd

from ingest.reading.column_types.columns import label
from ingest.reading.column_types.words import NEARLY_ALL, Column
from ingest.reading.formats.encoding import quoted
from ingest.reading.tables import RawTable
from warehouse.support.text import counted

_FEWEST_WORDS = 20  # distinct ones: fewer may be classes, such as 1st and 2nd
_FEWEST_PER_SHAPE = 5  # words that differ only in their numbers
_WORDS_LOOKED_AT = 1000
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_SHAPE_OF_AMOUNT = re.compile(r"[-+]?#.*(?:[^\W\d_]|['\"°±\u00d7])")
"""A number (`#`) and, somewhere behind it, a letter or the sign of a unit."""
_LIKE_DATE = re.compile(
    r"(?!\w+:/)(?=.*\b(?:19|20)\d\d\b)(?=.*(?<!\d)\d\d?(?!\d))(?:\D++|(?:(?:19|20)\d\d|\d\d?)(?!\d))*+"
)
"""A year and a number of one or two digits, no longer numbers, and no URL."""
_FAR = 5
"""Least ratio of a number such as 999 to the largest other one, if it stands for missing values."""


def notes_on(column: Column, words: pd.Series, raw: RawTable) -> Iterator[str]:
    """Words in a column of numbers (dates) that are not numbers (dates).

    Args:
        words: (n,) its cells in the source's form.
    """
    if not column.odd:
        return
    kind = "date" if pd.api.types.is_datetime64_dtype(column.values.dtype) else "number"
    n, first = _cells(column.odd, words, raw)
    others = f" and {counted(len(column.odd) - 1, 'other words')}" if len(column.odd) > 1 else ""
    is_one = n == 1
    yield (
        f"{counted(n, 'cells')} of {quoted(words.name)} {'is' if is_one else 'are'} no {kind}"
        f"{'' if is_one else 's'} and {'counts' if is_one else 'count'} as missing: {first}{others}"
    )


def doubts_about(column: Column, words: pd.Series, raw: RawTable) -> Iterator[str]:
    """Cells of a column of numbers that may mean something else: limits, and -999 and the like.

    Args:
        words: (n,) its cells in the source's form.
    """
    if column.limits:
        n, first = _cells(column.limits, words, raw)
        yield (
            f"{counted(n, 'cells')} of {quoted(words.name)} with a limit, such as {first}, "
            f"{'was' if n == 1 else 'were'} read as that number: to change this, edit the file, or keep them "
            f"as words with --role {shlex.quote(f'{words.name}=categorical')}"
        )
    numbers = column.values.dropna()
    for extreme in (numbers.min(), numbers.max()):
        if not re.fullmatch("-?99+", label(float(extreme))):
            continue
        rest = numbers[numbers != extreme]
        is_far = rest.min() >= 0 if extreme < 0 else rest.max() < extreme / _FAR
        n = len(numbers) - len(rest)
        if n > 1 and is_far:
            word = str(words.loc[(numbers == extreme).idxmax()]).strip()
            remedy = "leave these cells empty" if raw.text is None else f"give --missing={word}"
            yield f"{n:,} cells of {quoted(words.name)} are {word}: if this means missing, {remedy}"


def doubts_about_words(name: str, column: pd.Series) -> Iterator[str]:
    """Words that look like amounts or dates in a notation that is not read.

    Args:
        column: (n,) the column `name` in the form of its role.
    """
    if not isinstance(column.dtype, pd.CategoricalDtype) or len(column.cat.categories) < _FEWEST_WORDS:
        return
    words = column.cat.categories[:: math.ceil(len(column.cat.categories) / _WORDS_LOOKED_AT)]
    shapes = {_NUMBER.sub("#", word) for word in words}
    alike = f"{quoted(name)} is read as words, though nearly all look like"
    if sum(map(bool, map(_LIKE_DATE.fullmatch, words))) >= NEARLY_ALL * len(words):
        yield f"{alike} dates, such as {quoted(words[0])}: write them as 2024-12-31 in the file"
    elif len(words) >= _FEWEST_PER_SHAPE * len(shapes) and all(map(_SHAPE_OF_AMOUNT.match, shapes)):
        examples = f"{quoted(words[0])} and {quoted(words[-1])}"
        yield f"{alike} amounts, such as {examples}: if so, write them as numbers of one unit in the file"


def _cells(some: Sequence[str], words: pd.Series, raw: RawTable) -> tuple[int, str]:
    """How many cells contain these words, and the first one with its place."""
    cells = words.astype("str").str.strip()
    places = np.flatnonzero(cells.isin(some))
    row = int(words.index[places[0]])
    line = None if raw.line_of is None else raw.line_of(row)
    where = f"line {line}" if line is not None else f"row {row + 1}"
    return len(places), f"{quoted(cells.iloc[places[0]])} ({where})"
