"""Ensembles whose members are picked one after the other."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from recommend.bo.tuning.ensembles import select_ensemble

from ingest.running.classification import ClassScorer

SCORER = ClassScorer()
ACTUAL = np.array([0, 0, 1, 1])
RIGHT = np.array([0.1, 0.1, 0.9, 0.9])


def of_two(second: np.ndarray) -> np.ndarray:
    """(n, 2) probabilities, from that of the second class."""
    return np.column_stack([1 - second, second])


def test_those_are_picked_that_are_right_where_the_other_is_wrong() -> None:
    """Each has two rows right clearly and two wrong narrowly; together they have all four right."""
    one, other = of_two(np.array([0.1, 0.6, 0.4, 0.9])), of_two(np.array([0.6, 0.1, 0.9, 0.4]))
    useless = of_two(np.array([0.9, 0.9, 0.4, 0.9]))
    weights = select_ensemble([useless, one, other], ACTUAL, SCORER, "predictive_accuracy", 10)
    assert weights == {1: 0.5, 2: 0.5}


def test_a_member_may_be_picked_again() -> None:
    """With replacement, so that a better one weighs more: by hand, the log loss of (2a + b) / 3
    is less than those of a, b and (a + b) / 2."""
    a = of_two(np.array([0.1, 0.7, 0.8, 0.9]))
    b = of_two(np.array([0.7, 0.2, 0.7, 0.6]))
    weights = select_ensemble([a, b], ACTUAL, SCORER, "log_loss", 3)
    losses = {
        share: -np.log((share * a + (1 - share) * b)[range(4), ACTUAL]).mean() for share in (1, 2 / 3, 0.5, 0)
    }
    assert weights[0] == pytest.approx(min(losses, key=losses.__getitem__))


@given(st.integers(1, 5), st.integers(1, 12), st.sampled_from(["predictive_accuracy", "log_loss", "kappa"]))
def test_weights_are_shares_and_no_member_alone_is_better(members: int, picks: int, measure: str) -> None:
    random = np.random.default_rng(members)
    p = random.dirichlet(np.ones(3), (members, 40))
    actual = random.integers(0, 3, 40)
    weights = select_ensemble(list(p), actual, SCORER, measure, picks)
    assert sum(weights.values()) == pytest.approx(1)
    assert len(weights) <= picks

    def loss(q: np.ndarray) -> float:
        return float(-np.log(q[range(40), actual]).mean())

    if measure == "log_loss":
        together = SCORER.average([p[place] for place in weights], list(weights.values())).scores
        assert loss(together) <= min(map(loss, p)) + 1e-12


def test_classes_that_were_never_seen_to_be_separable_have_no_area() -> None:
    """Of one class alone there is no area: then the first is taken."""
    p = [of_two(RIGHT), of_two(1 - RIGHT)]
    assert select_ensemble(p, np.zeros(4, np.intp), SCORER, "area_under_roc_curve", 3) == {0: 1.0}
