"""Probabilities of classifiers that have none of their own, such as support vector machines."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sklearn.calibration import CalibratedClassifierCV
    from sklearn.pipeline import Pipeline

CALIBRATION = {"cv": 3, "ensemble": False}
"""Arguments of `CalibratedClassifierCV`: three folds teach what a score of the fit on all rows means."""


def with_probabilities(pipeline: Pipeline) -> Pipeline | CalibratedClassifierCV:
    """The unfitted pipeline itself where it gives probabilities, else the same calibrated.

    Fitting the latter needs three rows of each class.
    """
    if hasattr(pipeline, "predict_proba"):
        return pipeline
    from sklearn.calibration import CalibratedClassifierCV

    return CalibratedClassifierCV(pipeline, **CALIBRATION)
