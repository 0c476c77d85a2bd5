"""A meta-learner's prior combined with models of the trials."""

import numpy as np
import pytest

from metalearners.gp.posterior import Posterior, Prior
from recommend.bo.surrogates import SurrogateInputs, get_surrogate
from recommend.bo.surrogates.blend import BlendSurrogate, with_departures
from tests.contracts.surrogate import one_flow, predicted
from tests.recommend.bo.surrogates.worlds import learner_of


def blend() -> BlendSurrogate:
    surrogate = get_surrogate("blend").new(
        SurrogateInputs(one_flow().known, one_flow().metafeatures, learner_of("functional-pca", False))
    )
    assert isinstance(surrogate, BlendSurrogate)
    return surrogate


def test_after_one_trial_the_prior_decides() -> None:
    world = one_flow()
    mean = predicted(blend(), world.known, np.array([0.7])).mean
    expected = learner_of("functional-pca", False).predict(world.known.table, world.metafeatures).mean
    assert mean == pytest.approx(expected)
    assert world.kind[mean.argmax()] == "gini"  # the dataset has few classes


def test_equal_trials_are_evidence_against_a_prior_that_predicts_differences() -> None:
    """A search leaves a plateau, such as that of always predicting the largest class."""
    world = one_flow()
    is_gini = world.kind == "gini"
    before, after = (predicted(blend(), world.known, np.full(t, 0.7)).mean for t in (1, 14))
    assert len(set(world.kind[:14])) == 2
    advantage, still = (
        mean[14:][is_gini[14:]].mean() - mean[14:][~is_gini[14:]].mean() for mean in (before, after)
    )
    assert 0 <= still < advantage / 2


def test_evidence_overrules_a_wrong_prior() -> None:
    """The meta-learner is sure that gini matters and depth does not; here it is the other way around."""
    world = one_flow()
    depth = world.known.table.parameters["depth"].to_numpy(dtype=np.float64)
    truth = depth / 10
    mean = predicted(blend(), world.known, truth[:14]).mean
    expected = learner_of("functional-pca", False).predict(world.known.table, world.metafeatures).mean
    assert abs(np.corrcoef(expected[14:], truth[14:])[0, 1]) < 0.5
    assert np.corrcoef(mean[14:], truth[14:])[0, 1] > 0.9


def test_the_effect_of_a_preprocessing_choice_carries_over_to_other_configurations() -> None:
    """Two pairs of trials differ only in one choice, which is unknown to the meta-learner."""
    prior = Prior(np.zeros(6), np.full((6, 1), 0.1))
    points = np.repeat([[0.0], [1.0], [2.0]], 2, axis=0)
    made = np.array([[0.0], [1.0]] * 3)
    known = with_departures(prior, points, made)
    posterior = Posterior(known.take(np.arange(4)), np.array([0.8, 0.2, 0.9, 0.3]))
    left_alone, reduced = posterior.predict(known.take(np.array([4, 5]))).mean
    assert reduced < left_alone
