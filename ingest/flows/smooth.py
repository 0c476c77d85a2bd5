"""Algorithms that only regression has: linear and additive models, kernel ridge, Gaussian process.

Beyond the range of the training rows, the splines of the additive model are constant, so that its predictions
can't explode; the two linear models go on as straight lines there.

Sources: elastic net by Zou and Hastie (2005), splines with a ridge penalty by Eilers and Marx (1996),
Gaussian processes by Rasmussen and Williams (2006).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ingest.flows.base import IMPUTATION, SCALING, TARGET_TRANSFORMATION, Flow, Make
from ingest.flows.margins import GAMMA, on_mean_distances
from warehouse.vocabulary.parameters import Choice, Number
from warehouse.vocabulary.task_types import REGRESSION

if TYPE_CHECKING:
    from sklearn.base import RegressorMixin

_SCALED = (TARGET_TRANSFORMATION, SCALING, IMPUTATION)
RIDGE_PENALTY = Number("alpha", 1e-3, 1e4, log=True, default=1.0)


def _ridge(make: Make) -> RegressorMixin:
    from sklearn.linear_model import Ridge

    return Ridge(**make.values)


def _elastic_net(make: Make) -> RegressorMixin:
    from sklearn.linear_model import ElasticNet

    from ingest.flows.target import standardized

    return standardized(ElasticNet(**make.values))


def _kernel_ridge(make: Make) -> RegressorMixin:
    from sklearn.kernel_ridge import KernelRidge

    from ingest.flows.target import standardized

    return standardized(on_mean_distances(KernelRidge(**make.values)))


def _gaussian_process(make: Make) -> RegressorMixin:
    from ingest.flows.gaussian_process import GaussianProcess

    return GaussianProcess(**make.values, seed=make.seed)


ridge = Flow(
    name="ridge",
    title="Ridge regression",
    task_type=REGRESSION,
    hyperparameters=(RIDGE_PENALTY, *_SCALED),
    estimator=_ridge,
)
elastic_net = Flow(
    name="elastic_net",
    title="Elastic net",
    task_type=REGRESSION,
    hyperparameters=(
        # Of the target with variance 1: at an alpha of 1 nothing is left of any column.
        Number("alpha", 1e-4, 1.0, log=True, default=0.01),
        Number("l1_ratio", 0.05, 1.0, default=0.5),
        *_SCALED,
    ),
    estimator=_elastic_net,
)
additive = Flow(
    name="additive",
    title="Additive model of splines",
    task_type=REGRESSION,
    hyperparameters=(Number("knots", 3, 20, log=True, default=5), RIDGE_PENALTY, *_SCALED),
    estimator=_ridge,
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
    estimator=_kernel_ridge,
    most_rows=5000,  # time grows with the cube of the rows
)
gaussian_process = Flow(
    name="gaussian_process",
    title="Gaussian process",
    task_type=REGRESSION,
    hyperparameters=(
        # Times that functions can be differentiated: not at all, once, twice, without end.
        Choice("kernel", ("exponential", "matern_3", "matern_5", "rbf"), default="matern_5"),
        Choice("length_scales", ("shared", "separate"), default="separate"),
        *_SCALED,
    ),
    estimator=_gaussian_process,
    most_rows=5000,  # time grows with the cube of the rows
)
