"""A meta-learner's prior beside models of the trials."""

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
    assert world.kind[mean.argmax()] == "gini"  # few classes


def test_trials_that_are_all_equal_speak_against_a_prior_that_expects_them_to_differ() -> None:
    """On a plateau, such as that of the largest class, a search does not go on where it is."""
    world = one_flow()
    is_gini = world.kind == "gini"
    before, after = (predicted(blend(), world.known, np.full(t, 0.7)).mean for t in (1, 14))
    assert len(set(world.kind[:14])) == 2
    advantage, still = (
        mean[14:][is_gini[14:]].mean() - mean[14:][~is_gini[14:]].mean() for mean in (before, after)
    )
    assert 0 <= still < advantage / 2


def test_evidence_overrules_a_prior_that_is_wrong() -> None:
    """The meta-learner is sure that depth does not matter, and gini does; here it is the other way around."""
    world = one_flow()
    depth = world.known.table.parameters["depth"].to_numpy(dtype=np.float64)
    truth = depth / 10
    mean = predicted(blend(), world.known, truth[:14]).mean
    expected = learner_of("functional-pca", False).predict(world.known.table, world.metafeatures).mean
    assert abs(np.corrcoef(expected[14:], truth[14:])[0, 1]) < 0.5
    assert np.corrcoef(mean[14:], truth[14:])[0, 1] > 0.9


def test_what_a_decision_did_is_expected_of_all_that_make_it() -> None:
    """Two pairs of trials differ in one decision alone, which the meta-learner does not know of."""
    prior = Prior(np.zeros(6), np.full((6, 1), 0.1))
    points = np.repeat([[0.0], [1.0], [2.0]], 2, axis=0)
    made = np.array([[0.0], [1.0]] * 3)
    known = with_departures(prior, points, made)
    posterior = Posterior(known.take(np.arange(4)), np.array([0.8, 0.2, 0.9, 0.3]))
    left_alone, reduced = posterior.predict(known.take(np.array([4, 5]))).mean
    assert reduced < left_alone
