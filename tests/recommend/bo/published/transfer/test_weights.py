"""Weights of ensembles on three trials, worked by hand."""

import numpy as np
import pytest

from recommend.bo.published.surrogates import SURROGATES
from recommend.bo.published.transfer.weights import (
    differences,
    epanechnikov,
    ranking_losses,
    rgpe,
    rlgp,
    rlgp_diff,
    rlgp_fdiff,
    sim,
)

Y = np.array([0.0, 1.0, 2.0])
RIGHT, WRONG, SWAPPED = (
    differences(np.array([values])) for values in ([0.0, 2.0, 4.0], [4.0, 2.0, 0.0], [0.0, 4.0, 2.0])
)
"""One draw each: all three pairs right, none, two of three."""
RANDOM = np.random.default_rng(0)


@pytest.mark.parametrize(("D", "loss"), [(RIGHT, 0), (WRONG, 6), (SWAPPED, 2)])
def test_a_misranked_pair_counts_in_both_orders(D: np.ndarray, loss: int) -> None:
    assert ranking_losses(D, Y).tolist() == [loss]


def test_rgpe_is_the_share_of_draws_with_the_least_loss() -> None:
    first = np.concatenate([RIGHT, WRONG, RIGHT, RIGHT])
    target = np.concatenate([SWAPPED, SWAPPED, SWAPPED, RIGHT])
    # won, lost, won, and a tie, which goes to the target
    np.testing.assert_allclose(rgpe([first, target], Y, RANDOM), [0.5, 0.5])


def test_rlgp_is_the_number_of_correctly_ranked_pairs() -> None:
    np.testing.assert_allclose(rlgp([RIGHT, WRONG, SWAPPED], Y, RANDOM), [3 / 5, 0, 2 / 5])


def test_rlgp_diff_weighs_pairs_by_the_predicted_difference() -> None:
    # 2 + 2 + 4 of the first, 4 + 2 of the last
    np.testing.assert_allclose(rlgp_diff([RIGHT, WRONG, SWAPPED], Y, RANDOM), [8 / 14, 0, 6 / 14])


def test_rlgp_fdiff_weighs_pairs_by_the_excess_of_the_predicted_difference() -> None:
    # (2 - 1) + (2 - 1) + (4 - 2) of the first, (4 - 1) + (2 - 2) of the last
    np.testing.assert_allclose(rlgp_fdiff([RIGHT, WRONG, SWAPPED], Y, RANDOM), [4 / 7, 0, 3 / 7])


def test_rlgp_fdiff_prefers_exact_differences_to_understated_ones() -> None:
    """Sums of 0, (.5 - 1) + (.5 - 1) + (1 - 2) = -2, none and 3, plus 2 if there is a landmark."""
    exact, understated = differences(Y[None]), differences(Y[None] / 2)
    found = rlgp_fdiff([exact, understated, WRONG, SWAPPED], Y, RANDOM)
    np.testing.assert_allclose(found, [2 / 7, 0, 0, 5 / 7])


def test_rlgp_mudiff_equals_rlgp_fdiff() -> None:
    """Equation 17 of two draws: the mean excess, 7/5, times 5 landmarks over 2 draws; equation 16: 7/2."""
    twice = np.concatenate([RIGHT, SWAPPED])
    np.testing.assert_allclose(rlgp_fdiff([twice, RIGHT], Y, RANDOM), [3.5 / 7.5, 4 / 7.5])
    assert SURROGATES["rlgp-mudiff"] is SURROGATES["rlgp-fdiff"]


def test_sim_weighs_by_the_number_of_pairs_in_the_targets_order() -> None:
    # c = 2, 1, 3: (2 c - 1) / 17 times 3, 0, 2 landmarks
    np.testing.assert_allclose(sim([RIGHT, WRONG, SWAPPED], Y, RANDOM), [9 / 19, 0, 10 / 19])


def test_two_stage_weights_fall_with_the_share_of_misranked_pairs_to_0_at_the_bandwidth() -> None:
    np.testing.assert_allclose(epanechnikov([RIGHT, WRONG, SWAPPED], Y, RANDOM), [0.5, 0, 0, 0.5])


@pytest.mark.parametrize("weighting", [rgpe, rlgp, rlgp_diff, rlgp_fdiff, sim])
def test_equal_trials_give_all_weight_to_the_target(weighting: object) -> None:
    assert callable(weighting)
    nothing = np.zeros((1, 2, 2))
    np.testing.assert_allclose(weighting([nothing, nothing], np.zeros(2), RANDOM), [0, 1])
