"""Many Gaussian processes at once: Matern 5/2, noise, a constant mean (Manolache, section 6).

The thesis samples kernel hyperparameters by NUTS. Here each process has the most likely pair of length scale
and noise on a grid, with the same length for all columns, and the amplitude is integrated out: thirty
Cholesky factors of all processes at once instead of thousands.

Notation
    B, n, J   processes, points of each, columns
    x, y      (B, n, J) points and (B, n) values, in standard scores
    known     (B, n) whether it is a point; the others are padding
    l, v      length scale, and variance of the noise over that of the function
    s2        variance of the function; its prior is an inverse gamma of mean 1
    L         (B, n, n) Cholesky factor of the covariance of y over s2
"""

from __future__ import annotations

from itertools import product
from typing import Self

import numpy as np

from metalearners.gp.kernels import matern_at, squared_distances
from warehouse.support.arrays import Flags, Floats

LENGTHS = (0.125, 0.25, 0.5, 1.0, 2.0, 4.0)
"""Length scales as multiples of the square root of the number of varying columns; each step doubles."""
NOISES = (1e-4, 1e-3, 1e-2, 0.1, 0.5)
_FREEDOM = 4.0  # degrees of freedom of the prior of s2; set by hand
_JITTER = 1e-6  # against rounding errors in the factor of a posterior covariance


class GaussianProcesses:
    """B processes, each with its own points."""

    def __init__(self, x: Floats, y: Floats, known: Flags, l: Floats, v: Floats) -> None:  # noqa: E741
        """GaussianProcesses with these length scales and noises, (B,) each."""
        self.x, self.y, self.known, self.l, self.v = x, y, known, l, v
        count = np.maximum(known.sum(axis=1), 1)
        self.mean = (y * known).sum(axis=1) / count  # (B,)
        self._fill(np.stack([squared_distances(one, one) for one in x]), count)

    def _fill(self, squared: Floats, count: Floats) -> None:
        n = self.x.shape[1]
        K = matern_at(squared / self.l[:, None, None] ** 2) * (
            self.known[:, :, None] & self.known[:, None, :]
        )
        diagonal = np.arange(n)
        K[:, diagonal, diagonal] = 1 + self.v[:, None] * self.known  # 1 for padding
        self._inverse = np.linalg.inv(np.linalg.cholesky(K))  # L^-1
        missed = np.where(self.known, self.y - self.mean[:, None], 0.0)
        half = np.einsum("bij,bj->bi", self._inverse, missed)
        fit = (half**2).sum(axis=1)
        self._alpha = np.einsum("bji,bj->bi", self._inverse, half)
        self.s2 = (_FREEDOM - 2 + fit) / (_FREEDOM - 2 + count)
        log_det = -np.log(self._inverse[:, diagonal, diagonal]).sum(axis=1)
        self.log_likelihood = -0.5 * (_FREEDOM + count) * np.log(_FREEDOM - 2 + fit) - log_det

    @classmethod
    def fitted(cls, x: Floats, y: Floats, known: Flags) -> Self:
        """GaussianProcesses with the most likely length scales and noises."""
        varying = (np.ptp(np.where(known[:, :, None], x, x[:, :1]), axis=1) > 0).sum(axis=1)
        unit = np.sqrt(np.maximum(varying, 1))
        grid = [(length * unit, np.full(len(x), noise)) for length, noise in product(LENGTHS, NOISES)]
        likely = np.array([cls(x, y, known, *at).log_likelihood for at in grid])
        best = likely.argmax(axis=0)
        each = np.arange(len(x))
        lengths, noises = (np.array(part)[best, each] for part in zip(*grid, strict=True))
        return cls(x, y, known, lengths, noises)

    def left_out(self) -> GaussianProcesses:
        """(n,) processes, each without one of the points; this one must be a single process."""
        n = self.x.shape[1]
        known = ~np.eye(n, dtype=bool) & self.known
        x, y = np.repeat(self.x, n, axis=0), np.repeat(self.y, n, axis=0)
        return GaussianProcesses(x, y, known, np.repeat(self.l, n), np.repeat(self.v, n))

    def __len__(self) -> int:
        return len(self.x)

    def predict(self, points: Floats) -> tuple[Floats, Floats]:
        """(m, B) means and variances of the functions at (m, J) points."""
        means, variances = np.zeros((2, len(points), len(self)))
        for b in range(len(self)):
            k = self._covariances(points, b)
            means[:, b] = self.mean[b] + k @ self._alpha[b]
            variances[:, b] = self.s2[b] * np.maximum(1 - ((k @ self._inverse[b].T) ** 2).sum(axis=1), 0)
        return means, variances

    def sample(self, points: Floats, n: int, random: np.random.Generator) -> Floats:
        """(n, B, m) draws of the functions at (m, J) points."""
        k = np.stack([self._covariances(points, b) for b in range(len(self))])  # (B, m, n)
        mean = self.mean[:, None] + np.einsum("bmn,bn->bm", k, self._alpha)
        half = k @ self._inverse.transpose(0, 2, 1)
        own = squared_distances(points, points)
        prior = np.stack([matern_at(own / length**2) for length in self.l])
        C = prior - half @ half.transpose(0, 2, 1) + _JITTER * np.eye(len(points))
        factor = np.sqrt(self.s2)[:, None, None] * np.linalg.cholesky(C)
        normal = random.standard_normal((n, *mean.shape))
        drawn: Floats = mean + np.einsum("bij,sbj->sbi", factor, normal)
        return drawn

    def _covariances(self, points: Floats, b: int) -> Floats:
        """(m, n) correlations between points and those of process b."""
        covariances: Floats = matern_at(squared_distances(points, self.x[b]) / self.l[b] ** 2) * self.known[b]
        return covariances
