"""Row weights in fits of a flow's pipeline.

Only the last step, the classifier or regressor, gets them; imputation, encoding and scaling ignore them.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from ingest.flows import get_flow
from ingest.reading.column_types.roles import Role
from warehouse.support.arrays import Floats

if TYPE_CHECKING:
    import pandas as pd


def fit_weighted(pipeline: Any, rows: pd.DataFrame, outcomes: Any, weights: Floats | None) -> Any:
    """Fit the pipeline and return it.

    Args:
        outcomes: (n,) class codes, or numbers.
        weights: (n,) row weights, for which `takes_weights` must hold; None = equal weights.
    """
    parameters = () if weights is None else _parameters(pipeline)
    return pipeline.fit(rows, outcomes, **dict.fromkeys(parameters, weights))


@cache
def takes_weights(algorithm: str) -> bool:
    """Whether the flow of this name supports row weights."""
    flow = get_flow(algorithm)
    return bool(_parameters(flow.pipeline(flow.default(), {"x": Role.numeric})))


def _parameters(estimator: Any) -> list[str]:
    """The parameters of `fit` for row weights; empty if the estimator has none."""
    from sklearn.calibration import CalibratedClassifierCV
    from sklearn.compose import TransformedTargetRegressor
    from sklearn.pipeline import Pipeline
    from sklearn.utils.validation import has_fit_parameter

    if isinstance(estimator, Pipeline):
        name, last = estimator.steps[-1]
        return [f"{name}__{inner}" for inner in _parameters(last)]
    if isinstance(estimator, TransformedTargetRegressor):
        return _parameters(estimator.regressor)
    if isinstance(estimator, CalibratedClassifierCV):  # its own `sample_weight` is for the calibration
        return [*_parameters(estimator.estimator), "sample_weight"]
    return ["sample_weight"] if has_fit_parameter(estimator, "sample_weight") else []
