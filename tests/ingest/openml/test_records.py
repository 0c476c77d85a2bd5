"""The journal of a job: where it was left, and what it need not do again."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from ingest.openml.records import JobRecords, LeftOff
from ingest.openml.sweep import LARGEST_PAGE, Position
from warehouse.support.journal import Journal

FLOW, OTHER = "flow/41", "flow/51"


def stored(window: int, **facts: Any) -> dict[str, Any]:
    """A record's facts, but for what it is about."""
    return {"window": window, "width": 50, "extra": [], "others": [], "page": 100, **facts}


def swept(folder: Path, found: int, age: timedelta) -> None:
    """What a job wrote some time ago that swept one measure and was killed then."""
    folder.mkdir()
    journal = Journal(folder / "journal.jsonl")
    time = (datetime.now(UTC) - age).isoformat(timespec="seconds")
    journal.append({"event": "started", "time": time, "refresh": False})
    journal.append({"event": "swept", "time": time, "filters": FLOW, "measure": "kappa", "found": found})


def test_a_search_that_never_began_starts_from_nothing(tmp_path: Path) -> None:
    left = JobRecords(tmp_path / "job").left_off(FLOW, "kappa")
    assert (left.position, left.page) == (Position(), LARGEST_PAGE)
    assert not left.extra_rows
    assert not left.others


def test_a_search_goes_on_from_what_was_stored_last_of_its_own(tmp_path: Path) -> None:
    records = JobRecords(tmp_path)
    records.note("stored", filters=FLOW, measure="kappa", **stored(3))
    records.note(
        "stored", filters=FLOW, measure="kappa", **stored(4, extra=[(904, "2"), (-7, "x")], others=[904])
    )
    records.note("stored", filters=OTHER, measure="kappa", **stored(9))
    records.note("stored", filters=FLOW, measure="f_measure", **stored(8))
    expected = LeftOff(Position(4, 50), frozenset({(904, "2"), (-7, "x")}), frozenset({904}), 100)
    assert JobRecords(tmp_path).left_off(FLOW, "kappa") == expected


def test_what_an_interrupted_job_was_through_with_is_known_when_it_begins_again(tmp_path: Path) -> None:
    swept(tmp_path / "job", 7, timedelta(minutes=1))
    records = JobRecords(tmp_path / "job")
    records.begin({"server": "here"}, refresh=False)
    assert records.found_before_kill(FLOW, "kappa") == 7
    assert records.found_before_kill(OTHER, "kappa") is None
    assert records.found_before_kill(FLOW, "f_measure") is None


@pytest.mark.parametrize("end", ["finished", "another kind"])
def test_a_job_that_came_to_its_end_or_did_something_else_is_not_gone_on_with(
    tmp_path: Path, end: str
) -> None:
    """One that brings only what is new has not refreshed anything."""
    swept(tmp_path / "job", 7, timedelta(minutes=1))
    records = JobRecords(tmp_path / "job")
    if end == "finished":
        records.note("finished")
    records.begin({"server": "here"}, refresh=end == "another kind")
    assert records.found_before_kill(FLOW, "kappa") is None


def test_all_interruptions_of_a_job_count_together(tmp_path: Path) -> None:
    swept(tmp_path / "job", 7, timedelta(minutes=1))
    for _ in range(3):
        records = JobRecords(tmp_path / "job")
        records.begin({"server": "here"}, refresh=False)
    assert records.found_before_kill(FLOW, "kappa") == 7


@pytest.mark.parametrize(("hours", "lately"), [(23, True), (25, False)])
def test_a_search_of_a_day_ago_is_not_lately(tmp_path: Path, hours: int, lately: bool) -> None:
    swept(tmp_path / "job", 7, timedelta(hours=hours))
    records = JobRecords(tmp_path / "job")
    records.begin({"server": "here"}, refresh=False)
    assert records.asked_lately(FLOW, "kappa") is lately
    assert records.found_before_kill(FLOW, "kappa") == (7 if lately else None)
    assert not records.asked_lately(OTHER, "kappa")
