"""A trained latent space of configurations as a small file, and its predictions for one dataset.

The model is the paper's (Fusi, Sheth and Elibol 2018): a dataset's values are a Gaussian process over latent
positions of the configurations, and trials lead to the posterior of equation 7.

Notation
    N, Q    configurations, dimensions of the latent space
    X       (N, Q) positions
    y       values of the measure, minus the mean of all runs, in standard deviations of all runs
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np
import pandas as pd

from metalearners.gp.kernels import Shape
from metalearners.gp.posterior import Prior
from metalearners.predictions import Prediction
from metalearners.published.factorization.latent_kernel import LatentKernel
from metalearners.published.factorization.model import (
    Factorization,
    FreePositions,
    MeasureLikelihood,
    posterior_on_measure,
    row_names,
)
from warehouse.support.arrays import Floats, Positions
from warehouse.support.errors import BadOption
from warehouse.support.files import write_text
from warehouse.support.parallel import one_thread
from warehouse.vocabulary.table import ConfigurationTable

_JITTER = 1e-6  # rounding must not break the Cholesky factorization
_DIGITS = 4  # of positions in a file: keeps distances to one in a thousand


@dataclass(frozen=True)
class LatentSpace:
    """Positions of configurations, and the kernel between them."""

    kernel: LatentKernel
    setups: tuple[str, ...]
    """(N,) configurations."""
    X: Floats
    level: float
    """Mean of all training runs."""
    spread: float
    """Standard deviation of all training runs."""
    left_out: tuple[str, ...]
    """Held-out datasets."""

    @classmethod
    def of_model(
        cls, model: Factorization, configurations: ConfigurationTable, left_out: Sequence[str]
    ) -> Self:
        """The latent space of a `pmf` trained as in the paper, with all three switches off.

        Args:
            configurations: those of the training runs.
            left_out: held-out datasets.

        Raises:
            BadInput: the model's positions come from hyperparameters, or it predicts scores.
        """
        latent, likelihood = model.latent, model.likelihood
        if not isinstance(latent, FreePositions) or not isinstance(likelihood, MeasureLikelihood):
            raise BadOption("only a pmf without cold_pipelines and without scale has free positions")
        places = pd.Index(latent.names).get_indexer(pd.Index(row_names(configurations.hyperparameters)))
        setups = tuple(map(str, configurations.setups))
        return cls(
            latent.kernel, setups, latent.X[places], likelihood.level, likelihood.spread, tuple(left_out)
        )

    def write(self, path: Path) -> None:
        """Write the space as JSON, with positions rounded to four digits."""
        content = {
            **asdict(replace(self, X=np.empty(0))),
            "kernel": {**asdict(self.kernel), "gamma": self.kernel.gamma.round(_DIGITS).tolist()},
            "X": self.X.round(_DIGITS).tolist(),
        }
        lines = [f'"{name}": {_text(value)}' for name, value in content.items()]
        write_text(path, "{\n" + ",\n".join(lines) + "\n}\n")

    @classmethod
    def read(cls, path: str | Path) -> Self:
        """Read the output of `write`."""
        content = json.loads(Path(path).read_text(encoding="utf-8"))
        kernel = content["kernel"]
        shape: Shape = kernel["shape"]
        return cls(
            LatentKernel(shape, kernel["alpha"], np.array(kernel["gamma"]), kernel["sigma2"]),
            tuple(content["setups"]),
            np.array(content["X"]),
            content["level"],
            content["spread"],
            tuple(content["left_out"]),
        )

    def map(self) -> tuple[Floats, Floats]:
        """(N, 2) positions along the two principal directions, and (2,) their shares of the total variance.

        Dimensions are scaled as in the kernel, by the square root of gamma.
        """
        return principal_axes(self.X * np.sqrt(self.kernel.gamma))

    def places(self, setups: Sequence[str]) -> Positions:
        """Rows of X of these configurations.

        Raises:
            KeyError: one has no position.
        """
        found = pd.Index(self.setups).get_indexer(pd.Index(setups))
        if (found < 0).any():
            raise KeyError(setups[int(np.argmin(found))])
        return found

    @cached_property
    def _factor(self) -> Floats:
        """(N, N) Cholesky factor of the kernel matrix of all configurations."""
        covariance = self.kernel.covariance(self.X, self.X)
        jitter = _JITTER * self.kernel.alpha * np.eye(len(self.X))
        return np.linalg.cholesky(covariance + jitter).astype(np.float64, copy=False)

    def posterior(self, tried: Sequence[str], values: Floats) -> Prediction:
        """Predict every configuration after trials, in the unit of the measure (equation 7).

        Args:
            tried: (t,) configurations.
            values: (t,) values of the measure.

        Returns:
            Mean and standard deviation of the dataset's function, without the noise of a run, both (N,).
        """
        prior = Prior(np.zeros(len(self.X)), self._factor)
        rows = self.places(tried)
        of_trials = Prior(np.zeros(len(rows)), self._factor[rows])
        y = (np.asarray(values) - self.level) / self.spread
        with one_thread():
            known = posterior_on_measure(prior, of_trials, y, self.kernel.sigma2, of_runs=False)
        std = None if known.std is None else self.spread * known.std
        return Prediction(self.level + self.spread * known.mean, std)


def principal_axes(X: Floats) -> tuple[Floats, Floats]:
    """(N, at most 2) X along its two principal directions, and their shares of the total variance."""
    centred = X - X.mean(axis=0)
    _, widths, directions = np.linalg.svd(centred, full_matrices=False)
    return centred @ directions[:2].T, widths[:2] ** 2 / max(float((widths**2).sum()), 1e-300)


def _text(value: Any) -> str:
    """JSON with one row of a matrix, or one name, per line."""
    if isinstance(value, list | tuple):
        return "[\n" + ",\n".join(json.dumps(item) for item in value) + "\n]"
    return json.dumps(value)
