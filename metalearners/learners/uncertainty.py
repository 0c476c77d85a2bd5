"""Uncertainty of the performance function predicted for a new dataset.

Notation
    n, G      runs or configurations, features
    phi       (n, G) features of configurations
    factor    (at most K, G) factor' factor is the covariance of the errors of predicted weights, within the K
              components
    rest      variance of a weight around the components
    noise     variance of a run
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from metalearners.encoding.scores import Z80
from metalearners.learners.improvement_probability import GainSpread, learn_gain_spread
from warehouse.support.arrays import Floats

_RESTS = (0.1, 0.2, 0.4)
"""Candidates for the variance around the components; the likeliest is used."""
_NOISES = (0.05, 0.1, 0.2, 0.4)  # candidates; the likeliest is used
_SAMPLE = 50
"""Most runs of each dataset to learn uncertainty from."""
_LEVEL_VARIANCE = 100.0  # of a dataset's level, as good as unknown: no meta-feature predicts it
OfDataset = tuple[Floats, Floats, Floats]
"""Runs of a dataset: phi, then (n,) training targets and (n,) scores to predict."""


@dataclass(frozen=True)
class Uncertainty:
    """Variances, and the factor of standard deviations with which 80 % intervals cover 80 % of the runs."""

    rest: float
    noise: float
    calibration: float


def learn_uncertainty(
    of_datasets: list[OfDataset],
    expected: Floats,
    factor: Floats,
    random: np.random.Generator,
) -> Uncertainty:
    """Maximum-likelihood variances of the errors on a sample of the runs.

    Args:
        of_datasets: (d,)
        expected: (d, G) weights predicted without the runs on the dataset's family.
    """
    samples = []
    for w, (phi, targets, scores) in zip(expected, of_datasets, strict=True):
        some = random.permutation(len(targets))[:_SAMPLE]
        samples.append((phi[some], targets[some] - phi[some] @ w, scores[some] - phi[some] @ w))
    likelihoods = {
        (rest, noise): sum(_likelihood(phi, missed, factor, rest, noise) for phi, missed, _ in samples)
        for rest in _RESTS
        for noise in _NOISES
    }
    rest, noise = max(likelihoods, key=likelihoods.__getitem__)
    sizes = [np.abs(missed) / np.sqrt(variance_of(phi, factor, rest) + noise) for phi, _, missed in samples]
    return Uncertainty(rest, noise, _calibration(sizes))


def learn_spread_of_gains(
    comparisons: pd.DataFrame,
    of_datasets: list[OfDataset],
    expected: Floats,
    uncertainty: Uncertainty,
    factor: Floats,
    usual_rows: float,
) -> GainSpread:
    """Learn the uncertainty of gains from comparisons of runs.

    Args:
        comparisons: the result of `first_beside`.
        of_datasets: (d,)
        expected: (d, G) weights predicted without the runs on the dataset's family.
    """
    gains = [np.empty(0)]
    by_dataset = [comparisons[comparisons["dataset"] == dataset] for dataset in range(len(of_datasets))]
    for (phi, _, _), w, own in zip(of_datasets, expected, by_dataset, strict=True):
        apart = phi[own["first"]] - phi[own["other"]]
        gains.append(apart @ w / std_of_gain(apart, factor, uncertainty.rest, uncertainty.noise))
    rows, won = (comparisons[name].to_numpy(np.float64) for name in ("rows", "won"))
    return learn_gain_spread(np.concatenate(gains), won, rows, usual_rows)


def factor_of(missed: Floats, V: Floats) -> Floats:
    """`factor` from the errors of predicted coordinates, (d, K), on the components `V`, (K, G)."""
    factor: Floats = np.linalg.qr(missed, mode="r") @ V / np.sqrt(max(len(missed), 1))
    return factor


def variance_of(phi: Floats, factor: Floats, rest: float) -> Floats:
    """(n,) variance of the functions."""
    variance: Floats = ((phi @ factor.T) ** 2).sum(axis=1) + rest * (phi**2).sum(axis=1)
    return variance


def std_of_gain(apart: Floats, factor: Floats, rest: float, noise: float) -> Floats:
    """(n,) standard deviations of the lead of runs over another one, before `GainSpread` widens them.

    Args:
        apart: (n, G) differences of the features.
    """
    return np.sqrt(variance_of(apart, factor, rest) + 2 * noise)


def _calibration(missed: list[Floats]) -> float:
    """Factor with which 80 % intervals cover 80 % of the errors, given in standard deviations."""
    return float(np.quantile(np.concatenate(missed), 0.8)) / Z80 if missed else 1.0


def _likelihood(phi: Floats, missed: Floats, spread: Floats, rest: float, noise: float) -> float:
    """Log density of the prediction errors on some runs of a dataset with unknown level."""
    factor = phi @ spread.T
    C = factor @ factor.T + rest * (phi @ phi.T) + _LEVEL_VARIANCE
    C[np.diag_indices_from(C)] += noise
    L = np.linalg.cholesky(C)
    whitened = np.linalg.solve(L, missed)
    return float(-0.5 * whitened @ whitened - np.log(np.diag(L)).sum())
