"""Candidates of a ranking: the warehouse's configurations, mainly those that Headstart can build."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from typing import NamedTuple

import numpy as np
import pandas as pd

from ingest.flows import Flow, find_flow, get_flow
from ingest.keys import setup_of
from recommend.ranking.knowledge import Knowledge
from warehouse.questions.queries import RunTable
from warehouse.support.arrays import Positions
from warehouse.support.errors import TooFewRuns, UnfitConfiguration
from warehouse.vocabulary.configuration import Configuration
from warehouse.vocabulary.searched_flow import OTHER, SearchedFlow
from warehouse.vocabulary.table import ConfigurationTable

MOST_CANDIDATES = 1000
"""Most ranked configurations of one algorithm; a warehouse may hold tens of thousands."""


@dataclass(frozen=True)
class Candidates:
    """n configurations to choose from, as columns and one by one."""

    table: ConfigurationTable
    """(n,) in the warehouse's form, which learners take."""
    configurations: Sequence[Configuration]
    """(n,) in today's terms."""
    failures: Mapping[str, str]
    """Setup -> outcome of the configurations left out because all their runs on the dataset failed."""
    to_install: Mapping[str, Configuration]
    """Setup -> configuration left out because the package of its flow is not installed."""

    def __len__(self) -> int:
        return len(self.table)

    @cached_property
    def _setups(self) -> dict[Configuration, str]:
        return dict(zip(self.configurations, self.table.setups, strict=True))

    def setup_of(self, configuration: Configuration) -> str:
        """The setup of a configuration in the warehouse, possibly one of another library's flow."""
        return self._setups.get(configuration) or setup_of(configuration)

    @property
    def flows_to_install(self) -> list[Flow]:
        """The flows whose package is not installed."""
        return [get_flow(name) for name in dict.fromkeys(one.algorithm for one in self.to_install.values())]

    def take(self, places: Positions) -> Candidates:
        """The candidates at these positions."""
        configurations = [self.configurations[place] for place in places.tolist()]
        return replace(self, table=self.table.take(places), configurations=configurations)

    def without(self, failures: Mapping[str, str]) -> Candidates:
        """The candidates without some.

        Args:
            failures: setup -> outcome of the candidates to leave out.

        Raises:
            TooFewRuns: none is left.
        """
        kept = np.flatnonzero(~self.table.setups.isin(list(failures)))
        if not len(kept):
            raise TooFewRuns("all candidate configurations failed on this dataset")
        return replace(self.take(kept), failures={**self.failures, **failures})


def find_candidates(known: Knowledge) -> Candidates:
    """Find all configurations that can be built here, without those whose runs on the dataset all failed.

    Raises:
        TooFewRuns: there is none.
    """
    task = known.task
    buildable, to_install = find_buildable(
        known.runs, known.scores, set(task.flows), len(task.dataset.features)
    )
    failures = _failures_of(buildable, known.failures)
    found = {setup: one for setup, one in buildable.items() if setup not in failures}
    if not found:
        raise TooFewRuns(f"all {len(failures)} candidate configurations failed on this dataset")
    table = known.runs.configurations.of_setups(found)
    failed = _failures_of(to_install, known.failures)
    to_install = {setup: one for setup, one in to_install.items() if setup not in failed}
    return Candidates(table, [*found.values()], failures, to_install)


def _failures_of(configurations: Mapping[str, Configuration], failures: Mapping[str, str]) -> dict[str, str]:
    """Setup -> outcome of those of `configurations` (by setup) that have failed."""
    if not failures:
        return {}
    # The warehouse may know a configuration by the setup of another flow, such as OpenML's.
    names = {setup: {setup, setup_of(one)} & failures.keys() for setup, one in configurations.items()}
    return {setup: failures[min(own)] for setup, own in names.items() if own}


def flow_of(algorithm: str, runs: RunTable) -> SearchedFlow:
    """The flow of an algorithm of the runs: ours, or one with its declared space or that inferred from its
    runs.

    Raises:
        BadInput: no space can be inferred.
    """
    return find_flow(algorithm) or runs.searched_flow(algorithm)


class Buildable(NamedTuple):
    """Configurations that Headstart builds, in today's terms, by their setups in the warehouse."""

    here: dict[str, Configuration]
    to_install: dict[str, Configuration]
    """Configurations of flows whose package is not installed."""


def find_buildable(runs: RunTable, scores: np.ndarray, wanted: set[str], rows: int) -> Buildable:
    """The configurations that can be built and be fitted on half of `rows`.

    Flows that take too long on so many rows are left out if there are others. A configuration shared by two
    flows of one algorithm is taken once. At most `MOST_CANDIDATES` are taken per algorithm, those with the
    best score on any dataset. Flows that Headstart does not build are included only if `wanted` names them or
    there are no others.

    Args:
        runs: of all flows together.
        scores: (m,) standard score of each run.
        wanted: names of the flows to choose from; empty = all.
        rows: number of rows of the dataset. Half of them are needed, so that a two-fold cross-validation of
            a recommended configuration works, too.

    Raises:
        BadInput: none can be built here.
    """
    best = pd.Series(scores).groupby(runs.runs["setup"].to_numpy()).max().sort_values(ascending=False)
    found: dict[str, Configuration] = {}
    others: dict[str, Configuration] = {}
    slow: dict[str, Configuration] = {}
    to_install: dict[str, Configuration] = {}
    seen: set[Configuration] = set()
    table = runs.configurations.of_setups(best.index)
    for algorithm in table.algorithms.unique():
        flow = find_flow(str(algorithm))
        if wanted and str(algorithm if flow is None else flow.name) not in wanted:
            continue
        places = np.flatnonzero(table.algorithms == algorithm)
        if flow is None:
            others |= _different(table.take(places))
            continue
        part = table.take(places[:MOST_CANDIDATES])
        is_slow = flow.most_rows is not None and rows > flow.most_rows
        kind = to_install if not flow.installed else slow if is_slow else found
        for setup, configuration in zip(part.setups, part.configurations(), strict=True):
            try:
                current = Configuration(flow.name, flow.current(configuration.values))
            except UnfitConfiguration:
                continue  # a value that no longer exists
            if current not in seen and flow.rows_needed(current.values) <= rows // 2:
                seen.add(current)
                kind[setup] = current
    found = found or slow
    if wanted or not found:
        found |= others
    if not found:
        of_wanted = f" of {', '.join(sorted(wanted))}" if wanted else ""
        raise TooFewRuns(f"the warehouse has no configuration{of_wanted} that Headstart can build")
    return Buildable(found, to_install)


def _different(table: ConfigurationTable) -> dict[str, Configuration]:
    """The first `MOST_CANDIDATES` configurations of an algorithm that differ, by setup.

    A setup without values is left out if others have some, since it can't be tried.
    """
    first: dict[Hashable, tuple[str, Configuration]] = {}
    for start in range(0, len(table), MOST_CANDIDATES):
        part = table.take(np.arange(start, min(start + MOST_CANDIDATES, len(table))))
        for setup, own in zip(part.setups, part.configurations(), strict=True):
            # Versions of a flow may write 1 or 1.0, which are equal here; True differs from both.
            values = frozenset((name, isinstance(value, bool), value) for name, value in own.values.items())
            first.setdefault(values, (str(setup), own))
        if len(first) > MOST_CANDIDATES:
            break
    if len(first) > 1:
        first.pop(frozenset(), None)
    return dict(islice(first.values(), MOST_CANDIDATES))


def not_built(runs: RunTable, chosen_from: Iterable[Configuration]) -> dict[str, str]:
    """Flows of `runs` that Headstart does not build, and that are not among those to choose from.

    Algorithm -> title.
    """
    among = {configuration.algorithm for configuration in chosen_from}
    return {
        name: name.removeprefix(OTHER)
        for name in map(str, runs.configurations.algorithms.unique())
        if find_flow(name) is None and name not in among
    }
