"""Datasets that are copies of one another, found by their content.

An evaluation that leaves a dataset out must leave its copies out as well. Copies are rarely exact (those
have one `content_hash`): a column was added, another one is the target, some rows are missing. A dataset
is reduced to a `Sketch` of a few kilobytes per column, so that the data need not be kept; two sketches
are compared for four kinds of evidence:

1. *Equal columns*: cells that are the same but for their order. The chance that N independent rows give
   just the counts n_1, n_2, ... is at most `sqrt(2 pi N) / prod_i sqrt(2 pi n_i)` (Stirling), whatever they
   are drawn from. In bits, a balanced column of two values in 1,000 rows tells 5, a constant one nothing,
   less the logarithm of the number of columns that it could be equal to.
2. *Shared values*: many values of two columns are in both datasets.
3. *Shared rows*: many rows are in both, with or without the target. A row is the set of its cells, in
   any order, whatever the names of the columns.
4. *Shared parts of rows*: the same in columns of the same names, in a few of them that a hash of their
   names chooses, so that two datasets choose alike as long as both have the columns.

For 2, 3 and 4, p being the distribution of a value (or a row) in the larger dataset of n rows and q that in
the other, a value of the other is in the larger one by chance with a probability of at most
`n sum_v p_v q_v <= n sqrt(sum_v p_v^2 sum_v q_v^2)` (Cauchy-Schwarz), and the two sums are how often two
rows of one dataset agree. What repeats within the datasets is therefore no evidence between them.

Found are: another target, other names and orders of rows or columns, columns left out or added, and rows
left out down to a twentieth; rows and columns left out at once where two columns, or a few columns that
keep their names together, hardly repeat a value.
Not found are: copies in which values were rounded, scaled or recoded; parts of a table in which most rows
occur several times; disjoint parts of one table; other variables of the people of one survey.
"""

import math
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce
from itertools import combinations

import numpy as np
import pandas as pd

from ingest.reading.content_hash import MISSING, Hashes, cell_hashes, digest, mixed
from ingest.reading.datasets import Dataset
from ingest.reading.roles import Role
from warehouse.support.text import counted

_SKETCH_SIZE = 512  # hashes of a column: a share of common values is then known to about 0.04
_MIN_VALUES = 20  # fewer in a comparison tell nothing
_MIN_SHARE = 0.4  # of the values of the smaller dataset, beyond those that are shared by chance
_MAX_REPEATS = 0.5  # of a value in the rows of its dataset, on average, to be worth a sketch
_MIN_SHARED_COLUMNS = 2  # one may be a list that many use, as postal codes
_NUMBERING_DENSITY = 0.1  # of the whole numbers of a range
_MIN_CELLS = 3  # a row of fewer is no evidence
_PART_SIZES = (4, 6)  # columns
_PARTS_PER_SIZE = 32  # drawn parts of the columns; set by hand
_MIN_BITS = 30.0  # of all equal columns together
_MAX_BITS = 15.0  # of one column, so that it takes three: two may be a design that others have too


@dataclass(frozen=True, eq=False)
class ValueSketch:
    """The distinct values of a column, or the distinct rows, by the smallest of their hashes."""

    smallest: Hashes  # ascending, without repetition; all of them where there are no more
    n_values: int
    n_distinct: int
    agreement: float  # probability that two of the values are equal

    @property
    def limit(self) -> int:
        """All hashes up to this one are in the sketch."""
        return int(self.smallest[-1]) if self.n_distinct > len(self.smallest) else 2**64 - 1


@dataclass(frozen=True, eq=False)
class Sketch:
    """What is kept of a dataset to tell its copies."""

    bits: Mapping[str, float]  # digest of a column -> what its equality tells
    columns: tuple[ValueSketch, ...]  # those that hardly repeat a value
    rows: tuple[ValueSketch, ...]  # with and without the target, where they hardly repeat
    parts: Mapping[tuple[str, ...], ValueSketch]  # names of columns -> rows of them, where they hardly repeat


def sketch(dataset: Dataset) -> Sketch:
    """The sketch of a dataset; its target is a column like the others."""
    features = {name: cell_hashes(column) for name, column in dataset.features.items()}
    target = cell_hashes(dataset.target)
    told = [name for name, role in dataset.roles.items() if role not in (Role.identifier, Role.constant)]
    measured = [features[name] for name in told if not _is_numbering(dataset.features[name])]
    # A column that numbers the rows, or has one value, may not do so in a part of the rows: with and without.
    chosen = [names for names in dict.fromkeys((tuple(told), tuple(features))) if len(names) >= _MIN_CELLS]
    rows = [_row_hashes([features[name] for name in names]) for names in chosen]
    return Sketch(
        bits={digest(hashes): _bits(hashes) for hashes in (*features.values(), target)},
        columns=_telling([*measured, target]),
        rows=_telling([*rows, *(row + mixed(target) for row in rows)]),
        parts=_parts({**{name: features[name] for name in told}, str(dataset.target.name): target}),
    )


def _row_hashes(columns: list[Hashes]) -> Hashes:
    """A hash per row, whatever the order of its cells."""
    return reduce(np.add, map(mixed, columns))


def _parts(columns: Mapping[str, Hashes]) -> dict[tuple[str, ...], ValueSketch]:
    """Rows of all columns, of all but the last (the target), and of a few that their names choose."""
    name_hashes = pd.util.hash_array(np.array(list(columns), dtype=object), categorize=False)
    salted = [mixed(hashes ^ salt) for hashes, salt in zip(columns.values(), name_hashes, strict=True)]
    chosen = [np.arange(len(columns)), np.arange(len(columns) - 1)]
    for size in _PART_SIZES:
        orders = [mixed(name_hashes + np.uint64(draw)).argsort() for draw in range(_PARTS_PER_SIZE)]
        chosen += [np.sort(order[:size]) for order in orders if len(columns) > size]
    found = {}
    for part in chosen:
        if len(part) >= _MIN_CELLS:
            names = tuple(sorted(list(columns)[position] for position in part))
            for values in _telling([reduce(np.add, [salted[position] for position in part])]):
                found[names] = values
    return found


def near_copies(sketches: Mapping[str, Sketch]) -> list[list[str]]:
    """Groups of two or more names whose datasets are copies of one another, in alphabetical order.

    A dataset is in a group when it is a copy of one that is in it.
    """
    group_of = {name: frozenset([name]) for name in sketches}
    for first, second in copied_pairs(sketches):
        merged = group_of[first] | group_of[second]
        group_of.update(dict.fromkeys(merged, merged))
    return sorted(sorted(group) for group in set(group_of.values()) if len(group) > 1)


def copied_pairs(sketches: Mapping[str, Sketch]) -> dict[tuple[str, str], str]:
    """The pairs of names whose datasets are copies, each with the evidence in words."""
    evidence = {pair: _evidence(*(sketches[name] for name in pair)) for pair in _candidates(sketches)}
    return {pair: words for pair, words in evidence.items() if words}


def _candidates(sketches: Mapping[str, Sketch]) -> list[tuple[str, str]]:
    """The pairs that have a column or a value in common."""
    owners: defaultdict[str | int | tuple[str, ...], list[str]] = defaultdict(list)
    for name in sorted(sketches):
        content = sketches[name]
        values = {int(hashed) for part in (*content.columns, *content.rows) for hashed in part.smallest}
        keys: list[str | int | tuple[str, ...]] = [*content.bits, *content.parts, *values]
        for key in keys:
            owners[key].append(name)
    return sorted({pair for names in owners.values() for pair in combinations(names, 2)})


def _evidence(first: Sketch, second: Sketch) -> str | None:
    equal = first.bits.keys() & second.bits.keys()
    choices = math.log2(max(len(first.bits), len(second.bits)))  # any column may equal any other
    if sum(max(min(first.bits[key], _MAX_BITS) - choices, 0) for key in equal) >= _MIN_BITS:
        return counted(len(equal), "equal columns")
    if any(_is_shared(a, b) for a in first.rows for b in second.rows):
        return "shared rows"
    for names in first.parts.keys() & second.parts.keys():
        if _is_shared(first.parts[names], second.parts[names]):
            return f"shared rows of {counted(len(names), 'columns')}"
    shared = [
        (i, j)
        for i, j in np.ndindex(len(first.columns), len(second.columns))
        if _is_shared(first.columns[i], second.columns[j])
    ]
    n_shared = min(len({i for i, _ in shared}), len({j for _, j in shared}))
    return f"{n_shared} columns with shared values" if n_shared >= _MIN_SHARED_COLUMNS else None


# ---- values --------------------------------------------------------------------------------------


def _telling(columns: list[Hashes]) -> tuple[ValueSketch, ...]:
    sketched = [_value_sketch(hashes[hashes != MISSING]) for hashes in columns]
    return tuple(
        values
        for values in sketched
        if values.n_distinct >= _MIN_VALUES and values.n_values * values.agreement <= _MAX_REPEATS
    )


def _value_sketch(hashes: Hashes) -> ValueSketch:
    distinct, counts = np.unique(hashes, return_counts=True)
    n_pairs = len(hashes) * (len(hashes) - 1) / 2
    n_equal = (counts * (counts - 1) / 2).sum()
    agreement = min((float(n_equal) + 1) / (n_pairs + 1), 1.0)  # one more, for what was not seen
    return ValueSketch(distinct[:_SKETCH_SIZE], len(hashes), len(distinct), agreement)


def _is_shared(first: ValueSketch, second: ValueSketch) -> bool:
    """Whether the larger one has more of the values of the smaller one than chance explains."""
    smaller, larger = sorted((first, second), key=lambda values: values.n_distinct)
    limit = np.uint64(min(first.limit, second.limit))
    asked = smaller.smallest[smaller.smallest <= limit]
    if len(asked) < _MIN_VALUES:
        return False
    share = np.isin(asked, larger.smallest, assume_unique=True).mean()
    by_chance = larger.n_values * math.sqrt(first.agreement * second.agreement)
    return bool(share - by_chance >= _MIN_SHARE)


def _is_numbering(column: pd.Series) -> bool:
    """Whether the column has a good part of the whole numbers of a range: many tables share those."""
    if not pd.api.types.is_numeric_dtype(column.dtype):
        return False
    values = column.dropna().unique()
    is_whole = len(values) > 0 and (values == np.floor(values)).all()
    return bool(is_whole and np.ptp(values) < len(values) / _NUMBERING_DENSITY)


def _bits(hashes: Hashes) -> float:
    """-log2 of the chance of a column's counts; nothing where they are alike, by design or numbering."""
    counts = np.unique(hashes, return_counts=True)[1]
    if np.ptp(counts) <= 1:
        return 0.0
    return float(np.log2(2 * np.pi * counts).sum() - np.log2(2 * np.pi * len(hashes))) / 2
