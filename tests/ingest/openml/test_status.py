"""The status of jobs, from their journals alone."""

from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock

from ingest.openml.records import JobRecords
from ingest.openml.status import job_states
from warehouse.support.journal import Journal

CONTENT = {"server": "here", "flows": [41], "tasks": [], "most": None, "failures": False}


def job(warehouse: Path, name: str, *records: dict[str, Any]) -> Path:
    """A job's folder, with records at 1, 2, 3 ... o'clock."""
    folder = warehouse / "jobs" / name
    folder.mkdir(parents=True)
    for hour, record in enumerate(records, start=1):
        time = {"time": f"2026-05-04T{hour:02}:00:00+00:00"}
        Journal(folder / "journal.jsonl").append(time | record)
    return folder


def started(**facts: Any) -> dict[str, Any]:
    return {"event": "started", **CONTENT, "refresh": False, **facts}


def stored(filters: str, measure: str, known: int) -> dict[str, Any]:
    return {"event": "stored", "filters": filters, "measure": measure, "known": known}


def test_a_warehouse_without_jobs_has_none(tmp_path: Path) -> None:
    job(tmp_path, "begun by a process that died at once")
    assert job_states(tmp_path) == []
    assert job_states(tmp_path / "elsewhere") == []


def test_evaluations_are_summed_over_the_last_records_of_partitions(tmp_path: Path) -> None:
    """30 of one flow, after 10, and 5 of another; the other measure was requested for one flow."""
    job(
        tmp_path,
        "a",
        started(),
        stored("flow/1", "kappa", 10),
        stored("flow/2", "kappa", 5),
        stored("flow/1", "kappa", 30),
        stored("flow/1", "f_measure", 2),
    )
    (state,) = job_states(tmp_path)
    assert state.evaluations == {"kappa": 35, "f_measure": 2}


def test_only_the_given_parts_of_a_selection_are_shown(tmp_path: Path) -> None:
    job(tmp_path, "a", started(refresh=True))
    (state,) = job_states(tmp_path)
    assert (state.server, state.selection) == ("here", {"flows": [41], "refresh": True})


@pytest.mark.parametrize(
    ("records", "expected"),
    [
        ([started(), {"event": "finished"}], "finished"),
        ([started()], "interrupted"),
        ([started(), {"event": "finished"}, started()], "interrupted"),
        ([started(), started(), {"event": "finished"}], "finished"),
    ],
)
def test_a_job_is_running_while_its_lock_is_held_else_in_the_state_of_its_last_record(
    tmp_path: Path, records: list[dict[str, Any]], expected: str
) -> None:
    folder = job(tmp_path, "a", *records)
    with FileLock(folder / ".lock"):
        assert job_states(tmp_path)[0].state == "running"
    assert job_states(tmp_path)[0].state == expected


def test_jobs_are_ordered_by_their_last_activity(tmp_path: Path) -> None:
    job(tmp_path, "a", started(), started(), started())
    job(tmp_path, "b", started(server="there"))
    first, second = job_states(tmp_path)
    assert (first.server, second.server) == ("there", "here")
    assert (second.started[11:13], second.last[11:13]) == ("01", "03")


def test_skipped_objects_are_shown_with_the_reason(tmp_path: Path) -> None:
    records = JobRecords(tmp_path / "jobs" / "a")
    records.begin(CONTENT, refresh=False)
    records.skip("setup 7", "lost")
    records.skip("flow 3", "unreadable")
    (state,) = job_states(tmp_path)
    assert state.skipped == [("setup 7", "lost"), ("flow 3", "unreadable")]
    assert records.skipped == 2
