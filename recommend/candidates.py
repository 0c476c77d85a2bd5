"""The configurations to choose from: those of the warehouse that build here and today."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from ingest.flows import Flow, find_flow
from warehouse.configurations.configuration import Configuration
from warehouse.configurations.parameters import Value
from warehouse.queries import RunTable
from warehouse.support.errors import BadInput

MOST_CANDIDATES = 1000
"""Configurations of one algorithm that are ranked; a warehouse may hold tens of thousands."""


def find_candidates(
    runs: RunTable, scores: np.ndarray, wanted: set[str], rows: int
) -> dict[str, Configuration]:
    """Configurations in today's terms by setup: those that build here, and can be fitted on half of `rows`.

    The same configuration of two flows of one algorithm counts once. Of an algorithm with very many, those
    count that came out best somewhere.

    Args:
        runs: of all flows together.
        scores: (m,) standard score of each run.
        wanted: names of the flows to choose from; empty = all.
        rows: of the dataset that configurations are sought for. Half of them, so that a two-fold
            cross-validation of what is recommended works as well.

    Raises:
        BadInput: there is none.
    """
    best = pd.Series(scores).groupby(runs.runs["setup"].to_numpy()).max().sort_values(ascending=False)
    found: dict[str, Configuration] = {}
    seen: set[Configuration] = set()
    for algorithm, part in runs.configurations.loc[best.index].groupby("algorithm", sort=False):
        flow = find_flow(str(algorithm))
        if flow is None or not flow.installed or (wanted and flow.name not in wanted):
            continue
        for setup, values in _values(part.iloc[:MOST_CANDIDATES], f"{algorithm}:"):
            try:
                current = Configuration(flow.name, flow.current(values))
            except BadInput:
                continue  # a value that no longer exists
            if current not in seen and flow.rows_needed(current.values) <= rows // 2:
                seen.add(current)
                found[setup] = current
    if not found:
        of_wanted = f" of {', '.join(sorted(wanted))}" if wanted else ""
        raise BadInput(f"the warehouse has no configuration that can be built{of_wanted}")
    return found


def flows_to_install(runs: RunTable, wanted: set[str]) -> list[Flow]:
    """Flows of `runs` that would be candidates if the packages that they need were there."""
    flows = (find_flow(str(algorithm)) for algorithm in runs.configurations["algorithm"].unique())
    return [
        flow
        for flow in flows
        if flow is not None and not flow.installed and (not wanted or flow.name in wanted)
    ]


def _values(configurations: pd.DataFrame, prefix: str) -> Iterator[tuple[str, dict[str, Value]]]:
    """Setup and hyperparameters of one algorithm's configurations, whose columns start with `prefix`."""
    columns = [name for name in configurations.columns if name.startswith(prefix)]
    names = [name.removeprefix(prefix) for name in columns]
    rows = configurations[columns].to_numpy(dtype=object)
    for setup, row in zip(configurations.index, rows, strict=True):
        # A parameter that the setup does not have is NaN, the one value that differs from itself.
        yield setup, {name: value for name, value in zip(names, row, strict=True) if value == value}
