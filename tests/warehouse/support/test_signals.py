"""Ctrl-C and SIGTERM end a command at any point with one line and exit code 130."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.commands import handled

PACKAGES = ("ingest", "metalearners", "recommend", "recommend.bo", "warehouse")
WAITS = """
import os, runpy, signal, sys, threading, time
place, package, number, sys.argv = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[2:3] + sys.argv[4:]

class Interrupted:
    # Sends the signal when a module is imported, or the first time that it is looked for.
    def find_spec(self, name, path=None, target=None):
        if name == place:
            sys.meta_path.remove(self)
            os.kill(os.getpid(), number)

sys.meta_path.insert(0, Interrupted())
runpy.run_module(package, run_name="__main__", alter_sys=True)
"""
"""Run a package as a command, which gets a signal when it begins to import a module."""


def interrupted(place: str, package: str, number: int, *arguments: str, folder: Path) -> tuple[int, str]:
    """Exit code and stderr of a command."""
    with handled():
        done = subprocess.run(
            [sys.executable, "-c", WAITS, place, package, str(number), *arguments],
            capture_output=True,
            text=True,
            env={**os.environ, "XDG_DATA_HOME": str(folder), "XDG_CACHE_HOME": str(folder)},
            check=False,
        )
    return done.returncode, done.stderr


@pytest.mark.parametrize("package", PACKAGES)
def test_a_command_ends_while_it_is_imported(package: str, tmp_path: Path) -> None:
    found = interrupted("typer", package, signal.SIGINT, "--help", folder=tmp_path)
    assert found == (130, "error: interrupted\n")


@pytest.mark.parametrize(
    ("place", "number"),
    [("numpy", signal.SIGTERM), ("sklearn.preprocessing", signal.SIGINT), ("scipy.linalg", signal.SIGHUP)],
)
def test_recommend_ends_during_its_work(place: str, number: int, tmp_path: Path) -> None:
    found = interrupted(place, "recommend", number, "recommend/examples/subscribers.csv", folder=tmp_path)
    assert found == (130, "error: interrupted\n")
