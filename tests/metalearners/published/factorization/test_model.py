"""A trained matrix factorization, with parts computed by hand."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from metalearners.encoding.training_data import training_data
from metalearners.gp.posterior import Prior
from metalearners.learners.configuration_kernel import learn_kernel
from metalearners.published.factorization.encoder import Encoder
from metalearners.published.factorization.latent_kernel import LatentKernel
from metalearners.published.factorization.model import (
    EncodedPositions,
    FreePositions,
    MeasureLikelihood,
    posterior_on_measure,
    row_names,
)
from tests.contracts.meta_learner import toy_metafeatures, toy_runs
from tests.tables import flow_table
from warehouse.vocabulary.table import ConfigurationTable

KERNEL = LatentKernel("rbf", 2.0, np.array([1.0, 0.5]), 0.1)
DATASET = toy_metafeatures().iloc[0]
DEPTHS = pd.DataFrame({"depth": [1, 2, 3]}, index=["a", "b", "c"], dtype=object)
X = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 2.0]])
"""Positions of the configurations of `DEPTHS`."""


def free() -> FreePositions:
    return FreePositions.anchored(KERNEL, X, row_names(DEPTHS), seed=0)


def table(*depths: float) -> ConfigurationTable:
    return flow_table(pd.DataFrame({"depth": pd.Series(depths, dtype=object)}))


# Positions


def test_a_configuration_is_found_by_its_values_in_any_order() -> None:
    latent = free()
    np.testing.assert_array_equal(latent.positions(table(3, 1, 2.0, 1), DATASET), X[[2, 0, 1, 0]])


def test_a_configuration_without_runs_has_no_position_and_zero_features() -> None:
    latent = free()
    assert np.isnan(latent.positions(table(2, 9), DATASET)).any(axis=1).tolist() == [False, True]
    features = latent.features(table(2, 9), DATASET)
    assert (features[1] == 0).all()
    assert (features[0] ** 2).sum() == pytest.approx(KERNEL.alpha, abs=1e-4)


def test_inner_products_of_features_equal_the_covariance_of_positions() -> None:
    features = free().features(flow_table(DEPTHS), DATASET)
    np.testing.assert_allclose(features @ features.T, KERNEL.covariance(X, X), atol=1e-4)


def test_parts_that_do_not_fit_together_are_refused() -> None:
    """An encoder of three columns and two dimensions, with points of three columns or fewer."""
    data = training_data(toy_runs(), toy_metafeatures())
    points, _ = learn_kernel(data, data.scores, size=8, seed=0)
    columns = len(points.encoding.columns)
    sizes = [(4, columns), (4, 4), (2, 4)]
    encoder = Encoder(tuple(np.ones(size) for size in sizes), tuple(np.ones(size[0]) for size in sizes))
    latent = EncodedPositions.anchored(KERNEL, X, points, encoder, seed=0)
    assert latent.positions(toy_runs().configurations, DATASET).shape == (20, 2)
    narrow = replace(encoder, weights=(np.ones((4, columns - 1)), *encoder.weights[1:]))
    for changed in ({"encoder": narrow}, {"anchors": X[:, :1]}):
        with pytest.raises(ValueError, match="other columns or another latent space"):
            replace(latent, **changed)
    with pytest.raises(ValueError, match="there is no position"):
        FreePositions(KERNEL, X, np.eye(3), np.empty(0, np.uint64), np.empty((0, 2)))


# Likelihoods


def test_the_level_and_spread_of_a_measure_by_hand() -> None:
    """Datasets with the values 1, 3 and 5, 5 and 0, 4: mean 3, variance 22 / 6; deviations are 1, 0 and 2."""
    likelihood = MeasureLikelihood.of_runs(
        np.array([1.0, 5.0, 3.0, 5.0, 0.0, 4.0]), np.array([0, 1, 0, 1, 2, 2])
    )
    spread = np.sqrt(22 / 6)
    assert likelihood.level == pytest.approx(3)
    assert likelihood.spread == pytest.approx(spread)
    assert likelihood.within == pytest.approx(1 / spread)
    assert likelihood.standardized(np.array([3.0, 3.0 + spread])) == pytest.approx([0, 1])
    assert likelihood.expected(np.array([2.0])) == pytest.approx([2 / spread])


def test_one_trial_by_hand() -> None:
    """Prior variances are 4 and 1 with covariance 1, noise is 1, and a trial of the first is 3 above its
    mean.

    The first moves by 3 * 4 / 5 and keeps the variance 4 - 16 / 5, the second by 3 * 1 / 5 and 1 - 1 / 5.
    Runs also have the noise.
    """
    factor = np.array([[2.0, 0.0], [0.5, np.sqrt(0.75)]])
    prior = Prior(np.array([1.0, -1.0]), factor)
    after = posterior_on_measure(prior, Prior(prior.mean[:1], factor[:1]), np.array([4.0]), 1.0)
    assert after.mean == pytest.approx([1 + 12 / 5, -1 + 3 / 5])
    assert after.std is not None
    assert after.std**2 == pytest.approx([4 / 5 + 1, 4 / 5 + 1])
    of_function = posterior_on_measure(
        prior, Prior(prior.mean[:1], factor[:1]), np.array([4.0]), 1.0, of_runs=False
    )
    assert of_function.std is not None
    assert of_function.std**2 == pytest.approx([4 / 5, 4 / 5])


def test_many_trials_agree_with_the_formula() -> None:
    """The paper's equation 7: trials add k (K + sigma2 I)^-1 (y - m) to the mean."""
    random = np.random.default_rng(0)
    factor, mean, y = random.normal(size=(9, 4)), random.normal(size=9), random.normal(size=5)
    K = factor @ factor.T
    k, C = K[:, :5], K[:5, :5] + 0.3 * np.eye(5)
    after = posterior_on_measure(Prior(mean, factor), Prior(mean[:5], factor[:5]), y, 0.3)
    assert after.std is not None
    np.testing.assert_allclose(after.mean, mean + k @ np.linalg.solve(C, y - mean[:5]))
    np.testing.assert_allclose(after.std**2, np.diag(K + 0.3 * np.eye(9) - k @ np.linalg.solve(C, k.T)))
