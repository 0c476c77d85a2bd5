"""The flows that Headstart builds, by canonical name.

A new flow is one `Flow` value in a module of this package and one entry in `FLOWS`.
"""

from ingest.flows.base import Flow, Values, native_values
from ingest.flows.bayes import (
    linear_discriminant_analysis,
    naive_bayes,
    quadratic_discriminant_analysis,
)
from ingest.flows.boosting import adaboost, catboost, hist_gradient_boosting, lightgbm, xgboost
from ingest.flows.margins import k_nearest_neighbors, logistic_regression, mlp, sgd, svm
from ingest.flows.pipelines import knowing_preprocessing, with_preprocessing
from ingest.flows.trees import decision_tree, extra_trees, random_forest
from warehouse.support.errors import UnknownName
from warehouse.vocabulary.parameters import Value

__all__ = [
    "FLOWS",
    "Flow",
    "Value",
    "Values",
    "find_flow",
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
    )
}


def installed_flows() -> tuple[str, ...]:
    """Names of the flows whose packages are there."""
    return tuple(name for name, flow in FLOWS.items() if flow.installed)


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
