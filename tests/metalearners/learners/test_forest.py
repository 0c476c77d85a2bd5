"""A trained forest as arrays."""

import numpy as np
import pytest

from metalearners.codec import decode, encode
from metalearners.learners.forest import Forest
from metalearners.learners.lightgbm_trees import forest_of
from tests.cases import each
from tests.metalearners.learners.boosters import rows, target, trained
from warehouse.support.errors import DamagedModel


def test_a_forest_by_hand() -> None:
    """Two trees: x0 <= 1: 1, else 2; and x0 <= 3: 10, else (x1 <= 0: 20, else 30).

    NaN goes left at both roots, and right at the last node. Leaves are numbered from the left, so that leaf 0
    (bit 1) is left of the roots, and leaf 1 (bit 2) left of the last node.
    """
    forest = Forest(
        n_features=2,
        feature=np.array([0, 0, 1], dtype=np.int32),
        threshold=np.array([1.0, 3.0, 0.0]),
        missing_left=np.array([True, True, False]),
        tree=np.array([0, 1, 1], dtype=np.int32),
        left_leaves=np.array([1, 1, 2], dtype=np.uint64),
        leaf_value=np.array([[1.0, 2.0, 0.0], [10.0, 20.0, 30.0]]),
    )
    X = np.array([[1.0, 5.0], [3.0, -5.0], [3.5, 0.0], [3.5, 0.1], [3.5, np.nan], [np.nan, np.nan]])
    assert forest.predict(X).tolist() == [11, 12, 22, 32, 32, 11]


def test_arrays_give_the_same_forest() -> None:
    rng = np.random.default_rng(4)
    X = rows(rng)
    forest = forest_of(trained(X, target(X, rng)))
    np.testing.assert_array_equal(decode(Forest, *encode(forest)).predict(X), forest.predict(X))


@each(
    ("name", "array"),
    [
        ("feature", np.array([0], dtype=np.int32)),
        ("threshold", np.array([["text"]])),
        ("leaf_value", np.zeros((0, 4))),
        ("leaf_value", np.zeros((1, 65))),
    ],
)
def test_arrays_that_do_not_fit_together_are_refused(name: str, array: np.ndarray) -> None:
    rng = np.random.default_rng(5)
    X = rows(rng)
    facts, arrays = encode(forest_of(trained(X, target(X, rng), trees=2)))
    with pytest.raises(DamagedModel):
        decode(Forest, facts, arrays | {name: array})
    with pytest.raises(DamagedModel):
        decode(Forest, {"n_features": 1}, arrays)
    del arrays[name]
    with pytest.raises(DamagedModel, match=f"lacks {name}"):
        decode(Forest, facts, arrays)
