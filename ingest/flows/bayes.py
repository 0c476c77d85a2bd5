"""Classifiers that model the density of each class as a normal distribution."""

from __future__ import annotations

from ingest.flows.base import IMPUTATION, SCALING, Flow, from_sklearn
from warehouse.vocabulary.parameters import Number

naive_bayes = Flow(
    name="naive_bayes",
    title="Gaussian naive Bayes",
    hyperparameters=(
        Number("var_smoothing", 1e-9, 1.0, log=True, default=1e-9),
        SCALING,
        IMPUTATION,
    ),
    estimator=from_sklearn("naive_bayes.GaussianNB"),
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
    estimator=from_sklearn("discriminant_analysis.LinearDiscriminantAnalysis", solver="lsqr"),
)
quadratic_discriminant_analysis = Flow(
    name="quadratic_discriminant_analysis",
    title="Quadratic discriminant analysis",
    hyperparameters=(
        Number("shrinkage", 1e-2, 1.0, log=True, default=0.1),
        SCALING,
        IMPUTATION,
    ),
    estimator=from_sklearn("discriminant_analysis.QuadraticDiscriminantAnalysis", solver="eigen"),
)
