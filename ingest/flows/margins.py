"""Linear and kernel machines, neighbours and networks: the flows that need scaled numbers.

Ranges of the support vector machine: van Hoof's thesis (OpenML flows 8317 and 7707). Those of the linear
models and the network are wide enough for auto-sklearn 2's (Feurer et al. 2022) configurations. Regressors
without a classifier of the same algorithm are in `ingest.flows.smooth`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ingest.flows.base import CLASS_WEIGHT, IMPUTATION, SCALING, TARGET_TRANSFORMATION, Flow, Make
from warehouse.vocabulary.parameters import Choice, Number

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

L1_RATIO = Choice("l1_ratio", (0.0, 0.5, 1.0), default=0.0)
"""Share of the absolute penalty in the elastic net: ridge, half and half, lasso."""


def _svm(make: Make) -> ClassifierMixin:
    from sklearn.svm import SVC

    return SVC(kernel="rbf", random_state=make.seed, **make.values)


def _svm_regressor(make: Make) -> RegressorMixin:
    from sklearn.svm import SVR

    from ingest.flows.target import standardized

    return standardized(on_mean_distances(SVR(kernel="rbf", **make.values)))


def _logistic_regression(make: Make) -> ClassifierMixin:
    from sklearn.linear_model import LogisticRegression

    values = make.values
    ridge = values["l1_ratio"] == 0
    return LogisticRegression(
        C=values["C"],
        l1_ratio=values["l1_ratio"],
        # Only saga fits an absolute penalty for several classes; its iterations are passes over the rows.
        solver="lbfgs" if ridge else "saga",
        max_iter=1000 if ridge else 200,
        tol=values["tol"],
        class_weight=make.class_weight,
        random_state=make.seed,
    )


def _sgd(make: Make) -> ClassifierMixin:
    from sklearn.linear_model import SGDClassifier

    values = {**make.values, "class_weight": make.class_weight}
    return SGDClassifier(penalty="elasticnet", random_state=make.seed, **values)


def _k_nearest_neighbors(make: Make) -> ClassifierMixin:
    from sklearn.neighbors import KNeighborsClassifier

    return KNeighborsClassifier(**make.values)


def _k_nearest_neighbors_regressor(make: Make) -> RegressorMixin:
    from sklearn.neighbors import KNeighborsRegressor

    return KNeighborsRegressor(**make.values)


def _mlp(make: Make) -> ClassifierMixin:
    from sklearn.neural_network import MLPClassifier

    from ingest.flows.lenient import LenientClassifier

    return _on_single_precision(LenientClassifier(MLPClassifier(**_network(make))))


def _mlp_regressor(make: Make) -> RegressorMixin:
    from sklearn.neural_network import MLPRegressor

    from ingest.flows.lenient import LenientRegressor
    from ingest.flows.target import standardized

    return standardized(_on_single_precision(LenientRegressor(MLPRegressor(**_network(make)))))


def _network(make: Make) -> dict[str, Any]:
    """scikit-learn's arguments of the network."""
    rest = dict(make.values)
    layers, units = rest.pop("hidden_layers"), rest.pop("hidden_units")
    return {"hidden_layer_sizes": (units,) * layers, "max_iter": 200, "random_state": make.seed, **rest}


def _on_single_precision(network: BaseEstimator) -> BaseEstimator:
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import FunctionTransformer

    return make_pipeline(FunctionTransformer(in_single_precision), network)


def on_mean_distances(kernel_machine: BaseEstimator) -> BaseEstimator:
    """The estimator on columns so scaled that the gamma of an RBF kernel multiplies mean squared distances.

    One gamma then suits tables of few and of many columns: 1 is scikit-learn's `scale` where columns are
    standardized.
    """
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import FunctionTransformer

    return make_pipeline(FunctionTransformer(by_root_of_columns), kernel_machine)


def by_root_of_columns(matrix: np.ndarray) -> np.ndarray:  # (n, columns) -> (n, columns)
    """Numbers over the root of the number of columns."""
    scaled: np.ndarray = matrix / np.sqrt(matrix.shape[1])
    return scaled


def in_single_precision(matrix: np.ndarray) -> np.ndarray:  # (n, columns) -> (n, columns)
    """Half the digits: large networks train in 0.6 times the time."""
    return matrix.astype(np.float32)


_SCALED = (TARGET_TRANSFORMATION, SCALING, IMPUTATION)
"""Hyperparameters of the preprocessing of these regressors."""
GAMMA = Number("gamma", 2**-8, 2.0**5, log=True, default=1.0)
"""Gamma of a kernel of mean distances, see `on_mean_distances`."""

svm = Flow(
    name="svm",
    title="Support vector machine",
    hyperparameters=(
        Number("C", 2**-5, 2.0**15, log=True, default=1.0),
        # The RBF kernel ignores coef0. OpenML's runs vary it, so the space keeps it.
        Number("coef0", -1.0, 1.0, default=0.0),
        Number("gamma", 2**-15, 2.0**3, log=True, default=0.1),
        Choice("shrinking", (True, False), default=True),
        Number("tol", 1e-5, 1e-1, log=True, default=1e-3),
        SCALING,
        IMPUTATION,
    ),
    estimator=_svm,
    openml=(8317, 7707),
    beyond_openml=(SCALING.name,),
    most_rows=5000,  # time grows with the square of the rows: minutes for 10,000
)
svm_regressor = svm.regressor(
    # Epsilon, the error that costs nothing, is in standard deviations of the target.
    Number("C", 2**-5, 2.0**10, log=True, default=1.0),
    Number("epsilon", 1e-3, 1.0, log=True, default=0.1),
    GAMMA,
    *_SCALED,
    estimator=_svm_regressor,
)
logistic_regression = Flow(
    name="logistic_regression",
    title="Logistic regression",
    hyperparameters=(
        Number("C", 1e-4, 1e4, log=True, default=1.0),
        L1_RATIO,
        CLASS_WEIGHT,
        Number("tol", 1e-5, 1e-2, log=True, default=1e-4),
        SCALING,
        IMPUTATION,
    ),
    estimator=_logistic_regression,
)
sgd = Flow(
    name="sgd",
    title="Linear model by stochastic gradient descent",
    hyperparameters=(
        # Losses that give probabilities.
        Choice("loss", ("log_loss", "modified_huber"), default="log_loss"),
        Number("alpha", 1e-7, 1e-1, log=True, default=1e-4),
        L1_RATIO,
        Choice("average", (False, True), default=False),
        Number("tol", 1e-5, 1e-1, log=True, default=1e-3),
        CLASS_WEIGHT,
        SCALING,
        IMPUTATION,
    ),
    estimator=_sgd,
)
_NEIGHBORS = (
    Number("n_neighbors", 1, 100, log=True, default=5),
    Choice("weights", ("uniform", "distance"), default="uniform"),
    Choice("metric", ("euclidean", "manhattan"), default="euclidean"),
)
k_nearest_neighbors = Flow(
    name="k_nearest_neighbors",
    title="k-nearest neighbours",
    hyperparameters=(*_NEIGHBORS, SCALING, IMPUTATION),
    estimator=_k_nearest_neighbors,
    rows_needed=lambda values: values["n_neighbors"],
)
k_nearest_neighbors_regressor = k_nearest_neighbors.regressor(
    *_NEIGHBORS,
    *_SCALED,
    estimator=_k_nearest_neighbors_regressor,
)
_NETWORK = (
    Choice("activation", ("relu", "tanh"), default="relu"),
    Number("alpha", 1e-7, 1.0, log=True, default=1e-4),
    Number("hidden_layers", 1, 3, default=1),
    Number("hidden_units", 8, 256, log=True, default=100),
    Number("learning_rate_init", 1e-4, 1e-1, log=True, default=1e-3),
    Choice("early_stopping", (False, True), default=False),
)
mlp = Flow(
    name="mlp",
    title="Multilayer perceptron",
    hyperparameters=(*_NETWORK, SCALING, IMPUTATION),
    estimator=_mlp,
)
mlp_regressor = mlp.regressor(
    *_NETWORK,
    *_SCALED,
    estimator=_mlp_regressor,
)
