"""The flows that Headstart builds, by canonical name.

A new flow is one `Flow` value in a module of this package and one entry in `FLOWS`.
"""

from ingest.flows.base import Flow, Values, native_values
from ingest.flows.bayes import (
    linear_discriminant_analysis,
    naive_bayes,
    quadratic_discriminant_analysis,
)
from ingest.flows.boosting import (
    adaboost,
    adaboost_regressor,
    catboost,
    catboost_regressor,
    hist_gradient_boosting,
    hist_gradient_boosting_regressor,
    lightgbm,
    lightgbm_regressor,
    xgboost,
    xgboost_regressor,
)
from ingest.flows.margins import (
    k_nearest_neighbors,
    k_nearest_neighbors_regressor,
    logistic_regression,
    mlp,
    mlp_regressor,
    sgd,
    svm,
    svm_regressor,
)
from ingest.flows.pipelines import knowing_preprocessing, with_preprocessing
from ingest.flows.smooth import additive, elastic_net, gaussian_process, kernel_ridge, ridge
from ingest.flows.trees import (
    decision_tree,
    decision_tree_regressor,
    extra_trees,
    extra_trees_regressor,
    random_forest,
    random_forest_regressor,
)
from warehouse.support.errors import UnknownName
from warehouse.vocabulary.parameters import Value
from warehouse.vocabulary.task_types import CLASSIFICATION, TaskType

__all__ = [
    "FLOWS",
    "Flow",
    "Value",
    "Values",
    "find_flow",
    "flow_for",
    "flows_of",
    "get_flow",
    "installed_flows",
    "native_values",
    "with_preprocessing",
]

FLOWS: dict[str, Flow] = {
    flow.name: knowing_preprocessing(flow)
    for flow in (
        random_forest,
        extra_trees,
        decision_tree,
        adaboost,
        lightgbm,
        xgboost,
        catboost,
        hist_gradient_boosting,
        svm,
        logistic_regression,
        sgd,
        k_nearest_neighbors,
        mlp,
        naive_bayes,
        linear_discriminant_analysis,
        quadratic_discriminant_analysis,
        ridge,
        elastic_net,
        additive,
        lightgbm_regressor,
        xgboost_regressor,
        catboost_regressor,
        hist_gradient_boosting_regressor,
        random_forest_regressor,
        extra_trees_regressor,
        decision_tree_regressor,
        adaboost_regressor,
        svm_regressor,
        kernel_ridge,
        gaussian_process,
        k_nearest_neighbors_regressor,
        mlp_regressor,
    )
}


def flows_of(task_type: TaskType) -> dict[str, Flow]:
    """The flows of a task type, by canonical name."""
    return {name: flow for name, flow in FLOWS.items() if flow.task_type == task_type}


def installed_flows(task_type: TaskType = CLASSIFICATION) -> tuple[str, ...]:
    """Names of the flows of a task type whose packages are there."""
    return tuple(name for name, flow in flows_of(task_type).items() if flow.installed)


def find_flow(name: str) -> Flow | None:
    """The flow with this canonical name, warehouse key (`headstart:svm`) or OpenML id (`6969`)."""
    plain = name.removeprefix("headstart:").removeprefix("openml:")
    if plain.isdecimal():
        return next((flow for flow in FLOWS.values() if int(plain) in flow.openml), None)
    return FLOWS.get(plain)


def get_flow(name: str) -> Flow:
    """Return the flow that `find_flow` finds.

    Raises:
        BadInput: there is no such flow; the message lists the known ones.
    """
    flow = find_flow(name)
    if flow is None:
        raise UnknownName(
            f"unknown flow {name!r}: Headstart builds {', '.join(FLOWS)}, also named by their OpenML flow "
            f"ids; configurations of other flows can be recommended and searched from their runs, but not "
            "trained"
        )
    return flow


def flow_for(name: str, task_type: TaskType) -> Flow:
    """The flow of a task type that a user means by `name`: `lightgbm` is `lightgbm_regressor` in regression.

    Raises:
        BadInput: there is no such flow, or its algorithm has none for the task type.
    """
    named = get_flow(name)
    flows = flows_of(task_type)
    for flow in flows.values():
        if flow.title == named.title:
            return flow
    raise UnknownName(f"{named.title} does no {task_type.words}; flows that do are {', '.join(flows)}")
