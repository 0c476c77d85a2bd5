"""Decision trees, grown once and cut in several ways.

scikit-learn grows them. A tree of depth d, or one pruned by some rule, is the same tree with some nodes
closed: rows end in a closed node instead of below it.

Notation
    t         nodes, a parent before its children
    C         classes
    counts    (t, C) training rows of each class in each node; C is 1 for a numeric target
    closed    (t,) nodes where the cut tree ends
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ingest.metafeatures.prepared import Prepared, Singles
from ingest.metafeatures.values import Values
from warehouse.support.arrays import Flags, Floats, Positions


@dataclass(frozen=True)
class GrownTree:
    """A tree as arrays; children are -1 in a leaf."""

    left: Positions
    right: Positions
    feature: Positions
    counts: Floats
    grown: Any
    """scikit-learn's tree, which finds the leaf of a row."""

    @cached_property
    def is_leaf(self) -> Flags:
        return self.left < 0

    @cached_property
    def parent(self) -> Positions:
        """(t,); -1 for the root."""
        parent = np.full(len(self.left), -1)
        inner = np.flatnonzero(~self.is_leaf)
        parent[self.left[inner]] = inner
        parent[self.right[inner]] = inner
        return parent

    @cached_property
    def depth(self) -> Positions:
        """(t,) distance from the root."""
        parents = self.parent.tolist()
        depth = [0] * len(parents)
        for node in range(1, len(parents)):
            depth[node] = depth[parents[node]] + 1
        return np.array(depth)

    def leaves_of(self, X: Singles) -> Positions:
        """(rows,) leaf of each row of X."""
        leaves: Positions = self.grown.apply(X)
        return leaves

    def ends(self, closed: Flags) -> Positions:
        """(t,) the node of the cut tree where the rows of each node end."""
        parents, is_closed = self.parent.tolist(), closed.tolist()
        end = list(range(len(parents)))
        for node in range(1, len(parents)):
            above = end[parents[node]]
            if is_closed[above]:
                end[node] = above
        return np.array(end)

    def sums(self, at_leaves: Floats) -> Floats:
        """(t, ...) sum of `at_leaves`, (t, ...), over the leaves below each node."""
        total = at_leaves.copy()
        parents = self.parent.tolist()
        for node in range(len(parents) - 1, 0, -1):
            total[parents[node]] += total[node]
        return total


def grow(X: Singles, y: Positions, n_classes: int, **settings: Any) -> GrownTree:
    """A scikit-learn tree, split by entropy like Weka's.

    Args:
        X: (rows, q) float32, C order, without NaN.
        y: (rows,) class codes.
        settings: of `DecisionTreeClassifier`.
    """
    from sklearn import config_context
    from sklearn.tree import DecisionTreeClassifier

    with config_context(assume_finite=True, skip_parameter_validation=True):
        classifier = DecisionTreeClassifier(
            criterion="entropy", random_state=np.random.RandomState(0), **settings
        )
        tree = classifier.fit(X, y, check_input=False).tree_
    shares = np.zeros((tree.node_count, n_classes))
    shares[:, classifier.classes_] = tree.value[:, 0, :]
    return _as_arrays(tree, np.rint(shares * tree.weighted_n_node_samples[:, None]))


def grow_by_gini(
    X: Singles,
    y: Positions,
    n_classes: int,
    *,
    weight: Floats | None = None,
    random: np.random.RandomState | None = None,
    **settings: Any,
) -> GrownTree:
    """A scikit-learn tree, split by Gini's index; counts are sums of weights.

    It is a regression tree on one indicator per class, which is equivalent: the variances of the indicators
    add up to Gini's index. scikit-learn prepares it in a quarter of a classifier's time, which dominates for
    small trees.

    Args:
        X, y: as for `grow`.
        weight: (rows,) row weights; None = all 1.
        random, settings: as for `_regression_tree`.
    """
    tree = _regression_tree(X, np.eye(n_classes)[y], weight, random, settings)
    counts = tree.value[:, :, 0] * tree.weighted_n_node_samples[:, None]
    return _as_arrays(tree, counts if weight is not None else np.rint(counts))


def grow_on_numbers(
    X: Singles, y: Floats, *, random: np.random.RandomState | None = None, **settings: Any
) -> tuple[GrownTree, Floats]:
    """A scikit-learn tree on a numeric target, split by variance, and the (t,) means of its nodes.

    Args:
        X: as for `grow`.
        y: (rows,) the target.
        random, settings: as for `_regression_tree`.
    """
    tree = _regression_tree(X, y, None, random, settings)
    means: Floats = tree.value[:, 0, 0]
    return _as_arrays(tree, tree.weighted_n_node_samples[:, None]), means


def _regression_tree(
    X: Singles,
    y: Floats,
    weight: Floats | None,
    random: np.random.RandomState | None,
    settings: dict[str, Any],
) -> Any:
    """scikit-learn's tree.

    Args:
        random: random state for drawing attributes and breaking ties; None = the same for every tree.
        settings: of `DecisionTreeRegressor`.
    """
    from sklearn import config_context
    from sklearn.tree import DecisionTreeRegressor

    with config_context(assume_finite=True, skip_parameter_validation=True):
        regressor = DecisionTreeRegressor(random_state=random or np.random.RandomState(0), **settings)
        return regressor.fit(X, y, sample_weight=weight, check_input=False).tree_


def _as_arrays(tree: Any, counts: Floats) -> GrownTree:
    left, right = tree.children_left.astype(np.intp), tree.children_right.astype(np.intp)
    return GrownTree(left, right, tree.feature.astype(np.intp), counts, tree)


def to_depth(tree: GrownTree, depth: int) -> Flags:
    """Closed nodes of the tree cut at `depth`."""
    return tree.is_leaf | (tree.depth >= depth)


def by_pessimistic_error(tree: GrownTree, confidence: float) -> Flags:
    """Closed nodes of C4.5's pruning: a node replaces its branches if this does not add expected errors.

    The expected errors of a leaf are the upper confidence limit, at `confidence`, of a binomial (Quinlan,
    C4.5, 1993, section 4.2), by Weka's normal approximation with continuity correction; as in Weka a node may
    be 0.1 errors worse.
    """
    n = tree.counts.sum(axis=1)
    errors = n - tree.counts.max(axis=1)
    as_leaf = (errors + _added_errors(n, errors, confidence)).tolist()
    left, right = tree.left.tolist(), tree.right.tolist()
    closed = tree.is_leaf.tolist()
    expected = list(as_leaf)
    for node in range(len(left) - 1, -1, -1):
        if not closed[node]:
            below = expected[left[node]] + expected[right[node]]
            closed[node] = as_leaf[node] <= below + 0.1
            expected[node] = as_leaf[node] if closed[node] else below
    return np.array(closed)


def by_held_out_error(tree: GrownTree, held_out: Floats, cut: Flags) -> Flags:
    """Closed nodes of reduced-error pruning: a node replaces its branches if it has no more held-out errors.

    Args:
        held_out: (t, C) held-out rows of each class in each node.
        cut: (t,) nodes that are already closed.
    """
    majority = tree.counts.argmax(axis=1)
    as_leaf = (held_out.sum(axis=1) - held_out[np.arange(len(majority)), majority]).tolist()
    left, right = tree.left.tolist(), tree.right.tolist()
    closed = cut.tolist()
    errors = list(as_leaf)
    for node in range(len(left) - 1, -1, -1):
        if not closed[node]:
            below = errors[left[node]] + errors[right[node]]
            closed[node] = as_leaf[node] <= below
            errors[node] = min(as_leaf[node], below)
    return np.array(closed)


def _added_errors(n: Floats, errors: Floats, confidence: float) -> Floats:
    """Upper limit of the number of errors among n rows, minus the observed number."""
    from scipy.special import ndtri

    z = float(ndtri(1 - confidence))
    f = (errors + 0.5) / n
    root = np.sqrt(np.maximum(f / n - f * f / n + z * z / (4 * n * n), 0))
    limit = (f + z * z / (2 * n) + z * root) / (1 + z * z / n)
    without = n * (1 - confidence ** (1 / n))  # the exact limit for 0 errors
    return np.select(
        [errors < 1, errors + 0.5 >= n], [without, np.maximum(n - errors, 0)], n * limit - errors
    )


def model(prepared: Prepared) -> Values:
    """Group `model`: the shape of a tree grown on the whole sample until its leaves are pure."""
    sample = prepared.sample
    tree = grow(sample.tree_columns, sample.y, sample.n_classes)
    leaves = int(tree.is_leaf.sum())
    branches = tree.depth[tree.is_leaf]
    values: Values = {
        "TreeLeavesPerClass": leaves / sample.n_classes,
        "TreeLeavesPerRow": leaves / len(sample.y),
        "TreeDepth": float(branches.max()),
        "MeanTreeBranchLength": float(branches.mean()),
        "StdevTreeBranchLength": float(branches.std()),
    }
    splits = tree.feature[~tree.is_leaf]
    of_use = ("MaxTreeAttributeUse", "StdevTreeAttributeUse", "TreeAttributesUsed")
    if not len(splits):
        return values | dict.fromkeys(of_use, "no split tells the classes apart")
    use = np.bincount(splits, minlength=sample.attributes) / len(splits)
    numbers = (use.max(), use.std(), (use > 0).mean())
    return values | {name: float(number) for name, number in zip(of_use, numbers, strict=True)}
