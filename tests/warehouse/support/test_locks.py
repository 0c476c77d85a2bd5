"""A process waiting for a lock names its holder, and waits as long as the user wants."""

import json
import os
from pathlib import Path

import pytest

from tests.commands import Run
from tests.warehouse.worlds import Templates, runs
from warehouse.cli import main
from warehouse.store import Warehouse
from warehouse.support import locks
from warehouse.support.errors import Failed
from warehouse.support.locks import HOLDER, WAIT, holder_of, introduce, locked


@pytest.fixture
def folder(templates: Templates, tmp_path: Path) -> Path:
    """A warehouse without writers."""
    return templates.copy(tmp_path / "warehouse", runs(name="first")).path


def test_a_waiting_writer_names_the_holder_and_gives_up_in_one_line(
    folder: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(locks, "_SILENT", 0.1)
    monkeypatch.setenv(WAIT, "0.3s")
    monkeypatch.setattr("sys.argv", ["/usr/bin/ingest", "openml", "--flow", "6969"])
    us = rf"process {os.getpid()} \(ingest openml, since 20..-..-.. ..:..:..\+00:00\)"
    with locked(folder):
        introduce(folder)
        with pytest.raises(
            Failed, match=rf"^{us} is writing to {folder}: given up after \d s; try again"
        ) as given_up:
            Warehouse.open(folder).write(runs(name="second"), source="test")
    assert "\n" not in str(given_up.value)
    (told,) = caplog.messages
    assert (
        told == f"waiting for {str(given_up.value).partition(' is writing')[0]}, which is writing to {folder}"
    )
    assert Warehouse.open(folder).write(runs(name="second"), source="test").version == 2


def test_a_command_waits_as_long_as_it_is_told(
    folder: Path, run_command: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(WAIT, "10m")
    with locked(folder):
        code, out, err = run_command(main, "restore", "--version", 0, "--warehouse", folder, "--wait", "0")
    assert (code, out) == (1, "")
    assert err.startswith(f"error: another process is writing to {folder}: given up after 0 s")
    assert run_command(main, "restore", "--version", 0, "--warehouse", folder, "--wait", "soon")[0] == 2


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (
            {"process": 7, "host": "afar", "command": "tune", "since": "noon"},
            "process 7 on afar (tune, since noon)",
        ),
        (
            {"process": 2**22 + 1, "host": os.uname().nodename, "command": "a", "since": "b"},
            "another process",
        ),
        ({"process": 1}, "another process"),
        ([], "another process"),
        ("", "another process"),
    ],
    ids=["another machine", "killed", "incomplete", "no object", "of an older version"],
)
def test_a_known_holder_is_named(tmp_path: Path, content: object, expected: str) -> None:
    (tmp_path / HOLDER).write_text(json.dumps(content) if content else "")
    assert holder_of(tmp_path) == expected


def test_no_holder_is_named_if_nobody_has_written(tmp_path: Path) -> None:
    assert holder_of(tmp_path) == "another process"
