"""Configurations chosen together: the best of them counts."""

import numpy as np

from metalearners.gp.choice import best_after, best_together
from tests.cases import each
from tests.metalearners.gp.priors import prior


def test_the_second_choice_is_good_where_the_first_is_not() -> None:
    """a and b rise and fall together; c is expected a little less than b, but rises where they fall."""
    deviations = np.array([[1.0, 1.0, -1.0], [-1.0, -1.0, 1.0]])
    assert best_together(np.array([1.0, 0.9, 0.8]), deviations, 3).tolist() == [0, 2, 1]


@each(("n", "chosen"), [(0, 0), (2, 2), (9, 3)])
def test_no_configuration_is_chosen_twice_and_no_more_than_there_are(n: int, chosen: int) -> None:
    """Even where all are the same, so that none adds anything to another."""
    positions = best_together(np.full(3, 0.5), np.ones((2, 3)), n)
    assert len(set(positions.tolist())) == len(positions) == chosen


def test_a_rare_great_gain_is_worth_more_than_a_certain_small_loss() -> None:
    """Beside a certain 1, a certain 0.9 adds nothing; 0.5 is above 1 in one case of four, by 2.5."""
    deviations = np.array([[0.0, 0.0, 3.0], *[[0.0, 0.0, -1.0]] * 3])
    assert best_together(np.array([1.0, 0.9, 0.5]), deviations, 2).tolist() == [0, 2]


def test_a_longer_choice_begins_with_the_shorter_one() -> None:
    random = np.random.default_rng(5)
    mean, deviations = random.normal(size=60), random.normal(size=(40, 60))
    np.testing.assert_array_equal(best_together(mean, deviations, 4), best_together(mean, deviations, 10)[:4])


def test_after_trials_what_is_certain_adds_nothing_beside_the_best() -> None:
    """Three independent scores; the second is expected to be better than the third, but known to be worse
    than the first."""
    before = prior([0.0, 0.0, 0.0], [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    mean, std = np.array([1.0, 0.9, 0.5]), np.array([0.0, 0.0, 1.0])
    assert best_after(before, mean, std, 3).tolist() == [0, 2, 1]
