"""What trials teach: the posterior against known answers."""

import numpy as np
import pytest

from metalearners.trials import Prior, best_together, posterior


def prior(mean: list[float], factor: list[list[float]]) -> Prior:
    return Prior(np.array(mean), np.array(factor))


def test_trials_that_agree_with_the_prior_change_no_order() -> None:
    of_all = prior([2, 1, 0, -1], np.eye(4).tolist())
    seen = prior([2, 0, -1], np.eye(4)[[0, 2, 3]].tolist())
    after = posterior(of_all, seen, np.array([0.9, 0.7, 0.6]))
    assert np.argsort(-after.mean).tolist() == [0, 1, 2, 3]


def test_a_configuration_like_a_bad_one_is_expected_to_be_bad() -> None:
    alike = [[1, 0], [1, 0], [0, 1], [0, 1]]
    after = posterior(prior([0, 0, 0, 0], alike), prior([0, 0], [[1, 0], [0, 1]]), np.array([0.2, 0.8]))
    assert after.mean[0] == pytest.approx(after.mean[1])
    assert after.mean[0] < 0 < after.mean[2]


@pytest.mark.parametrize(("level", "spread"), [(0.0, 1.0), (0.5, 1e-6), (-3.0, 1e6)])
def test_level_and_spread_of_the_new_dataset_do_not_matter(level: float, spread: float) -> None:
    random = np.random.default_rng(0)
    factor = random.normal(size=(8, 3))
    mean, y = random.normal(size=8), random.normal(size=5)
    of_all, seen = Prior(mean, factor), Prior(mean[:5], factor[:5])
    np.testing.assert_allclose(
        posterior(of_all, seen, level + spread * y).mean, posterior(of_all, seen, y).mean, atol=1e-6
    )


def test_what_was_tried_is_more_certain_than_what_was_not() -> None:
    of_all = Prior(np.arange(12.0), np.eye(12))
    after = posterior(of_all, Prior(of_all.mean[:9], of_all.factor[:9]), np.arange(9.0))
    assert after.std is not None
    assert after.std[:9].max() < after.std[9:].min()


def test_the_second_choice_is_good_where_the_first_is_not() -> None:
    """a and b rise and fall together; c is expected a little less than b, but is independent of both."""
    together = prior([1.0, 0.9, 0.8], [[1, 0], [1, 0], [0, 1]])
    assert best_together(together, 3).tolist() == [0, 2, 1]


def test_certain_scores_are_taken_in_order() -> None:
    assert best_together(prior([0.1, 0.9, 0.5], [[0], [0], [0]]), 3)[0] == 1
