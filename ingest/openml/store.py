"""Storage of listed runs in batches, with their parents.

Runs are committed together with their setups, flows, tasks and datasets, so that readers never see a run of
an unknown task.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from ingest.openml.answers import Answers
from ingest.openml.api.connection import ApiError
from ingest.openml.api.documents import Parameter, SetupValues, UnreadableError, read_setups
from ingest.openml.numbers import IdSet
from ingest.openml.parents import Parents
from ingest.openml.selection import Selection
from ingest.openml.sweep import LARGEST_PAGE, Page, Position
from ingest.openml.tables import Rows, Tables, evaluation_tables, failed_run_tables, key, setup_tables
from warehouse.store import Warehouse

_BATCH_ROWS, _BATCH_SECONDS = 10_000, 60.0  # a balance of loss by a kill and cost of commits
_BATCH_VALUES = 400_000  # of hyperparameters: a commit holds them all in memory

_KNOWN = """
SELECT CAST(substr(e.run, len('openml:') + 1) AS BIGINT) AS number
FROM evaluations e
WHERE e.measure = $measure AND starts_with(e.run, 'openml:')
  AND ($flows IS NULL OR list_contains($flows, e.flow))
"""
_OF_TASKS = """
  AND e.run IN (
    SELECT r.run FROM runs r
    WHERE ($tasks IS NULL OR list_contains($tasks, r.task))
      AND ($uploaders IS NULL OR list_contains($uploaders, r.uploader))
  )
"""
# Runs whose parents were lost by a repair; one per task and flow, or lost setup.
_ORPHANS = """
WITH orphans AS (
  SELECT r.run, r.task, r.setup, t.dataset, s.setup IS NULL AS without_setup
  FROM runs r LEFT JOIN tasks t USING (task) LEFT JOIN setups s USING (setup)
  WHERE starts_with(r.run, 'openml:') AND (
    t.task IS NULL OR s.setup IS NULL
    OR t.dataset NOT IN (SELECT dataset FROM datasets) OR s.flow NOT IN (SELECT flow FROM flows)
  )
)
SELECT task AS task_id, flow AS flow_id, any_value(dataset) AS data_id, any_value(setup) AS setup_id
FROM orphans JOIN evaluations USING (run)
GROUP BY task, flow, CASE WHEN without_setup THEN setup END
ORDER BY ALL
"""


@dataclass
class Batch:
    """Pages to be stored together."""

    rows: list[dict[str, str]] = field(default_factory=list)
    setups: dict[str, SetupValues] = field(default_factory=dict)
    values: int = 0
    """Number of hyperparameter values in the setups."""
    parameters: dict[str, Parameter] = field(default_factory=dict)
    requests: list[str] = field(default_factory=list)
    position: Position = field(default_factory=Position)
    started: float = field(default_factory=time.monotonic)

    def add(self, page: Page) -> None:
        """Append a page."""
        self.rows += page.listing.rows
        self.setups |= {setup.setup: setup for setup in page.listing.setups}
        self.values += sum(len(setup.parameters) for setup in page.listing.setups)
        self.parameters |= page.listing.parameters
        self.requests += page.requests
        self.position = page.position

    def let_go(self) -> None:
        """Free the content that is now in tables, while these are written."""
        self.rows, self.setups, self.parameters = [], {}, {}

    @property
    def is_full(self) -> bool:
        """Whether it is time to store it."""
        return (
            len(self.rows) >= _BATCH_ROWS
            or self.values >= _BATCH_VALUES
            or time.monotonic() - self.started > _BATCH_SECONDS
        )


class BatchStore:
    """Store batches in a warehouse, requesting the unknown parents of their runs."""

    def __init__(
        self, warehouse: Warehouse, answers: Answers, skip: Callable[[str, str], None], *, refresh: bool
    ) -> None:
        """Open the warehouse for batches.

        Args:
            skip: called with each left-out object and the reason.
            refresh: request known parents again.
        """
        self.added: dict[str, int] = {}
        """Table -> number of new rows."""
        self.changed: dict[str, int] = {}
        self.seconds_writing = 0.0
        self._warehouse = warehouse
        self._answers = answers
        self._skip = skip
        self._parents = Parents(warehouse, answers, skip, refresh)

    @property
    def version(self) -> int:
        """Version of the warehouse."""
        return self._warehouse.version

    def known_runs(self, filters: str, measure: str) -> IdSet:
        """Runs of a partition with a value of the measure in the warehouse."""
        parts = filters.split("/") if filters else []
        wanted = dict(zip(parts[::2], parts[1::2], strict=True))
        keys = {name: [key(number) for number in numbers.split(",")] for name, numbers in wanted.items()}
        named = {
            "tasks": keys.get("task"),
            "uploaders": wanted["uploader"].split(",") if "uploader" in wanted else None,
        }
        of_flows = {"measure": measure, "flows": keys.get("flow")}
        if any(named.values()):
            rows = self._warehouse.arrow(_KNOWN + _OF_TASKS, {**of_flows, **named})
        else:  # avoids a join with millions of runs
            rows = self._warehouse.arrow(_KNOWN, of_flows)
        return IdSet.of_array(rows["number"].to_numpy())

    def without_runs(self, selection: Selection) -> list[str]:
        """The flows, tasks and measures named in a selection without an evaluated run in the warehouse."""
        named = {
            "flow": ([key(flow) for flow in selection.flows], "evaluations"),
            "task": ([key(task) for task in selection.tasks], "(FROM runs WHERE outcome = 'success')"),
            "measure": ([*selection.measures], "evaluations"),
        }
        missing = []
        for kind, (names, table) in named.items():
            query = f"SELECT DISTINCT {kind} AS name FROM {table} WHERE list_contains($names, {kind})"
            found = self._warehouse.arrow(query, {"names": names})["name"].to_pylist() if names else []
            missing += [f"{kind} {name.removeprefix('openml:')}" for name in names if name not in found]
        return missing

    def put_evaluations(self, batch: Batch) -> None:
        """Store evaluations."""
        if batch.rows:
            self._write(batch, lambda rows: evaluation_tables(rows, self._skip))

    def put_failures(self, batch: Batch) -> None:
        """Store runs that ended with an error."""
        if batch.rows:
            self._write(batch, failed_run_tables)

    def put_lost_parents(self) -> None:
        """Restore the tasks, datasets, flows and setups of runs that a repair has lost."""
        if self._warehouse.arrow("SELECT 1 FROM ingests WHERE source = 'repair' LIMIT 1").num_rows:
            rows = self._warehouse.arrow(_ORPHANS).to_pylist()
            numbers = [
                {name: key.removeprefix("openml:") for name, key in row.items() if key is not None}
                for row in rows
            ]
            batch = Batch(rows=numbers)
            if rows:
                self._write(batch, lambda _: {})
            self.forget(batch)

    def forget(self, batch: Batch) -> None:
        """Delete the cached answers of a batch, which are now in the warehouse."""
        self._answers.forget(batch.requests + self._parents.requests)
        self._parents.requests.clear()

    def _tables_around(self, batch: Batch) -> dict[str, Any]:
        """The new parents of the batch's runs."""
        tables = self._parents.tables_for(batch.rows)  # first, since setups are read with their flows
        setups = self._with_missing_setups(batch)
        return tables | setup_tables(setups.values(), batch.parameters, self._parents.flows)

    def _write(self, batch: Batch, run_tables: Callable[[Rows], Tables]) -> None:
        tables = self._tables_around(batch) | run_tables(batch.rows)
        batch.let_go()
        start = time.monotonic()
        commit = self._warehouse.write(tables, source="openml", location=self._answers.connection.server)
        for total, counts in ((self.added, commit.added), (self.changed, commit.changed)):
            for name, count in counts.items():
                total[name] = total.get(name, 0) + count
        self.seconds_writing += time.monotonic() - start
        del tables
        pa.default_memory_pool().release_unused()  # the next batch's tables are seconds away

    def _with_missing_setups(self, batch: Batch) -> dict[str, SetupValues]:
        """The batch's setups by id, and unknown setups that its runs refer to."""
        flow_of = {row["setup_id"]: row["flow_id"] for row in batch.rows}
        setups = {number: setup for number, setup in batch.setups.items() if not self._is_doubtful(setup)}
        unseen = [number for number in flow_of if number not in setups]
        missing = sorted(set(unseen) - self._known_setups(unseen), key=int)
        digits = len(missing[-1]) if missing else 1
        size = min(LARGEST_PAGE, self._answers.connection.longest_list("setup/list/setup/", digits))
        for start in range(0, len(missing), size):
            self._ask_for_setups(missing[start : start + size], batch, setups)
        for number in missing:
            if number not in setups:
                self._skip(f"setup {number}", "the server has no hyperparameters of it")
                setups[number] = SetupValues(number, flow_of[number], exists=False)
        return setups

    def _is_doubtful(self, setup: SetupValues) -> bool:
        """Whether a setup without values may be a lost one: listings of evaluations show both alike."""
        return not setup.parameters and self._parents.flows[setup.flow].has_parameters

    def _ask_for_setups(self, numbers: Sequence[str], batch: Batch, setups: dict[str, SetupValues]) -> None:
        """Add the setups with these ids to `setups`, in as few requests as possible."""
        path = f"setup/list/setup/{','.join(numbers)}"
        try:
            listing = self._answers.get(path, read_setups)
        except ApiError as error:
            if error.no_results:
                return
            if not error.too_much or len(numbers) == 1:
                raise
        except UnreadableError as error:
            if len(numbers) == 1:
                self._skip(f"setup {numbers[0]}", f"unreadable: {error}")
                return
        else:
            batch.requests.append(path)
            batch.parameters |= listing.parameters
            setups |= {setup.setup: setup for setup in listing.setups}
            return
        half = len(numbers) // 2
        self._ask_for_setups(numbers[:half], batch, setups)
        self._ask_for_setups(numbers[half:], batch, setups)

    def _known_setups(self, numbers: Sequence[str]) -> set[str]:
        """The setups among `numbers` in the warehouse."""
        if not numbers:  # the usual case: the first query of a new version takes as long as a small commit
            return set()
        found = self._warehouse.arrow(
            "SELECT setup FROM setups WHERE setup IN (SELECT unnest($keys))",
            {"keys": [key(number) for number in numbers]},
        )["setup"]
        return {name.removeprefix("openml:") for name in found.to_pylist()}
