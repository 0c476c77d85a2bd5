"""Long commands that are told to end: a few of the moments that `endings` has many of."""

import signal
from pathlib import Path

import pytest

from tests.benchmarks.endings import BAD, LONG, Request, ended
from tests.benchmarks.kills import invoked


@pytest.mark.parametrize(
    ("name", "request_"),
    [
        ("tune", Request(signal.SIGHUP, "group x3", finished=2, seconds=0.0)),
        ("recommend --verify", Request(signal.SIGTERM, "group", finished=0, seconds=0.1)),
    ],
)
def test_a_long_command_says_what_it_knows_and_leaves_nothing_behind(
    name: str, request_: Request, tmp_path: Path
) -> None:
    (job,) = (job for job in LONG if job.name == name)
    (tmp_path / "job").mkdir()
    job.prepare(tmp_path / "job")
    found = ended(job, invoked(job.command), tmp_path / "job", request_)
    assert found["tries"] == 1
    assert {name: found[name] for name in BAD} == dict.fromkeys(BAD, 0), (tmp_path / "printed").read_text()
