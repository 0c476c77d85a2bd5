"""A dataset prepared for the extractors: attributes by kind, and a sample of rows to learn from.

Notation
    n, p    rows and attributes (columns other than the target)
    m       rows of the sample
    y       class codes, from 0; for a numeric target the codes of ten quantile bins
    t       a numeric target, shifted and scaled to [0, 1]

Rows, columns and classes are put in an order that depends on their content only, not on position or name.
Samples, folds and ties are thus the same after shuffling rows or columns or renaming columns or classes. A
numeric target enters as t, which does not depend on its unit.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from ingest.reading.column_types.roles import Role
from ingest.reading.content_hash import Hashes, hash_numbers, mixed
from ingest.reading.datasets import Dataset
from warehouse.support.arrays import Flags, Floats, Positions

Singles = npt.NDArray[np.float32]

MAX_ROWS = 7000  # set by hand, so that a description takes a second or two
MIN_ROWS = 1000  # set by hand: with fewer, error rates are noisy
MAX_CELLS = 200_000
"""Rows times encoded columns of a sample; larger ones lose rows first, down to `MIN_ROWS`, then columns."""
MAX_CATEGORIES = 15
"""Most categories of an attribute in a sample: rarer ones are merged into one."""
FOLDS = 5  # set by hand: ten would take twice as long
BINS = 10
"""Quantile bins of a numeric target, which stand for classes in sampling and folds."""

_DECIMALS = 10  # of t; rounding in shifts and scales of the target does not change these
_CHUNK_CELLS = 4_000_000  # 32 MB of numbers at once
CONSTANT_TARGET = "the target has one value only"
_OPAQUE = (Role.identifier, Role.text, Role.constant)


class Prepared:
    """The attributes of a dataset by kind, and intermediate results that groups of meta-features share."""

    def __init__(self, dataset: Dataset) -> None:
        self.dataset = dataset
        self.n = len(dataset.target)
        features, roles = dataset.features, dataset.roles
        kinds = {str(name): dtype for name, dtype in features.dtypes.items()}
        kinds = {name: dtype for name, dtype in kinds.items() if roles[name] != Role.identifier}
        self.numeric = [name for name, dtype in kinds.items() if pd.api.types.is_numeric_dtype(dtype)]
        self.nominal = [name for name, dtype in kinds.items() if isinstance(dtype, pd.CategoricalDtype)]

    @property
    def has_classes(self) -> bool:
        return self.dataset.n_classes > 0

    @cached_property
    def y(self) -> Positions:
        """(n,) class codes."""
        return self.dataset.target.cat.codes.to_numpy().astype(np.intp)

    @cached_property
    def t(self) -> Floats:
        """(n,) a numeric target from 0 to 1, independent of shift and positive scale; 0 if constant."""
        y = self.dataset.target.to_numpy(np.float64) / 2  # halves, so that no difference overflows
        low, high = y.min(), y.max()
        return np.round((y - low) / (high - low), _DECIMALS) if high > low else np.zeros(self.n)

    @cached_property
    def log_unit(self) -> float:
        """Median of the positive t, the unit for log1p of t; t must vary."""
        return float(np.median(self.t[self.t > 0]))

    def numeric_chunks(self) -> Iterator[Floats]:
        """The numeric attributes in chunks, (some of them, n) float64; NaN where missing."""
        step = max(_CHUNK_CELLS // max(self.n, 1), 1)
        for start in range(0, len(self.numeric), step):
            names = self.numeric[start : start + step]
            yield np.vstack([self.dataset.features[name].to_numpy(dtype=np.float64) for name in names])

    def nominal_codes(self) -> Iterator[Positions]:
        """The nominal attributes, (n,) code of the value; -1 where missing."""
        for name in self.nominal:
            yield self.dataset.features[name].cat.codes.to_numpy().astype(np.intp)

    @cached_property
    def sample(self) -> RowSample:
        """All rows, or a stratified sample of them."""
        return _draw(self)

    @property
    def no_sample(self) -> str | None:
        """Why there is no usable sample; None if there is one."""
        if not self.has_classes and not np.ptp(self.sample.t):
            return CONSTANT_TARGET
        if not self.sample.encoded.shape[1]:
            return "no attribute varies and is a number, a category, a truth value or a date"
        return None


@dataclass(frozen=True)
class RowSample:
    """Rows in an order that depends on their content, sorted by class (or target bin), and the attributes
    that vary."""

    numbers: Floats
    """(m, numeric attributes and dates); NaN where missing."""
    categories: Positions
    """(m, nominal attributes): 0 = the most frequent category; -1 where missing."""
    y: Positions
    """(m,) 0 = the most frequent class; for a numeric target, the lowest quantile bin."""
    n_classes: int
    note: str | None
    """Note about left-out rows and columns."""
    t: Floats = field(default_factory=lambda: np.empty(0))
    """(m,) a numeric target from 0 to 1; empty for classes."""

    @property
    def attributes(self) -> int:
        return int(self.numbers.shape[1] + self.categories.shape[1])

    @cached_property
    def fold(self) -> Positions:
        """(m,) the fold that tests a row: rows, sorted by class, are dealt in turn."""
        return np.arange(len(self.y)) % min(FOLDS, len(self.y))

    @cached_property
    def indicators(self) -> tuple[Singles, Positions]:
        """(m, k) 1 where a nominal attribute has a category, (k,) the attribute's position."""
        sizes = self.categories.max(axis=0, initial=-1) + 1
        attribute = np.repeat(np.arange(len(sizes)), sizes)
        category = np.arange(len(attribute)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        return (self.categories[:, attribute] == category).astype(np.float32), attribute

    @cached_property
    def tree_columns(self) -> Singles:
        """(m, attributes) C order: numbers less their mean, 0 where missing, then codes of categories.

        Trees split codes as they split numbers, which is nearer to Weka's splits with a branch per category
        than splitting one category from all others.
        """
        return np.ascontiguousarray(np.hstack([self._centred, self.categories], dtype=np.float32))

    @cached_property
    def encoded(self) -> Singles:
        """(m, q) C order: numbers as in `tree_columns`, then an indicator per category.

        Two categories without gaps need one indicator.
        """
        indicators, _ = self.indicators
        return np.ascontiguousarray(
            np.hstack([self._centred, indicators[:, ~self._redundant]], dtype=np.float32)
        )

    @cached_property
    def attribute_of(self) -> Positions:
        """(q,) the attribute of each column of `encoded`, numbers first."""
        _, attribute = self.indicators
        numbers = self.numbers.shape[1]
        return np.concatenate([np.arange(numbers), numbers + attribute[~self._redundant]])

    @cached_property
    def ordered(self) -> Floats:
        """(numeric attributes, m) sorted numbers of each attribute, gaps filled with the mean."""
        return np.sort(np.ascontiguousarray(self.filled.T), axis=1)

    @cached_property
    def scaled(self) -> Singles:
        """(m, q) `encoded` with numbers from 0 to 1 and indicators such that two categories are 1 apart."""
        numbers = self.numbers.shape[1]
        scaled = self.encoded.copy()
        low, high = scaled[:, :numbers].min(axis=0), scaled[:, :numbers].max(axis=0)
        scaled[:, :numbers] = (scaled[:, :numbers] - low) / np.where(high > low, high - low, 1)
        _, columns = np.unique(self.attribute_of, return_counts=True)
        scaled[:, numbers:] *= np.where(np.repeat(columns, columns)[numbers:] > 1, np.sqrt(0.5), 1)
        return scaled

    @cached_property
    def filled(self) -> Floats:
        """(m, numeric attributes) numbers, gaps filled with the mean."""
        missing = np.isnan(self.numbers)
        if not missing.any():
            return self.numbers
        return np.where(missing, np.nanmean(self.numbers, axis=0), self.numbers)

    @cached_property
    def _centred(self) -> Floats:
        # In float64, since large numbers may differ little.
        centred: Floats = self.filled - self.filled.mean(axis=0)
        return centred

    @cached_property
    def _redundant(self) -> Flags:
        """(k,) indicators that duplicate another one."""
        _, attribute = self.indicators
        sizes = np.bincount(attribute, minlength=self.categories.shape[1])
        whole = (self.categories >= 0).all(axis=0)
        is_last = np.append(attribute[1:] != attribute[:-1], True)[: len(attribute)]
        redundant: Flags = is_last & ((sizes == 2) & whole)[attribute]
        return redundant


def average_ranks(values: npt.NDArray[np.floating]) -> Floats:
    """(n,) ranks of `values` from 1; ties get their mean rank."""
    _, code, counts = np.unique(values, return_inverse=True, return_counts=True)
    ranks: Floats = (np.cumsum(counts) - (counts - 1) / 2)[code]
    return ranks


def quantile_bins(values: Floats) -> Positions:
    """(n,) one of `BINS` bins of `values`, from 0, of about equal size; equal values share a bin."""
    return np.floor(BINS * (average_ranks(values) - 0.5) / len(values)).astype(np.intp)


def available_cpus() -> int:
    """Number of threads to use: the processors available to this process, at most four."""
    from joblib import cpu_count

    return min(int(cpu_count()), 4)


# ---- drawing a sample ----------------------------------------------------------------------------


def _draw(prepared: Prepared) -> RowSample:
    features, roles = prepared.dataset.features, prepared.dataset.roles
    names = [str(name) for name in features if roles[str(name)] not in _OPAQUE]
    digests = {name: int(_cell_hashes(features[name]).sum(dtype=np.uint64)) for name in names}
    row_hashes = _row_hashes(features, digests)
    if prepared.has_classes:
        y, n_classes = _ordered_classes(prepared.y, row_hashes)
        t, outcome = np.empty(0), y
    else:
        y, n_classes = quantile_bins(prepared.t), BINS
        t, outcome = prepared.t, np.unique(prepared.t, return_inverse=True)[1]
    if len(set(digests.values())) < len(names):
        digests = _told_apart(features, digests, row_hashes, outcome)
        row_hashes = _row_hashes(features, digests)
    names = sorted(names, key=digests.__getitem__)
    order = np.lexsort((row_hashes, y) if prepared.has_classes else (t, row_hashes, y))
    widths = np.array([_encoded_width(features[name]) for name in names], dtype=np.intp)
    rows = min(len(y), MAX_ROWS, max(MIN_ROWS, MAX_CELLS // max(int(widths.sum()), 1)))
    if rows < len(y):
        order = order[_stratified(y[order], rows, n_classes)]
    kept = [name for name, end in zip(names, np.cumsum(widths), strict=True) if end <= MAX_CELLS // rows]
    numeric, categories = [], []
    for name in kept or names[:1]:
        column = features[name].iloc[order]
        if isinstance(column.dtype, pd.CategoricalDtype):
            categories.append(_by_frequency(column.cat.codes.to_numpy().astype(np.intp)))
        else:
            numeric.append(_as_numbers(column))
    notes = [f"{rows:,} of {len(y):,} rows"] if rows < len(y) else []
    notes += [f"{len(kept):,} of {len(names):,} attributes"] if kept and len(kept) < len(names) else []
    return RowSample(
        numbers=_varying(_stacked(numeric, rows, np.float64)),
        categories=_varying(_stacked(categories, rows, np.intp)),
        y=y[order],
        n_classes=n_classes,
        note=" and ".join(notes) or None,
        t=t if prepared.has_classes else t[order],
    )


def _stratified(y: Positions, rows: int, n_classes: int) -> Positions:
    """Positions of `rows` rows, sorted by class: the first rows of each class, in proportion to its size."""
    sizes = np.bincount(y, minlength=n_classes)
    exact = sizes * rows / len(y)
    quota = np.maximum(np.floor(exact).astype(np.intp), np.minimum(sizes, 1))
    short = max(rows - int(quota.sum()), 0)
    quota[np.argsort(quota - exact, kind="stable")[:short]] += 1
    starts = np.cumsum(sizes) - sizes
    within = np.arange(len(y)) - starts[y]
    return np.flatnonzero(within < quota[y])


def _ordered_classes(y: Positions, row_hashes: Hashes) -> tuple[Positions, int]:
    """Class codes by size, the largest first; ties are ordered by the content of their rows."""
    sizes = np.bincount(y)
    content = np.zeros(len(sizes), dtype=np.uint64)
    np.add.at(content, y, row_hashes)
    rank = np.empty(len(sizes), dtype=np.intp)
    rank[np.lexsort((content, -sizes))] = np.arange(len(sizes))
    return rank[y], len(sizes)


def _encoded_width(column: pd.Series) -> int:
    if isinstance(column.dtype, pd.CategoricalDtype):
        return min(len(column.cat.categories), MAX_CATEGORIES + 1)
    return 1


def _by_frequency(codes: Positions) -> Positions:
    """Codes renumbered by frequency in the sample, with rare ones merged; -1 stays."""
    counts = np.bincount(codes + 1, minlength=1)[1:]
    rank = np.empty(len(counts) + 1, dtype=np.intp)
    rank[np.argsort(-counts, kind="stable")] = np.arange(len(counts))
    rank[-1] = -1
    return np.minimum(rank[codes], MAX_CATEGORIES)


def _as_numbers(column: pd.Series) -> Floats:
    if pd.api.types.is_datetime64_dtype(column.dtype):
        days = column.to_numpy(dtype="datetime64[us]").astype(np.int64) / 86_400e6
        return np.where(column.isna().to_numpy(), np.nan, days)
    values: Floats = column.to_numpy(dtype=np.float64)
    return np.clip(values, -1e15, 1e15)  # clipped so that squares fit float32


def _stacked(columns: list[npt.NDArray[Any]], rows: int, dtype: npt.DTypeLike) -> npt.NDArray[Any]:
    return np.column_stack(columns) if columns else np.empty((rows, 0), dtype=dtype)


def _varying(columns: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The columns with at least two different values; in categories, a gap counts as a value."""
    if not columns.size:
        return columns
    if columns.dtype.kind == "f":
        present = ~np.isnan(columns)
        low = np.min(columns, axis=0, where=present, initial=np.inf)
        high = np.max(columns, axis=0, where=present, initial=-np.inf)
        # Differences by rounding, or too small to be squared, do not count.
        return columns[:, high - low > np.maximum(1e-12 * np.maximum(abs(high), abs(low)), 1e-30)]
    return columns[:, columns.max(axis=0) > columns.min(axis=0)]


# ---- hashes --------------------------------------------------------------------------------------


def _cell_hashes(column: pd.Series) -> Hashes:
    """(n,) a hash of each cell's value."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        words = pd.util.hash_array(column.cat.categories.to_numpy(dtype=object), categorize=False)
        return np.append(words, np.uint64(0))[column.cat.codes.to_numpy()]
    return hash_numbers(_as_numbers(column))


def _row_hashes(features: pd.DataFrame, digests: dict[str, int]) -> Hashes:
    """(n,) hashes of rows that depend on the column of each value, but not on the order of columns."""
    total = np.zeros(len(features), dtype=np.uint64)
    for name, digest in digests.items():
        total += mixed(_cell_hashes(features[name]) ^ np.uint64(digest))
    return total


def _told_apart(
    features: pd.DataFrame, digests: dict[str, int], row_hashes: Hashes, outcome: Positions
) -> dict[str, int]:
    """Make all digests different.

    Columns with the same values are told apart by the hashes of rows and the outcomes (classes, or positions
    of a numeric target's values) at these values. Columns that are still equal are interchangeable: their
    order does not change the sample.
    """
    rows = mixed(row_hashes ^ (outcome.astype(np.uint64) + np.uint64(1)))
    beside = {name: int(mixed(_cell_hashes(features[name]) ^ rows).sum(dtype=np.uint64)) for name in digests}
    order = sorted(digests, key=lambda name: (digests[name], beside[name]))
    drawn = np.random.default_rng(0).integers(2**63, size=len(order))
    return dict(zip(order, drawn.tolist(), strict=True))
