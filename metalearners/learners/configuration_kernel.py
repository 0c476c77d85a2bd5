"""Kernel between configurations: Matern, with length scales learned from runs.

The effect of a hyperparameter on the score has much the same shape on every dataset, so the length scales are
shared, and learned from runs on many datasets. Features whose inner products approximate the kernel
(Nystroem, on a few hundred configurations) make functions of a configuration linear.

Notation
    J       columns of the encoded hyperparameters
    x       (n, J) encoded configurations, standardized, each column divided by its length scale
    r       (n, n') Euclidean distances between rows of x
    k       (1 + sqrt(5) r + 5 r^2 / 3) exp(-sqrt(5) r), Matern with nu = 5/2: 1 for equal configurations
    Z       (G, J) rows of x on which the features are based
    Phi     (n, G) features; Phi Phi' equals k for configurations in Z, and approximates it elsewhere
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np
import pandas as pd

from metalearners.encoding.hyperparameters import HyperparameterEncoding
from metalearners.encoding.matrices import (
    centre_and_spread,
    encode_configurations,
    encode_runs,
    learn_encoding_of,
    standardized,
)
from metalearners.encoding.training_data import TrainingData
from metalearners.gp.kernels import matern, nystroem_factor, spread_out, squared_distances
from warehouse.support.arrays import Flags, Floats
from warehouse.vocabulary.parameters import Scale
from warehouse.vocabulary.table import ConfigurationTable

_SHORTEST, _LONGEST = 0.1, 100.0  # bounds of length scales, in standard deviations of the column
_LEARNING_DATASETS, _LEARNING_RUNS = 24, 160  # at most, to learn the length scales from
_LEARNING_STEPS = 40  # of L-BFGS; a heuristic
_SKEWED = 1.0  # a heuristic: an exponential distribution has skewness 2, a uniform one 0
_JITTER = 1e-6  # against rounding errors in the Cholesky factorization


@dataclass(frozen=True)
class EncodedPoints:
    """Converts configurations to points: x, or standardized columns before length scales are learned."""

    encoding: HyperparameterEncoding
    logarithmic: Annotated[Flags, "J"]
    """Columns compared by their logarithms (`logarithmic_columns`)."""
    centre: Annotated[Floats, "J"]
    """Mean of the column."""
    scale: Annotated[Floats, "J"]
    """Standard deviation of the column times its length scale."""

    def points(self, configurations: ConfigurationTable, metafeatures: pd.Series) -> Floats:
        """(n, J) points of `configurations` on the dataset with these meta-features."""
        encoded = encode_configurations(self.encoding, configurations, metafeatures)
        return standardized(comparable(encoded, self.logarithmic), self.centre, self.scale)

    def points_of_runs(self, data: TrainingData) -> Floats:
        """(m, J) points of runs."""
        encoded = encode_runs(self.encoding, data)
        return standardized(comparable(encoded, self.logarithmic), self.centre, self.scale)


@dataclass(frozen=True)
class ConfigurationKernel(EncodedPoints):
    """Converts configurations to `Phi`."""

    Z: Annotated[Floats, "G J"]
    factor: Annotated[Floats, "G G"]
    """Matrix such that k(x, Z) factor = Phi."""

    def features(self, configurations: ConfigurationTable, metafeatures: pd.Series) -> Floats:
        """Phi of `configurations` on the dataset with these meta-features."""
        return self.features_at(self.points(configurations, metafeatures))

    def features_at(self, x: Floats) -> Floats:
        """Phi of the points `x`."""
        features: Floats = matern(x, self.Z) @ self.factor
        return features


def learn_points(data: TrainingData) -> tuple[EncodedPoints, Floats]:
    """The standardized points, and those of the runs, (m, J)."""
    encoding = learn_encoding_of(data)
    encoded = encode_runs(encoding, data)
    logarithmic = logarithmic_columns(encoding, encoded, data.scales)
    encoded = comparable(encoded, logarithmic)
    centre, spread = centre_and_spread(encoded)
    return EncodedPoints(encoding, logarithmic, centre, spread), standardized(encoded, centre, spread)


def learn_kernel(
    data: TrainingData, scores: Floats, *, size: int, seed: int
) -> tuple[ConfigurationKernel, Floats]:
    """Learn the kernel, and compute Phi of the runs, (m, at most `size`).

    Args:
        scores: (m,) scores to predict, with mean 0 on each dataset.
        size: most configurations on which the features are based.
        seed: of the choice of runs to learn from.
    """
    points, x = learn_points(data)
    random = np.random.default_rng(seed)
    lengths = _learn_lengths(x, scores, data.dataset, random)
    x /= lengths
    Z = spread_out(x, size, random, matern)
    factor = nystroem_factor(matern(Z, Z), _JITTER)
    scale = points.scale * lengths
    kernel = ConfigurationKernel(points.encoding, points.logarithmic, points.centre, scale, Z, factor)
    return kernel, kernel.features_at(x)


def comparable(encoded: Floats, logarithmic: Flags) -> Floats:
    """(n, J) encoded configurations, with logarithms in the marked columns."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(logarithmic, np.log(np.maximum(encoded, 1e-12)), encoded)


def logarithmic_columns(
    encoding: HyperparameterEncoding, encoded: Floats, scales: Mapping[str, Scale]
) -> Flags:
    """(J,) positive columns to compare by logarithms: as declared, else if that makes them less skewed."""
    parameters = encoding.parameter_of_numbers()
    declared = [scales.get(parameters.get(column, "")) for column in encoding.columns]
    return np.array(
        [
            is_skewed if scale is None else scale == "log" and bool(np.nanmin(column) > 0)
            for scale, is_skewed, column in zip(declared, _skewed_columns(encoded), encoded.T, strict=True)
        ],
        dtype=bool,
    )


def _skewed_columns(encoded: Floats) -> Flags:
    """(J,) positive, skewed columns whose logarithms are less skewed."""

    def skewness(column: Floats) -> float:
        z = (column - column.mean()) / column.std()
        return float(abs((z**3).mean()))

    present = [column[~np.isnan(column)] for column in encoded.T]
    return np.array(
        [
            bool(len(np.unique(column)) > 2 and column.min() > 0)
            and skewness(column) > _SKEWED
            and skewness(np.log(column)) < skewness(column)
            for column in present
        ],
        dtype=bool,
    )


# ---- length scales -------------------------------------------------------------------------------


def _learn_lengths(x: Floats, scores: Floats, dataset: np.ndarray, random: np.random.Generator) -> Floats:
    """(J,) maximum-likelihood length scales for the runs of a sample of datasets.

    Scores of a dataset are Gaussian with covariance s^2 (k + noise^2 I); each dataset's s is set to its
    maximum likelihood value, its noise is optimized together with the length scales.
    """
    from scipy.optimize import minimize

    if not x.shape[1]:
        return np.ones(0)
    samples = list(_samples(x, scores, dataset, random))
    start = np.concatenate([np.full(x.shape[1], np.log(2.0)), np.full(len(samples), np.log(0.3))])
    bounds = [(np.log(_SHORTEST), np.log(_LONGEST))] * x.shape[1] + [(np.log(1e-3), np.log(30.0))] * len(
        samples
    )
    found = minimize(
        _unlikeliness,
        start,
        args=(samples,),
        jac=True,
        method="L-BFGS-B",
        bounds=bounds,
        options={"maxiter": _LEARNING_STEPS},
    )
    lengths: Floats = np.exp(found.x[: x.shape[1]])
    return lengths


def _samples(
    x: Floats, scores: Floats, dataset: np.ndarray, random: np.random.Generator
) -> list[tuple[Floats, Floats]]:
    """Points and scores of a sample of runs, for a sample of the datasets whose runs differ."""
    order = np.argsort(dataset, kind="stable")
    of_datasets = np.split(order, np.flatnonzero(np.diff(dataset[order])) + 1)
    varied = [rows for rows in of_datasets if np.ptp(scores[rows]) > 0 and len(rows) > 2]
    chosen = random.permutation(len(varied))[:_LEARNING_DATASETS]
    samples = []
    for number in sorted(chosen.tolist()):
        rows = np.sort(random.permutation(varied[number])[:_LEARNING_RUNS])
        if np.ptp(scores[rows]) > 0:
            samples.append((x[rows], scores[rows] - scores[rows].mean()))
    return samples


def _unlikeliness(logarithms: Floats, samples: Sequence[tuple[Floats, Floats]]) -> tuple[float, Floats]:
    """Negative log likelihood and its gradient, at log length scales and log noise variances."""
    from scipy.linalg import cho_factor, cho_solve

    J = len(logarithms) - len(samples)
    lengths, noises = np.exp(logarithms[:J]), np.exp(logarithms[J:])
    total, gradient = 0.0, np.zeros_like(logarithms)
    for number, ((points, y), noise) in enumerate(zip(samples, noises, strict=True)):
        n = len(y)
        x = points / lengths
        r = np.sqrt(5 * squared_distances(x, x))
        decay = np.exp(-r)
        C = (1 + r + r * r / 3) * decay
        C[np.diag_indices(n)] += noise
        factor = cho_factor(C, lower=True, check_finite=False)
        inverse = cho_solve(factor, np.eye(n), check_finite=False)
        alpha = inverse @ y
        fit = float(y @ alpha)
        total += n / 2 * np.log(fit / n) + np.log(np.diag(factor[0])).sum()
        # dL/dC = -1/2 (n / (y' C^-1 y) alpha alpha' - C^-1)
        slope = -0.5 * (n / fit * np.outer(alpha, alpha) - inverse)
        # dk / d log l_j = 5/3 (1 + sqrt(5) r) exp(-sqrt(5) r) (x_ij - x_i'j)^2
        weight = slope * (5 / 3) * (1 + r) * decay
        gradient[:J] += 2 * (weight.sum(axis=1) @ (x * x) - np.einsum("ij,ij->j", x, weight @ x))
        gradient[J + number] = noise * np.trace(slope)
    return total, gradient
