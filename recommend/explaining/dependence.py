"""Signs that the rows of a dataset are not independent: ordered in time, or in groups.

Notation: n rows; a column has m different values; `counts` (m, k) rows by value, in order, and class (of a
number: its quantile bin). Two rows agree if their classes are equal; the excess of an agreement rate scales
it from chance (0) to always (1), as in Cohen's kappa.
"""

from __future__ import annotations

import math
import shlex
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd

from ingest.reading.column_types.roles import Role
from ingest.reading.datasets import Dataset
from ingest.reading.split_by import Kind, SplitBy
from ingest.reading.target.strata import strata_of
from ingest.reading.target.target_names import words as words_of
from recommend.explaining.target_words import target_words
from warehouse.support.arrays import Floats, Positions

FEWEST_TIMES = 10
FEWEST_GROUPS = 20
"""Least number of different values of a suspected column; set by hand, like the limits below."""
_NAMED_ROWS, _UNNAMED_ROWS = 200, 50  # most per group, on average, with and without a name of a group
_EXCESS = 0.1  # least excess that matters
_BEYOND_CHANCE = 5.0  # standard errors
_HEAD = 2000  # rows that rule out most columns

_TIMES = frozenset({
    "date", "datetime", "day", "hour", "month", "period", "quarter", "season", "time", "timestamp", "wave",
    "week", "year", "yr",
})  # fmt: skip
_OF_BIRTH = frozenset({"birth", "birthday", "birthdate", "born", "dob"})
_GROUPS = frozenset({
    "account", "batch", "case", "client", "cluster", "customer", "device", "family", "group", "hh",
    "household", "id", "idcode", "machine", "member", "panel", "participant", "patient", "person", "player",
    "pupil", "respondent", "session", "student", "subject", "team", "uid", "user", "userid", "visitor",
})  # fmt: skip


@dataclass(frozen=True)
class Sign:
    """A column by which rows seem to depend on each other."""

    split: SplitBy
    seen: str
    """The observation, as the beginning of a sentence."""
    strength: float
    """Larger is stronger, among signs of the same kind."""


def signs_of_dependence(dataset: Dataset) -> Iterator[Sign]:
    """Candidates for a column to split by: at most one time and one group."""
    strata, alike = strata_of(dataset.target), target_words(dataset).alike
    chance = float((np.bincount(strata) ** 2).sum() / len(strata) ** 2)
    columns = {str(name): column for name, column in dataset.features.items()}
    words = {name: words_of(name) for name in columns}
    times, named, others = [], [], []
    for name, column in columns.items():
        role, last = dataset.roles[name], ["", *words[name]][-1]
        if role is Role.date or (last in _TIMES and pd.api.types.is_numeric_dtype(column.dtype)):
            times.append(_time(column, name, words[name], strata, chance, alike))
        elif last in _GROUPS:
            named.append(_named_group(column, name))
        elif role not in (Role.constant, Role.text):
            others.append((column, name))
    groups = named if any(named) else [_block(*other, strata, chance, alike) for other in others]
    for signs in (times, groups):
        yield from sorted(filter(None, signs), key=lambda sign: -sign.strength)[:1]


def in_words(dataset: Dataset) -> list[str]:
    """The signs as sentences without full stops; empty if the dataset is already split by a column."""
    if dataset.split is not None:
        return []
    why: dict[Kind, str] = {
        "time": "a random split learns from later rows; to predict the future, give",
        "group": "a random split learns from rows of the same group; to predict new groups, give",
    }
    return [
        f"{sign.seen}: {why[sign.split.kind]} --split {shlex.quote(str(sign.split))}"
        for sign in signs_of_dependence(dataset)
    ]


def _time(
    column: pd.Series, name: str, words: list[str], strata: Positions, chance: float, alike: str
) -> Sign | None:
    """The sign of a time: rows are in its order, or (for dates) neighbours in time share their class."""
    is_date = pd.api.types.is_datetime64_dtype(column.dtype)
    if set(words) & _OF_BIRTH or column.hasnans:
        return None
    values, by = column.to_numpy(), SplitBy("time", name)
    if column.is_monotonic_increasing or column.is_monotonic_decreasing:
        if 1 + (values[1:] != values[:-1]).sum() < FEWEST_TIMES:
            return None
        return Sign(by, f"the rows are in the order of {name!r}", 2.0 + is_date)
    if is_date and set(words) <= _TIMES:
        return Sign(by, f"each row is dated by {name!r}", 2.0)
    if is_date:
        order = np.argsort(values, kind="stable")
        agrees = float((strata[order][1:] == strata[order][:-1]).mean())
        if values[order[0]] != values[order[-1]] and _is_beyond(agrees, chance, len(order)):
            seen = f"rows of nearly the same {name!r} have {alike} ({agrees:.0%} of them, by chance"
            return Sign(by, f"{seen} {chance:.0%})", agrees)
    return None


def _named_group(column: pd.Series, name: str) -> Sign | None:
    """The sign of a column named like a group (customer, patient, ...) with several rows per value."""
    n, m = len(column), column.nunique()
    if column.hasnans or not (m >= FEWEST_GROUPS and 1.5 * m <= n <= _NAMED_ROWS * m):
        return None
    seen = f"{name!r} has {m:,} different values in {n:,} rows"
    return Sign(SplitBy("group", name), seen, float(_in_blocks(_values(column))))


def _block(column: pd.Series, name: str, strata: Positions, chance: float, alike: str) -> Sign | None:
    """The sign of blocks of equal values whose rows share their class more often than neighbours do."""
    values = _values(column)
    if not _in_blocks(values[:_HEAD]) or not _in_blocks(values) or column.hasnans:
        return None
    is_number = pd.api.types.is_numeric_dtype(column.dtype)
    different, codes = np.unique(values, return_inverse=True)
    n, m = len(codes), len(different)
    if not (m >= FEWEST_GROUPS and 2 * m <= n <= _UNNAMED_ROWS * m):
        return None
    counts = np.zeros((m, int(strata.max()) + 1))
    np.add.at(counts, (codes, strata), 1)
    within = _agreement_within(counts)
    if not _is_beyond(within, chance, n - m):
        return None
    if is_number and within - chance < 2 * (_agreement_of_neighbours(counts) - chance):
        return None
    seen = f"rows with the same {name!r} stand together and have {alike} ({within:.0%} of them, by"
    return Sign(SplitBy("group", name), f"{seen} chance {chance:.0%})", within)


def _values(column: pd.Series) -> np.ndarray:
    """(n,) numbers of a column, or codes of its categories."""
    return (column.cat.codes if isinstance(column.dtype, pd.CategoricalDtype) else column).to_numpy()


def _in_blocks(values: np.ndarray) -> bool:
    """Whether equal values mostly stand together, in blocks of more than one row."""
    runs = 1 + int((values[1:] != values[:-1]).sum())
    return bool(runs <= 0.8 * len(values) and runs <= 1.2 * len(np.unique(values)))


def _agreement_within(counts: Floats) -> float:
    """Agreement of two rows with the same value, averaged over rows; values with one row are left out."""
    rows = counts.sum(axis=1)
    counts, rows = counts[rows > 1], rows[rows > 1]
    pairs = (counts * (counts - 1)).sum(axis=1) / (rows - 1)
    return float(pairs.sum() / rows.sum())


def _agreement_of_neighbours(counts: Floats) -> float:
    """Agreement of a row with one of the next larger value, averaged over pairs of values."""
    rows = counts.sum(axis=1)
    return float(((counts[1:] * counts[:-1]).sum(axis=1) / (rows[1:] * rows[:-1])).mean())


def _is_beyond(agreement: float, chance: float, pairs: int) -> bool:
    """Whether an agreement is large enough to matter and significant."""
    error = math.sqrt(chance * (1 - chance) / max(pairs, 1))
    return agreement - chance >= max(_EXCESS * (1 - chance), _BEYOND_CHANCE * error)
