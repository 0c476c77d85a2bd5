"""Trees grown once and cut equal those by hand and scikit-learn's."""

from collections.abc import Callable

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

from ingest.metafeatures.prepared import RowSample
from ingest.metafeatures.trees import (
    GrownTree,
    by_held_out_error,
    by_pessimistic_error,
    grow,
    grow_by_gini,
    to_depth,
)
from tests.cases import each


def tree_of(left: list[int], right: list[int], counts: list[list[float]]) -> GrownTree:
    return GrownTree(np.array(left), np.array(right), np.zeros(len(left), int), np.array(counts), grown=None)


def test_c45_replaces_a_subtree_that_expects_more_errors() -> None:
    """Quinlan's example (C4.5, 1993, section 4.2) at confidence 0.25: leaves of 6, 9 and 1 rows without error
    expect 6 * 0.206 + 9 * 0.143 + 1 * 0.750 = 3.27 errors, one leaf with 1 error of 16 expects 2.51.
    """
    tree = tree_of([1, -1, 3, -1, -1], [2, -1, 4, -1, -1], [[15, 1], [6, 0], [9, 1], [9, 0], [0, 1]])
    closed = by_pessimistic_error(tree, 0.25)
    assert closed[0]
    assert tree.ends(closed).tolist() == [0, 0, 0, 0, 0]


def test_c45_keeps_a_split_that_reduces_expected_errors() -> None:
    tree = tree_of([1, -1, -1], [2, -1, -1], [[50, 50], [50, 0], [0, 50]])
    assert by_pessimistic_error(tree, 0.001).tolist() == [False, True, True]


def test_held_out_rows_prune_overfitted_splits() -> None:
    tree = tree_of([1, -1, -1], [2, -1, -1], [[6, 4], [6, 0], [0, 4]])
    agree, contradict = np.array([[3, 2], [3, 0], [0, 2]]), np.array([[4, 1], [2, 1], [2, 0]])
    assert by_held_out_error(tree, agree, tree.is_leaf).tolist() == [False, True, True]
    assert by_held_out_error(tree, contradict, tree.is_leaf).tolist() == [True, True, True]


def test_a_tree_grown_by_gini_equals_scikit_learns(blobs: RowSample) -> None:
    X, y = blobs.tree_columns, blobs.y
    expected = DecisionTreeClassifier(random_state=0).fit(X, y).tree_
    tree = grow_by_gini(X, y, 3)
    assert tree.left.tolist() == expected.children_left.tolist()
    assert tree.feature.tolist() == expected.feature.tolist()
    assert tree.counts == pytest.approx(expected.value[:, 0] * expected.weighted_n_node_samples[:, None])


def test_a_weighted_row_counts_as_often_in_a_tree_grown_by_gini(blobs: RowSample) -> None:
    X, y = blobs.tree_columns, blobs.y
    times = np.arange(len(y)) % 3 + 1
    weighted = grow_by_gini(X, y, 3, weight=times.astype(float), max_depth=3)
    repeated = grow_by_gini(np.repeat(X, times, axis=0), np.repeat(y, times), 3, max_depth=3)
    assert weighted.feature.tolist() == repeated.feature.tolist()
    assert weighted.counts == pytest.approx(repeated.counts)


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_a_tree_cut_at_a_depth_equals_the_tree_grown_to_it(blobs: RowSample, depth: int) -> None:
    X, y = blobs.tree_columns, blobs.y
    grown, cut = grow(X, y, 3, max_depth=depth), grow(X, y, 3)
    nodes = cut.ends(to_depth(cut, depth))[cut.leaves_of(X)]
    assert cut.counts[nodes] == pytest.approx(grown.counts[grown.leaves_of(X)])


@pytest.mark.parametrize("grown_by", [grow, grow_by_gini])
def test_sums_of_a_node_are_those_of_the_leaves_below_it(
    blobs: RowSample, grown_by: Callable[..., GrownTree]
) -> None:
    tree = grown_by(blobs.tree_columns, blobs.y, 3)
    in_leaves = np.zeros_like(tree.counts)
    np.add.at(in_leaves, (tree.leaves_of(blobs.tree_columns), blobs.y), 1)
    assert tree.sums(in_leaves) == pytest.approx(tree.counts)


@each("grown_by", [grow, grow_by_gini])
def test_a_class_without_rows_keeps_its_column(grown_by: Callable[..., GrownTree]) -> None:
    """One split at 1.5 separates classes 0 and 2; class 1 has no training rows."""
    X = np.arange(4, dtype=np.float32)[:, None]
    tree = grown_by(X, np.array([0, 0, 2, 2]), 3)
    assert tree.counts.tolist() == [[2, 0, 2], [2, 0, 0], [0, 0, 2]]
