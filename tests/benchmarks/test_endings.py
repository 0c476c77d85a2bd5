"""A long command that is interrupted: one of the many moments of `endings`."""

import signal
from pathlib import Path

from tests.benchmarks.endings import BAD, LONG, Request, ended
from tests.benchmarks.kills import invoked


def test_a_verification_says_what_it_knows_and_leaves_nothing_behind(tmp_path: Path) -> None:
    (job,) = (job for job in LONG if job.name == "recommend --verify")
    (tmp_path / "job").mkdir()
    job.prepare(tmp_path / "job")
    request = Request(signal.SIGTERM, "group", finished=0, seconds=0.1)
    found = ended(job, invoked(job.command), tmp_path / "job", request)
    assert found["tries"] == 1
    assert {name: found[name] for name in BAD} == dict.fromkeys(BAD, 0), (tmp_path / "printed").read_text()
