"""Classifiers that model the density of each class as a normal distribution."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ingest.flows.base import IMPUTATION, SCALING, Flow, Make
from warehouse.vocabulary.parameters import Number

if TYPE_CHECKING:
    from sklearn.base import ClassifierMixin


def _naive_bayes(make: Make) -> ClassifierMixin:
    from sklearn.naive_bayes import GaussianNB

    return GaussianNB(var_smoothing=make.values["var_smoothing"])


def _linear_discriminant_analysis(make: Make) -> ClassifierMixin:
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

    return LinearDiscriminantAnalysis(solver="lsqr", shrinkage=make.values["shrinkage"])


def _quadratic_discriminant_analysis(make: Make) -> ClassifierMixin:
    from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis

    return QuadraticDiscriminantAnalysis(solver="eigen", shrinkage=make.values["shrinkage"])


naive_bayes = Flow(
    name="naive_bayes",
    title="Gaussian naive Bayes",
    hyperparameters=(
        Number("var_smoothing", 1e-9, 1.0, log=True, default=1e-9),
        SCALING,
        IMPUTATION,
    ),
    estimator=_naive_bayes,
)
# Shrinkage starts above 0: indicators add up to 1, so covariance matrices without it are singular. Where all
# features are constant within a class, QDA fails at any shrinkage, and its trial says so.
linear_discriminant_analysis = Flow(
    name="linear_discriminant_analysis",
    title="Linear discriminant analysis",
    hyperparameters=(
        Number("shrinkage", 1e-4, 1.0, log=True, default=1e-4),
        SCALING,
        IMPUTATION,
    ),
    estimator=_linear_discriminant_analysis,
)
quadratic_discriminant_analysis = Flow(
    name="quadratic_discriminant_analysis",
    title="Quadratic discriminant analysis",
    hyperparameters=(
        Number("shrinkage", 1e-2, 1.0, log=True, default=0.1),
        SCALING,
        IMPUTATION,
    ),
    estimator=_quadratic_discriminant_analysis,
)
