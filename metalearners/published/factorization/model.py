"""A trained matrix factorization: a mean, latent positions of configurations, and a likelihood of trials.

Notation
    X, k, sigma2   as in `LatentKernel`; Q dimensions
    A              (B, Q) anchors: positions far apart, on which features of k are based (Nystroem)
    Phi            (n, B) features of configurations; Phi Phi' approximates k
"""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Annotated, Self

import numpy as np
import numpy.typing as npt
import pandas as pd

from metalearners.encoding.training_data import SIZES
from metalearners.gp.choice import best_after
from metalearners.gp.conditioned import Conditioned
from metalearners.gp.kernels import nystroem_factor, spread_out
from metalearners.gp.posterior import Prior
from metalearners.learners.configuration_kernel import ConfigurationKernel
from metalearners.learners.functional_pca import FunctionalPCA
from metalearners.learners.neighbours import NearestBest
from metalearners.predictions import Observations, Prediction, Predictor, ValueInterval
from metalearners.published.factorization.encoder import Encoder
from metalearners.published.factorization.latent_kernel import LatentKernel
from warehouse.support.arrays import Floats, Positions
from warehouse.vocabulary.table import ConfigurationTable

ANCHORS = 256
"""Most anchors: as many as the kernel of configurations has (`FunctionalPCALearner`)."""
_JITTER = 1e-6  # against rounding errors in the Cholesky factorization


@dataclass(frozen=True)
class Factorization:
    """The paper's model, with extensions."""

    mean: ZeroMean | ExpectedMean
    latent: NoPositions | FreePositions | EncodedPositions
    likelihood: ScoreLikelihood | MeasureLikelihood

    @property
    def qualities(self) -> tuple[str, ...]:
        """Meta-features used by predictions; see `Model.qualities`."""
        return tuple(dict.fromkeys([*SIZES, *self.mean.model.qualities]))

    def predict(self, configurations: ConfigurationTable, metafeatures: pd.Series) -> Prediction:
        """Predict scores, as `Model.predict` does."""
        if isinstance(self.mean, ExpectedMean):
            return self.mean.model.predict(configurations, metafeatures)
        kernel, n = self.latent.kernel, len(configurations)
        scores = isinstance(self.likelihood, ScoreLikelihood)
        std = np.full(n, np.sqrt(kernel.alpha + kernel.sigma2)) if scores else None
        return Prediction(np.zeros(n), std)

    def expect(
        self, configurations: ConfigurationTable, metafeatures: pd.Series, rows: float | None = None
    ) -> ValueInterval | None:
        """Expected values in the measure's own unit; None with a mean of 0. See `Predictor.expect`."""
        if isinstance(self.mean, ExpectedMean):
            return self.mean.model.expect(configurations, metafeatures, rows)
        return None

    def beats(
        self,
        configurations: ConfigurationTable,
        other: ConfigurationTable,
        metafeatures: pd.Series,
        rows: float | None = None,
    ) -> Floats:
        """Probabilities of beating another configuration; NaN with a mean of 0. See `Predictor.beats`."""
        if isinstance(self.mean, ExpectedMean):
            return self.mean.model.beats(configurations, other, metafeatures, rows)
        return np.full(len(configurations), np.nan)

    def prior(self, configurations: ConfigurationTable, metafeatures: pd.Series) -> Prior:
        """The prior before trials; see `metalearners.gp.posterior`."""
        features = self.latent.features(configurations, metafeatures)
        if isinstance(self.mean, ZeroMean):
            return Prior(np.zeros(len(configurations)), features)
        expected = self.mean.model.prior(configurations, metafeatures)
        both = np.sqrt(0.5) * np.hstack([expected.factor, features])
        return Prior(self.likelihood.expected(expected.mean), both, expected.points)

    def targets_of(self, values: Floats) -> Floats:
        """Targets of values; see `metalearners.gp.posterior.HasPrior.targets_of`."""
        return self.mean.model.targets_of(values)

    def choose(self, configurations: ConfigurationTable, metafeatures: pd.Series, n: int) -> Positions:
        """Choose as `Model.choose` does, by the mean or by the paper's rule."""
        return self.mean.model.choose(configurations, metafeatures, n)

    def condition(self, observations: Observations) -> Predictor:
        """Condition on trials, as `Model.condition` does."""
        if isinstance(self.likelihood, ScoreLikelihood):
            return Conditioned(self, observations)
        return ConditionedOnMeasure(self, self.likelihood, observations)


# ---- means ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ZeroMean:
    """The paper's mean of 0; its first trials are the best configurations of the nearest datasets."""

    model: NearestBest


@dataclass(frozen=True)
class ExpectedMean:
    """Mean predicted from meta-features."""

    model: FunctionalPCA


# ---- likelihoods ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class ScoreLikelihood:
    """Scores within datasets; a dataset's level and spread are inferred from the trials."""

    def missed(self, targets: Floats, values: Floats, expected: Floats) -> Floats:  # noqa: ARG002
        """(m,) values of runs to factorize."""
        return targets - expected

    def expected(self, scores: Floats) -> Floats:
        """(n,) expected scores in the factorized unit."""
        return scores


@dataclass(frozen=True)
class MeasureLikelihood:
    """The paper's: trials on the scale of the measure, with the learned noise."""

    level: float
    """Mean of all runs."""
    spread: float
    """Standard deviation of all runs."""
    within: float
    """Median standard deviation of the runs of a dataset, in `spread`."""

    @classmethod
    def of_runs(cls, values: Floats, dataset: Positions) -> Self:
        """Learn from runs, (m,)."""
        spread = float(values.std()) or 1.0
        within = pd.Series(values).groupby(dataset).std(ddof=0)
        return cls(float(values.mean()), spread, float(within.median()) / spread)

    def standardized(self, values: Floats) -> Floats:
        """Values of the measure minus the mean of all runs, in standard deviations of all runs."""
        return (values - self.level) / self.spread

    def missed(self, targets: Floats, values: Floats, expected: Floats) -> Floats:  # noqa: ARG002
        """(m,) values of runs to factorize, in standard deviations of all runs."""
        return self.standardized(values) - self.expected(expected)

    def expected(self, scores: Floats) -> Floats:
        """(n,) expected scores in the factorized unit."""
        return self.within * scores


@dataclass(frozen=True)
class ConditionedOnMeasure:
    """The paper's equation 7: trials on the scale of the measure."""

    model: Factorization
    likelihood: MeasureLikelihood
    trials: Observations

    def predict(self, configurations: ConfigurationTable, metafeatures: pd.Series) -> Prediction:
        """Predict as `Model.predict` does, in standard deviations of all runs."""
        prior = self.model.prior(configurations, metafeatures)
        if not len(self.trials.values):
            return Prediction(prior.mean)
        return self._after(prior, metafeatures, of_runs=True)

    def choose(self, configurations: ConfigurationTable, metafeatures: pd.Series, n: int) -> Positions:
        """Choose as `Model.choose` does, also among tried configurations."""
        if not len(self.trials.values):
            return self.model.choose(configurations, metafeatures, n)
        prior = self.model.prior(configurations, metafeatures)
        known = self._after(prior, metafeatures, of_runs=False)
        return best_after(prior, known.mean, known.std, n)

    def expect(self, *_: object, **__: object) -> None:
        """None: predictions are in standard deviations of all runs only. See `Predictor.expect`."""

    def beats(self, configurations: ConfigurationTable, *_: object, **__: object) -> Floats:
        """NaN for each of `configurations`; see `Predictor.beats`."""
        return np.full(len(configurations), np.nan)

    def _after(self, prior: Prior, metafeatures: pd.Series, *, of_runs: bool) -> Prediction:
        of_trials = self.model.prior(self.trials.configurations, metafeatures)
        y = self.likelihood.standardized(self.trials.values)
        return posterior_on_measure(prior, of_trials, y, self.model.latent.kernel.sigma2, of_runs=of_runs)

    def condition(self, observations: Observations) -> Self:
        """The same model, conditioned on these trials as well."""
        return type(self)(self.model, self.likelihood, self.trials.with_more(observations))


def posterior_on_measure(
    prior: Prior, of_trials: Prior, y: Floats, sigma2: float, *, of_runs: bool = True
) -> Prediction:
    """The paper's equation 7 for the configurations of `prior`, after trials with the values `y`, (t,).

    Args:
        of_runs: whether the variance is that of a run (with noise), as in the paper, or of the function.
    """
    from scipy.linalg import solve_triangular

    C = of_trials.factor @ of_trials.factor.T
    C[np.diag_indices_from(C)] += sigma2
    L = np.linalg.cholesky(C)
    explained = solve_triangular(L, of_trials.factor @ prior.factor.T, lower=True, check_finite=False)
    whitened = solve_triangular(L, y - of_trials.mean, lower=True, check_finite=False)
    of_function = np.maximum((prior.factor**2).sum(axis=1) - (explained**2).sum(axis=0), 0)
    return Prediction(prior.mean + whitened @ explained, np.sqrt(of_function + of_runs * sigma2))


# ---- latent positions ----------------------------------------------------------------------------


@dataclass(frozen=True)
class _Latent(ABC):
    """Positions of configurations, and features of the kernel between them."""

    kernel: LatentKernel
    anchors: Annotated[Floats, "B Q"]
    factor: Annotated[Floats, "B B"]
    """Matrix such that k(X, A) factor = Phi."""

    @abstractmethod
    def positions(self, configurations: ConfigurationTable, metafeatures: pd.Series) -> Floats:
        """(n, Q) X of `configurations` on this dataset; NaN for those without a position."""

    def features(self, configurations: ConfigurationTable, metafeatures: pd.Series) -> Floats:
        """Phi; 0 for a configuration without a position."""
        X = self.positions(configurations, metafeatures)
        phi = self.kernel.covariance(np.nan_to_num(X), self.anchors) @ self.factor
        phi[np.isnan(X).any(axis=1)] = 0
        return phi


@dataclass(frozen=True)
class NoPositions(_Latent):
    """Latent space of runs without anything to factorize, as the runs of each dataset are equal."""

    def positions(self, configurations: ConfigurationTable, metafeatures: pd.Series) -> Floats:  # noqa: ARG002
        return np.full((len(configurations), 1), np.nan)


NO_POSITIONS = NoPositions(LatentKernel("rbf", 1.0, np.ones(1), 1.0), np.empty((0, 1)), np.empty((0, 0)))


@dataclass(frozen=True)
class FreePositions(_Latent):
    """Positions of the configurations that were run; others have none."""

    names: Annotated[npt.NDArray[np.uint64], "N"]
    """See `row_names`."""
    X: Annotated[Floats, "N Q"]

    def __post_init__(self) -> None:
        if not len(self.names):
            raise ValueError("there is no position")

    @classmethod
    def anchored(cls, kernel: LatentKernel, X: Floats, names: npt.NDArray[np.uint64], seed: int) -> Self:
        """Construct with anchors among the positions X."""
        return cls(kernel, *_anchors(kernel, X, seed), names, X)

    def positions(self, configurations: ConfigurationTable, metafeatures: pd.Series) -> Floats:  # noqa: ARG002
        order = np.argsort(self.names)
        names = row_names(configurations.hyperparameters)
        place = order[np.minimum(np.searchsorted(self.names[order], names), len(order) - 1)]
        return np.where((self.names[place] == names)[:, None], self.X[place], np.nan)


@dataclass(frozen=True)
class EncodedPositions(_Latent):
    """Positions computed by an encoder."""

    points: ConfigurationKernel
    """Kernel whose x is the encoder's input."""
    encoder: Encoder

    def __post_init__(self) -> None:
        columns, latent = self.encoder.shape
        if columns != len(self.points.encoding.columns) or latent != self.anchors.shape[1]:
            raise ValueError("the encoder has other columns or another latent space than the rest")

    @classmethod
    def anchored(
        cls, kernel: LatentKernel, X: Floats, points: ConfigurationKernel, encoder: Encoder, seed: int
    ) -> Self:
        """Construct with anchors among the positions X."""
        return cls(kernel, *_anchors(kernel, X, seed), points, encoder)

    def positions(self, configurations: ConfigurationTable, metafeatures: pd.Series) -> Floats:
        return self.encoder.positions(self.points.points(configurations, metafeatures))


def row_names(hyperparameters: pd.DataFrame) -> npt.NDArray[np.uint64]:
    """(n,) a hash of each configuration's values; 1 and True differ, 1 and 1.0 do not."""
    columns = [
        [f"{name}={_text(value)}" if value == value else "" for value in hyperparameters[name]]
        for name in sorted(hyperparameters.columns)
    ]
    rows = zip(*columns, strict=True) if columns else [()] * len(hyperparameters)
    texts = ["\0".join(filter(None, row)) for row in rows]
    digests = [hashlib.blake2b(text.encode(), digest_size=8).digest() for text in texts]
    return np.frombuffer(b"".join(digests), dtype=np.uint64)


def _text(value: object) -> str:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return repr(float(value)) if number else repr(value)  # type: ignore[arg-type]


def _anchors(kernel: LatentKernel, X: Floats, seed: int) -> tuple[Floats, Floats]:
    """A among the rows of X, and its factor of the features."""
    A = spread_out(
        X, ANCHORS, np.random.default_rng(seed), lambda a, b: kernel.covariance(a, b) / kernel.alpha
    )
    return A, nystroem_factor(kernel.covariance(A, A), _JITTER * kernel.alpha)
