"""Find every evaluation of a selection, however the server orders its listings.

Offsets into a listing are slow and unstable: rows repeat or vanish between pages when a run is added or the
order changes. Windows of run ids are neither, but the ids of a selection may be anywhere. So the end of the
listing shows whether the server has more than is known; windows fetch the runs where ids are dense, and the
listing elsewhere. The search ends when the listing has no row beyond the number of known ones, so it also
finds late evaluations of runs of any age.

    known   runs of the selection with a value of the measure, from this job and in the warehouse
    window    ids k W to (k + 1) W - 1: a fixed grid, so that requests are the same after a kill
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, MutableSet
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from ingest.openml.answers import Answers
from ingest.openml.api.connection import ApiError
from ingest.openml.api.documents import Listing, UnreadableError, read_evaluations
from warehouse.support.errors import BadInput, Failed
from warehouse.support.text import counted

logger = logging.getLogger(__name__)

Get = Callable[[str, Callable[[bytes], Listing]], Listing]

LARGEST_PAGE = 1000
"""Most rows per request at OpenML since June 2026."""
_LOOK_BACK = 0.9
"""Share of known runs in the page of the first look at the end of a listing."""
_OVERLAP = 0.02
"""The same for consecutive pages: rows may have moved up meanwhile."""
_SPARSE = 4
"""Ids per run above which the listing costs fewer requests than windows."""
_GAP = 10
"""If only ids can tell, windows end after this many without a run."""
_DEEPEST = 1_000_000
"""Largest offset in searches for the end of a listing; OpenML takes 8 s for it, and fails at ten times it."""
_FEW = 20  # ids; the end of a listing need not be known better
_FIRST_ENGINE = "1"  # the only evaluation engine in production so far
_FRUITLESS = 3
"""The walk ends after this many rounds without new rows, even if the server announces more."""


@dataclass(frozen=True)
class Page:
    """Result of some requests."""

    listing: Listing
    requests: list[str]
    position: Position


@dataclass(frozen=True)
class Position:
    """Window at which the walk continues after a page has been stored."""

    window: int | None = None
    """The next window; None = not walking."""
    width: int = 0
    """W."""


@dataclass
class Sweep:
    """The search for the evaluations of one measure in one selection of runs."""

    answers: Answers
    filters: str
    """Path segments: `flow/6969/task/3,6`."""
    measure: str
    known: MutableSet[int]
    """Known runs with a row by the first engine; grows with the pages."""
    extra_rows: set[tuple[int, str]] = field(default_factory=set)
    """(run, engine) of rows by other engines: listings have a row for each."""
    position: Position = field(default_factory=Position)
    since: int | None = None
    """Only runs with this id or a higher one."""
    most: int | None = None
    """Most runs, the first that the server lists."""
    with_setups: bool = False
    """Also request hyperparameters if many new runs are expected: one request in place of two."""
    page: int = LARGEST_PAGE
    jobs: int = 1
    unreadable: Callable[[str, str], None] = lambda *_: None
    """Called with each skipped object and the reason."""

    fewer: int = field(default=0, init=False)
    """Number of known runs that are no longer listed."""
    came_to_the_end: bool = field(default=False, init=False)
    """Whether all listed runs are known; a search with `since` or `most` can't tell."""

    def __post_init__(self) -> None:
        self._known_before = len(self.known)

    @property
    def found(self) -> int:
        """Number of new runs since the start."""
        return len(self.known) - self._known_before

    def not_found(self, runs: Iterable[int]) -> list[int] | None:
        """Choose the runs that the server does not list; None if unknown.

        Known only after a search that began with nothing known, reached the end, and could read every row.
        """
        if self._known_before or not self.came_to_the_end or any(run <= 0 for run, _ in self.extra_rows):
            return None
        others = {run for run, _ in self.extra_rows}
        return [run for run in runs if run not in self.known and run not in others]

    def state(self) -> dict[str, Any]:
        """Current state except the position, as JSON values."""
        others = {run for run, _ in self.extra_rows} - self.known
        return {
            "known": len(self.known) + len(others),
            "extra": sorted(self.extra_rows),
            "others": sorted(others),
            "page": self.page,
        }

    def pages(self) -> Iterator[Page]:
        """Request pages until the server has no more; store each before the next is requested."""
        gap = 1 if self.since is None else _GAP
        if self.most is not None:
            yield from self._first_rows(self.most)
        elif self.position.window is not None:
            yield from self._walk(self.position, gap)
        elif self.since is not None:
            known = [run for run in self.known if run >= self.since]
            newest = max(known) - int(_LOOK_BACK * self.page) if known else 0
            yield from self._walk(self._position_of(max(self.since, newest)), gap)
            yield from self._beyond_the_gap(self.since)
        if self.most is None and self.since is None:
            yield from self._until_nothing_is_new()

    def _until_nothing_is_new(self) -> Iterator[Page]:
        fruitless, overlap, is_ordered = 0, _LOOK_BACK, True
        while True:
            start = max(self._rows_known() - int(overlap * self.page), 0)
            bulk, highest = not self.known or overlap == _OVERLAP, max(self.known, default=0)
            listing, requests = self._listing(start, self.answers.get, bulk=bulk)
            while start and not listing.rows:
                # Runs have vanished: the listing is shorter than the known runs.
                start = max(start - self.page, 0)
                listing, requests = self._listing(start, self.answers.get)
            taken, fresh = self._take(listing)
            yield Page(taken, requests, Position())
            rows = len(_keys(listing)) + listing.lost
            reaches_end = rows < self.page
            if reaches_end and start + rows <= self._rows_known():
                self.came_to_the_end = True
                self._count_fewer(start + len(listing.rows) + listing.lost)
                return
            if fresh:
                fruitless, overlap = 0, _OVERLAP
                if not reaches_end and _are_dense(fresh, len(fresh)):
                    yield from self._walk(self._position_of(fresh[0]))
                elif is_ordered and fresh[0] < highest:
                    # An unordered listing would never end; windows do, if ids are dense enough.
                    is_ordered = False
                    if _are_dense(self.known, self.estimate()):
                        yield from self._walk_over(self.known)
                continue
            before = self._rows_known()
            if not self.reaches(before):
                self.came_to_the_end = True
                return
            if fruitless == _FRUITLESS:
                logger.warning(
                    "%s: the server counts more evaluations than the %d different ones that it lists",
                    self.measure,
                    self._rows_known(),
                )
                return
            if not fruitless and self.known and _are_dense(self.known, len(self.known)):
                yield from self._walk_over(self.known)
            else:
                yield from self._all_pages()
            fruitless = fruitless + 1 if self._rows_known() == before else 0

    def _count_fewer(self, end: int) -> None:
        """Record how many known rows the listing lacks, if it ends at row `end`.

        A page may have shown a row twice in place of another, so the expected last row is requested.
        """
        last = self._rows_known() - 1
        if end <= last and not self.reaches(last, self.answers.connection.get):
            self.fewer = last + 1 - end

    def _beyond_the_gap(self, since: int) -> Iterator[Page]:
        """Windows up to the end of the listing, if a walk that ended at a gap did not reach it.

        The end of very long listings is unknown, but their ids are dense.
        """
        while not self.reaches(_DEEPEST):
            _, end = self._end(lambda _: self.page)
            listing, _ = self._listing(max(end - self.page, 0), self.answers.connection.get)
            runs = {run for run, _ in _keys(listing) if run >= since} - self.known
            if not runs:
                return
            before = self._rows_known()
            position = self._position_of(max((run for run in self.known if run >= since), default=since))
            yield from self._walk(position, _GAP, through=max(runs) // position.width)
            if self._rows_known() == before:
                return

    def estimate(self, get: Get | None = None) -> int:
        """Estimate the server's rows, to a tenth or a few, with a dozen requests."""
        return sum(self._end(lambda row: max(int(0.1 * row), _FEW), get)) // 2

    def _end(self, precision: Callable[[int], int], get: Get | None = None) -> tuple[int, int]:
        """Indices of a row in the listing and one beyond its end, as close as `precision` says."""
        low, high = 0, self.page
        while self.reaches(high, get):
            low, high = high, high * 4
        while high - low > precision(high):
            middle = (low + high) // 2
            if self.reaches(middle, get):
                low = middle
            else:
                high = middle
        return low, high

    # ---- windows ---------------------------------------------------------------------------------

    def _walk_over(self, runs: Collection[int]) -> Iterator[Page]:
        """All windows from the lowest to the highest of these runs, and on from there."""
        start = self._position_of(min(runs))
        yield from self._walk(start, through=max(runs) // start.width)

    def _position_of(self, run: int) -> Position:
        digits = len(str(run + 100 * self.page))
        width = min(self.page, self.answers.connection.longest_list(self._path("run/", bulk=True), digits))
        return Position(run // width, width)

    def _walk(self, start: Position, gap: int = 1, through: int = 0) -> Iterator[Page]:
        """Windows from a position until `gap` empty ones in a row beyond `through`."""
        upcoming, width, empty = start.window or 0, start.width, 0
        with _pool(self.jobs) as pool:
            waiting: deque[tuple[int, Future[tuple[Listing, list[str]]]]] = deque()
            while empty < gap:
                while len(waiting) < self.jobs:
                    low = max(upcoming * width, self.since or 1)
                    waiting.append((upcoming, pool.submit(self._window, low, (upcoming + 1) * width)))
                    upcoming += 1
                window, answer = waiting.popleft()
                listing, requests = answer.result()
                empty = 0 if listing.rows or window <= through else empty + 1
                is_over = empty == gap
                yield Page(
                    self._take(listing)[0], requests, Position() if is_over else Position(window + 1, width)
                )

    def _window(self, low: int, high: int) -> tuple[Listing, list[str]]:
        """The evaluations of runs `low` to `high` - 1, and the requests made for them."""
        size = high - low
        while size <= self.page:
            path = self._path(f"run/{','.join(map(str, range(low, high)))}", bulk=True)
            try:
                return self.answers.get(path, read_evaluations), [path]
            except ApiError as error:
                if error.no_results:
                    return Listing(), [path]
                if error.too_much and size > 1:
                    self._ask_for_less(error, size)
                    break
                self._ask_otherwise(error)
            except UnreadableError as error:
                if size == 1:
                    return self._lost(f"run {low}", low, error), [path]
                break
        middle = (low + high) // 2
        left, left_requests = self._window(low, middle)
        right, right_requests = self._window(middle, high)
        return joined(left, right), left_requests + right_requests

    # ---- listing by offset -----------------------------------------------------------------------

    def _all_pages(self) -> Iterator[Page]:
        """The whole listing from the start, without the cache."""
        start = 0
        while True:
            listing, requests = self._listing(start, self.answers.connection.get)
            if not listing.rows:
                return
            yield Page(self._take(listing)[0], requests, Position())
            start += self.page - int(_OVERLAP * self.page)

    def _first_rows(self, most: int) -> Iterator[Page]:
        """The first rows of the listing, unless so many are known."""
        start = 0
        while len(self.known) < most:
            listing, requests = self._listing(start, self.answers.get, most - start, bulk=True)
            if not listing.rows:
                return
            yield Page(self._take(listing)[0], requests, Position())
            start += len(listing.rows)
            if start >= most or len(listing.rows) < self.page:
                return

    def _listing(
        self, start: int, get: Get, most: int = LARGEST_PAGE, *, bulk: bool = False
    ) -> tuple[Listing, list[str]]:
        """A page of the listing from row `start`, empty beyond its end."""
        while True:
            limit = min(most, self.page)
            path = self._path(f"limit/{limit}/offset/{start}", bulk=bulk)
            try:
                return get(path, read_evaluations), [path]
            except ApiError as error:
                if error.no_results:
                    return Listing(), [path]
                if error.too_much and limit > 1:
                    self._ask_for_less(error, limit)
                else:
                    self._ask_otherwise(error)
            except UnreadableError as error:
                if limit == 1:
                    return self._lost(f"row {start} of the listing of {self.measure}", -start, error), [path]
                half = limit // 2
                left, left_requests = self._listing(start, get, half, bulk=bulk)
                right, right_requests = self._listing(start + half, get, limit - half, bulk=bulk)
                return joined(left, right), left_requests + right_requests

    def reaches(self, row: int, get: Get | None = None) -> bool:
        """Whether the server's listing has a row with this index, from 0."""
        path = self._path(f"limit/1/offset/{row}")
        try:
            return bool((get or self.answers.get)(path, read_evaluations).rows)
        except ApiError as error:
            if error.no_results:
                return False
            raise
        except UnreadableError:
            return True

    # ---- both ------------------------------------------------------------------------------------

    def _path(self, end: str, *, bulk: bool = False) -> str:
        """A request for evaluations, with their setups if many are new."""
        kind = "evaluation/setup/list" if bulk and self.with_setups else "evaluation/list"
        return "/".join(filter(None, [kind, "function", self.measure, self.filters, end]))

    def _ask_for_less(self, error: ApiError, asked: int) -> None:
        if error.code != 414:  # a too long path says nothing about the rows of an answer
            self.page = max(min(self.page, asked // 2), 1)
            logger.info("the server gives at most %s at once now", counted(self.page, "rows"))

    def _ask_otherwise(self, error: ApiError) -> None:
        """Request setups separately if the server has no listing with both; else give up."""
        if self.with_setups and error.code in (100, 404):
            self.with_setups = False
        elif error.code in (102, 103):
            raise BadInput(f"the server does not accept the API key: {error}") from error
        elif error.code in (540, 541, 544):
            raise BadInput(f"the server does not take this selection: {error}") from error
        else:
            raise Failed(f"the server refuses a request: {error}") from error

    def _lost(self, what: str, number: int, error: UnreadableError) -> Listing:
        """Record an unreadable row, which the server keeps counting."""
        self.unreadable(what, str(error))
        self.extra_rows.add((number, "unreadable"))
        return Listing(lost=1)

    def _take(self, listing: Listing) -> tuple[Listing, list[int]]:
        """Add the rows to the known ones.

        Returns:
            The rows to store, with the first engine's value of a run if there is one; and the runs with a new
            row, in order.
        """
        keys = _keys(listing)
        fresh = {
            run
            for run, engine in keys
            if (run not in self.known if engine == _FIRST_ENGINE else (run, engine) not in self.extra_rows)
        }
        self.known |= {run for run, engine in keys if engine == _FIRST_ENGINE}
        self.extra_rows |= {key for key in keys if key[1] != _FIRST_ENGINE}
        rows = [
            row
            for row in listing.rows
            if row.get("evaluation_engine_id", _FIRST_ENGINE) == _FIRST_ENGINE
            or int(row["run_id"]) not in self.known
        ]
        return replace(listing, rows=rows), sorted(fresh)

    def _rows_known(self) -> int:
        return len(self.known) + len(self.extra_rows)


def _are_dense(runs: Collection[int], count: int) -> bool:
    """Whether windows over these runs are full enough, with `count` runs from the first to the last."""
    return (max(runs) - min(runs)) / max(count, 1) < _SPARSE


def _keys(listing: Listing) -> set[tuple[int, str]]:
    """Run and engine of each row; rows may repeat."""
    return {(int(row["run_id"]), row.get("evaluation_engine_id", _FIRST_ENGINE)) for row in listing.rows}


def joined(left: Listing, right: Listing) -> Listing:
    """Join two pages."""
    return Listing(
        left.rows + right.rows,
        left.setups + right.setups,
        left.parameters | right.parameters,
        left.lost + right.lost,
    )


@contextmanager
def _pool(jobs: int) -> Iterator[ThreadPoolExecutor]:
    """Threads whose pending work is dropped at the end."""
    pool = ThreadPoolExecutor(jobs)
    try:
        yield pool
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
