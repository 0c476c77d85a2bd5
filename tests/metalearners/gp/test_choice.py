"""Configurations chosen together: the best of them counts."""

import numpy as np

from metalearners.gp.choice import best_after, best_together
from tests.cases import each
from tests.metalearners.gp.priors import prior


def test_the_second_choice_complements_the_first() -> None:
    """a and b are correlated; c has a slightly lower mean than b, but is anticorrelated with both."""
    deviations = np.array([[1.0, 1.0, -1.0], [-1.0, -1.0, 1.0]])
    assert best_together(np.array([1.0, 0.9, 0.8]), deviations, 3).tolist() == [0, 2, 1]


@each(("n", "chosen"), [(0, 0), (2, 2), (9, 3)])
def test_no_configuration_is_chosen_twice_and_no_more_than_there_are(n: int, chosen: int) -> None:
    """Even if all are equal, so that none adds anything to another."""
    positions = best_together(np.full(3, 0.5), np.ones((2, 3)), n)
    assert len(set(positions.tolist())) == len(positions) == chosen


def test_a_rare_great_gain_is_worth_more_than_a_certain_small_loss() -> None:
    """Next to a certain 1, a certain 0.9 adds nothing; 0.5 exceeds 1 in one case of four, by 2.5."""
    deviations = np.array([[0.0, 0.0, 3.0], *[[0.0, 0.0, -1.0]] * 3])
    assert best_together(np.array([1.0, 0.9, 0.5]), deviations, 2).tolist() == [0, 2]


def test_a_longer_choice_begins_with_the_shorter_one() -> None:
    random = np.random.default_rng(5)
    mean, deviations = random.normal(size=60), random.normal(size=(40, 60))
    np.testing.assert_array_equal(best_together(mean, deviations, 4), best_together(mean, deviations, 10)[:4])


def test_after_trials_a_certain_score_adds_nothing_to_the_best() -> None:
    """Of three independent scores, the second has a higher mean than the third, but is certainly below the
    first."""
    before = prior([0.0, 0.0, 0.0], [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    mean, std = np.array([1.0, 0.9, 0.5]), np.array([0.0, 0.0, 1.0])
    assert best_after(before, mean, std, 3).tolist() == [0, 2, 1]


def test_after_trials_long_shots_come_last() -> None:
    """The last two beat the certain first with chances of 2 % and 16 %."""
    before = prior([0.0, 0.0, 0.0, 0.0], np.eye(4).tolist())
    mean, std = np.array([1.0, 0.5, -1.0, 0.0]), np.array([0.0, 0.0, 1.0, 1.0])
    assert best_after(before, mean, std, 4).tolist() == [0, 3, 1, 2]


def test_without_cases_the_best_means_are_chosen() -> None:
    with np.errstate(all="raise"):
        assert best_together(np.array([1.0, 3.0, 2.0]), np.zeros((0, 3)), 3).tolist() == [1, 2, 0]
