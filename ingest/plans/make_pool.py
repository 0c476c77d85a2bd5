"""Make a pool of configurations anew, after a flow or a known-good configuration was added.

    python ingest/plans/make_pool.py POOL OUTPUT

POOL is a pool's file, to which known-good configurations may have been added by hand. Each flow gives its
default, its known-good configurations in the order of the file, and a space-filling rest
(`ingest.flows.design`). Known-good ones come before the rest, the flows taking turns; configurations that a
search found (`tune pool`) stay at the end.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from ingest.flows import FLOWS
from ingest.flows.design import sobol_design
from ingest.running.pool import Member, in_turns, read_pool, write_pool
from warehouse.configurations.configuration import Configuration

STRONG = 24
"""Configurations of a flow that practitioners reach for."""
SIZES = {
    **dict.fromkeys(("adaboost", "decision_tree", "k_nearest_neighbors"), 6),
    **dict.fromkeys(("svm", "sgd"), 8),
    **dict.fromkeys(("naive_bayes", "linear_discriminant_analysis", "quadratic_discriminant_analysis"), 5),
}
"""Configurations of the other flows."""
MOST_KNOWN = 15
"""Known-good configurations that a flow has at most, beside its default."""
SEARCHED = "search on "
"""How the source of a configuration begins that a search found."""


def made_anew(pool: Sequence[Member]) -> list[Member]:
    """A pool of the known-good and the searched configurations of this one."""
    known = [one for one in pool if one.source not in ("default", "design")]
    searched = [one for one in known if one.source.startswith(SEARCHED)]
    return [*build_pool([one for one in known if one not in searched]), *searched]


def build_pool(known: Sequence[Member], *, seed: int = 0) -> list[Member]:
    """Default, known and space-filling configurations of every flow, each configuration once.

    Args:
        known: known-good configurations, the best of each flow first.
        seed: of the space-filling designs.
    """
    columns: list[list[Member]] = []
    for flow in FLOWS.values():
        size = SIZES.get(flow.name, STRONG)
        own = [member for member in known if member.configuration.algorithm == flow.name]
        candidates = [
            Member(Configuration(flow.name, flow.default()), "default"),
            *own[: min(MOST_KNOWN, size - 1)],
            *(
                Member(Configuration(flow.name, values), "design")
                for values in sobol_design(flow, size, seed)[1:]
            ),
        ]
        different: dict[Configuration, Member] = {}
        for member in candidates:
            current = flow.current(member.configuration.values)
            different.setdefault(Configuration(flow.name, current), member)
        columns.append(list(different.values())[:size])
    first = [[member for member in column if member.source != "design"] for column in columns]
    rest = [[member for member in column if member.source == "design"] for column in columns]
    return [*in_turns(first), *in_turns(rest)]


if __name__ == "__main__":
    write_pool(made_anew(read_pool(Path(sys.argv[1]))), Path(sys.argv[2]))
