"""The flows that Headstart builds, by canonical name.

A new flow is one `Flow` value in a module of this package and one entry in `FLOWS`.
"""

from ingest.flows import bayes, boosting, margins, trees
from ingest.flows.base import Flow, Values, native_values
from ingest.flows.pipelines import knowing_preprocessing, with_preprocessing
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
        trees.random_forest,
        trees.extra_trees,
        trees.decision_tree,
        boosting.adaboost,
        boosting.lightgbm,
        boosting.xgboost,
        boosting.catboost,
        boosting.hist_gradient_boosting,
        margins.svm,
        margins.logistic_regression,
        margins.sgd,
        margins.k_nearest_neighbors,
        margins.mlp,
        bayes.naive_bayes,
        bayes.linear_discriminant_analysis,
        bayes.quadratic_discriminant_analysis,
        margins.ridge,
        margins.elastic_net,
        margins.additive,
        boosting.lightgbm_regressor,
        boosting.xgboost_regressor,
        boosting.catboost_regressor,
        boosting.hist_gradient_boosting_regressor,
        trees.random_forest_regressor,
        trees.extra_trees_regressor,
        trees.decision_tree_regressor,
        boosting.adaboost_regressor,
        margins.svm_regressor,
        margins.kernel_ridge,
        margins.gaussian_process,
        margins.k_nearest_neighbors_regressor,
        margins.mlp_regressor,
    )
}


def flows_of(task_type: TaskType) -> dict[str, Flow]:
    """The flows of a task type, by canonical name."""
    return {name: flow for name, flow in FLOWS.items() if flow.task_type == task_type}


def installed_flows(task_type: TaskType = CLASSIFICATION) -> tuple[str, ...]:
    """Names of the flows of a task type whose packages are installed."""
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
    """Find a user's flow for a task type: in regression, `lightgbm` means `lightgbm_regressor`.

    Raises:
        BadInput: there is no such flow, or its algorithm has none for the task type.
    """
    named = get_flow(name)
    flows = flows_of(task_type)
    for flow in flows.values():
        if flow.title == named.title:
            return flow
    raise UnknownName(f"{named.title} does not support {task_type.words}; these do: {', '.join(flows)}")
