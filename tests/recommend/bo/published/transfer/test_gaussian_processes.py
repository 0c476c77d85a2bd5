"""Gaussian processes by hand: the posterior (Manolache, equation 2), and one without a trial."""

import numpy as np
import pytest

from recommend.bo.published.transfer.ensemble import left_one_out
from recommend.bo.published.transfer.gaussian_processes import GaussianProcesses
from warehouse.support.arrays import Floats

NEXT, HALFWAY, SECOND_NEXT = 0.523994, 0.828650, 0.138660
"""k(1), k(1/2) and k(2) of the Matern 5/2 kernel (1 + sqrt(5) r + 5/3 r^2) exp(-sqrt(5) r)."""


def process(y: list[float], noise: float = 0.0) -> GaussianProcesses:
    """One process of the trials 0, 1, ... with the length scale 1."""
    x, known = np.arange(len(y), dtype=float)[None, :, None], np.ones((1, len(y)), dtype=bool)
    return GaussianProcesses(x, np.array([y]), known, np.ones(1), np.array([noise]))


def test_the_posterior_equals_a_hand_calculation() -> None:
    """y = 1, -1 with mean 0; the variance of the function is (2 + 2 / (1 - k(1))) / 4 = 1.550407.

    Halfway both trials weigh the same: mean 0, variance 1.550407 (1 - 2 k(1/2)^2 / (1 + k(1))) = 0.153283.
    """
    means, variances = process([1.0, -1.0]).predict(np.array([[0.0], [0.5], [1.0], [99.0]]))
    np.testing.assert_allclose(means[:, 0], [1, 0, -1, 0], atol=1e-9)
    np.testing.assert_allclose(variances[:, 0], [0, 0.153283, 0, 1.550407], atol=1e-5)


def test_noise_shrinks_the_posterior_to_the_mean() -> None:
    """With noise as large as the function, (1 - k(1)) / (2 - k(1)) of a trial's 1 remains."""
    means, _ = process([1.0, -1.0], noise=1.0).predict(np.zeros((1, 1)))
    assert means[0, 0] == pytest.approx((1 - NEXT) / (2 - NEXT), abs=1e-6)


class NoDraw(np.random.Generator):
    """Draws that are the mean."""

    def __init__(self) -> None:
        super().__init__(np.random.PCG64(0))

    def standard_normal(self, size: tuple[int, ...]) -> Floats:  # type: ignore[override]
        return np.zeros(size)


def test_leave_one_out_predictions_of_the_target() -> None:
    """Equation 12 for y = 3, 1, -1.

    Without the first the mean is 0, and f(0) = (k(1) - k(2)) / (1 - k(1)) = 0.809515 from 1 and -1. Without
    the second f(1) is the mean of 3 and -1. Without the last it is like without the first: f(2) = 2 -
    0.809515.
    """
    beyond = (NEXT - SECOND_NEXT) / (1 - NEXT)
    D = left_one_out(process([3.0, 1.0, -1.0]), np.arange(3.0)[:, None], NoDraw())
    by_hand = [[0, beyond - 1, beyond + 1], [-2, 0, 2], [-1 - beyond, 1 - beyond, 0]]
    np.testing.assert_allclose(D, np.broadcast_to(by_hand, D.shape), atol=1e-5)
