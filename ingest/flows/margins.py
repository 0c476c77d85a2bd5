"""Linear and kernel machines, neighbours and networks: the flows that need scaled numbers.

Ranges of the support vector machine: van Hoof's thesis (OpenML flows 8317 and 7707). Those of the linear
models and the network are wide enough for auto-sklearn 2's (Feurer et al. 2022) configurations.

Outside the range of the training rows, the splines of the additive model are constant, so that its
predictions can't explode; the two linear regressors extrapolate linearly.

Sources: elastic net by Zou and Hastie (2005), splines with a ridge penalty by Eilers and Marx (1996),
Gaussian processes by Rasmussen and Williams (2006).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ingest.flows.base import (
    CLASS_WEIGHT,
    IMPUTATION,
    SCALING,
    TARGET_TRANSFORMATION,
    Flow,
    Make,
    from_sklearn,
)
from warehouse.vocabulary.parameters import Choice, Number
from warehouse.vocabulary.task_types import REGRESSION

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

L1_RATIO = Choice("l1_ratio", (0.0, 0.5, 1.0), default=0.0)
"""Share of the absolute penalty in the elastic net: ridge, half and half, lasso."""


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


def _mlp(make: Make) -> ClassifierMixin:
    from sklearn.neural_network import MLPClassifier

    from ingest.flows.lenient import LenientClassifier

    return _after(in_single_precision, LenientClassifier(MLPClassifier(**_network(make))))


def _mlp_regressor(make: Make) -> RegressorMixin:
    from sklearn.neural_network import MLPRegressor

    from ingest.flows.lenient import LenientRegressor

    return _standardized(_after(in_single_precision, LenientRegressor(MLPRegressor(**_network(make)))))


def _gaussian_process(make: Make) -> RegressorMixin:
    from ingest.flows.gaussian_process import GaussianProcess

    return GaussianProcess(**make.values, seed=make.seed)


def _network(make: Make) -> dict[str, Any]:
    """scikit-learn's arguments of the network."""
    rest = dict(make.values)
    layers, units = rest.pop("hidden_layers"), rest.pop("hidden_units")
    return {"hidden_layer_sizes": (units,) * layers, "max_iter": 200, "random_state": make.seed, **rest}


def _after(function: Callable[[np.ndarray], np.ndarray], estimator: BaseEstimator) -> BaseEstimator:
    """The estimator on a matrix changed by the function."""
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import FunctionTransformer

    return make_pipeline(FunctionTransformer(function), estimator)


def _standardized(regressor: BaseEstimator) -> BaseEstimator:
    from ingest.flows.target import standardized

    return standardized(regressor)


def _of_mean_distances(kernel_machine: BaseEstimator) -> BaseEstimator:
    """Standardize the target, and scale the columns: a kernel's gamma then multiplies mean squared distances.

    One gamma then suits tables of few and of many columns: on standardized columns, 1 is scikit-learn's
    `scale`.
    """
    return _standardized(_after(by_root_of_columns, kernel_machine))


def by_root_of_columns(matrix: np.ndarray) -> np.ndarray:  # (n, columns) -> (n, columns)
    """Divide by the square root of the number of columns."""
    scaled: np.ndarray = matrix / np.sqrt(matrix.shape[1])
    return scaled


def in_single_precision(matrix: np.ndarray) -> np.ndarray:  # (n, columns) -> (n, columns)
    """Convert to single precision: large networks train in 0.6 times the time."""
    return matrix.astype(np.float32)


_SCALED = (TARGET_TRANSFORMATION, SCALING, IMPUTATION)
"""Preprocessing hyperparameters of these regressors."""
GAMMA = Number("gamma", 2**-8, 2.0**5, log=True, default=1.0)
"""Gamma of a kernel on mean squared distances, see `_of_mean_distances`."""
RIDGE_PENALTY = Number("alpha", 1e-3, 1e4, log=True, default=1.0)

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
    estimator=from_sklearn("svm.SVC", seeded=True, kernel="rbf"),
    openml=(8317, 7707),
    beyond_openml=(SCALING.name,),
    most_rows=5000,  # time grows with the square of the rows: minutes for 10,000
)
svm_regressor = svm.regressor(
    # Epsilon, the error without a penalty, is in standard deviations of the target.
    Number("C", 2**-5, 2.0**10, log=True, default=1.0),
    Number("epsilon", 1e-3, 1.0, log=True, default=0.1),
    GAMMA,
    *_SCALED,
    estimator=from_sklearn("svm.SVR", within=_of_mean_distances, kernel="rbf"),
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
        # Losses with probabilities.
        Choice("loss", ("log_loss", "modified_huber"), default="log_loss"),
        Number("alpha", 1e-7, 1e-1, log=True, default=1e-4),
        L1_RATIO,
        Choice("average", (False, True), default=False),
        Number("tol", 1e-5, 1e-1, log=True, default=1e-3),
        CLASS_WEIGHT,
        SCALING,
        IMPUTATION,
    ),
    estimator=from_sklearn("linear_model.SGDClassifier", seeded=True, penalty="elasticnet"),
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
    estimator=from_sklearn("neighbors.KNeighborsClassifier"),
    rows_needed=lambda values: values["n_neighbors"],
)
k_nearest_neighbors_regressor = k_nearest_neighbors.regressor(
    *_NEIGHBORS,
    *_SCALED,
    estimator=from_sklearn("neighbors.KNeighborsRegressor"),
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
# ---- algorithms for regression only
ridge = Flow(
    name="ridge",
    title="Ridge regression",
    task_type=REGRESSION,
    hyperparameters=(RIDGE_PENALTY, *_SCALED),
    estimator=from_sklearn("linear_model.Ridge"),
)
elastic_net = Flow(
    name="elastic_net",
    title="Elastic net",
    task_type=REGRESSION,
    hyperparameters=(
        # The target has variance 1: at alpha 1 the lasso drops every column.
        Number("alpha", 1e-4, 1.0, log=True, default=0.01),
        Number("l1_ratio", 0.05, 1.0, default=0.5),
        *_SCALED,
    ),
    estimator=from_sklearn("linear_model.ElasticNet", within=_standardized),
)
additive = Flow(
    name="additive",
    title="Additive model of splines",
    task_type=REGRESSION,
    hyperparameters=(Number("knots", 3, 20, log=True, default=5), RIDGE_PENALTY, *_SCALED),
    estimator=from_sklearn("linear_model.Ridge"),
)
kernel_ridge = Flow(
    name="kernel_ridge",
    title="Kernel ridge regression",
    task_type=REGRESSION,
    hyperparameters=(
        Choice("kernel", ("rbf", "laplacian"), default="rbf"),
        Number("alpha", 1e-4, 10.0, log=True, default=0.1),
        GAMMA,
        *_SCALED,
    ),
    estimator=from_sklearn("kernel_ridge.KernelRidge", within=_of_mean_distances),
    most_rows=5000,  # time grows with the cube of the rows
)
gaussian_process = Flow(
    name="gaussian_process",
    title="Gaussian process",
    task_type=REGRESSION,
    hyperparameters=(
        # Smoothness of the functions: differentiable never, once, twice, infinitely often.
        Choice("kernel", ("exponential", "matern_3", "matern_5", "rbf"), default="matern_5"),
        Choice("length_scales", ("shared", "separate"), default="separate"),
        *_SCALED,
    ),
    estimator=_gaussian_process,
    most_rows=5000,  # time grows with the cube of the rows
)
