"""Records of a job's progress, from which a stopped job resumes.

A job's folder below `jobs` in the warehouse has a journal. Its records, by event:

    started    the selection
    stored     how far the search for a measure of a partition is, once that is in the warehouse
    swept      a search came to its end; `fewer` runs than known are listed, `unlisted` are which, if known
    skipped    what was left out, and why
    finished   the job came to its end
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from ingest.openml.sweep import LARGEST_PAGE, Position
from warehouse.support.files import make_folder
from warehouse.support.journal import Journal

_ASK_AGAIN = timedelta(days=1)
"""OpenML computes a run's measures together: while the first has nothing new, the others are asked daily."""


@dataclass(frozen=True)
class LeftOff:
    """State in which the search for a measure of a partition stopped."""

    position: Position = field(default_factory=Position)
    extra_rows: frozenset[tuple[int, str]] = frozenset()
    """(run, engine) of rows of other engines."""
    others: frozenset[int] = frozenset()
    """Runs that have no row of the first engine."""
    page: int = LARGEST_PAGE
    """Rows that the server gives at once."""


class JobRecords:
    """The journal of one job."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.skipped = 0
        """Number of objects skipped since the job began."""
        self._journal = Journal(folder / "journal.jsonl")
        self._unfinished: list[dict[str, Any]] = []

    def begin(self, content: dict[str, Any], *, refresh: bool) -> None:
        """Note that the job starts. What an interrupted one did is known unless it did something else."""
        records: list[dict[str, Any]] = []
        for record in self._journal.records():
            records = [] if record["event"] == "finished" else [*records, record]
        started = [record for record in records if record["event"] == "started"]
        self._unfinished = records if all(record["refresh"] == refresh for record in started) else []
        self.note("started", **content, refresh=refresh)

    def note(self, event: str, **facts: Any) -> None:
        """Add a record."""
        make_folder(self.folder)
        now = datetime.now(UTC).isoformat(timespec="seconds")
        self._journal.append({"event": event, "time": now, **facts})

    def skip(self, what: str, why: str) -> None:
        """Note that something is left out."""
        self.skipped += 1
        self.note("skipped", what=what, why=why)

    def left_off(self, filters: str, measure: str) -> LeftOff:
        """State from which the search for a measure is to go on."""
        last = _last("stored", filters, measure, self._journal.records())
        if last is None:
            return LeftOff()
        return LeftOff(
            Position(last["window"], last["width"]),
            frozenset((int(run), str(engine)) for run, engine in last["extra"]),
            frozenset(last["others"]),
            int(last["page"]),
        )

    def found_before_kill(self, filters: str, measure: str) -> int | None:
        """How many evaluations of a measure this job found before it was interrupted; None if it had not been
        through with it, or that is long ago."""
        swept = _swept_lately(filters, measure, self._unfinished)
        return int(swept["found"]) if swept is not None else None

    def asked_lately(self, filters: str, measure: str) -> bool:
        """Whether a search for a measure came to its end lately."""
        return _swept_lately(filters, measure, self._journal.records()) is not None


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
