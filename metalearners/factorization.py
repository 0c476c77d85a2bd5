"""Probabilistic matrix factorization: datasets share a latent space of configurations.

After Fusi, Sheth and Elibol, "Probabilistic Matrix Factorization for Automated Machine Learning" (NeurIPS
2018). With all three switches off it is the paper's model: free positions of the configurations that were
run, a mean of 0, and trials taken at the value of the measure; the first trials are the best configurations
of the nearest datasets. Each switch adds something that the paper lacks:

    cold_pipelines   positions come from the hyperparameters, by a network that is trained with the kernel
                     (`metalearners.encoder`), so configurations that nobody ran have one as well
    cold_datasets    before the first trial, the mean is what the bank expects from the meta-features
                     (`metalearners.bank`); what that misses is factorized, and the covariances of both are
                     averaged
    scale            scores count within their dataset, and its level and spread are inferred from the trials

Training needs torch (the extra `pmf`); predicting does not, and nothing here imports it before.

Notation
    X, k, sigma2   as in `metalearners.latent_gp`
    A              (G, Q) anchors: positions far apart, on which features of k are built (Nystroem)
    Phi            (n, G) features of configurations: Phi Phi' is k, or nearly so
"""

from __future__ import annotations

import hashlib
import logging
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self, get_args

import numpy as np
import numpy.typing as npt
import pandas as pd

from metalearners.bank import BankLearner
from metalearners.base import (
    SIZES,
    Observations,
    Prediction,
    Predictor,
    Round,
    TrainingData,
    arrays_of,
    training_data,
)
from metalearners.encoder import Encoder
from metalearners.kernel import ConfigurationKernel, learn_kernel, spread_out
from metalearners.latent_gp import LATENT, SPARSE, LatentKernel, Shape
from metalearners.neighbours import NearestBestLearner
from metalearners.trials import Conditioned, Prior
from warehouse.configurations.table import ConfigurationTable
from warehouse.qualities import SHAPE
from warehouse.queries import RunTable
from warehouse.support.arrays import Floats, Positions
from warehouse.support.errors import BadOption, DamagedModel, MissingPackage, UnknownName

logger = logging.getLogger(__name__)

FIRST, FIRST_SPARSE = 5, 3
"""Nearest datasets whose best configurations come first, in the paper."""
UPDATE = 0.2
"""Share of the training that an update takes."""
_ANCHORS = 256  # as many as the kernel of configurations has (`BankLearner`)
_JITTER = 1e-6  # keeps the Cholesky factor from failing by rounding


class FactorizationLearner:
    """A GP-LVM over latent positions of configurations (Fusi et al. 2018), and what it lacks."""

    def __init__(
        self,
        *,
        latent: int | None = None,
        kernel: Shape = "rbf",
        cold_pipelines: bool = True,
        cold_datasets: bool = True,
        scale: bool = True,
        metafeatures: Sequence[str] = SHAPE,
        epochs: int = 300,
        steps: int = 1000,
        seed: int = 0,
        device: str = "cpu",
    ) -> None:
        """Settings of the training.

        Args:
            latent: dimensions of the latent space; None = 20, or 5 (without `cold_pipelines`) where nine of
            ten
                entries of the matrix are missing.
            kernel: `rbf` or `matern` (nu = 5/2).
            cold_pipelines, cold_datasets, scale: see the module.
            metafeatures: by which the nearest datasets are found, without `cold_datasets`.
            epochs: of free positions: rounds over all datasets.
            steps: of the encoder.
            seed: of the order in which runs are learned from.
            device: of torch, `cpu` or `cuda`.

        Raises:
            BadInput: an unknown kernel, or a number below 1.
        """
        if kernel not in get_args(Shape):
            raise UnknownName(f"unknown kernel {kernel!r}; known are {', '.join(get_args(Shape))}")
        if min(epochs, steps, 1 if latent is None else latent) < 1:
            raise BadOption("latent, epochs and steps must be 1 or more")
        self.latent = latent
        self.kernel: Shape = kernel
        self.cold_pipelines = cold_pipelines
        self.cold_datasets = cold_datasets
        self.scale = scale
        self.metafeatures = tuple(metafeatures)
        self.epochs = epochs
        self.steps = steps
        self.seed = seed
        self.device = device
        self._checkpoint: Path | None = None
        self._report: Callable[[Round], None] | None = None

    def watched(self, checkpoint: Path | None, report: Callable[[Round], None] | None) -> Self:
        """As `LongTraining.watched`."""
        self._checkpoint, self._report = checkpoint, report
        return self

    def fit(self, runs: RunTable, metafeatures: pd.DataFrame) -> Self:
        self._learn(runs, metafeatures, start=None)
        return self

    def update(self, runs: RunTable, metafeatures: pd.DataFrame) -> Self:
        """As `LongTraining.update`, with a fifth of the steps (the paper's incremental training).

        Where there are hyperparameters that were not there before, the training starts over.
        """
        self._learn(runs, metafeatures, start=self._latent)
        return self

    def _learn(self, runs: RunTable, metafeatures: pd.DataFrame, start: _Latent | None) -> None:
        data = training_data(runs, metafeatures)
        self._learn_scale(data)
        rows, residuals = self._learn_means(data, runs, metafeatures)
        if not len(residuals) or np.ptp(residuals) == 0:
            self._latent: _Latent = _Nothing()
        elif self.cold_pipelines:
            self._latent = self._learn_encoder(data, rows, residuals, start)
        else:
            self._latent = self._learn_free(data, rows, residuals, start)

    def _learn_scale(self, data: TrainingData) -> None:
        """Level and spread of all runs, and how much of that spread a dataset has on its own."""
        self.level_ = float(data.values.mean())
        self.spread_ = float(data.values.std()) or 1.0
        within = pd.Series(data.values).groupby(data.dataset).std(ddof=0)
        self.within_ = float(within.median()) / self.spread_

    def _learn_means(
        self, data: TrainingData, runs: RunTable, metafeatures: pd.DataFrame
    ) -> tuple[Positions, Floats]:
        """Positions of runs, and what is left to factorize of their scores."""
        everything = np.arange(len(data.values))
        if not self.cold_datasets:
            datasets = FIRST_SPARSE if _missing(data) > SPARSE else FIRST
            self._nearest = NearestBestLearner(datasets=datasets, metafeatures=self.metafeatures)
            self._nearest.learn(runs, metafeatures)
            self._nearest.spread_ = 1.0
            return everything, data.scores if self.scale else self.on_measure(data.values)
        from threadpoolctl import threadpool_limits

        self._bank = BankLearner(seed=self.seed)
        with threadpool_limits(1):
            bank = self._bank.learn(runs, metafeatures)
        if self.scale:
            return bank.rows, bank.targets - bank.expected
        return bank.rows, self.on_measure(data.values[bank.rows]) - self.within_ * bank.expected

    def on_measure(self, values: Floats) -> Floats:
        """Values of the measure, less the mean of all runs, in standard deviations of all runs."""
        return (values - self.level_) / self.spread_

    def _learn_encoder(
        self, data: TrainingData, rows: Positions, residuals: Floats, start: _Latent | None
    ) -> _Latent:
        train_encoder = _torch_module("encoder_training").train_encoder
        begun = start if isinstance(start, _Encoded) else None
        points = self._bank.kernel_ if self.cold_datasets else None
        if points is None:
            points, _ = learn_kernel(data, data.scores, size=_ANCHORS, seed=self.seed)
        if begun is not None:
            if set(points.encoding.columns) <= set(begun.points.encoding.columns):
                points = begun.points
            else:
                logger.info("there are new hyperparameters: the training starts over")
                begun = None
        x = points.points_of_runs(data)[rows]
        dataset = data.dataset[rows]
        varied = [own for own in (dataset == d for d in np.unique(dataset)) if np.ptp(residuals[own]) > 0]
        encoder, kernel = train_encoder(
            [(x[own], residuals[own]) for own in varied],
            latent=self.latent or LATENT,
            kernel=self.kernel,
            steps=self.steps if begun is None else max(1, round(UPDATE * self.steps)),
            seed=self.seed,
            device=self.device,
            start=None if begun is None else (begun.encoder, begun.kernel),
            checkpoint=self._checkpoint,
            report=self._report,
        )
        return _Encoded.anchored(kernel, encoder.positions(np.unique(x, axis=0)), points, encoder, self.seed)

    def _learn_free(
        self, data: TrainingData, rows: Positions, residuals: Floats, start: _Latent | None
    ) -> _Latent:
        gplvm = _torch_module("gplvm")
        names = row_names(data.hyperparameters)
        begun = start if isinstance(start, _Free) else None
        known = np.empty(0, names.dtype) if begun is None else begun.names
        known = np.concatenate([known, np.setdiff1d(names, known)])
        order = np.argsort(known)
        place = order[np.searchsorted(known[order], names)]
        cells = pd.DataFrame(
            {"row": place[data.configuration[rows]], "column": data.dataset[rows], "score": residuals}
        ).groupby(["row", "column"])["score"]
        mean = cells.mean()
        Y = np.full((len(known), len(data.metafeatures)), np.nan)
        Y[mean.index.get_level_values(0), mean.index.get_level_values(1)] = mean.to_numpy()
        model = gplvm.train(
            Y,
            latent=self.latent,
            kernel=self.kernel,
            epochs=self.epochs if begun is None else max(1, round(UPDATE * self.epochs)),
            seed=self.seed,
            device=self.device,
            start=None if begun is None else gplvm.GPLVM(begun.kernel, begun.X, ()),
            checkpoint=self._checkpoint,
            report=self._report,
        )
        return _Free.anchored(model.kernel, model.X, known, self.seed)

    def predict(self, configurations: ConfigurationTable, metafeatures: pd.Series) -> Prediction:
        if self.cold_datasets:
            return self._bank.predict(configurations, metafeatures)
        n = len(configurations)
        deviation = np.sqrt(self._latent.kernel.alpha + self._latent.kernel.sigma2)
        return Prediction(np.zeros(n), np.full(n, deviation) if self.scale else None)

    def prior(self, configurations: ConfigurationTable, metafeatures: pd.Series) -> Prior:
        """What trials are weighed against; see `metalearners.trials`."""
        latent = self._latent.features(configurations, metafeatures)
        if not self.cold_datasets:
            return Prior(np.zeros(len(configurations)), latent)
        bank = self._bank.prior(configurations, metafeatures)
        both = np.sqrt(0.5) * np.hstack([bank.factor, latent])
        return Prior(bank.mean if self.scale else self.within_ * bank.mean, both, bank.points)

    def targets_of(self, values: Floats) -> Floats:
        """As `metalearners.trials.HasPrior.targets_of`."""
        return self._bank.targets_of(values) if self.cold_datasets else values

    def choose(self, configurations: ConfigurationTable, metafeatures: pd.Series, n: int) -> Positions:
        """As `MetaLearner.choose`: the bank's choice, or the paper's."""
        learner = self._bank if self.cold_datasets else self._nearest
        return learner.choose(configurations, metafeatures, n)

    def condition(self, observations: Observations) -> Predictor:
        return Conditioned(self, observations) if self.scale else _OnMeasure(self, observations)

    @property
    def latent_kernel(self) -> LatentKernel:
        """k and sigma2"""
        return self._latent.kernel

    def positions(self, configurations: ConfigurationTable, metafeatures: pd.Series) -> Floats:
        """(n, Q) X of `configurations` on this dataset; NaN where one has none."""
        return self._latent.positions(configurations, metafeatures)

    @property
    def qualities(self) -> tuple[str, ...]:
        own = self._bank.qualities if hasattr(self, "_bank") else ()
        nearest = self._nearest.qualities if hasattr(self, "_nearest") else ()
        return tuple(dict.fromkeys([*SIZES, *own, *nearest]))

    @property
    def settings(self) -> dict[str, Any]:
        settings = {name: getattr(self, name) for name in _SETTINGS}
        return settings | {"metafeatures": list(self.metafeatures)}

    def state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        facts: dict[str, Any] = {"level": self.level_, "spread": self.spread_, "within": self.within_}
        arrays: dict[str, np.ndarray] = {}
        facts["first"] = 0 if self.cold_datasets else self._nearest.datasets
        parts = {"mean": self._bank if self.cold_datasets else self._nearest, "latent": self._latent}
        for name, part in parts.items():
            part_facts, part_arrays = part.state()
            facts[name] = part_facts
            arrays |= {f"{name}.{key}": array for key, array in part_arrays.items()}
        return facts, arrays

    def restore(self, facts: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> Self:
        try:
            self.level_, self.spread_ = float(facts["level"]), float(facts["spread"])
            self.within_ = float(facts["within"])
            mean, latent = facts["mean"], facts["latent"]
            first = int(facts["first"])
        except (KeyError, TypeError, ValueError) as error:
            raise DamagedModel(f"the stored learner is damaged ({error}): train it again") from error
        if self.cold_datasets:
            self._bank = BankLearner(seed=self.seed).restore(mean, arrays_of("mean", arrays))
        else:
            nearest = NearestBestLearner(datasets=first, metafeatures=self.metafeatures)
            self._nearest = nearest.restore(mean, arrays_of("mean", arrays))
        try:
            kinds = {kind.__name__: kind for kind in (_Nothing, _Encoded, _Free)}
            self._latent = kinds[latent["kind"]].restored(latent, arrays_of("latent", arrays))
        except (KeyError, TypeError, ValueError) as error:
            raise DamagedModel(f"the stored learner is damaged ({error}): train it again") from error
        return self


_SETTINGS = (
    "latent",
    "kernel",
    "cold_pipelines",
    "cold_datasets",
    "scale",
    "metafeatures",
    "epochs",
    "steps",
    "seed",
    "device",
)


@dataclass(frozen=True)
class _OnMeasure:
    """The paper's equation 7: trials at the value of the measure, with the noise that was learned."""

    learner: FactorizationLearner
    trials: Observations

    def predict(self, configurations: ConfigurationTable, metafeatures: pd.Series) -> Prediction:
        """As `MetaLearner.predict`, in standard deviations of all runs."""
        prior = self.learner.prior(configurations, metafeatures)
        if not len(self.trials.values):
            return Prediction(prior.mean)
        of_trials = self.learner.prior(self.trials.configurations, metafeatures)
        y = self.learner.on_measure(self.trials.values)
        return posterior_on_measure(prior, of_trials, y, self.learner.latent_kernel.sigma2)

    def condition(self, observations: Observations) -> Self:
        """Knows these trials, too."""
        return type(self)(self.learner, self.trials.with_more(observations))


def posterior_on_measure(prior: Prior, of_trials: Prior, y: Floats, sigma2: float) -> Prediction:
    """The paper's equation 7 for the configurations of `prior`, after trials whose values are `y`, (t,)."""
    from scipy.linalg import solve_triangular

    C = of_trials.factor @ of_trials.factor.T
    C[np.diag_indices_from(C)] += sigma2
    L = np.linalg.cholesky(C)
    explained = solve_triangular(L, of_trials.factor @ prior.factor.T, lower=True, check_finite=False)
    whitened = solve_triangular(L, y - of_trials.mean, lower=True, check_finite=False)
    variance = (prior.factor**2).sum(axis=1) - (explained**2).sum(axis=0)
    return Prediction(prior.mean + whitened @ explained, np.sqrt(np.maximum(variance, 0)))


@dataclass(frozen=True)
class _Latent(ABC):
    """Positions of configurations, and features of the kernel between them."""

    kernel: LatentKernel
    anchors: Floats
    """A"""
    factor: Floats
    """(G, G) such that k(X, A) factor = Phi."""

    @abstractmethod
    def positions(self, configurations: ConfigurationTable, metafeatures: pd.Series) -> Floats:
        """(n, Q) X; NaN where a configuration has none."""

    def features(self, configurations: ConfigurationTable, metafeatures: pd.Series) -> Floats:
        """Phi; 0 for a configuration without a position."""
        X = self.positions(configurations, metafeatures)
        phi = self.kernel.covariance(np.nan_to_num(X), self.anchors) @ self.factor
        phi[np.isnan(X).any(axis=1)] = 0
        return phi

    def state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """All of it as (JSON values, arrays)."""
        facts = {"kind": type(self).__name__, "kernel": self.kernel.facts()}
        return facts, {"anchors": self.anchors, "factor": self.factor}

    @staticmethod
    def _restored(
        facts: Mapping[str, Any], arrays: Mapping[str, np.ndarray]
    ) -> tuple[LatentKernel, Floats, Floats]:
        kernel = LatentKernel.restored(facts["kernel"])
        anchors, factor = arrays["anchors"].astype(np.float64), arrays["factor"].astype(np.float64)
        if anchors.ndim != 2 or anchors.shape[1] != len(kernel.gamma) or factor.shape != (len(anchors),) * 2:
            raise DamagedModel("the stored learner is damaged: its anchors do not fit its kernel")
        return kernel, anchors, factor


@dataclass(frozen=True)
class _Encoded(_Latent):
    """Positions by an encoder."""

    points: ConfigurationKernel
    """Whose x the encoder takes."""
    encoder: Encoder

    @classmethod
    def anchored(
        cls, kernel: LatentKernel, X: Floats, points: ConfigurationKernel, encoder: Encoder, seed: int
    ) -> Self:
        """Make one whose anchors are among the positions X."""
        return cls(kernel, *_anchors(kernel, X, seed), points, encoder)

    def positions(self, configurations: ConfigurationTable, metafeatures: pd.Series) -> Floats:
        return self.encoder.positions(self.points.points(configurations, metafeatures))

    def state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        facts, arrays = super().state()
        point_facts, point_arrays = self.points.state()
        arrays |= {f"points.{name}": array for name, array in point_arrays.items()}
        return facts | {"points": point_facts}, arrays | self.encoder.arrays()

    @classmethod
    def restored(cls, facts: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> Self:
        kernel, anchors, factor = cls._restored(facts, arrays)
        points = ConfigurationKernel.restored(facts["points"], arrays_of("points", arrays))
        columns = len(points.encoding.columns)
        return cls(
            kernel, anchors, factor, points, Encoder.restored(arrays, columns, latent=anchors.shape[1])
        )


@dataclass(frozen=True)
class _Free(_Latent):
    """Positions of the configurations that were run, and of no others."""

    names: npt.NDArray[np.uint64]
    """(N,) see `row_names`."""
    X: Floats
    """(N, Q)"""

    @classmethod
    def anchored(cls, kernel: LatentKernel, X: Floats, names: npt.NDArray[np.uint64], seed: int) -> Self:
        """Make one whose anchors are among the positions X."""
        return cls(kernel, *_anchors(kernel, X, seed), names, X)

    def positions(self, configurations: ConfigurationTable, metafeatures: pd.Series) -> Floats:  # noqa: ARG002
        order = np.argsort(self.names)
        names = row_names(configurations.hyperparameters)
        place = order[np.minimum(np.searchsorted(self.names[order], names), len(order) - 1)]
        return np.where((self.names[place] == names)[:, None], self.X[place], np.nan)

    def state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        facts, arrays = super().state()
        return facts, arrays | {"names": self.names, "X": self.X}

    @classmethod
    def restored(cls, facts: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> Self:
        kernel, anchors, factor = cls._restored(facts, arrays)
        names, X = arrays["names"].astype(np.uint64), arrays["X"].astype(np.float64)
        if X.shape != (len(names), anchors.shape[1]) or not len(names):
            raise DamagedModel("the stored learner is damaged: its positions do not fit its kernel")
        return cls(kernel, anchors, factor, names, X)


class _Nothing(_Latent):
    """There was nothing to factorize: no two runs of a dataset differ."""

    def __init__(self) -> None:
        super().__init__(LatentKernel("rbf", 1.0, np.ones(1), 1.0), np.empty((0, 1)), np.empty((0, 0)))

    def positions(self, configurations: ConfigurationTable, metafeatures: pd.Series) -> Floats:  # noqa: ARG002
        return np.full((len(configurations), 1), np.nan)

    @classmethod
    def restored(cls, facts: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> Self:  # noqa: ARG003
        return cls()


def row_names(hyperparameters: pd.DataFrame) -> npt.NDArray[np.uint64]:
    """(n,) a number for each configuration, by the values that it has; 1 and True differ, 1 and 1.0 don't."""
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


def _missing(data: TrainingData) -> float:
    """Share of the matrix of configurations and datasets that has no run."""
    return 1 - len(data.values) / (len(data.hyperparameters) * len(data.metafeatures))


def _anchors(kernel: LatentKernel, X: Floats, seed: int) -> tuple[Floats, Floats]:
    """A among the rows of X, and the factor that makes features of it."""
    A = spread_out(
        X, _ANCHORS, np.random.default_rng(seed), lambda a, b: kernel.covariance(a, b) / kernel.alpha
    )
    k = kernel.covariance(A, A)
    k[np.diag_indices_from(k)] += _JITTER * kernel.alpha
    return A, np.linalg.inv(np.linalg.cholesky(k)).T


def _torch_module(name: str) -> Any:
    """A module that trains with torch."""
    from importlib import import_module

    try:
        return import_module(f"metalearners.{name}")
    except ModuleNotFoundError as error:
        if error.name != "torch":
            raise
        raise MissingPackage("training `pmf` needs torch: pip install 'headstart[pmf]'") from error
