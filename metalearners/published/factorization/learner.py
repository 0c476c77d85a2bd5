"""Probabilistic matrix factorization: datasets share a latent space of configurations.

After Fusi, Sheth and Elibol (2018). With all three switches off it is the paper's model: free positions of
the configurations that were run, a mean of 0, and trials on the scale of the measure; the first trials are
the best configurations of the nearest datasets. Each switch is an extension of the paper:

    cold_pipelines   a network, trained together with the kernel, computes positions from the hyperparameters
                     (`encoder`), so configurations that were never run have positions, too
    cold_datasets    before the first trial, the mean is the prediction of functional PCA from meta-features;
                     its errors are factorized, and the covariances of both are averaged
    scale            learns scores within datasets; level and spread of a dataset are inferred from the trials

Training needs torch (the extra `pmf`); prediction does not, so this module imports torch only to train.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import Any, ClassVar, cast

import numpy as np
import pandas as pd

from metalearners.encoding.training_data import TrainingData, training_data
from metalearners.gp.kernels import Shape
from metalearners.learners.base import UNWATCHED, MetaLearner, Watch
from metalearners.learners.configuration_kernel import ConfigurationKernel, learn_kernel
from metalearners.learners.functional_pca import FunctionalPCALearner
from metalearners.learners.neighbours import NearestBest, NearestBestLearner
from metalearners.published.factorization.latent_kernel import SPARSE, LatentTraining
from metalearners.published.factorization.model import (
    ANCHORS,
    NO_POSITIONS,
    EncodedPositions,
    ExpectedMean,
    Factorization,
    FreePositions,
    MeasureLikelihood,
    NoPositions,
    ScoreLikelihood,
    ZeroMean,
    row_names,
)
from warehouse.questions.queries import RunTable
from warehouse.support.arrays import Floats, Positions
from warehouse.support.errors import BadOption, MissingPackage
from warehouse.support.extras import install_command
from warehouse.vocabulary.qualities import SHAPE

logger = logging.getLogger(__name__)

FIRST, FIRST_SPARSE = 5, 3
"""Numbers of nearest datasets whose best configurations are tried first, as in the paper."""
UPDATE = 0.2
"""Share of the training steps that an update takes."""


@dataclass(frozen=True, kw_only=True)
class FactorizationLearner(MetaLearner):
    """A GP-LVM over latent positions of configurations (Fusi et al. 2018), with extensions.

    Raises:
        BadInput: a number is below 1.
    """

    model: ClassVar[type[Factorization]] = Factorization

    latent: int | None = None
    """Dimensions of the latent space; None = 20, or 5 (without `cold_pipelines`) if nine of ten entries of
    the matrix are missing."""
    kernel: Shape = "rbf"
    """Kernel over the latent space: `rbf`, or `matern` with nu = 5/2."""
    cold_pipelines: bool = True
    """Whether positions are computed from hyperparameters, so that unknown configurations have one, too."""
    cold_datasets: bool = True
    """Whether meta-features determine the prediction before the first trial."""
    scale: bool = True
    """Whether to learn scores within datasets, and infer a dataset's level and spread from the trials."""
    metafeatures: tuple[str, ...] = SHAPE
    """Meta-features for finding the nearest datasets, without `cold_datasets`."""
    epochs: int = 300
    """Epochs over all datasets to train free positions."""
    steps: int = 1000
    """Steps to train the encoder."""
    seed: int = 0
    """Seed of the order in which runs are learned from."""
    device: str = "cpu"
    """Device of training: `cpu`, `cuda`, or `auto`, which is a GPU if there is one."""

    def __post_init__(self) -> None:
        if min(self.epochs, self.steps, 1 if self.latent is None else self.latent) < 1:
            raise BadOption("latent, epochs and steps must be 1 or more")

    def fit(self, runs: RunTable, metafeatures: pd.DataFrame, watch: Watch = UNWATCHED) -> Factorization:
        """Learn from runs, as `LongTraining.fit` does."""
        return self._learn(runs, metafeatures, None, watch)

    def update(
        self, model: Factorization, runs: RunTable, metafeatures: pd.DataFrame, watch: Watch = UNWATCHED
    ) -> Factorization:
        """Continue training, as `LongTraining.update` does, with a fifth of the steps (`UPDATE`).

        Starts over if there are new hyperparameters.
        """
        return self._learn(runs, metafeatures, model, watch)

    def _learn(
        self, runs: RunTable, metafeatures: pd.DataFrame, start: Factorization | None, watch: Watch
    ) -> Factorization:
        if find_spec("torch") is None:  # before minutes are spent on the mean
            raise MissingPackage(f"training `pmf` needs torch: {install_command('pmf')}")
        data = training_data(runs, metafeatures)
        likelihood = ScoreLikelihood() if self.scale else MeasureLikelihood.of_runs(data.values, data.dataset)
        mean: ZeroMean | ExpectedMean
        if self.cold_datasets:
            functions, known = FunctionalPCALearner(seed=self.seed).learn(runs, metafeatures)
            mean, rows, targets, expected = ExpectedMean(functions), known.rows, known.targets, known.expected
        else:
            mean, rows = ZeroMean(self._nearest_best(data, runs, metafeatures)), np.arange(len(data.scores))
            targets, expected = data.scores, np.zeros(len(data.scores))
        residuals = likelihood.missed(targets, data.values[rows], expected)
        latent: NoPositions | EncodedPositions | FreePositions
        before = None if start is None else start.latent
        if not len(residuals) or np.ptp(residuals) == 0:
            latent = NO_POSITIONS
        elif self.cold_pipelines:
            points = mean.model.kernel if isinstance(mean, ExpectedMean) else self._kernel(data)
            begun = before if isinstance(before, EncodedPositions) else None
            latent = self._encoded(data, rows, residuals, points, begun, watch)
        else:
            begun_free = before if isinstance(before, FreePositions) else None
            latent = self._free(data, rows, residuals, begun_free, watch)
        return Factorization(mean, latent, likelihood)

    def _nearest_best(self, data: TrainingData, runs: RunTable, metafeatures: pd.DataFrame) -> NearestBest:
        """The paper's rule for the first trials."""
        missing = 1 - len(data.values) / (len(data.hyperparameters) * len(data.metafeatures))
        datasets = FIRST_SPARSE if missing > SPARSE else FIRST
        learner = NearestBestLearner(datasets=datasets, metafeatures=self.metafeatures)
        return cast("NearestBest", learner.learn(runs, metafeatures))

    def _kernel(self, data: TrainingData) -> ConfigurationKernel:
        return learn_kernel(data, data.scores, size=ANCHORS, seed=self.seed)[0]

    def _training(self, rounds: int, *, is_update: bool) -> LatentTraining:
        rounds = max(1, round(UPDATE * rounds)) if is_update else rounds
        return LatentTraining(self.latent, self.kernel, rounds, self.seed, self.device)

    def _encoded(
        self,
        data: TrainingData,
        rows: Positions,
        residuals: Floats,
        points: ConfigurationKernel,
        start: EncodedPositions | None,
        watch: Watch,
    ) -> EncodedPositions:
        train_encoder = _torch_module("encoder_training").train_encoder
        if start is not None:
            if set(points.encoding.columns) <= set(start.points.encoding.columns):
                points = start.points
            else:
                logger.info("there are new hyperparameters: the training starts over")
                start = None
        x = points.points_of_runs(data)[rows]
        dataset = data.dataset[rows]
        varied = [own for own in (dataset == d for d in np.unique(dataset)) if np.ptp(residuals[own]) > 0]
        encoder, kernel = train_encoder(
            [(x[own], residuals[own]) for own in varied],
            self._training(self.steps, is_update=start is not None),
            start=None if start is None else (start.encoder, start.kernel),
            watch=watch,
        )
        positions = encoder.positions(np.unique(x, axis=0))
        return EncodedPositions.anchored(kernel, positions, points, encoder, self.seed)

    def _free(
        self,
        data: TrainingData,
        rows: Positions,
        residuals: Floats,
        start: FreePositions | None,
        watch: Watch,
    ) -> FreePositions:
        gplvm = _torch_module("gplvm")
        names = row_names(data.hyperparameters)
        known = np.empty(0, names.dtype) if start is None else start.names
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
            self._training(self.epochs, is_update=start is not None),
            start=None if start is None else gplvm.GPLVM(start.kernel, start.X),
            watch=watch,
        )
        return FreePositions.anchored(model.kernel, model.X, known, self.seed)


def _torch_module(name: str) -> Any:
    """Import a module that needs torch."""
    return import_module(f"metalearners.published.factorization.{name}")
