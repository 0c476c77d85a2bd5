"""The kernel between latent positions."""

import numpy as np
import pytest

from metalearners.gp.kernels import Shape
from metalearners.published.factorization.latent_kernel import LatentKernel
from tests.cases import each

GAMMA = np.array([0.5, 2.0])


def kernel(shape: Shape = "rbf", sigma2: float = 0.1) -> LatentKernel:
    return LatentKernel(shape, alpha=2.0, gamma=GAMMA, sigma2=sigma2)


@each(
    ("shape", "correlation"),
    [
        ("rbf", np.exp(-0.5 * (0.5 * 1 + 2 * 4))),
        ("matern", (1 + np.sqrt(42.5) + 42.5 / 3) * np.exp(-np.sqrt(42.5))),
    ],
)
def test_covariance_by_hand(shape: Shape, correlation: float) -> None:
    """Positions at distances 1 and 2: r2 = 0.5 * 1 + 2 * 4 = 8.5."""
    here, there = np.array([[0.0, 0.0]]), np.array([[1.0, 2.0]])
    assert kernel(shape).covariance(here, there) == pytest.approx(np.array([[2 * correlation]]))
    assert kernel(shape).covariance(here, here) == pytest.approx(np.array([[2.0]]))
