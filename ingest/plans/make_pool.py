"""Rebuild a pool of configurations after adding a flow or a known-good configuration.

    python ingest/plans/make_pool.py POOL OUTPUT

POOL is a pool file, to which known-good configurations may be added by hand. Each flow contributes its
default, its known-good configurations in the order of the file, and a space-filling rest
(`ingest.flows.design`). Known-good ones come before the rest, the flows taking turns; configurations found by
a search stay at the end.
"""

from __future__ import annotations

import sys
from pathlib import Path

from ingest.flows import flows_of, get_flow
from ingest.flows.design import sobol_design
from ingest.running.pool import Pool, in_turns, read_pool, write_pool
from warehouse.vocabulary.configuration import Configuration
from warehouse.vocabulary.task_types import TaskType

STRONG = 24
"""Configurations of each popular flow."""
SIZES = {
    **dict.fromkeys(("lightgbm", "xgboost", "catboost"), 25),
    **dict.fromkeys(("adaboost", "decision_tree", "k_nearest_neighbors"), 6),
    **dict.fromkeys(("svm", "sgd"), 8),
    **dict.fromkeys(("naive_bayes", "linear_discriminant_analysis", "quadratic_discriminant_analysis"), 5),
    "catboost_regressor": 24,
    "lightgbm_regressor": 21,
    "xgboost_regressor": 18,
    "hist_gradient_boosting_regressor": 12,
    **dict.fromkeys(("additive", "mlp_regressor"), 10),
    **dict.fromkeys(("random_forest_regressor", "extra_trees_regressor", "svm_regressor"), 9),
    **dict.fromkeys(("ridge", "kernel_ridge"), 7),
    **dict.fromkeys(("elastic_net", "gaussian_process", "k_nearest_neighbors_regressor"), 6),
    "adaboost_regressor": 5,
    "decision_tree_regressor": 4,
}
"""Configurations of each of these flows, in place of `STRONG`."""
MOST_KNOWN = 16
"""Most known-good configurations of a flow, besides its default."""
SEARCHED = "search on "
"""Prefix of the source of configurations found by a search."""


def made_anew(pool: Pool) -> Pool:
    """Rebuild a pool of one task type from its known-good and searched configurations."""
    task_type = get_flow(next(iter(pool)).algorithm).task_type
    known = {one: source for one, source in pool.items() if source not in ("default", "design")}
    searched = {one: source for one, source in known.items() if source.startswith(SEARCHED)}
    others = {one: source for one, source in known.items() if one not in searched}
    return build_pool(others, task_type) | searched


def build_pool(known: Pool, task_type: TaskType) -> dict[Configuration, str]:
    """Default, known and space-filling configurations of every flow of a task type, without duplicates.

    Args:
        known: known-good configurations, the best of each flow first.
    """
    columns: list[list[tuple[Configuration, str]]] = []
    for flow in flows_of(task_type).values():
        size = SIZES.get(flow.name, STRONG)
        own = [(one, source) for one, source in known.items() if one.algorithm == flow.name]
        designed = sobol_design(flow, size)[1:]
        candidates = [
            (Configuration(flow.name, flow.default()), "default"),
            *own[: min(MOST_KNOWN, size - 1)],
            *((Configuration(flow.name, values), "design") for values in designed),
        ]
        different: dict[Configuration, tuple[Configuration, str]] = {}
        for one, source in candidates:
            different.setdefault(Configuration(flow.name, flow.current(one.values)), (one, source))
        columns.append(list(different.values())[:size])
    first = [[(one, source) for one, source in column if source != "design"] for column in columns]
    rest = [[(one, source) for one, source in column if source == "design"] for column in columns]
    return dict([*in_turns(first), *in_turns(rest)])


if __name__ == "__main__":
    write_pool(made_anew(read_pool(Path(sys.argv[1]))), Path(sys.argv[2]))
