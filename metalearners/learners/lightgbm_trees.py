"""LightGBM: settings that make training reproducible, and its trees as a `Forest`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from metalearners.learners.forest import Forest

if TYPE_CHECKING:
    import lightgbm

REPRODUCIBLE = {
    "num_threads": 1,
    "seed": 0,
    "deterministic": True,
    "force_row_wise": True,
    "verbosity": -1,
}
"""Settings with which equal data give equal trees, independent of the machine's cores."""


class _Node(NamedTuple):
    """An inner node of a tree, with the fields of `Forest`."""

    feature: int
    threshold: float
    missing_left: bool
    tree: int
    left_leaves: int


def forest_of(booster: lightgbm.Booster) -> Forest:
    """The trees of a trained booster whose prediction is the sum of numeric regression trees."""
    model = booster.dump_model()
    nodes: list[_Node] = []
    leaves: list[list[float]] = []  # of each tree, from left to right
    for number, tree in enumerate(model["tree_info"]):
        leaves.append([])
        _add(tree["tree_structure"], number, nodes, leaves[-1])
    leaf_value = np.zeros((len(leaves), max(map(len, leaves))))
    for row, values in zip(leaf_value, leaves, strict=True):
        row[: len(values)] = values
    feature, threshold, missing_left, tree, left_leaves = (
        zip(*sorted(nodes), strict=True) if nodes else [()] * 5
    )
    return Forest(
        n_features=model["max_feature_idx"] + 1,
        feature=np.array(feature, dtype=np.int32),
        threshold=np.array(threshold, dtype=np.float64),
        missing_left=np.array(missing_left, dtype=bool),
        tree=np.array(tree, dtype=np.int32),
        left_leaves=np.array(left_leaves, dtype=np.uint64),
        leaf_value=leaf_value,
    )


def _add(node: Mapping[str, Any], tree: int, nodes: list[_Node], leaves: list[float]) -> int:
    """Add the nodes and leaves below a node of LightGBM's dump; returns its leaves as bits."""
    if "leaf_value" in node:
        leaves.append(node["leaf_value"])
        return 1 << (len(leaves) - 1)
    left = _add(node["left_child"], tree, nodes, leaves)
    # If the training data had no missing value, LightGBM predicts NaN as 0.
    missing_left = node["default_left"] if node["missing_type"] == "NaN" else node["threshold"] >= 0
    nodes.append(_Node(node["split_feature"], node["threshold"], missing_left, tree, left))
    return left | _add(node["right_child"], tree, nodes, leaves)
