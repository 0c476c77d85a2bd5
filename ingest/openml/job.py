"""Ingesting a selection of a server's runs: what is asked for, what is stored, and where it goes on.

A job is a selection of runs of one server. Its folder below `jobs` in the warehouse has a journal of what was
stored, skipped and why, and the answers that are not in the warehouse yet. Runs are committed in batches,
together with all that they refer to, so that readers never see a run of an unknown task.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import product
from typing import Any, TypeVar

from filelock import FileLock, Timeout

from ingest.keys import digest
from ingest.openml import MEASURES
from ingest.openml.answers import Answers
from ingest.openml.connection import ApiError, Connection
from ingest.openml.documents import (
    Parameter,
    SetupValues,
    UnreadableError,
    read_setups,
    read_suite,
    rows_in,
)
from ingest.openml.parents import Parents
from ingest.openml.sweep import LARGEST_PAGE, Page, Position, Sweep
from ingest.openml.tables import evaluation_tables, failed_run_tables, key, setup_tables
from warehouse.store import Warehouse
from warehouse.support.errors import BadInput, BadOption, Failed
from warehouse.support.journal import Journal

T = TypeVar("T")

_BATCH_ROWS, _BATCH_SECONDS = 10_000, 60.0  # what a kill may lose, against the cost of a commit
_IDS_IN_A_FILTER = 200  # so that paths stay below `LONGEST_TARGET`
_ASK_AGAIN = timedelta(days=1)
"""OpenML computes a run's measures together: while the first has nothing new, the others are asked daily."""


@dataclass(frozen=True)
class Selection:
    """The runs that fit everything that is given. Numbers are OpenML's."""

    suite: str | None = None
    tasks: tuple[int, ...] = ()
    datasets: tuple[int, ...] = ()
    flows: tuple[int, ...] = ()
    uploaders: tuple[int, ...] = ()
    measures: tuple[str, ...] = MEASURES
    since: int | None = None
    """Only runs with this number or a higher one."""
    most: int | None = None
    """Only so many runs of each task and flow."""
    failures: bool = False
    """Also runs that ended with an error, which have no evaluation."""


@dataclass(frozen=True)
class JobProgress:
    """Where a job stands."""

    measure: str
    runs: int
    """Runs with the measure that are known so far, from this job and from before."""
    found: int
    """Runs among these that this job found."""
    total: int | None
    """About how many the server has; None where nobody asked."""
    pages: int
    requests: int
    seconds: float


@dataclass
class JobSummary:
    """What a job did."""

    requests: int = 0
    reused: int = 0
    """Answers that an interrupted job had left on disk."""
    added: dict[str, int] = field(default_factory=dict)
    """Table -> rows that are new."""
    changed: dict[str, int] = field(default_factory=dict)
    skipped: int = 0
    version: int = 0
    seconds: float = 0.0
    seconds_waiting: float = 0.0
    """Time spent waiting for the server, summed over all connections."""
    seconds_writing: float = 0.0


@dataclass(frozen=True)
class Estimate:
    """What a job would ask for."""

    evaluations: int
    known: int
    requests: int


def ingest_openml(
    warehouse: Warehouse,
    selection: Selection,
    connection: Connection,
    *,
    jobs: int = 1,
    refresh: bool = False,
    report: Callable[[JobProgress], None] | None = None,
) -> JobSummary:
    """Bring the selected runs into the warehouse, with all that they refer to, unless they are there.

    Args:
        jobs: requests at the same time.
        refresh: ask for everything again, and correct what has changed since.
        report: called after every page.

    Raises:
        BadInput: a selection that the server does not take, or the same job runs already.
        Failed: the server or the disk gave up; what came before is kept.
    """
    job = _Job(warehouse, selection, connection, jobs, refresh, report or _nobody)
    with job.alone():
        try:
            return job.run()
        except BaseException:
            connection.stop()  # or threads that wait for their turn would keep the process from ending
            raise


def estimate(warehouse: Warehouse, selection: Selection, connection: Connection) -> Estimate:
    """About how many requests `ingest_openml` would make; it takes a dozen to find out."""
    job = _Job(warehouse, selection, connection, 1, False, _nobody)
    evaluations = known = requests = 0
    for filters, measure in product(job.partitions(), selection.measures):
        sweep = job.sweep(filters, measure)
        total = sweep.estimate()
        evaluations, known = evaluations + total, known + len(sweep.known)
        requests += 1 + max(total - len(sweep.known), 0) // sweep.page
    return Estimate(evaluations, known, requests)


class _Job:
    """One selection on its way into the warehouse."""

    def __init__(
        self,
        warehouse: Warehouse,
        selection: Selection,
        connection: Connection,
        jobs: int,
        refresh: bool,
        report: Callable[[JobProgress], None],
    ) -> None:
        of_tasks = selection.tasks or selection.datasets or selection.suite is not None
        if selection.most is not None and not (selection.flows and of_tasks):
            raise BadOption("a limit per task and flow needs the flows, and the tasks, a suite or datasets")
        if selection.suite is not None and not re.fullmatch(r"[\w.-]+", selection.suite):
            raise BadOption(f"a suite is a number or an alias, not {selection.suite!r}")
        wrong = [measure for measure in selection.measures if not re.fullmatch(r"\w+", measure)]
        if wrong or not selection.measures:
            raise BadOption(f"{wrong[0]!r} is no measure" if wrong else "name at least one measure")
        self._warehouse = warehouse
        self._selection = selection
        self._connection = connection
        self._jobs = jobs
        self._refresh = refresh
        self._report = report
        content = {"server": connection.server, **asdict(selection)}
        self._folder = warehouse.path / "jobs" / digest(json.dumps(content, sort_keys=True))
        self._content = content
        self._journal = Journal(self._folder / "journal.jsonl")
        self._answers = Answers(connection, self._folder / "answers")
        self._parents = Parents(warehouse, self._answers, self._skip, refresh)
        self._summary = JobSummary(version=warehouse.version)
        self._start = time.monotonic()
        self._pages = 0
        self._unfinished: list[dict[str, Any]] = []

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Keep the same job from running twice at a time."""
        self._folder.mkdir(parents=True, exist_ok=True)
        try:
            with FileLock(self._folder / ".lock", timeout=0):
                yield
        except Timeout as error:
            raise BadInput("this job is running already, in another process; see `ingest status`") from error

    def run(self) -> JobSummary:
        self._unfinished = self._records_since_the_end()
        partitions = self.partitions()  # before the journal: a selection that is refused is no job
        self._note("started", **self._content, refresh=self._refresh)
        for filters in partitions:
            self._ingest_partition(filters)
        self._answers.forget_all()
        summary = self._summary
        summary.requests, summary.reused = self._connection.requests_made, self._answers.reused
        summary.seconds = time.monotonic() - self._start
        summary.seconds_waiting = self._connection.seconds_waiting
        summary.version = self._warehouse.version
        self._note("finished", requests=summary.requests, version=summary.version)
        return summary

    def partitions(self) -> list[str]:
        """Filters that together are the selection, each short enough for a request."""
        tasks, flows, uploaders = self._tasks(), self._selection.flows, self._selection.uploaders
        one_by_one = self._selection.most is not None
        size = 1 if one_by_one else _IDS_IN_A_FILTER
        parts = product(
            _chunks("flow", flows, size),
            _chunks("task", tasks or (), size),
            _chunks("uploader", uploaders, _IDS_IN_A_FILTER),
        )
        return ["/".join(filter(None, part)) for part in parts]

    def sweep(self, filters: str, measure: str) -> Sweep:
        """The search for one measure, where it was left."""
        position, extra, others, page = self._left_off(filters, measure)
        known = set() if self._refresh else self._known_runs(filters, measure) - others
        return Sweep(
            answers=self._answers,
            filters=filters,
            measure=measure,
            known=known,
            extra_rows=extra,
            position=position,
            since=self._selection.since,
            most=self._selection.most,
            page=page,
            jobs=self._jobs,
            unreadable=lambda what, why: self._skip(what, f"unreadable: {why}"),
        )

    def _ingest_partition(self, filters: str) -> None:
        found = 0
        for number, measure in enumerate(self._selection.measures):
            before_kill = self._found_before_kill(filters, measure)
            if before_kill is not None:
                found += before_kill
                continue
            if number and not found and self._asked_lately(filters, measure):
                continue
            sweep = self.sweep(filters, measure)
            # Runs of later measures are mostly the same.
            sweep.with_setups = number == 0
            before = len(sweep.known)
            self._ingest(sweep)
            found += len(sweep.known) - before
            self._note("swept", filters=filters, measure=measure, found=len(sweep.known) - before)
        if self._selection.failures:
            self._ingest_failures(filters)

    def _ingest(self, sweep: Sweep) -> None:
        """Ask for all pages; while one batch is being stored, the next is on its way."""
        batch, total, before = _PageBatch(), None, len(sweep.known)
        with ThreadPoolExecutor(1) as writer:
            storing: Future[None] | None = None
            for page in sweep.pages():
                batch.add(page)
                self._pages += 1
                is_long = len(sweep.known) - before >= sweep.page
                if is_long and total is None and self._report is not _nobody:
                    total = sweep.estimate()
                self._progress(sweep, len(sweep.known) - before, total)
                if batch.is_full:
                    if storing is not None:
                        storing.result()
                    storing = writer.submit(self._commit, batch, sweep, _state(sweep))
                    batch = _PageBatch()
            if storing is not None:
                storing.result()
            self._commit(batch, sweep, _state(sweep))

    def _commit(self, batch: _PageBatch, sweep: Sweep, state: dict[str, Any]) -> None:
        """Store what a batch found, with what its runs refer to, and forget its requests."""
        if batch.rows:
            self._write(self._tables_around(batch) | evaluation_tables(batch.rows))
        if batch.requests:
            self._note(
                "stored",
                filters=sweep.filters,
                measure=sweep.measure,
                **asdict(batch.position),
                **state,
                requests=len(batch.requests),
                rows=len(batch.rows),
                version=self._warehouse.version,
            )
        self._forget(batch)

    def _forget(self, batch: _PageBatch) -> None:
        """What these requests were answered is in the warehouse."""
        self._answers.forget(batch.requests + self._parents.requests)
        self._parents.requests.clear()

    def _tables_around(self, batch: _PageBatch) -> dict[str, Any]:
        """What the batch's runs refer to and nobody has seen yet."""
        tables = self._parents.tables_for(batch.rows)  # first: setups are read with their flows
        setups = self._with_missing_setups(batch)
        return tables | setup_tables(setups.values(), batch.parameters, self._parents.flows)

    def _write(self, tables: dict[str, Any]) -> None:
        start = time.monotonic()
        commit = self._warehouse.write(tables, source="openml", location=self._connection.server)
        for name, count in commit.added.items():
            self._summary.added[name] = self._summary.added.get(name, 0) + count
        for name, count in commit.changed.items():
            self._summary.changed[name] = self._summary.changed.get(name, 0) + count
        self._summary.seconds_writing += time.monotonic() - start

    def _with_missing_setups(self, batch: _PageBatch) -> dict[str, SetupValues]:
        """The batch's setups by number, and those that its runs refer to and nobody has seen yet."""
        flow_of = {row["setup_id"]: row["flow_id"] for row in batch.rows}
        setups = {number: setup for number, setup in batch.setups.items() if not self._is_doubtful(setup)}
        unseen = [number for number in flow_of if number not in setups]
        missing = sorted(set(unseen) - self._known_setups(unseen), key=int)
        digits = len(missing[-1]) if missing else 1
        size = min(LARGEST_PAGE, self._connection.longest_list("setup/list/setup/", digits))
        for start in range(0, len(missing), size):
            self._ask_for_setups(missing[start : start + size], batch, setups)
        for number in missing:
            if number not in setups:
                self._skip(f"setup {number}", "the server has no hyperparameters of it")
                setups[number] = SetupValues(number, flow_of[number], exists=False)
        return setups

    def _is_doubtful(self, setup: SetupValues) -> bool:
        """Listings of evaluations show a setup without values and one that is lost alike."""
        return not setup.parameters and bool(self._parents.flows[setup.flow].parameters)

    def _ask_for_setups(
        self, numbers: Sequence[str], batch: _PageBatch, setups: dict[str, SetupValues]
    ) -> None:
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

    def _ingest_failures(self, filters: str) -> None:
        """Runs that ended with an error: `evaluation/list` does not have them."""
        start = 0
        while rows := self._runs(filters, start, LARGEST_PAGE):
            start += LARGEST_PAGE
            batch = _PageBatch(rows=[row for row in rows if row.get("error_message")])
            if batch.rows:
                self._write(self._tables_around(batch) | failed_run_tables(batch.rows))
                self._forget(batch)

    def _runs(self, filters: str, start: int, limit: int) -> list[dict[str, str]]:
        """Rows `start` to `start + limit` of the listing of all runs."""
        parts = ["run/list/show_errors/true", filters, f"limit/{limit}/offset/{start}"]
        path = "/".join(filter(None, parts))
        try:
            return self._connection.get(path, rows_in("runs", "run"))
        except ApiError as error:
            if error.no_results:
                return []
            if not error.too_much or limit == 1:
                raise Failed(f"the server can't list {path}: {error}") from error
        except UnreadableError as error:
            if limit == 1:
                self._skip(f"row {start} of the listing of runs", f"unreadable: {error}")
                return []
        half = limit // 2
        return self._runs(filters, start, half) + self._runs(filters, start + half, limit - half)

    # ---- what is known ---------------------------------------------------------------------------

    def _tasks(self) -> list[int] | None:
        """The tasks to ask for; None = all."""
        selection = self._selection
        if not (selection.tasks or selection.datasets or selection.suite is not None):
            return None
        tasks = list(selection.tasks)
        if selection.suite is not None:
            tasks += map(int, self._listed(f"study/{selection.suite}", read_suite))
        for datasets in (
            _chunks("data_id", selection.datasets, _IDS_IN_A_FILTER) if selection.datasets else []
        ):
            rows = self._listed(f"task/list/{datasets}/status/all", rows_in("tasks", "task"))
            tasks += [int(row["task_id"]) for row in rows]
        if not tasks:
            raise BadInput("the server has no task for this selection")
        return sorted(set(tasks))

    def _listed(self, path: str, read: Callable[[bytes], list[T]]) -> list[T]:
        """A listing, empty where the server has nothing of it; never one that was kept."""
        try:
            return self._connection.get(path, read)
        except ApiError as error:
            if error.no_results:
                return []
            raise BadInput(f"the server can't list {path}: {error}") from error
        except UnreadableError as error:
            raise Failed(f"the server's answer to {path} can't be read: {error}") from error

    def _known_runs(self, filters: str, measure: str) -> set[int]:
        """Runs of a partition that the warehouse has with a value of the measure."""
        parts = filters.split("/") if filters else []
        wanted = dict(zip(parts[::2], parts[1::2], strict=True))
        keys = {name: [key(number) for number in numbers.split(",")] for name, numbers in wanted.items()}
        rows = self._warehouse.arrow(
            """
            SELECT r.position FROM evaluations e JOIN runs r USING (run)
            WHERE e.measure = $measure AND starts_with(e.run, 'openml:')
              AND ($flows IS NULL OR list_contains($flows, e.flow))
              AND ($tasks IS NULL OR list_contains($tasks, r.task))
              AND ($uploaders IS NULL OR list_contains($uploaders, r.uploader))
            """,
            {
                "measure": measure,
                "flows": keys.get("flow"),
                "tasks": keys.get("task"),
                "uploaders": wanted["uploader"].split(",") if "uploader" in wanted else None,
            },
        )
        return set(rows["position"].to_pylist())

    def _known_setups(self, numbers: Iterable[str]) -> set[str]:
        """The setups among `numbers` that the warehouse has."""
        found = self._warehouse.sql(
            "SELECT setup FROM setups WHERE setup IN (SELECT unnest($keys))",
            {"keys": [key(number) for number in numbers]},
        )["setup"]
        return {name.removeprefix("openml:") for name in found}

    def _records_since_the_end(self) -> list[dict[str, Any]]:
        """What an interrupted job noted; nothing if the last one came to its end, or did something else."""
        records: list[dict[str, Any]] = []
        for record in self._journal.records():
            records = [] if record["event"] == "finished" else [*records, record]
        same = [r for r in records if r["event"] == "started" and r["refresh"] == self._refresh]
        return records if len(same) == sum(r["event"] == "started" for r in records) else []

    def _left_off(self, filters: str, measure: str) -> tuple[Position, set[tuple[int, str]], set[int], int]:
        """Where the search for a measure stopped, rows of other engines, runs that have no other row, and the
        size of pages."""
        last = _last("stored", filters, measure, self._journal.records())
        if self._refresh or last is None:
            return Position(), set(), set(), LARGEST_PAGE
        extra = {(int(run), str(engine)) for run, engine in last["extra"]}
        return Position(last["window"], last["width"]), extra, set(last["others"]), int(last["page"])

    def _found_before_kill(self, filters: str, measure: str) -> int | None:
        """How many evaluations of a measure this job found before it was interrupted; None if it had not been
        through with it, or that is long ago."""
        swept = _swept_lately(filters, measure, self._unfinished)
        return int(swept["found"]) if swept is not None else None

    def _asked_lately(self, filters: str, measure: str) -> bool:
        return not self._refresh and _swept_lately(filters, measure, self._journal.records()) is not None

    # ---- what is told ----------------------------------------------------------------------------

    def _note(self, event: str, **facts: Any) -> None:
        self._folder.mkdir(parents=True, exist_ok=True)
        now = datetime.now(UTC).isoformat(timespec="seconds")
        self._journal.append({"event": event, "time": now, **facts})

    def _skip(self, what: str, why: str) -> None:
        self._summary.skipped += 1
        self._note("skipped", what=what, why=why)

    def _progress(self, sweep: Sweep, found: int, total: int | None) -> None:
        self._report(
            JobProgress(
                measure=sweep.measure,
                runs=len(sweep.known),
                found=found,
                total=total,
                pages=self._pages,
                requests=self._connection.requests_made,
                seconds=time.monotonic() - self._start,
            )
        )


@dataclass
class _PageBatch:
    """Pages on their way into the warehouse."""

    rows: list[dict[str, str]] = field(default_factory=list)
    setups: dict[str, SetupValues] = field(default_factory=dict)
    parameters: dict[str, Parameter] = field(default_factory=dict)
    requests: list[str] = field(default_factory=list)
    position: Position = field(default_factory=Position)
    started: float = field(default_factory=time.monotonic)

    def add(self, page: Page) -> None:
        self.rows += page.listing.rows
        self.setups |= {setup.setup: setup for setup in page.listing.setups}
        self.parameters |= page.listing.parameters
        self.requests += page.requests
        self.position = page.position

    @property
    def is_full(self) -> bool:
        return len(self.rows) >= _BATCH_ROWS or time.monotonic() - self.started > _BATCH_SECONDS


def _state(sweep: Sweep) -> dict[str, Any]:
    """What a search has to remember beside its position; it goes on while this is stored."""
    others = {run for run, _ in sweep.extra_rows} - sweep.known
    return {
        "known": len(sweep.known) + len(others),
        "extra": sorted(sweep.extra_rows),
        "others": sorted(others),
        "page": sweep.page,
    }


def _last(event: str, filters: str, measure: str, records: Iterable[dict[str, Any]]) -> dict[str, Any] | None:
    """The last time that something happened to a measure of a partition."""
    last = None
    for record in records:
        if record["event"] == event and (record["filters"], record["measure"]) == (filters, measure):
            last = record
    return last


def _swept_lately(filters: str, measure: str, records: Iterable[dict[str, Any]]) -> dict[str, Any] | None:
    """The last time that a search for a measure came to its end, if that was lately."""
    last = _last("swept", filters, measure, records)
    is_old = last is None or datetime.now(UTC) - datetime.fromisoformat(last["time"]) >= _ASK_AGAIN
    return None if is_old else last


def _nobody(_: JobProgress) -> None:
    """Ignore the progress, about which nothing needs to be asked of the server then."""


def _chunks(name: str, numbers: Sequence[int], size: int) -> list[str]:
    """Path segments that filter by these numbers; one that filters nothing where there are none."""
    parts = [numbers[start : start + size] for start in range(0, len(numbers), size)]
    return [f"{name}/{','.join(map(str, part))}" for part in parts] or [""]
