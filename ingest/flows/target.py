"""Transformations of a numeric target, which a regressor is fitted to and whose predictions are turned back.

Every regressor is fitted to what `transformed` or `standardized` make of the target, so that its predictions
follow a change of the target's unit: algorithms whose penalties or tolerances have the unit of the target are
standardized. `log1p` alone depends on the unit: it leaves numbers well below 1 nearly as they are.

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
"""Quantiles of the target from which `quantile_normal` interpolates, where there are so many rows."""


def transformed(regressor: RegressorMixin, transformation: str, seed: int) -> RegressorMixin:
    """The regressor fitted to a transformed target; `none` gives the regressor itself.

    Predictions of a transformed target stay within the range of the training rows: the inverse of a
    logarithm would turn a prediction a little beyond it into a huge number.

    Args:
        transformation: a value of `ingest.flows.base.TARGET_TRANSFORMATION`.
        seed: of the rows that the quantiles are taken from, where there are more than 10,000.
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
    """The regressor fitted to the target with mean 0 and variance 1."""
    from sklearn.compose import TransformedTargetRegressor
    from sklearn.preprocessing import StandardScaler

    return TransformedTargetRegressor(regressor, transformer=StandardScaler(), check_inverse=False)


class SignedLog(TransformerMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn is untyped
    """sign(y) log(1 + |y|), whose inverse stays within the range of what it was fitted on."""

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
    """log(1 + y) of numbers above 0, and the same with a minus sign for negative ones."""
    logs: Floats = np.copysign(np.log1p(np.abs(y)), y)
    return logs


def signed_expm1(logs: Floats) -> Floats:
    """Inverse of `signed_log1p`."""
    numbers: Floats = np.copysign(np.expm1(np.abs(logs)), logs)
    return numbers
