"""Manolache's synthetic functions, which are costs (section 6)."""

from collections.abc import Callable

import numpy as np

Cost = Callable[[np.ndarray, int], np.ndarray]


def alike(x: np.ndarray, k: int) -> np.ndarray:
    """Equation 20 with rho = k pi / 12."""
    return x * np.sin(x + np.pi + k * np.pi / 12 + x / 10)


def _third(x: np.ndarray, k: int) -> np.ndarray:
    u = 16 / 15 * x - 1
    return 0.6 + np.sin(u) + np.sin(u) ** 2 + np.sin(4 * u) / 50 + k - 1


FUNCTIONS: tuple[Cost, ...] = (
    lambda x, k: (1 - x) * (np.sin(x + 5) + 0.1) / 10 + 5 + k - 1,
    lambda x, k: x * np.sin(x + np.pi + k + x / 10),
    lambda x, k: np.sqrt(x) * np.sin(x + k - 1) + k - 1,
    _third,
    lambda x, k: x**2 / 4000 - np.cos(x / 3) + 1 + k - 1,
    lambda x, k: (1 - x) / 10 * (np.sin(x + 4) + 0.1) + k - 1,
)
"""The cases of equation 21 for x of at least 0, each with any k: section 6.2 varies each of them by k."""


def unlike(x: np.ndarray, k: int) -> np.ndarray:
    """Equation 21, for x of at least 0."""
    return FUNCTIONS[k](x, k)
