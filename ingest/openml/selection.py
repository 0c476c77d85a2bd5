"""Selections of runs, and the request filters that together cover a selection."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import product
from typing import TypeVar

from ingest.openml import MEASURES
from ingest.openml.api.connection import ApiError, Connection
from ingest.openml.api.documents import UnreadableError, rows_in, texts_in
from warehouse.support.errors import BadInput, BadOption, Failed
from warehouse.vocabulary.measures import canonical_measure, known_name

T = TypeVar("T")

_IDS_IN_A_FILTER = 200  # so that paths stay below `LONGEST_TARGET`


@dataclass(frozen=True)
class Selection:
    """A selection of runs by all given criteria; numbers are OpenML's ids.

    Raises:
        BadInput: an invalid suite or measure, no measure, or `most` without flows and tasks.
    """

    suite: str | None = None
    tasks: tuple[int, ...] = ()
    datasets: tuple[int, ...] = ()
    flows: tuple[int, ...] = ()
    uploaders: tuple[int, ...] = ()
    measures: tuple[str, ...] = MEASURES["classification"]
    since: int | None = None
    """Only runs with this id or a higher one."""
    most: int | None = None
    """Most runs of each task and flow."""
    failures: bool = False
    """Include runs that ended with an error, which have no evaluation."""

    def __post_init__(self) -> None:
        if self.most is not None and not (self.flows and self.has_tasks):
            raise BadOption("a limit per task and flow needs the flows, and the tasks, a suite or datasets")
        if self.suite is not None and not re.fullmatch(r"[\w.-]+", self.suite):
            raise BadOption(f"a suite is a number or an alias, not {self.suite!r}")
        wrong = [measure for measure in self.measures if not re.fullmatch(r"\w+", measure)]
        if wrong or not self.measures:
            raise BadOption(f"{wrong[0]!r} is not a measure" if wrong else "name at least one measure")

    @property
    def has_tasks(self) -> bool:
        """Whether only some tasks are selected."""
        return bool(self.tasks or self.datasets or self.suite is not None)


def partitions(selection: Selection, connection: Connection) -> list[str]:
    """Filters that together cover the selection, each short enough for a request: "flow/6969/task/3,6".

    Raises:
        BadInput: the server has no such suite or measure, or no task for the selection.
        Failed: the server's answer can't be read.
    """
    _refuse_unknown_measures(selection.measures, connection)
    tasks = _tasks(selection, connection) if selection.has_tasks else []
    size = _IDS_IN_A_FILTER if selection.most is None else 1
    parts = product(
        _chunks("flow", selection.flows, size),
        _chunks("task", tasks, size),
        _chunks("uploader", selection.uploaders, _IDS_IN_A_FILTER),
    )
    return ["/".join(filter(None, part)) for part in parts]


def _refuse_unknown_measures(measures: Sequence[str], connection: Connection) -> None:
    """Refuse measures unknown to both Headstart and the server, which may have no list of them."""
    unknown = [measure for measure in measures if known_name(measure) is None]
    if unknown:
        with suppress(ApiError, UnreadableError):
            listed = connection.get("evaluationmeasure/list", texts_in("evaluation_measures", "measure"))
            unknown = [measure for measure in unknown if measure not in listed]
    for measure in unknown:
        canonical_measure(measure)


def _tasks(selection: Selection, connection: Connection) -> list[int]:
    tasks = list(selection.tasks)
    if selection.suite is not None:
        tasks += map(int, _listed(connection, f"study/{selection.suite}", texts_in("study", "task_id")))
    for datasets in _chunks("data_id", selection.datasets, _IDS_IN_A_FILTER) if selection.datasets else []:
        rows = _listed(connection, f"task/list/{datasets}/status/all", rows_in("tasks", "task"))
        tasks += [int(row["task_id"]) for row in rows]
    if not tasks:
        raise BadInput("the server has no task for this selection")
    return sorted(set(tasks))


def _listed(connection: Connection, path: str, read: Callable[[bytes], list[T]]) -> list[T]:
    """A fresh listing, empty if the server has none; never from the cache."""
    try:
        return connection.get(path, read)
    except ApiError as error:
        if error.no_results:
            return []
        raise BadInput(f"the server can't list {path}: {error}") from error
    except UnreadableError as error:
        raise Failed(f"the server's answer to {path} can't be read: {error}") from error


def _chunks(name: str, numbers: Sequence[int], size: int) -> list[str]:
    """Path segments that filter by these numbers; an empty one if there are none."""
    parts = [numbers[start : start + size] for start in range(0, len(numbers), size)]
    return [f"{name}/{','.join(map(str, part))}" for part in parts] or [""]
