"""LightGBM: settings that make training reproducible, and its text format, read into a `Forest`.

The format is a header, then per tree lines `name=value value ...` up to a blank line. A child that is
negative is a leaf: child c stands for leaf -c - 1. `decision_type` packs three facts into bits: bit 0
whether the split is categorical, bit 1 whether missing values go left, bits 2 and 3 what counts as missing.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from metalearners.learners.forest import MAX_LEAVES, Forest

_CATEGORICAL, _DEFAULT_LEFT = 1, 2  # bits of `decision_type` in LightGBM's model files
_MISSING_NONE, _MISSING_ZERO = 0, 1  # values of its next two bits
_OBJECTIVES = ("regression", "lambdarank")  # whose predictions are sums of leaves


REPRODUCIBLE = {
    "num_threads": 1,
    "seed": 0,
    "deterministic": True,
    "force_row_wise": True,
    "verbosity": -1,
}
"""Settings with which equal data give equal trees, whatever the machine's cores."""


class _Tree(NamedTuple):
    """One tree; leaves in order from left to right."""

    feature: list[int]
    threshold: list[float]
    missing_left: list[bool]
    left_leaves: list[int]
    leaf_value: list[float]


def read_forest(model: str) -> Forest:
    """The trees of a model as `Booster.model_to_string` writes it.

    Raises:
        ValueError: the model is no sum of plain regression trees with at most 64 leaves.
    """
    header, *blocks = model.split("\n\nTree=")
    fields = _fields(header)
    if fields.get("objective") not in _OBJECTIVES or "average_output" in header:
        raise ValueError(f"can't read a LightGBM model with objective {fields.get('objective')!r}")
    trees = [_tree(_fields(block.split("\n\n")[0])) for block in blocks]
    owner = np.repeat(np.arange(len(trees), dtype=np.int32), [len(tree.feature) for tree in trees])
    feature = np.array([feature for tree in trees for feature in tree.feature], dtype=np.int32)
    threshold = np.array([threshold for tree in trees for threshold in tree.threshold], dtype=np.float64)
    order = np.lexsort((threshold, feature))
    return Forest(
        n_features=int(fields["max_feature_idx"]) + 1,
        feature=feature[order],
        threshold=threshold[order],
        missing_left=np.array([left for tree in trees for left in tree.missing_left], dtype=bool)[order],
        tree=owner[order],
        left_leaves=np.array([mask for tree in trees for mask in tree.left_leaves], dtype=np.uint64)[order],
        leaf_value=_padded([tree.leaf_value for tree in trees]),
    )


def _fields(block: str) -> dict[str, str]:
    return dict(line.split("=", 1) for line in block.splitlines() if "=" in line)


def _tree(fields: dict[str, str]) -> _Tree:
    left, right, decisions, feature = (
        [int(word) for word in fields[name].split()]
        for name in ("left_child", "right_child", "decision_type", "split_feature")
    )
    threshold, leaf_value = (
        [float(word) for word in fields[name].split()] for name in ("threshold", "leaf_value")
    )
    if len(leaf_value) > MAX_LEAVES:
        raise ValueError(f"can't read a tree with {len(leaf_value)} leaves: {MAX_LEAVES} are the most")
    if fields.get("is_linear", "0") != "0" or any(decision & _CATEGORICAL for decision in decisions):
        raise ValueError("can't read a tree with linear leaves or categorical splits")
    left_leaves, order = _left_to_right(left, right)
    return _Tree(
        feature=feature,
        threshold=threshold,
        missing_left=[_missing_left(*node) for node in zip(decisions, threshold, strict=True)],
        left_leaves=left_leaves,
        leaf_value=[leaf_value[leaf] for leaf in order],
    )


def _left_to_right(left: list[int], right: list[int]) -> tuple[list[int], list[int]]:
    """(per node the leaves under its left child as bits, LightGBM's leaf numbers in order)."""
    order: list[int] = []
    left_leaves = [0] * len(left)

    def leaves_under(child: int) -> int:
        if child < 0:
            order.append(-child - 1)
            return 1 << (len(order) - 1)
        left_leaves[child] = leaves_under(left[child])
        return left_leaves[child] | leaves_under(right[child])

    leaves_under(0 if left else -1)
    return left_leaves, order


def _missing_left(decision: int, threshold: float) -> bool:
    missing = (decision >> 2) & 3
    if missing == _MISSING_ZERO:
        raise ValueError("can't read a tree in which zero counts as missing")
    if missing == _MISSING_NONE:
        # Training saw no missing value here; LightGBM then takes NaN for 0.
        return threshold >= 0
    return bool(decision & _DEFAULT_LEFT)


def _padded(rows: list[list[float]]) -> np.ndarray:
    matrix = np.zeros((len(rows), max(len(row) for row in rows)))
    for row, values in zip(matrix, rows, strict=True):
        row[: len(values)] = values
    return matrix
