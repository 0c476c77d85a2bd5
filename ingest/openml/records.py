"""Records of a job's progress, from which a stopped job resumes.

A job's folder below `jobs` in the warehouse has a journal with these events:

    started    the selection
    stored     progress of the search for a measure of a partition, in the warehouse
    swept      a search ended; `fewer`: how many known runs are not listed, `unlisted`: which, if known
    skipped    an object was left out, with the reason
    finished   the job ended
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
"""OpenML computes a run's measures together: if the first has nothing new, the others are requested daily."""


@dataclass(frozen=True)
class LeftOff:
    """State in which the search for a measure of a partition stopped."""

    position: Position = field(default_factory=Position)
    extra_rows: frozenset[tuple[int, str]] = frozenset()
    """(run, engine) of rows by other engines."""
    others: frozenset[int] = frozenset()
    """Runs without a row by the first engine."""
    page: int = LARGEST_PAGE
    """Most rows per request."""


class JobRecords:
    """The journal of one job."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.skipped = 0
        """Number of skipped objects since the job's start."""
        self._journal = Journal(folder / "journal.jsonl")
        self._unfinished: list[dict[str, Any]] = []

    def begin(self, content: dict[str, Any], *, refresh: bool) -> None:
        """Record the start of a job. It resumes an interrupted one only if that did the same."""
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
        """Record that something is left out."""
        self.skipped += 1
        self.note("skipped", what=what, why=why)

    def left_off(self, filters: str, measure: str) -> LeftOff:
        """State from which the search for a measure continues."""
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
        """How many evaluations of a measure this job found before it was interrupted; None if it had not
        completed the measure, or long ago."""
        swept = _swept_lately(filters, measure, self._unfinished)
        return int(swept["found"]) if swept is not None else None

    def asked_lately(self, filters: str, measure: str) -> bool:
        """Whether a search for a measure ended recently."""
        return _swept_lately(filters, measure, self._journal.records()) is not None


def _last(event: str, filters: str, measure: str, records: Iterable[dict[str, Any]]) -> dict[str, Any] | None:
    """The last such event of a measure of a partition."""
    last = None
    for record in records:
        if record["event"] == event and (record["filters"], record["measure"]) == (filters, measure):
            last = record
    return last


def _swept_lately(filters: str, measure: str, records: Iterable[dict[str, Any]]) -> dict[str, Any] | None:
    """The last end of a search for a measure, if it was recent."""
    last = _last("swept", filters, measure, records)
    is_old = last is None or datetime.now(UTC) - datetime.fromisoformat(last["time"]) >= _ASK_AGAIN
    return None if is_old else last
