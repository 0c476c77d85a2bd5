"""Status of the jobs of a warehouse, from their journals."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from warehouse.support.journal import Journal


@dataclass(frozen=True)
class JobState:
    """One job: a selection of runs of one server."""

    server: str
    selection: dict[str, Any]
    """The non-empty fields of `ingest.openml.selection.Selection`."""
    state: str
    """`running`, `finished` or `interrupted`."""
    started: str
    """Start of the first run of the job, in UTC."""
    last: str
    """Time of its last activity, in UTC."""
    evaluations: dict[str, int]
    """Measure -> number of evaluations found so far."""
    skipped: list[tuple[str, str]]
    """Skipped objects, with reasons."""
    fewer: int
    """Number of known runs that the server no longer lists. They are kept."""
    unlisted: list[int]
    """Ids of these runs, if a job with `refresh` has determined them."""


def job_states(warehouse: Path) -> list[JobState]:
    """The jobs of the warehouse at this path, the latest last."""
    states = [state for folder in (warehouse / "jobs").glob("*") for state in _state(folder)]
    return sorted(states, key=lambda state: state.last)


def _state(folder: Path) -> Iterator[JobState]:
    records = list(Journal(folder / "journal.jsonl").records())
    begun = [record for record in records if record["event"] == "started"]
    if not begun:
        return
    selection = {name: value for name, value in begun[-1].items() if name not in ("event", "time", "server")}
    evaluations: dict[tuple[str, str], int] = {}
    for record in records:
        if record["event"] == "stored":
            evaluations[record["filters"], record["measure"]] = record["known"]
    measures = dict.fromkeys(measure for _, measure in evaluations)
    yield JobState(
        server=begun[-1]["server"],
        selection={name: value for name, value in selection.items() if value not in (None, [], False)},
        state=_activity(folder, records[-1]["event"]),
        started=begun[0]["time"],
        last=records[-1]["time"],
        evaluations={
            measure: sum(count for (_, other), count in evaluations.items() if other == measure)
            for measure in measures
        },
        skipped=[(record["what"], record["why"]) for record in records if record["event"] == "skipped"],
        **_unlisted(records),
    )


def _unlisted(records: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """The newest records of runs that the server no longer lists."""
    fewer: dict[str, dict[str, int]] = {}
    gone: dict[tuple[str, str], list[int]] = {}
    for record in records:
        if record["event"] == "swept":
            filters, measure = record["filters"], record["measure"]
            fewer.setdefault(filters, {})[measure] = record.get("fewer", 0)
            if record.get("unlisted") is not None:
                gone[filters, measure] = record["unlisted"]
            elif not record.get("fewer"):
                gone.pop((filters, measure), None)
    return {
        "fewer": sum(max(of_measure.values()) for of_measure in fewer.values()),
        "unlisted": sorted({run for runs in gone.values() for run in runs}),
    }


def _activity(folder: Path, last_event: str) -> str:
    try:
        with FileLock(folder / ".lock", timeout=0):
            return "finished" if last_event == "finished" else "interrupted"
    except Timeout:
        return "running"
