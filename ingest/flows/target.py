"""Target transformations of regressors, undone in predictions.

Every regressor is fitted to a target that is `transformed` or `standardized`, so that its predictions follow
a change of the target's unit: the target is standardized for algorithms whose penalties or tolerances have
its unit. Only `log1p` depends on the unit: it leaves numbers well below 1 nearly as they are.
Notation: n rows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, TransformerMixin

from warehouse.support.arrays import Floats

if TYPE_CHECKING:
    from sklearn.base import RegressorMixin

MOST_QUANTILES = 1000
"""Most quantiles of the target between which `quantile_normal` interpolates; at most one per row."""


def transformed(regressor: RegressorMixin, transformation: str, seed: int) -> RegressorMixin:
    """Fit the regressor to a transformed target; for `none`, return it unchanged.

    Predictions of a transformed target stay within the range of the training targets: the inverse of a
    logarithm would turn a prediction slightly outside it into a huge number.

    Args:
        transformation: a value of `ingest.flows.base.TARGET_TRANSFORMATION`.
        seed: random seed of the row sample for the quantiles, drawn from more than 10,000 rows.
    """
    from sklearn.compose import TransformedTargetRegressor
    from sklearn.preprocessing import QuantileTransformer

    if transformation == "none":
        return regressor
    quantiles = QuantileTransformer(
        n_quantiles=MOST_QUANTILES, output_distribution="normal", random_state=seed
    )
    transformer = SignedLog() if transformation == "log1p" else quantiles
    return TransformedTargetRegressor(regressor, transformer=transformer, check_inverse=False)


def standardized(regressor: RegressorMixin) -> RegressorMixin:
    """Fit the regressor to the target with mean 0 and variance 1."""
    from sklearn.compose import TransformedTargetRegressor
    from sklearn.preprocessing import StandardScaler

    return TransformedTargetRegressor(regressor, transformer=StandardScaler(), check_inverse=False)


class SignedLog(TransformerMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn is untyped
    """sign(y) log(1 + |y|); the inverse stays within the range of the training targets."""

    def fit(self, y: npt.ArrayLike, _: Any = None) -> Self:
        """Fit on (n, 1) numbers."""
        logs = signed_log1p(np.asarray(y, dtype=float))
        self.low_, self.high_ = float(logs.min()), float(logs.max())
        return self

    def transform(self, y: npt.ArrayLike) -> Floats:
        """(n, 1) logarithms of (n, 1) numbers."""
        return signed_log1p(np.asarray(y, dtype=float))

    def inverse_transform(self, logs: npt.ArrayLike) -> Floats:
        """(n, 1) numbers of (n, 1) logarithms."""
        return signed_expm1(np.clip(np.asarray(logs, dtype=float), self.low_, self.high_))


def signed_log1p(y: Floats) -> Floats:
    """sign(y) log(1 + |y|)."""
    logs: Floats = np.copysign(np.log1p(np.abs(y)), y)
    return logs


def signed_expm1(logs: Floats) -> Floats:
    """Inverse of `signed_log1p`."""
    numbers: Floats = np.copysign(np.expm1(np.abs(logs)), logs)
    return numbers
