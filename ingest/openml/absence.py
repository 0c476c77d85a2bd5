"""Explain why a selection has no run: what the server lacks, and what it has instead."""

from __future__ import annotations

from collections.abc import Sequence

from ingest.openml.api.connection import ApiError, Connection
from ingest.openml.api.documents import parse, read_evaluations, rows_in
from ingest.openml.selection import Selection
from warehouse.vocabulary.measures import MEASURES
from warehouse.vocabulary.task_types import TASK_TYPES

_MOST_ASKED = 20  # flows, and parts of the selection
_ROWS = 100  # of evaluations: a run has about twenty


def why_nothing(selection: Selection, parts: Sequence[str], connection: Connection) -> str:
    """The reason in one line.

    Args:
        parts: filters that together cover the selection, from `ingest.openml.selection.partitions`.
    """
    missing = [str(flow) for flow in selection.flows[:_MOST_ASKED] if not _has_flow(flow, connection)]
    if missing:
        return f"the server has no flow {', '.join(missing)}"
    if selection.tasks and not _has_tasks(selection.tasks, connection):
        return f"the server has no task {', '.join(map(str, selection.tasks[:_MOST_ASKED]))}"
    missed = ", ".join(selection.measures)
    if not any(parts):
        return f"the server has no run with a value of {missed}"
    instead = _measures(parts, connection)
    if not instead:
        return "the server has no evaluated run of this selection"
    types = [one.words for one in TASK_TYPES.values() if instead <= {*one.measures, *_OF_ANY_TYPE}]
    hint = f" (--task {types[0]} asks for measures of these tasks)" if len(types) == 1 else ""
    return f"no run of this selection has {missed}; its runs have {', '.join(sorted(instead))}{hint}"


_OF_ANY_TYPE = frozenset(
    name for name in MEASURES if not any(name in one.measures for one in TASK_TYPES.values())
)


def _has_flow(flow: int, connection: Connection) -> bool:
    try:
        connection.get(f"flow/{flow}", lambda body: parse(body, "flow"))
    except ApiError:
        return False
    return True


def _has_tasks(tasks: Sequence[int], connection: Connection) -> bool:
    some = ",".join(map(str, tasks[:_MOST_ASKED]))
    try:
        return bool(connection.get(f"task/list/task_id/{some}/status/all", rows_in("tasks", "task")))
    except ApiError:
        return False


def _measures(parts: Sequence[str], connection: Connection) -> set[str]:
    """Measures that runs of the first part with any run have; only known ones, if there are any."""
    for filters in filter(None, parts[:_MOST_ASKED]):
        try:
            found = connection.get(f"evaluation/list/{filters}/limit/{_ROWS}/offset/0", read_evaluations)
        except ApiError:
            continue
        names = {row["function"] for row in found.rows}
        return names & MEASURES.keys() or names
    return set()
