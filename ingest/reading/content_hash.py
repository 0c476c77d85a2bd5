"""A hash of data that does not depend on how it is stored.

The hash of a table does not depend on file format, row order, column order or column names. A column's
digest is the sum of 64-bit hashes of its cells' canonical values, so the order does not matter: a number
hashes as its float64 (also if declared as a category or written as text), a date as its time, a truth value
as true or false, other text as itself without surrounding blanks. Missing cells
are counted.
"""

import hashlib
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd

from ingest.reading.column_types.columns import as_dates, as_numbers
from ingest.reading.column_types.missing import MISSING_MARKERS

Hashes = npt.NDArray[np.uint64]

_DATE_SALT = np.uint64(0x9E3779B97F4A7C15)  # 2^64 over the golden ratio; any odd number would do
MISSING = np.uint64(0)  # a hash that no value is likely to have


def content_hash(features: Sequence[str], target: str, rows: int, *, has_classes: bool = True) -> str:
    """16 hexadecimal digits that identify a table's content, from the digests of its columns.

    The same target has different hashes as numbers and as classes, since results for one do not hold for the
    other.
    """
    parts = [f"{rows}", *sorted(features), "target" if has_classes else "numeric target", target]
    return hashlib.blake2b(" ".join(parts).encode(), digest_size=8).hexdigest()


def digest(hashes: Hashes) -> str:
    """Identify these cells in any order: the sum of their hashes, and the number of missing ones."""
    missing = int((hashes == MISSING).sum())
    return f"{int(hashes.sum(dtype=np.uint64)):016x}-{missing}"


def cell_hashes(column: pd.Series) -> Hashes:
    """(n_rows,) hashes of cells, equal for equal values in any storage; `MISSING` for a missing one."""
    if pd.api.types.is_numeric_dtype(column.dtype):
        return hash_numbers(column.to_numpy(dtype=float))
    if pd.api.types.is_datetime64_dtype(column.dtype):
        return _hash_dates(column)
    codes, distinct = pd.factorize(column)
    return np.append(_hash_words(pd.Series(distinct, dtype="str")), MISSING)[codes]


def hash_numbers(values: npt.NDArray[np.floating]) -> Hashes:
    """Hashes of the bits of the numbers; -0.0 counts as 0.0, NaN as missing."""
    return np.where(np.isnan(values), MISSING, mixed((values + 0.0).view(np.uint64)) + np.uint64(1))


def mixed(bits: Hashes) -> Hashes:
    """Finalizer of splitmix64: any change of the bits changes about half of the output bits."""
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))


def _hash_dates(dates: pd.Series) -> Hashes:
    microseconds = dates.to_numpy(dtype="datetime64[us]")
    seconds = np.where(np.isnat(microseconds), np.nan, microseconds.astype(np.int64) / 1e6)
    hashes = hash_numbers(seconds)
    return np.where(hashes == MISSING, MISSING, hashes ^ _DATE_SALT)


def _hash_words(words: pd.Series) -> Hashes:
    """Hashes of distinct texts; those that look like numbers or dates hash as these."""
    words = words.str.strip()
    lower = words.str.lower()
    words = words.mask(lower.isin(["true", "false"]), lower).mask(lower.isin(MISSING_MARKERS))
    dates = as_dates(words)
    if dates is not None:
        return _hash_dates(dates)
    numbers = as_numbers(words)
    if numbers is None:
        numbers = pd.to_numeric(words, errors="coerce")
    texts = pd.util.hash_array(words.fillna("").to_numpy(dtype=object), categorize=False)
    texts = np.where(words.isna().to_numpy(), MISSING, texts)
    values = numbers.to_numpy(dtype=float)
    return np.where(np.isfinite(values), hash_numbers(values), texts)
