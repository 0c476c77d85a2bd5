"""A Gaussian process that fits its kernel on a sample of the rows."""

from __future__ import annotations

import warnings
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.exceptions import ConvergenceWarning

from warehouse.support.arrays import Floats

LEARNED_FROM = {"shared": 500, "separate": 300}
"""Kind of length scales -> rows for fitting the kernel: the time of a step grows with the square of the rows
for each length scale, and with their cube."""
MOST_SEPARATE = 50
"""Most columns that get separate length scales."""
MOST_STEPS = 20
"""Optimizer steps for the kernel's parameters."""
SMOOTHNESS = {"exponential": 0.5, "matern_3": 1.5, "matern_5": 2.5, "rbf": np.inf}
"""Kernel -> `nu` of the Matern kernel."""


class GaussianProcess(RegressorMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn is untyped
    """A Gaussian process of the standardized target, with a Matern kernel and noise.

    The kernel's parameters maximize the marginal likelihood of a sample of the rows; the process is then
    fitted on all rows.

    Args:
        kernel: a name in `SMOOTHNESS`.
        length_scales: `shared` by all columns, or `separate` (automatic relevance determination; shared if
            there are more than `MOST_SEPARATE` columns).
        seed: random seed of the sample.
    """

    def __init__(self, kernel: str = "matern_5", length_scales: str = "separate", seed: int = 0) -> None:
        self.kernel = kernel
        self.length_scales = length_scales
        self.seed = seed

    def fit(self, X: Floats, y: npt.ArrayLike) -> Self:
        """Fit on the rows of `X`, (n, columns), and their numbers `y`, (n,)."""
        from sklearn.gaussian_process import GaussianProcessRegressor
        from sklearn.gaussian_process.kernels import ConstantKernel, Matern, WhiteKernel

        target = np.asarray(y, dtype=float)
        columns = X.shape[1]
        separate = self.length_scales == "separate" and columns <= MOST_SEPARATE
        # Rows of standardized columns are about sqrt(2 * columns) apart.
        length = np.sqrt(columns)
        smooth = Matern(
            np.full(columns, length) if separate else length, (1e-2, 1e4), nu=SMOOTHNESS[self.kernel]
        )
        kernel = ConstantKernel(1.0, (1e-3, 1e3)) * smooth + WhiteKernel(0.1, (1e-6, 1e1))
        chosen = np.random.default_rng(self.seed).permutation(len(target))
        sample = chosen[: LEARNED_FROM["separate" if separate else "shared"]]
        learned = GaussianProcessRegressor(kernel, optimizer=_few_steps, normalize_y=True)
        with warnings.catch_warnings():
            # A parameter at the end of its range, such as zero noise, is fine.
            warnings.simplefilter("ignore", ConvergenceWarning)
            learned.fit(X[sample], target[sample])
        self.model_ = GaussianProcessRegressor(learned.kernel_, optimizer=None, normalize_y=True)
        self.model_.fit(X, target)
        return self

    def predict(self, X: Floats) -> Floats:
        """(n,) means of the posterior."""
        means: Floats = self.model_.predict(X)
        return means


def _few_steps(objective: Any, start: Floats, bounds: Floats) -> tuple[Floats, float]:
    """Logarithms of the kernel's parameters after a few steps of L-BFGS-B, and their objective."""
    from scipy.optimize import minimize

    found = minimize(
        objective, start, method="L-BFGS-B", jac=True, bounds=bounds, options={"maxiter": MOST_STEPS}
    )
    return found.x, found.fun
