"""Ingest jobs: request a selection of a server's runs, store them, and resume.

A job is a selection of runs of one server. Its folder below `jobs` in the warehouse has a journal of stored
and skipped objects (`records`), and a cache of answers that are not in the warehouse yet (`answers`).
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from itertools import product
from typing import Any

from filelock import FileLock, Timeout

from ingest.keys import digest
from ingest.openml.absence import why_nothing
from ingest.openml.answers import Answers
from ingest.openml.api.connection import ApiError, Connection
from ingest.openml.api.documents import UnreadableError, rows_in
from ingest.openml.numbers import IdSet
from ingest.openml.records import JobRecords, LeftOff
from ingest.openml.selection import Selection, partitions
from ingest.openml.store import Batch, BatchStore
from ingest.openml.sweep import LARGEST_PAGE, Sweep
from warehouse.store import Warehouse
from warehouse.support.errors import BadInput, Failed
from warehouse.support.files import make_folder


@dataclass(frozen=True)
class JobProgress:
    """Progress of a job."""

    measure: str
    runs: int
    """Known runs with the measure, from this job and from before."""
    found: int
    """Runs among these that this job found."""
    total: int | None
    """Approximate number on the server; None if unknown."""
    pages: int
    requests: int
    seconds: float


@dataclass(frozen=True)
class JobSummary:
    """Result of a job."""

    requests: int
    reused: int
    """Cached answers left by an interrupted job."""
    added: dict[str, int]
    """Table -> number of new rows."""
    changed: dict[str, int]
    skipped: int
    unlisted: int
    """Known runs that the server no longer lists. They are kept."""
    version: int
    seconds: float
    seconds_waiting: float
    """Time spent waiting for the server, summed over all connections."""
    seconds_writing: float


@dataclass(frozen=True)
class Estimate:
    """Estimate of a job's requests and runs."""

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
    """Download the selected runs that the warehouse lacks, with their parents.

    Args:
        jobs: requests at the same time.
        refresh: request everything again, and correct changed rows.
        report: called after every page.

    Raises:
        BadInput: the server rejects the selection or has no run of it, the same job is already running, or
            the disk refuses.
        Failed: the server gave up. Earlier results are kept, also if the disk refuses.
    """
    job = _Job(warehouse, selection, connection, jobs, refresh, report)
    with job.alone():
        try:
            return job.run()
        except BaseException:
            connection.stop()  # waiting threads would keep the process alive
            raise


def estimate(warehouse: Warehouse, selection: Selection, connection: Connection) -> Estimate:
    """Estimate the requests of `ingest_openml` with about a dozen; nothing is written."""
    job = _Job(warehouse, selection, connection)
    evaluations = known = requests = 0
    parts = partitions(selection, connection)
    for filters, measure in product(parts, selection.measures):
        sweep = job.sweep(filters, measure)
        total = sweep.estimate(connection.get) if sweep.reaches(0, connection.get) else 0
        evaluations, known = evaluations + total, known + len(sweep.known)
        requests += 1 + max(total - len(sweep.known), 0) // sweep.page
    if not evaluations and not known and not selection.since:
        raise BadInput(why_nothing(selection, parts, connection))
    return Estimate(evaluations, known, requests)


class _Job:
    """The ingestion of one selection."""

    def __init__(
        self,
        warehouse: Warehouse,
        selection: Selection,
        connection: Connection,
        jobs: int = 1,
        refresh: bool = False,
        report: Callable[[JobProgress], None] | None = None,
    ) -> None:
        self._selection = selection
        self._connection = connection
        self._jobs = jobs
        self._refresh = refresh
        self._report = report
        self._content = {"server": connection.server, **asdict(selection)}
        folder = warehouse.path / "jobs" / digest(json.dumps(self._content, sort_keys=True))
        self._records = JobRecords(folder)
        self._answers = Answers(connection, folder / "answers")
        self._store = BatchStore(warehouse, self._answers, self._records.skip, refresh=refresh)
        self._start = time.monotonic()
        self._pages = 0
        self._unlisted = 0

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Keep the same job from running twice at the same time."""
        make_folder(self._records.folder)
        try:
            with FileLock(self._records.folder / ".lock", timeout=0):
                yield
        except Timeout as error:
            raise BadInput("another process is already running this job; see `ingest status`") from error

    def run(self) -> JobSummary:
        # A refused selection is not a job, so partitions come before the journal.
        parts = partitions(self._selection, self._connection)
        self._records.begin(self._content, refresh=self._refresh)
        self._store.put_lost_parents()
        for filters in parts:
            self._ingest_partition(filters)
        self._answers.forget_all()
        nothing = None if self._selection.since else self._explain_absence(parts)
        self._records.note("finished", requests=self._connection.requests_made, version=self._store.version)
        if nothing is not None:
            raise BadInput(nothing)
        return JobSummary(
            requests=self._connection.requests_made,
            reused=self._answers.reused,
            added=self._store.added,
            changed=self._store.changed,
            skipped=self._records.skipped,
            unlisted=self._unlisted,
            version=self._store.version,
            seconds=time.monotonic() - self._start,
            seconds_waiting=self._connection.seconds_waiting,
            seconds_writing=self._store.seconds_writing,
        )

    def _explain_absence(self, parts: Sequence[str]) -> str | None:
        """The reason if there is no run at all, else None; records flows, tasks and measures without runs."""
        known = (
            len(self._store.known_runs(filters, measure))
            for filters, measure in product(parts, self._selection.measures)
        )
        if not self._store.added.get("runs") and not any(known):
            return why_nothing(self._selection, parts, self._connection)
        for what in self._store.without_runs(self._selection):
            self._records.skip(what, "the server has no evaluated run of it")
        return None

    def sweep(self, filters: str, measure: str, *, with_setups: bool = False) -> Sweep:
        """The search for one measure, from where it stopped."""
        left_off = LeftOff() if self._refresh else self._records.left_off(filters, measure)
        known = IdSet()
        if not self._refresh:
            known = self._store.known_runs(filters, measure)
            known -= left_off.others
        return Sweep(
            answers=self._answers,
            filters=filters,
            measure=measure,
            known=known,
            extra_rows=set(left_off.extra_rows),
            position=left_off.position,
            since=self._selection.since,
            most=self._selection.most,
            with_setups=with_setups,
            page=left_off.page,
            jobs=self._jobs,
            unreadable=lambda what, why: self._records.skip(what, f"unreadable: {why}"),
        )

    def _ingest_partition(self, filters: str) -> None:
        found = unlisted = 0
        for number, measure in enumerate(self._selection.measures):
            before_kill = self._records.found_before_kill(filters, measure)
            if before_kill is not None:
                found += before_kill
                continue
            if number and not found and not self._refresh and self._records.asked_lately(filters, measure):
                continue
            # Later measures mostly have the same runs, whose setups are known.
            sweep = self.sweep(filters, measure, with_setups=number == 0)
            self._ingest(sweep)
            found += sweep.found
            gone = sweep.not_found(self._store.known_runs(filters, measure)) if self._refresh else None
            fewer = sweep.fewer if gone is None else len(gone)
            unlisted = max(unlisted, fewer)
            self._records.note(
                "swept", filters=filters, measure=measure, found=sweep.found, fewer=fewer, unlisted=gone
            )
        self._unlisted += unlisted
        if self._selection.failures:
            self._ingest_failures(filters)

    def _ingest(self, sweep: Sweep) -> None:
        """Request all pages; while one batch is stored, the next is requested."""
        batch, total = Batch(), None
        with ThreadPoolExecutor(1) as writer:
            storing: Future[None] | None = None
            for page in sweep.pages():
                batch.add(page)
                self._pages += 1
                if self._report is not None:
                    if total is None and sweep.found >= sweep.page:
                        total = sweep.estimate()
                    self._report(self._progress(sweep, total))
                if batch.is_full:
                    if storing is not None:
                        storing.result()
                    storing = writer.submit(self._commit, batch, sweep, sweep.state())
                    batch = Batch()
            if storing is not None:
                storing.result()
            self._commit(batch, sweep, sweep.state())

    def _commit(self, batch: Batch, sweep: Sweep, state: dict[str, Any]) -> None:
        """Store a batch with everything its runs refer to, and forget its requests."""
        rows = len(batch.rows)
        self._store.put_evaluations(batch)
        if batch.requests:
            self._records.note(
                "stored",
                filters=sweep.filters,
                measure=sweep.measure,
                **asdict(batch.position),
                **state,
                requests=len(batch.requests),
                rows=rows,
                version=self._store.version,
            )
        self._store.forget(batch)

    def _ingest_failures(self, filters: str) -> None:
        """Store runs that ended with an error, which `evaluation/list` lacks."""
        start = 0
        while rows := self._runs(filters, start, LARGEST_PAGE):
            start += LARGEST_PAGE
            batch = Batch(rows=[row for row in rows if row.get("error_message")])
            if batch.rows:
                self._store.put_failures(batch)
                self._store.forget(batch)

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
                self._records.skip(f"row {start} of the listing of runs", f"unreadable: {error}")
                return []
        half = limit // 2
        return self._runs(filters, start, half) + self._runs(filters, start + half, limit - half)

    def _progress(self, sweep: Sweep, total: int | None) -> JobProgress:
        return JobProgress(
            measure=sweep.measure,
            runs=len(sweep.known),
            found=sweep.found,
            total=total,
            pages=self._pages,
            requests=self._connection.requests_made,
            seconds=time.monotonic() - self._start,
        )
