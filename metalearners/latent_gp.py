"""Gaussian processes over latent positions of configurations: what trials on a new dataset tell.

The model is that of Fusi, Sheth and Elibol, "Probabilistic Matrix Factorization for Automated Machine
Learning" (NeurIPS 2018): a dataset's scores are a function of where configurations stand in a latent space,
and that space is shared by all datasets. Training it is the task of `metalearners.gplvm`; here is what a
trained one is asked.

Notation
    N, Q           configurations, dimensions of the latent space
    X              (N, Q) latent positions
    t, y           trials, (t,) their values; larger is better
    alpha, gamma   variance of a dataset's function; (Q,) how fast it varies along each dimension
    sigma2         variance of a run's noise
    r2             sum over q of gamma_q (x_q - x'_q)^2
    k              alpha exp(-r2 / 2), or alpha times the Matern kernel with nu = 5/2
    mu, v          (N,) mean and variance of the function after the trials (the paper's equation 7)
    xi             by how much a trial should beat the best one so far
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, Self, get_args

import numpy as np
import numpy.typing as npt

from metalearners.encoded import squared_distances
from warehouse.support.arrays import Floats
from warehouse.support.errors import UnknownName

Shape = Literal["rbf", "matern"]

LATENT, LATENT_SPARSE = 20, 5
"""Q of the paper, and Q where most entries are missing (`SPARSE`)."""
XI = 0.01
"""The paper's xi."""
SPARSE = 0.85
"""Share of missing entries from which the paper's settings for 90 % are taken; it has others for 20 %."""


@dataclass(frozen=True)
class LatentKernel:
    """k, and the noise around it."""

    shape: Shape
    alpha: float
    gamma: Floats
    """(Q,)"""
    sigma2: float

    def __post_init__(self) -> None:
        if self.shape not in get_args(Shape):
            raise UnknownName(f"unknown kernel {self.shape!r}; known are {', '.join(get_args(Shape))}")

    def covariance(self, a: Floats, b: Floats) -> Floats:
        """(n, n') k between the positions `a`, (n, Q), and `b`, (n', Q)."""
        root = np.sqrt(self.gamma).astype(a.dtype)
        return self.alpha * correlation(squared_distances(a * root, b * root), self.shape)

    def facts(self) -> dict[str, Any]:
        """As JSON values."""
        return {
            "shape": self.shape,
            "alpha": self.alpha,
            "gamma": self.gamma.tolist(),
            "sigma2": self.sigma2,
        }

    @classmethod
    def restored(cls, facts: Mapping[str, Any]) -> Self:
        """What `facts` gave, as a kernel again.

        Raises:
            BadInput, KeyError, TypeError, ValueError: it is incomplete or damaged.
        """
        gamma = np.array(facts["gamma"], dtype=np.float64)
        return cls(facts["shape"], float(facts["alpha"]), gamma, float(facts["sigma2"]))


def correlation(r2: Floats, shape: Shape) -> Floats:
    """k / alpha at these scaled squared distances, which are overwritten."""
    if shape == "rbf":
        r2 *= -0.5
        return np.exp(r2, out=r2)
    r = np.sqrt(5 * r2)
    matern: Floats = (1 + r + r * r / 3) * np.exp(-r)
    return matern


def posterior(kernel: LatentKernel, observed: Floats, y: Floats, new: Floats) -> tuple[Floats, Floats]:
    """mu and v at the positions `new`, (n, Q), given `y` at `observed`, (t, Q): the paper's equation 7.

    The mean before any trial is 0.
    """
    from scipy.linalg import solve_triangular

    C = kernel.covariance(observed, observed)
    C[np.diag_indices_from(C)] += kernel.sigma2
    L = np.linalg.cholesky(C)
    explained = solve_triangular(L, kernel.covariance(observed, new), lower=True, check_finite=False)
    whitened = solve_triangular(L, y, lower=True, check_finite=False)
    return whitened @ explained, np.maximum(kernel.alpha - (explained**2).sum(axis=0), 0)


def expected_improvement(mean: Floats, std: Floats, best: float, xi: float = XI) -> Floats:
    """(n,) expectation of max(f - best - xi, 0) for f normal with this mean and standard deviation.

    Jones, Schonlau and Welch, "Efficient Global Optimization of Expensive Black-Box Functions" (1998),
    equation 15. Where `std` is 0 it is the improvement itself.
    """
    from scipy.special import ndtr

    better = mean - best - xi
    with np.errstate(divide="ignore", invalid="ignore"):
        z = better / std
        expected = better * ndtr(z) + std * np.exp(-0.5 * z * z) / np.sqrt(2 * np.pi)
    improvement: Floats = np.where(std > 0, expected, np.maximum(better, 0))
    return improvement


class LatentSearch:
    """Trials one by one on a new dataset, with mu and v of all N configurations kept up to date.

    A trial costs t N operations: the Cholesky factor grows by a row.
    """

    def __init__(self, kernel: LatentKernel, X: Floats, mean: Floats | None = None) -> None:
        """No trial yet.

        Args:
            X: (N, Q)
            mean: (N,) of the function before any trial; None = 0.
        """
        self._kernel = kernel
        self._X = X
        self.mean: Floats = np.zeros(len(X)) if mean is None else mean.astype(np.float64)
        """(N,) mu"""
        self.variance: Floats = np.full(len(X), kernel.alpha)
        """(N,) v"""
        self._explained = np.empty((8, len(X)))  # rows of inverse(L) k(trials, X); room for more than t
        self._trials = 0
        self.best = -np.inf
        """Highest value so far."""

    def observe(self, position: int, y: float) -> None:
        """A trial of the configuration at this position of X had the value y."""
        if self._trials == len(self._explained):
            self._explained = np.concatenate([self._explained, np.empty_like(self._explained)])
        known = self._explained[: self._trials]
        covariance = self._kernel.covariance(self._X[[position]], self._X)[0] - known[:, position] @ known
        spread = np.sqrt(covariance[position] + self._kernel.sigma2)
        row = covariance / spread
        self.mean = self.mean + row * ((y - self.mean[position]) / spread)
        self.variance = np.maximum(self.variance - row * row, 0)
        self._explained[self._trials] = row
        self._trials += 1
        self.best = max(self.best, y)

    def next(self, tried: npt.NDArray[np.bool_], xi: float = XI) -> int:
        """Position of the configuration with the highest expected improvement, or mu before any trial.

        Args:
            tried: (N,) those that are not to be tried again; not all of them.
        """
        if not self._trials:
            return int(np.where(tried, -np.inf, self.mean).argmax())
        expected = expected_improvement(self.mean, np.sqrt(self.variance), self.best, xi)
        return int(np.where(tried, -np.inf, expected).argmax())
