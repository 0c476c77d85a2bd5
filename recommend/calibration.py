"""Calibration of classifiers without probabilities, such as support vector machines."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ingest.flows import get_flow
from ingest.flows.row_weights import fit_weighted
from ingest.reading.column_types.roles import Role
from warehouse.support.arrays import Floats, Positions
from warehouse.vocabulary.configuration import Configuration

if TYPE_CHECKING:
    import pandas as pd
    from sklearn.calibration import CalibratedClassifierCV
    from sklearn.pipeline import Pipeline

CALIBRATION = {"cv": 3, "ensemble": False}
"""Arguments of `CalibratedClassifierCV`: one fit on all rows, calibrated by three-fold cross-validation."""


def with_probabilities(pipeline: Pipeline) -> Pipeline | CalibratedClassifierCV:
    """Calibrate the unfitted pipeline of a classifier without probabilities; return any other unchanged.

    Fitting a calibrated pipeline needs three rows of each class.
    """
    from sklearn.base import is_regressor
    from sklearn.calibration import CalibratedClassifierCV

    if hasattr(pipeline, "predict_proba") or is_regressor(pipeline):
        return pipeline

    return CalibratedClassifierCV(pipeline, **CALIBRATION)


def fit_pipeline(
    configuration: Configuration,
    rows: Positions | None,
    features: pd.DataFrame,
    outcomes: Positions | Floats,
    roles: Mapping[str, Role],
    seed: int,
    weights: Floats | None,
) -> Any:
    """Fit the pipeline of a configuration for use, `with_probabilities` and without warnings.

    Args:
        rows: positions of the rows to fit it on; None = all.
        outcomes: (n,) class codes, or numbers.
        weights: (n,) weights of the rows; None = equal weights.
    """
    if rows is not None:
        features, outcomes = features.iloc[rows], outcomes[rows]
        weights = None if weights is None else weights[rows]
    pipeline = get_flow(configuration.algorithm).pipeline(configuration.values, roles, seed=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return fit_weighted(with_probabilities(pipeline), features, outcomes, weights)
