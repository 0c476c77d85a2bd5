"""Predicted running time of a fit, learned from runs on other datasets.

The logarithm of the seconds is linear in the logarithms of the dataset's sizes: each algorithm has one line,
to which each configuration adds a line of its own, shrunk towards 0. So a configuration with few runs takes
about as long as its algorithm does, and a dataset larger than all known ones takes longer. For a
configuration without runs, a Gaussian process predicts the level of its own line from those of configurations
with similar hyperparameters. A run stopped by its time limit counts with its expected time, given that it
takes longer than the limit (the EM algorithm for censored normal values; Dempster, Laird and Rubin 1977).

Van Hoof's thesis (section 5.2) uses boosted trees, which never predict a time outside the range of their
training data and are less accurate here (`python -m tests.benchmarks.fit_times`).

Notation
    m, n, a     runs, configurations, algorithms
    x           (10,) sizes of a dataset: 1, and nine of `_sizes`, standardized
    A, B        (a, 10) line of each algorithm, (n, 10) addition of each configuration:
                log seconds = (A + B) x
    J           columns of the encoded hyperparameters
    Z           (n, J) encoded configurations, in length scales
    k           Matern kernel between configurations of one algorithm (`metalearners.gp.kernels`)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np
import pandas as pd

from metalearners.encoding.hyperparameters import HyperparameterEncoding, learn_encoding
from metalearners.encoding.matrices import centre_and_spread, encode_configurations, standardized
from metalearners.encoding.training_data import size_of
from metalearners.gp.kernels import matern
from metalearners.learners.configuration_kernel import comparable, logarithmic_columns
from warehouse.questions.queries import TimedFits
from warehouse.support.arrays import Flags, Floats, Positions, Rows
from warehouse.support.errors import TooFewRuns
from warehouse.vocabulary.table import ConfigurationTable

QUALITIES = (
    "NumberOfInstances",
    "NumberOfFeatures",
    "NumberOfNumericFeatures",
    "NumberOfClasses",
    "NumberOfMissingValues",
    "MaxNominalAttDistinctValues",
)
"""Meta-features that times depend on."""

_FLAT = 1.0
"""Regularization of an algorithm's slopes towards 0; a heuristic, as the next two."""
_OWN_LEVEL = 1.0
"""Regularization of a configuration's level towards that of its algorithm, in numbers of runs."""
_OWN_SLOPES = 10.0
_LENGTH = 2.5
"""Length scale of k in standard deviations of a hyperparameter, multiplied by the square root of the number
of hyperparameters. Like the nugget, chosen by fits of left-out configurations on one half of the families
(`tests.benchmarks.fit_times`)."""
_NUGGET = 0.003  # variance of a configuration's level not explained by its hyperparameters; k is 1
_MANY = 1000.0
"""Number of rows above which seconds grow with them; fits on fewer take about the same time."""
_FOLDS = 5
_SHORTEST = 1e-3  # seconds
_ROUNDS = 30  # most rounds of expectation and maximization
_SETTLED = 0.01  # rounds end when no log second changes by more


@dataclass(frozen=True, kw_only=True)
class HyperparameterEffects:
    """How much longer configurations take than their algorithm does, by their hyperparameters."""

    encoding: HyperparameterEncoding
    logarithmic: Annotated[Flags, "J"]
    """Columns compared by their logarithms (`logarithmic_columns`)."""
    centre: Annotated[Floats, "J"]
    length: Annotated[Floats, "J"]
    """Length scale; infinite where no configurations of an algorithm differ."""
    Z: Annotated[Floats, "n J"]
    algorithm: Annotated[Positions, "n"]
    """Position of each configuration's algorithm in `FitTimes.algorithms`."""
    weights: Annotated[Floats, "n"]
    """Coefficients of k."""

    def predict(
        self, configurations: ConfigurationTable, algorithm: Positions, metafeatures: pd.Series
    ) -> Floats:
        """(q,) log seconds minus those of the algorithm.

        Args:
            algorithm: (q,) position of each configuration's algorithm; -1 = unknown.
        """
        encoded = encode_configurations(self.encoding, configurations, metafeatures)
        z = standardized(comparable(encoded, self.logarithmic), self.centre, self.length)
        effects = np.zeros(len(z))
        for known in np.unique(algorithm):
            asked, own = np.flatnonzero(algorithm == known), self.algorithm == known
            effects[asked] = matern(z[asked], self.Z[own]) @ self.weights[own]
        return effects


@dataclass(frozen=True, kw_only=True)
class FitTimes:
    """Predicts processor time in seconds, on a machine like those of the runs."""

    centre: Annotated[Floats, "9"]
    unit: Annotated[Floats, "9"]
    """Mean and standard deviation that standardize `_sizes`."""
    algorithms: Annotated[tuple[str, ...], "a"]
    of_algorithms: Annotated[Floats, "a 10"]
    """A"""
    setups: Annotated[tuple[str, ...], "n"]
    of_setups: Annotated[Floats, "n 10"]
    """B"""
    effects: HyperparameterEffects
    factor: float
    """80 % of the fits take between the predicted time divided by this and multiplied by this."""

    def seconds(
        self, configurations: ConfigurationTable, metafeatures: pd.Series, rows: float | None = None
    ) -> Floats:
        """(q,) seconds of one fit of each configuration; NaN for algorithms without timed runs.

        Args:
            metafeatures: of the dataset, by quality.
            rows: training size; None = all rows.
        """
        n = metafeatures.get("NumberOfInstances", np.nan) if rows is None else rows
        sizes = _sizes(metafeatures.to_frame().T, np.array([n], dtype=np.float64))
        x = np.column_stack([[1.0], (sizes - self.centre) / self.unit])[0]
        algorithm = pd.Index(self.algorithms).get_indexer(pd.Index(configurations.algorithms))
        setup = pd.Index(self.setups).get_indexer(configurations.setups)
        usual = np.where(algorithm >= 0, self.of_algorithms[algorithm] @ x, np.nan)
        own = self.of_setups[setup] @ x
        new = np.flatnonzero(setup < 0)
        if len(new):
            own[new] = self.effects.predict(configurations.take(new), algorithm[new], metafeatures)
        seconds: Floats = np.exp(usual + own)
        return seconds


def learn_fit_times(fits: TimedFits, metafeatures: pd.DataFrame) -> FitTimes:
    """Learn from timed fits.

    Args:
        metafeatures: qualities by dataset.

    Raises:
        BadInput: no run is timed.
    """
    runs = fits.runs
    if runs["stopped"].all():
        raise TooFewRuns("the warehouse has no running times of fits")
    described = metafeatures.reindex(runs["dataset"])
    rows = runs["train_rows"].to_numpy(np.float64, na_value=np.nan)
    sizes = _sizes(described, np.where(np.isnan(rows), described["NumberOfInstances"], rows))
    centre, unit = sizes.mean(axis=0), np.maximum(sizes.std(axis=0), 1e-9)  # rounding: equal sizes differ
    X = np.column_stack([np.ones(len(sizes)), (sizes - centre) / unit])
    y = np.log(np.maximum(runs["seconds"].to_numpy(np.float64), _SHORTEST))
    stopped = runs["stopped"].to_numpy(np.bool_)
    algorithm, algorithms = pd.factorize(runs["algorithm"], sort=True)
    setup, setups = pd.factorize(runs["setup"], sort=True)
    timed = _TimedRuns(X, y, stopped, algorithm, setup)
    A, B = _lines(timed, len(algorithms), len(setups))
    missed = _missed(timed, pd.factorize(runs["family"])[0])[~stopped]
    return FitTimes(
        centre=centre,
        unit=unit,
        algorithms=tuple(map(str, algorithms)),
        of_algorithms=A,
        setups=tuple(map(str, setups)),
        of_setups=B,
        effects=_effects(fits, B[:, 0], setups, pd.Index(algorithms), described.median()),
        factor=float(np.exp(np.quantile(np.abs(missed), 0.8))),
    )


def _effects(
    fits: TimedFits, levels: Floats, setups: pd.Index, algorithms: pd.Index, usual: pd.Series
) -> HyperparameterEffects:
    """Learn the effects from the levels of the configurations' own lines, (n,).

    Args:
        usual: meta-features of a typical dataset, for hyperparameters that depend on its size.
    """
    table = fits.configurations.of_setups(setups)
    encoding = learn_encoding(table.hyperparameters, size_of(usual), one_hot=True)
    encoded = encode_configurations(encoding, table, usual)
    logarithmic = logarithmic_columns(encoding, encoded, fits.scales)
    encoded = comparable(encoded, logarithmic)
    centre, _ = centre_and_spread(encoded)
    algorithm = algorithms.get_indexer(pd.Index(table.algorithms))
    length = np.full(len(centre), np.inf)
    weights = np.zeros(len(levels))
    of_algorithms = [np.flatnonzero(algorithm == one) for one in range(len(algorithms))]
    for own in of_algorithms:
        x = standardized(encoded[own], centre, np.ones(len(centre)))
        varied = np.ptp(x, axis=0) > 0
        length[varied] = _LENGTH * np.sqrt(varied.sum()) * x[:, varied].std(axis=0)
    Z = standardized(encoded, centre, length)
    for own in of_algorithms:
        K = matern(Z[own], Z[own]) + _NUGGET * np.eye(len(own))
        weights[own] = np.linalg.solve(K, levels[own])
    return HyperparameterEffects(
        encoding=encoding,
        logarithmic=logarithmic,
        centre=centre,
        length=length,
        Z=Z,
        algorithm=algorithm,
        weights=weights,
    )


def _sizes(metafeatures: pd.DataFrame, rows: Floats) -> Floats:
    """(m, 9) sizes of datasets with `metafeatures`, (m, qualities), and training sizes `rows`, (m,).

    Unknown sizes are 0.
    """
    features, numeric, classes, gaps, distinct = (
        metafeatures.reindex(columns=list(QUALITIES[1:])).to_numpy(np.float64).T
    )
    sizes = [
        np.log(np.maximum(rows, 1)),
        np.log1p(rows / _MANY),
        np.log(features),
        np.log1p(numeric),
        np.log(np.maximum(features - numeric, 1)),
        np.log(np.maximum(classes, 1)),
        classes > 2,
        gaps > 0,
        np.log1p(np.minimum(distinct, rows)),
    ]
    return np.nan_to_num(np.column_stack(sizes).astype(np.float64))


@dataclass(frozen=True)
class _TimedRuns(Rows):
    """Runs and their times."""

    X: Floats
    """(m, 10) a one, then sizes of the dataset."""
    y: Floats
    """(m,) log seconds."""
    stopped: Flags
    """(m,) whether the run was stopped at `y`."""
    algorithm: Positions
    """(m,) position of its algorithm."""
    setup: Positions
    """(m,) position of its configuration."""


def _lines(runs: _TimedRuns, algorithms: int, setups: int) -> tuple[Floats, Floats]:
    """A and B, learned from runs of this many algorithms and configurations."""
    X, y, stopped, algorithm, setup = runs.X, runs.y, runs.stopped, runs.algorithm, runs.setup
    slopes = X.shape[1] - 1
    pulls = np.array([1e-6, *[_FLAT] * slopes]), np.array([_OWN_LEVEL, *[_OWN_SLOPES] * slopes])

    def lines(y: Floats, among: Flags | slice) -> tuple[Floats, Floats]:
        A = _ridges(X[among], y[among], algorithm[among], algorithms, pulls[0])
        left = y - (X * A[algorithm]).sum(axis=1)
        return A, _ridges(X[among], left[among], setup[among], setups, pulls[1])

    A, B = lines(y, ~stopped)
    longer = y[stopped]
    for _ in range(_ROUNDS if stopped.any() else 0):
        missed = y - (X * (A[algorithm] + B[setup])).sum(axis=1)
        before, longer = longer, _longer_than(y[stopped], missed[stopped], float(missed[~stopped].std()))
        filled = y.copy()
        filled[stopped] = longer
        A, B = lines(filled, slice(None))
        if np.abs(longer - before).max() < _SETTLED:
            break
    return A, B


def _longer_than(bound: Floats, missed: Floats, std: float) -> Floats:
    """Means of normally distributed values, given that they exceed `bound`.

    Args:
        missed: `bound` minus the unconditional mean.
    """
    from scipy.special import log_ndtr

    z = missed / max(std, 1e-9)
    hazard = np.exp(-0.5 * z**2 - log_ndtr(-z)) / np.sqrt(2 * np.pi)
    longer: Floats = bound + np.maximum(std * hazard - missed, 0.0)
    return longer


def _missed(runs: _TimedRuns, family: Positions) -> Floats:
    """(m,) errors of log seconds in cross-validation over families."""
    fold = family % _FOLDS
    sizes = runs.algorithm.max() + 1, runs.setup.max() + 1
    missed = np.zeros(len(runs.y))
    for number in range(_FOLDS):
        out = fold == number
        A, B = _lines(runs.take(~out), *sizes)
        own = runs.take(out)
        missed[out] = own.y - (own.X * (A[own.algorithm] + B[own.setup])).sum(axis=1)
    return missed


def _ridges(X: Floats, y: Floats, group: Positions, groups: int, pull: Floats) -> Floats:
    """(groups, 10) ridge regression of the runs of each group; 0 for groups without runs."""
    lines = np.zeros((groups, X.shape[1]))
    for own in pd.Series(group).groupby(group).indices.values():
        lines[group[own[0]]] = np.linalg.solve(X[own].T @ X[own] + np.diag(pull), X[own].T @ y[own])
    return lines
