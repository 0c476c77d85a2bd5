"""The posterior after trials, against known answers."""

import numpy as np
import pytest

from metalearners.gp.posterior import Posterior, PosteriorExplanation, Prior
from tests.cases import each
from tests.metalearners.gp.priors import prior


def test_a_configuration_similar_to_a_bad_one_is_predicted_bad() -> None:
    alike = [[1, 0], [1, 0], [0, 1], [0, 1]]
    after = Posterior(prior([0, 0], [[1, 0], [0, 1]]), np.array([0.2, 0.8])).predict(
        prior([0, 0, 0, 0], alike)
    )
    assert after.mean[0] == pytest.approx(after.mean[1])
    assert after.mean[0] < 0 < after.mean[2]


@each(("level", "spread"), [(0.0, 1.0), (0.5, 1e-6), (-3.0, 1e6)])
def test_level_and_spread_of_the_new_dataset_do_not_matter(level: float, spread: float) -> None:
    random = np.random.default_rng(0)
    factor = random.normal(size=(8, 3))
    mean, y = random.normal(size=8), random.normal(size=5)
    of_all, seen = Prior(mean, factor), Prior(mean[:5], factor[:5])
    np.testing.assert_allclose(
        Posterior(seen, level + spread * y).predict(of_all).mean,
        Posterior(seen, y).predict(of_all).mean,
        atol=1e-6,
    )


def test_the_marginal_likelihood_weights_the_explanations() -> None:
    """The values contradict the learner, and are a smooth function of the points."""
    points = np.linspace(0, 3, 30)[:, None]
    truth = np.sin(2 * points[:, 0])
    of_all = Prior(-2 * truth, 0.3 * np.eye(30), points)
    tried = np.arange(0, 30, 3)
    of_trials = Prior(of_all.mean[tried], of_all.factor[tried], points[tried])
    alone = Posterior(of_trials, truth[tried]).predict(of_all)
    both = Posterior(
        of_trials, truth[tried], [PosteriorExplanation(True, None), PosteriorExplanation(False, 1.0)]
    ).predict(of_all)
    rest = np.setdiff1d(np.arange(30), tried)
    assert np.corrcoef(alone.mean[rest], truth[rest])[0, 1] < 0
    assert np.corrcoef(both.mean[rest], truth[rest])[0, 1] > 0.9


def test_compared_trials_differ_as_their_values_do() -> None:
    """Well-determined smooth functions: predictions equal the observed values, in their unit."""
    points = np.linspace(0, 6, 25)[:, None]
    factor = np.linalg.cholesky(np.exp(-0.5 * (points - points.T) ** 2) + 1e-9 * np.eye(25))
    truth = 3.0 * factor @ np.random.default_rng(1).normal(size=25)
    tried = np.arange(0, 25, 2)
    after = Posterior(Prior(np.zeros(13), factor[tried]), truth[tried]).compare(Prior(np.zeros(25), factor))
    assert after.std is not None
    np.testing.assert_allclose(after.mean[tried], truth[tried] - truth[tried].mean(), atol=0.25 * truth.std())
    assert after.std[tried].max() < 0.25 * truth.std()


def test_uncertainty_of_the_common_level_does_not_count_for_differences() -> None:
    """The level, which the prior leaves open, and the spread are common to all configurations."""
    random = np.random.default_rng(0)
    factor = np.hstack([random.normal(size=(20, 5)), np.zeros((20, 1))])
    lifted = np.hstack([factor[:, :5], np.full((20, 1), 30.0)])
    y = random.normal(size=12)

    def compared(factor: np.ndarray, level: float) -> np.ndarray:
        mean = np.linspace(0, 1, 20) + level
        after = Posterior(Prior(mean[:12], factor[:12]), y).compare(Prior(mean, factor))
        assert after.std is not None
        return np.stack([after.mean, after.std])

    np.testing.assert_allclose(compared(lifted, 7.0), compared(factor, 0.0), atol=1e-6)


def test_candidates_in_single_precision_are_predicted_the_same() -> None:
    random = np.random.default_rng(3)
    of_all = Prior(random.normal(size=400), random.normal(size=(400, 30)), random.normal(size=(400, 4)))
    single = Prior(*(array.astype(np.float32) for array in (of_all.mean, of_all.factor, of_all.points)))
    seen = Prior(of_all.mean[:60], of_all.factor[:60], of_all.points[:60])
    truth = of_all.mean + of_all.factor @ random.normal(size=30)
    after = Posterior(
        seen,
        truth[:60],
        [PosteriorExplanation(True, None), PosteriorExplanation(True, 1.0), PosteriorExplanation(False, 0.5)],
    )
    for predicted in (after.predict, after.compare):
        exact, quick = predicted(of_all), predicted(single)
        np.testing.assert_allclose(quick.mean, exact.mean, atol=1e-3 * exact.mean.std())
        np.testing.assert_allclose(quick.std, exact.std, rtol=0.01)


def test_draws_have_the_mean_and_deviation_of_compared_predictions() -> None:
    """Means and deviations of many draws, over all explanations."""
    random = np.random.default_rng(5)
    of_all = Prior(random.normal(size=12), random.normal(size=(12, 4)), random.normal(size=(12, 2)))
    seen = Prior(of_all.mean[:6], of_all.factor[:6], of_all.points[:6])
    y = of_all.mean[:6] + of_all.factor[:6] @ random.normal(size=4)
    after = Posterior(seen, y, [PosteriorExplanation(True, None), PosteriorExplanation(False, 1.0)])
    draws = np.array([after.draw(of_all, random) for _ in range(3000)])
    compared = after.compare(of_all)
    assert compared.std is not None
    np.testing.assert_allclose(draws.mean(axis=0), compared.mean, atol=0.1 * compared.std.max())
    np.testing.assert_allclose(draws.std(axis=0), compared.std, rtol=0.1, atol=0.02 * y.std())
