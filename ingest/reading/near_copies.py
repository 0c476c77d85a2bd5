"""Recognize near copies of a dataset by small sketches, so that no data need be stored.

Copies are rarely exact (exact ones have the same `content_hash`): rows or a column are missing, another
column is the target, numbers were rounded. A `Sketch` has hashes of a few rows, and a digest of each column.
Two kinds of evidence show that a dataset is a near copy of the sketched one:

1. *Shared rows*: a good part of the sketch's rows are in the dataset, entirely or except for one cell.
   Numbers are compared at two and at three significant digits, which rounding to as many does not change;
   cells with and without the names of their columns. Rows that repeat within the dataset in the same way are
   no evidence: their share is what chance explains, up to a limit if names are compared, too.
2. *Equal columns*: the same cells in any order. The chance that n independent rows give exactly the counts
   n_1, n_2, ... is at most `sqrt(2 pi n) / prod_i sqrt(2 pi n_i)` (Stirling), whatever the distribution. In
   bits, a balanced column of two values in 1,000 rows counts 5, a constant one 0, minus the logarithm of the
   number of columns that it could be equal to.

Recognized are: rows left out or added, a part of the rows, other orders and names, a column more or less,
another target, rounding. Not recognized are: parts, under other names, of a table in which most rows repeat;
disjoint parts of one table; tables that were scaled, recoded, or lost several columns and some rows at once.

Notation:
    n, p      rows and columns of a dataset; its target is the last column
    k         rows of a sketch, at most `_SKETCHED`
    whole     (n,) hash of a row: the sum of its cells' hashes, so that their order does not matter
    less      (n, p) hash of a row without one of its cells
"""

from __future__ import annotations

import base64
import json
import math
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np
import numpy.typing as npt
import pandas as pd

from ingest.reading.content_hash import Hashes, cell_hashes, digest, hash_numbers, mixed
from ingest.reading.datasets import Dataset

METHOD = "near-copies-1"
"""Name and version of the sketching method; sketches of other methods are not compared."""

_SKETCHED = 64  # rows
_DIGITS = (2, 3)
_MOST_CELLS = 250_000  # of a dataset; of a larger one a random part of the rows
_MIN_SHARE = 0.2  # of a sketch's rows, beyond those explained by chance
_MIN_ROWS = 4
_NAMED_CHANCE = 0.3  # most, for rows with names: unrelated datasets rarely share names and values
_NAMED_COLUMNS = 4  # least, for that
_MIN_BITS = 30.0  # of all equal columns together
_MAX_BITS = 15.0  # of one column, so that it takes three: two may be a common design

Cells = npt.NDArray[np.uint32]


@dataclass(frozen=True, eq=False)
class Sketch:
    """Sketch of a dataset that recognizes near copies."""

    width: int
    """p."""
    bits: Mapping[str, float]
    """Digest of a column -> bits of evidence if it is equal, if above 0."""
    names: Cells
    """(1, p) hashes of the columns' names."""
    cells: Cells
    """(2, k, p) hashes of the cells of some rows, at two and at three significant digits."""

    def to_text(self) -> tuple[str, str]:
        """Convert to two texts: `bits` as JSON, and names and cells, compressed, in base64."""
        rows = np.concatenate([self.names, *self.cells]).astype("<u4")
        return json.dumps(self.bits), base64.b64encode(zlib.compress(rows.tobytes(), 9)).decode()

    @classmethod
    def from_text(cls, width: int, bits: str, rows: str | None) -> Self:
        """Read the sketch of a dataset with `width` columns from its two texts; `rows` None = without rows.

        Raises:
            ValueError: they are not a sketch.
        """
        try:
            packed = b"" if rows is None else zlib.decompress(base64.b64decode(rows, validate=True))
            hashes = np.frombuffer(packed, dtype="<u4").astype(np.uint32).reshape(-1, width)
            cells = hashes[1:].reshape(len(_DIGITS), -1, width)
            return cls(width, json.loads(bits), hashes[:1], cells)
        except (ValueError, zlib.error) as error:
            raise ValueError(f"no sketch: {error}") from error


def sketch(dataset: Dataset) -> Sketch:
    """Sketch a dataset, independently of the order of its rows."""
    columns = _Columns.of(dataset)
    bits = {digest(hashes): round(_bits(hashes), 1) for hashes in columns.hashes.T}
    coarse, fine = (columns.cells(digits) for digits in _DIGITS)
    _, first = np.unique(mixed(_Rows.of(fine, columns.names, is_named=False).whole), return_index=True)
    chosen = first[:_SKETCHED]
    return Sketch(
        width=columns.hashes.shape[1],
        bits={name: tells for name, tells in bits.items() if tells},
        names=columns.names,
        cells=np.stack([coarse[chosen], fine[chosen]]),
    )


def near_copies(dataset: Dataset, sketches: Mapping[str, Sketch]) -> dict[str, str]:
    """Find the sketched datasets of which this one is a near or exact copy, with the evidence in words."""
    found = dict.fromkeys(_with_equal_columns(dataset, sketches), "equal columns")
    left = {name: known for name, known in sketches.items() if name not in found}
    return found | dict.fromkeys(_sharing_rows(dataset, left), "shared rows")


# ---- columns -------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Columns:
    """The columns of a dataset."""

    names: Cells  # (1, p) hashes
    hashes: Hashes  # (n, p) of the exact cells
    numbers: npt.NDArray[np.float64]  # (n, q) those of the numeric columns
    is_numeric: npt.NDArray[np.bool_]  # (p,)

    @classmethod
    def of(cls, dataset: Dataset) -> Self:
        columns = [*(column for _, column in dataset.features.items()), dataset.target]
        names = [str(name).strip().lower() for name in (*dataset.features.columns, dataset.target.name)]
        is_numeric = np.array([pd.api.types.is_numeric_dtype(column.dtype) for column in columns])
        numeric = [
            column.to_numpy(float) for column, numeric in zip(columns, is_numeric, strict=True) if numeric
        ]
        return cls(
            _half(pd.util.hash_array(np.array(names, dtype=object), categorize=False))[None],
            np.column_stack([cell_hashes(column) for column in columns]),
            np.column_stack([np.zeros((len(dataset.target), 0)), *numeric]),
            is_numeric,
        )

    def cells(self, digits: int) -> Cells:
        """(n, p) hashes of the cells, with numbers at so many significant digits."""
        hashes = self.hashes.copy()
        hashes[:, self.is_numeric] = hash_numbers(_rounded(self.numbers, digits))
        return _half(hashes)


def _rounded(values: npt.NDArray[np.float64], digits: int) -> npt.NDArray[np.float64]:
    with np.errstate(all="ignore"):
        unit = 10.0 ** (np.floor(np.log10(np.abs(values))) - (digits - 1))
        rounded = np.round(values / unit) * unit
    return np.where(np.isfinite(rounded), rounded, values)


def _half(hashes: Hashes) -> Cells:
    """The upper half of each hash, which suffices to distinguish cells."""
    return (hashes >> np.uint64(32)).astype(np.uint32)


def _with_equal_columns(dataset: Dataset, sketches: Mapping[str, Sketch]) -> set[str]:
    """Names of the sketches that share more columns than chance explains."""
    digests = {*dataset.column_digests}
    found = set()
    for name, known in sketches.items():
        if equal := known.bits.keys() & digests:
            choices = math.log2(max(known.width, len(digests)))  # any column may equal any other
            if sum(max(min(known.bits[key], _MAX_BITS) - choices, 0) for key in equal) >= _MIN_BITS:
                found.add(name)
    return found


def _bits(hashes: Hashes) -> float:
    """-log2 of the chance of a column's counts; 0 if they are all equal, by design or numbering."""
    counts = np.unique(hashes, return_counts=True)[1]
    if np.ptp(counts) <= 1:
        return 0.0
    return float(np.log2(2 * np.pi * counts).sum() - np.log2(2 * np.pi * len(hashes))) / 2


# ---- rows ----------------------------------------------------------------------------------------


def _sharing_rows(dataset: Dataset, sketches: Mapping[str, Sketch]) -> set[str]:
    """Names of the sketches of which the dataset has enough rows."""
    n, p = len(dataset.target), dataset.features.shape[1] + 1
    groups = [group for width in (p - 1, p, p + 1) if (group := _Group.of(sketches, width)).sketches]
    if not groups:
        return set()
    part = min(max(_MOST_CELLS // p, 1) / n, 1.0)
    if part < 1:
        dataset = dataset.take(np.random.default_rng(0).choice(n, round(part * n), replace=False))
    columns = _Columns.of(dataset)
    found: set[str] = set()
    for place, digits in enumerate(_DIGITS):
        cells = columns.cells(digits)
        for is_named in (True, False):
            own = _Rows.of(cells, columns.names, is_named)
            most = _NAMED_CHANCE if is_named and p >= _NAMED_COLUMNS else 1.0
            for group in groups:
                known = _Rows.of(group.cells[place], group.names, is_named)
                found |= group.with_enough(known, own, part, most)
    return found


@dataclass(frozen=True, eq=False)
class _Rows:
    """Rows of datasets in one of the ways of comparison."""

    keys: Hashes  # (n, p) hashes of cells

    @classmethod
    def of(cls, cells: Cells, names: Cells, is_named: bool) -> Self:
        """Hashes of rows by cells, with or without column names."""
        return cls(mixed(cells + (names.astype(np.uint64) << np.uint64(32)) * np.uint64(is_named)))

    @cached_property
    def whole(self) -> Hashes:
        whole: Hashes = self.keys.sum(axis=1, dtype=np.uint64)
        return whole

    @cached_property
    def less(self) -> Hashes:
        return self.whole[:, None] - self.keys

    @cached_property
    def repeated(self) -> float:
        """Share of the rows that are equal to another one."""
        _, counts = np.unique(self.whole, return_counts=True)
        return float(counts[counts > 1].sum() / len(self.keys))

    @cached_property
    def nearly_repeated(self) -> float:
        """Share of the rows that equal another one except for a cell."""
        within = np.sort(self.less, axis=1)
        is_first = np.ones(within.shape, dtype=bool)  # equal cells of a row leave equal remainders
        is_first[:, 1:] = within[:, 1:] != within[:, :-1]
        _, place, counts = np.unique(within[is_first], return_inverse=True, return_counts=True)
        row = np.broadcast_to(np.arange(len(within))[:, None], within.shape)[is_first]
        return len(np.unique(row[counts[place] > 1])) / len(within)


@dataclass(frozen=True, eq=False)
class _Group:
    """The sketches of one width, with stacked rows."""

    sketches: list[str]
    sizes: npt.NDArray[np.intp]  # rows of each
    names: Cells  # (rows, p)
    cells: npt.NDArray[np.uint32]  # (2, rows, p)

    @classmethod
    def of(cls, sketches: Mapping[str, Sketch], width: int) -> Self:
        chosen = {name: one for name, one in sketches.items() if one.width == width and one.cells.size}
        sizes = np.array([known.cells.shape[1] for known in chosen.values()], dtype=np.intp)
        none = np.zeros((len(_DIGITS), 0, width), dtype=np.uint32)
        cells = np.concatenate([none, *(known.cells for known in chosen.values())], axis=1)
        names = np.concatenate(
            [none[0], *(known.names.repeat(known.cells.shape[1], axis=0) for known in chosen.values())]
        )
        return cls(list(chosen), sizes, names, cells)

    def with_enough(self, known: _Rows, own: _Rows, part: float, most: float) -> set[str]:
        """Names of the sketches of which the dataset has enough rows.

        Args:
            known: the rows of the sketches.
            own: rows of the dataset, a `part` of all.
            most: largest share of the rows that chance explains.
        """
        difference = known.keys.shape[1] - own.keys.shape[1]
        # If the dataset has one more column, its rows without a cell are compared, and so on.
        found: set[str] = set()
        if difference == 0:
            found |= self._with_enough(known.whole, own.whole, own, "repeated", part, most)
        ours = own.whole if difference == 1 else own.less
        theirs = known.whole if difference == -1 else known.less
        return found | self._with_enough(theirs, ours, own, "nearly_repeated", part, most)

    def _with_enough(
        self, theirs: Hashes, ours: Hashes, own: _Rows, chance: str, part: float, most: float
    ) -> set[str]:
        """Names of the sketches of which enough rows have one of their hashes, `theirs`, in `ours`."""
        owner = np.arange(len(self.sizes)).repeat(self.sizes)
        least = np.maximum(_MIN_SHARE * part * self.sizes, _MIN_ROWS)
        maybe = _may_be_among(theirs, ours)
        rows = np.bincount(owner[maybe.reshape(len(owner), -1).any(1)], minlength=len(least))
        likely = (rows >= least)[owner]
        if not likely.any():
            return set()
        maybe[~likely] = False
        asked = theirs[maybe]
        maybe[maybe] = np.isin(asked, ours[_may_be_among(ours, asked)])
        rows = np.bincount(owner[maybe.reshape(len(owner), -1).any(1)], minlength=len(least))
        enough = rows >= least
        if enough.any():
            enough &= rows >= (_MIN_SHARE * part + min(getattr(own, chance), most)) * self.sizes
        return {self.sketches[place] for place in np.flatnonzero(enough)}


def _may_be_among(asked: Hashes, known: Hashes) -> npt.NDArray[np.bool_]:
    """Whether each of the hashes may be among the known ones, with few false positives."""
    size = np.uint64(1 << max(20, int(known.size).bit_length() + 4))
    table = np.zeros(int(size), dtype=bool)
    table[known & (size - np.uint64(1))] = True
    found: npt.NDArray[np.bool_] = table[asked & (size - np.uint64(1))]
    return found
