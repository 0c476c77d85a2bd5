"""The search of Fusi, Sheth and Elibol (2018), among configurations with runs on other datasets.

The best configurations of the five nearest datasets come first (section 4.3; of three if 90 % of the matrix
is missing); then those with the highest expected improvement (section 3.4) by the posterior (equation 7).

Notation, in addition to that of `metalearners.published.factorization.latent_kernel`
    N, X   configurations, (N, Q) their latent positions
    t, y   trials, (t,) their values; larger is better
    mu, v  (N,) mean and variance of a run's value after the trials, noise included (the paper's equation 7)
    xi     required improvement over the best trial so far
"""

from __future__ import annotations

import numpy as np

from metalearners.published.factorization.latent_kernel import LatentKernel
from metalearners.published.factorization.model import Factorization, MeasureLikelihood, ZeroMean
from recommend.bo.acquisition import expected_improvement
from recommend.bo.candidates import Candidate
from recommend.bo.simulation.searches import SearchMethod
from recommend.bo.simulation.tasks import Task
from warehouse.support.arrays import Flags, Floats

XI = 0.01
"""xi, in standard deviations of all known runs; the paper has 0.01 in normalized accuracy."""
PAPER = {"cold_pipelines": False, "cold_datasets": False, "scale": False}
"""Settings of the learner `pmf` that make it the paper's."""


class LatentSearch:
    """Sequential trials on a new dataset, with incremental updates of mu and v of all N configurations.

    A trial costs t N operations: the Cholesky factor grows by a row.
    """

    def __init__(self, kernel: LatentKernel, X: Floats) -> None:
        """A search without a trial.

        Args:
            X: (N, Q)
        """
        self._kernel = kernel
        self._X = X
        self.mean: Floats = np.zeros(len(X))
        """(N,) mu"""
        self._of_function: Floats = np.full(len(X), kernel.alpha)  # v without noise
        self._explained = np.empty((8, len(X)))  # rows of inverse(L) k(trials, X); room for more than t
        self._trials = 0
        self.best = -np.inf
        """Highest value so far."""

    @property
    def variance(self) -> Floats:
        """(N,) v"""
        return self._of_function + self._kernel.sigma2

    def observe(self, position: int, y: float) -> None:
        """Add a trial of the configuration at this position of X, with value y."""
        if self._trials == len(self._explained):
            self._explained = np.concatenate([self._explained, np.empty_like(self._explained)])
        known = self._explained[: self._trials]
        covariance = self._kernel.covariance(self._X[[position]], self._X)[0] - known[:, position] @ known
        spread = np.sqrt(covariance[position] + self._kernel.sigma2)
        row = covariance / spread
        self.mean = self.mean + row * ((y - self.mean[position]) / spread)
        self._of_function = np.maximum(self._of_function - row * row, 0)
        self._explained[self._trials] = row
        self._trials += 1
        self.best = max(self.best, y)

    def next(self, tried: Flags, xi: float = XI) -> int:
        """Position of the configuration with the highest expected improvement, or mu before any trial.

        Args:
            tried: (N,) configurations not to be tried again; not all of them.
        """
        if not self._trials:
            return int(np.where(tried, -np.inf, self.mean).argmax())
        expected = expected_improvement(self.mean, np.sqrt(self.variance), self.best, xi)
        return int(np.where(tried, -np.inf, expected).argmax())


class FactorizationSearch(SearchMethod):
    """The paper's search on a table; configurations without runs on other datasets are never tried."""

    def __init__(self, task: Task, model: Factorization) -> None:
        """A search without a trial.

        Args:
            model: trained with the settings `PAPER`.
        """
        assert isinstance(model.mean, ZeroMean)
        assert isinstance(model.likelihood, MeasureLikelihood)
        table = task.known.table
        X = model.latent.positions(table, task.metafeatures)
        self._task = task
        self._likelihood = model.likelihood
        self._search = LatentSearch(model.latent.kernel, np.nan_to_num(X))
        self._tried: Flags = np.asarray(np.isnan(X).any(axis=1))
        first = model.choose(table, task.metafeatures, model.mean.model.datasets or 1)
        self._first = [int(position) for position in first if not self._tried[position]]

    def ask(self) -> list[Candidate]:
        """One configuration; empty if all were tried."""
        if self._tried.all():
            return []
        self._asked = self._first.pop(0) if self._first else self._search.next(self._tried)
        self._tried[self._asked] = True
        return [self._task.start(self._asked)]

    def tell(self, value: float | None, seconds: float | None = None) -> None:  # noqa: ARG002 (it has no use)
        """Take the value of the configuration asked last; failures are ignored."""
        if value is not None:
            self._search.observe(self._asked, float(self._likelihood.standardized(np.array(value))))
