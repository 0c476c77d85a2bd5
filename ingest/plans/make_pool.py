"""Make a pool of configurations anew, after a flow or a known-good configuration was added.

    python ingest/plans/make_pool.py POOL OUTPUT

POOL is a pool's file, to which known-good configurations may have been added by hand. Each flow gives its
default, its known-good configurations in the order of the file, and a space-filling rest
(`ingest.flows.design`). Known-good ones come before the rest, the flows taking turns; configurations that a
search found stay at the end.
"""

from __future__ import annotations

import sys
from pathlib import Path

from ingest.flows import FLOWS
from ingest.flows.design import sobol_design
from ingest.running.pool import Pool, in_turns, read_pool, write_pool
from warehouse.vocabulary.configuration import Configuration

STRONG = 24
"""Configurations of a flow that practitioners reach for."""
SIZES = {
    **dict.fromkeys(("lightgbm", "xgboost", "catboost"), 25),
    **dict.fromkeys(("adaboost", "decision_tree", "k_nearest_neighbors"), 6),
    **dict.fromkeys(("svm", "sgd"), 8),
    **dict.fromkeys(("naive_bayes", "linear_discriminant_analysis", "quadratic_discriminant_analysis"), 5),
}
"""Configurations of the other flows."""
MOST_KNOWN = 16
"""Known-good configurations that a flow has at most, beside its default."""
SEARCHED = "search on "
"""How the source of a configuration begins that a search found."""


def made_anew(pool: Pool) -> Pool:
    """A pool of the known-good and the searched configurations of this one."""
    known = {one: source for one, source in pool.items() if source not in ("default", "design")}
    searched = {one: source for one, source in known.items() if source.startswith(SEARCHED)}
    return build_pool({one: source for one, source in known.items() if one not in searched}) | searched


def build_pool(known: Pool, *, seed: int = 0) -> dict[Configuration, str]:
    """Default, known and space-filling configurations of every flow, each configuration once.

    Args:
        known: known-good configurations, the best of each flow first.
        seed: of the space-filling designs.
    """
    columns: list[list[tuple[Configuration, str]]] = []
    for flow in FLOWS.values():
        size = SIZES.get(flow.name, STRONG)
        own = [(one, source) for one, source in known.items() if one.algorithm == flow.name]
        designed = sobol_design(flow, size, seed)[1:]
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
