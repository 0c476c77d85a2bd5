"""The kernel between latent positions of configurations (Fusi, Sheth and Elibol 2018), and its noise.

Notation
    Q              dimensions of the latent space
    alpha, gamma   variance of a dataset's function; (Q,) inverse squared length scale of each dimension
    sigma2         variance of a run's noise
    r2             sum over q of gamma_q (x_q - x'_q)^2
    k              alpha exp(-r2 / 2), or alpha times the Matern kernel with nu = 5/2
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from metalearners.gp.kernels import Shape, correlation, squared_distances
from warehouse.support.arrays import Floats

LATENT, LATENT_SPARSE = 20, 5
"""Q of the paper, and Q if most entries are missing (`SPARSE`)."""
SPARSE = 0.85
"""Share of missing entries above which the paper's settings for 90 % apply; it has others for 20 %."""


@dataclass(frozen=True)
class LatentTraining:
    """Settings of a training of latent positions with torch."""

    latent: int | None = None
    """Q; None = 20, or 5 for free positions if more than 85 % of the matrix is missing."""
    kernel: Shape = "rbf"
    rounds: int = 300
    """Epochs of free positions, or steps of an encoder."""
    seed: int = 0
    """Seed of the order of datasets, the choice of runs and inducing positions, and an encoder's weights."""
    device: str = "cpu"
    """Torch device: `cpu`, `cuda` or `auto`."""


@dataclass(frozen=True)
class LatentKernel:
    """k, and the noise."""

    shape: Shape
    alpha: float
    gamma: Annotated[Floats, "Q"]
    sigma2: float

    def covariance(self, a: Floats, b: Floats) -> Floats:
        """(n, n') k between the positions `a`, (n, Q), and `b`, (n', Q)."""
        root = np.sqrt(self.gamma).astype(a.dtype)
        return self.alpha * correlation(squared_distances(a * root, b * root), self.shape)
