"""The journal of a job: what need not be repeated; `test_job` and `test_sweep` test where it continues."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from ingest.openml.records import JobRecords
from warehouse.support.journal import Journal

FLOW, OTHER = "flow/41", "flow/51"


def swept(folder: Path, found: int, age: timedelta) -> None:
    """Records of a job that some time ago swept one measure and was killed then."""
    folder.mkdir()
    journal = Journal(folder / "journal.jsonl")
    time = (datetime.now(UTC) - age).isoformat(timespec="seconds")
    journal.append({"event": "started", "time": time, "refresh": False})
    journal.append({"event": "swept", "time": time, "filters": FLOW, "measure": "kappa", "found": found})


@pytest.mark.parametrize(("hours", "lately"), [(23, True), (25, False)])
def test_a_search_of_a_day_ago_is_not_recent(tmp_path: Path, hours: int, lately: bool) -> None:
    swept(tmp_path / "job", 7, timedelta(hours=hours))
    records = JobRecords(tmp_path / "job")
    records.begin({"server": "here"}, refresh=False)
    assert records.asked_lately(FLOW, "kappa") is lately
    assert records.found_before_kill(FLOW, "kappa") == (7 if lately else None)
    assert not records.asked_lately(OTHER, "kappa")
