"""Linear and kernel machines, neighbours and networks: the flows that need scaled numbers.

Ranges of the support vector machine: van Hoof's thesis (OpenML flows 8317 and 7707).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ingest.flows.base import IMPUTATION, Flow, Values
from ingest.flows.parameters import Choice, Number

if TYPE_CHECKING:
    from sklearn.base import ClassifierMixin


def _svm(values: Values, seed: int) -> ClassifierMixin:
    from sklearn.svm import SVC

    return SVC(kernel="rbf", random_state=seed, **values)


def _logistic_regression(values: Values, seed: int) -> ClassifierMixin:
    from sklearn.linear_model import LogisticRegression

    class_weight = None if values["class_weight"] == "none" else values["class_weight"]
    return LogisticRegression(
        C=values["C"], tol=values["tol"], class_weight=class_weight, max_iter=1000, random_state=seed
    )


def _k_nearest_neighbors(values: Values, seed: int) -> ClassifierMixin:  # noqa: ARG001 (nothing is random)
    from sklearn.neighbors import KNeighborsClassifier

    return KNeighborsClassifier(**values)


def _mlp(values: Values, seed: int) -> ClassifierMixin:
    from sklearn.neural_network import MLPClassifier

    rest = dict(values)
    layers, units = rest.pop("hidden_layers"), rest.pop("hidden_units")
    return MLPClassifier(hidden_layer_sizes=(units,) * layers, max_iter=200, random_state=seed, **rest)


svm = Flow(
    name="svm",
    title="RBF support vector machine",
    hyperparameters=(
        Number("C", 2**-5, 2.0**15, log=True, default=1.0),
        # The RBF kernel ignores coef0. OpenML's runs vary it, so the space keeps it.
        Number("coef0", -1.0, 1.0, default=0.0),
        Number("gamma", 2**-15, 2.0**3, log=True, default=0.1),
        Choice("shrinking", (True, False), default=True),
        Number("tol", 1e-5, 1e-1, log=True, default=1e-3),
        IMPUTATION,
    ),
    estimator=_svm,
    openml=(8317, 7707),
    scaling="standard",
)
logistic_regression = Flow(
    name="logistic_regression",
    title="Logistic regression",
    hyperparameters=(
        Number("C", 1e-4, 1e4, log=True, default=1.0),
        Choice("class_weight", ("none", "balanced"), default="none"),
        Number("tol", 1e-5, 1e-2, log=True, default=1e-4),
        IMPUTATION,
    ),
    estimator=_logistic_regression,
    scaling="standard",
)
k_nearest_neighbors = Flow(
    name="k_nearest_neighbors",
    title="k-nearest neighbours",
    hyperparameters=(
        Number("n_neighbors", 1, 30, log=True, default=5),
        Choice("weights", ("uniform", "distance"), default="uniform"),
        Choice("metric", ("euclidean", "manhattan"), default="euclidean"),
        IMPUTATION,
    ),
    estimator=_k_nearest_neighbors,
    scaling="standard",
    rows_needed=lambda values: values["n_neighbors"],
)
mlp = Flow(
    name="mlp",
    title="Multilayer perceptron",
    hyperparameters=(
        Choice("activation", ("relu", "tanh"), default="relu"),
        Number("alpha", 1e-6, 1.0, log=True, default=1e-4),
        Number("hidden_layers", 1, 2, default=1),
        Number("hidden_units", 8, 128, log=True, default=100),
        Number("learning_rate_init", 1e-4, 3e-2, log=True, default=1e-3),
        IMPUTATION,
    ),
    estimator=_mlp,
    scaling="standard",
)
