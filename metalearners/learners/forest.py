"""A trained regression forest as arrays, with LightGBM's predictions but without importing it.

Importing LightGBM takes more than a second, longer than a recommendation should. Trees are stored as in
QuickScorer (Lucchese et al. 2015, https://doi.org/10.1145/2766462.2767733): leaves are numbered from left to
right, and a node that sends a row to the right rules out the leaves under its left child. The row's leaf is
the first one not ruled out. Which nodes of a feature send a value to the right depends only on how many
thresholds lie below it, so one table per feature gives the remaining leaves of all trees at once.

Notation
    X          (m, n_features) rows to predict, NaN = missing
    nodes      K of all trees together, sorted by feature, then threshold
    leaves     at most 64 per tree, as bits of an unsigned integer; bit 0 = the leftmost leaf
    remaining  (m, n_trees) leaves not yet ruled out
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Annotated

import numpy as np
import numpy.typing as npt

from warehouse.support.arrays import Flags, Floats

MAX_LEAVES = 64  # bits of a machine word
_BLOCK = 2048  # rows at a time, so that `remaining` stays in the processor's cache


@dataclass(frozen=True, eq=False)
class Forest:
    """Sum of regression trees with nodes `x[feature] <= threshold`."""

    n_features: int
    feature: Annotated[npt.NDArray[np.int32], "K"]
    threshold: Annotated[Floats, "K"]
    missing_left: Annotated[Flags, "K"]
    """Whether NaN goes left."""
    tree: Annotated[npt.NDArray[np.int32], "K"]
    left_leaves: Annotated[npt.NDArray[np.uint64], "K"]
    """Leaves under the left child."""
    leaf_value: Annotated[Floats, "n_trees most_leaves"]

    def __post_init__(self) -> None:
        n_trees, most_leaves = self.leaf_value.shape
        if (
            not 0 < most_leaves <= MAX_LEAVES
            or ((self.feature < 0) | (self.feature >= self.n_features)).any()
            or (np.diff(self.feature) < 0).any()
            or ((self.tree < 0) | (self.tree >= n_trees)).any()
        ):
            raise ValueError("the arrays of a forest do not fit together")

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Predictions for the rows of `X`, (m,).

        Raises:
            ValueError: `X` has another number of columns.
        """
        X = np.asarray(X, dtype=np.float64)
        if X.ndim != 2 or X.shape[1] != self.n_features:
            raise ValueError(f"expected rows of {self.n_features} features, got an array of shape {X.shape}")
        blocks = [self._predict_block(X[start : start + _BLOCK]) for start in range(0, len(X), _BLOCK)]
        return np.concatenate([np.empty(0), *blocks])

    def _predict_block(self, X: np.ndarray) -> np.ndarray:
        n_trees, n_leaves = self.leaf_value.shape
        remaining = np.full((len(X), n_trees), ~_bits(n_leaves)(0))
        for table in self._tables:
            remaining &= table.look_up(X[:, table.feature])
        # The lowest bit's index is the number of zeros below it.
        leaf = np.bitwise_count(~remaining & (remaining - 1))
        sums: np.ndarray = self.leaf_value[np.arange(n_trees), leaf].sum(axis=1)
        return sums

    @cached_property
    def _tables(self) -> list[_FeatureTable]:
        features, starts = np.unique(self.feature, return_index=True)
        ends = np.append(starts, len(self.feature))[1:]
        return [
            self._table(int(feature), slice(start, end))
            for feature, start, end in zip(features, starts, ends, strict=True)
        ]

    def _table(self, feature: int, nodes: slice) -> _FeatureTable:
        n_trees, n_leaves = self.leaf_value.shape
        thresholds, position = np.unique(self.threshold[nodes], return_inverse=True)
        keep = (~self.left_leaves[nodes]).astype(_bits(n_leaves))
        remaining = np.full((len(thresholds) + 2, n_trees), ~_bits(n_leaves)(0))
        np.bitwise_and.at(remaining, (position + 1, self.tree[nodes]), keep)
        np.bitwise_and.accumulate(remaining[:-1], axis=0, out=remaining[:-1])
        right = ~self.missing_left[nodes]
        np.bitwise_and.at(remaining[-1], self.tree[nodes][right], keep[right])
        return _FeatureTable(feature, thresholds, remaining)


@dataclass(frozen=True, eq=False)
class _FeatureTable:
    """Leaves of all trees allowed by the nodes of one feature, for every interval of its values."""

    feature: int
    thresholds: np.ndarray  # (d,) distinct, ascending
    remaining: np.ndarray  # (d + 2, n_trees): row i for values above i thresholds, the last row for NaN

    def look_up(self, values: np.ndarray) -> np.ndarray:
        """Remaining leaves for each value, (m, n_trees)."""
        row = np.searchsorted(self.thresholds, values, side="left")
        return self.remaining[np.where(np.isnan(values), len(self.remaining) - 1, row)]


def constant_forest(value: float) -> Forest:
    """A forest without features, which predicts `value` for every row."""
    none = np.empty(0)
    return Forest(
        n_features=0,
        feature=none.astype(np.int32),
        threshold=none,
        missing_left=none.astype(bool),
        tree=none.astype(np.int32),
        left_leaves=none.astype(np.uint64),
        leaf_value=np.array([[value]]),
    )


def _bits(n_leaves: int) -> type[np.unsignedinteger]:
    """The smallest unsigned integer with a bit for each leaf."""
    return next(bits for bits in (np.uint16, np.uint32, np.uint64) if n_leaves <= np.iinfo(bits).bits)
