"""Times of trials of simulated searches: the warehouse's times of whole runs."""

from __future__ import annotations

from contextlib import suppress

import pandas as pd

from warehouse.questions.queries import RunTable, TimedFits
from warehouse.store import Warehouse
from warehouse.support.errors import TooFewRuns, UnknownName
from warehouse.vocabulary.task_types import TaskType

MEASURES = ("wall_clock_time_millis", "usercpu_time_millis")
"""Measures of a run's time, the preferred one first."""


def timed_runs(warehouse: Warehouse, flow: str | None, task_type: TaskType) -> RunTable | None:
    """Timed runs of a flow, or of all, on tasks of one type, in milliseconds; None if no run is timed."""
    for measure in MEASURES:
        with suppress(UnknownName, TooFewRuns):
            return warehouse.run_table(flow, measure, task_type=task_type, related=False)
    return None


def seconds_of(runs: RunTable) -> pd.Series:
    """Run -> seconds, for timed runs at any training size."""
    known = pd.concat([part for part in (runs.smaller, runs.runs, runs.larger) if len(part)])
    seconds: pd.Series = known.set_index("run")["value"] / 1000
    return seconds


def timed_trials(runs: RunTable) -> TimedFits:
    """Timed runs as single fits, for the model of running times."""
    return TimedFits(
        runs.runs.assign(seconds=runs.runs["value"] / 1000, stopped=False), runs.configurations, runs.scales
    )
