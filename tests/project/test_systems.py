"""What works, and what is refused, on systems such as Windows, which lack some of Python's modules."""

import subprocess
import sys
from pathlib import Path

from tests.cases import each
from tests.project.documents import ROOT

EXAMPLE = "recommend/examples/subscribers.csv"
ELSEWHERE = """
import multiprocessing, os, runpy, signal, subprocess, sys
sys.modules.update(fcntl=None, resource=None)
import filelock
for name in ("O_DIRECTORY", "fchmod", "fork", "killpg", "setsid"):
    delattr(os, name)
for name in ("SIGALRM", "SIGKILL"):
    delattr(signal, name)
del sys.argv[0]
runpy.run_module(sys.argv[0], run_name="__main__")
"""
"""Runs a module as if the system had no more than that."""


def elsewhere(module: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-W", "ignore", "-c", ELSEWHERE, module, *map(str, arguments)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)


def test_a_recommendation_and_its_files_need_no_module_of_posix(tmp_path: Path) -> None:
    seeds, code = tmp_path / "seeds.json", tmp_path / "first.py"
    code.write_text("an earlier one")
    ended = elsewhere("recommend", EXAMPLE, "--seeds", seeds, "--code", code)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert seeds.stat().st_size > 1000 < code.stat().st_size


@each("command", [("recommend", EXAMPLE, "--verify", "5s"), ("recommend.bo", EXAMPLE)])
def test_training_is_refused_in_one_line_where_it_cannot_be_limited(command: tuple[str, ...]) -> None:
    ended = elsewhere(*command)
    assert ended.returncode == 2
    (line,) = ended.stderr.splitlines()
    assert line.startswith("error: --verify, tune, HeadstartClassifier and experiments")
    assert "Linux (on Windows: in WSL)" in line


def test_the_classifier_is_refused_on_import_where_training_cannot_be_limited() -> None:
    script = "import sys; sys.modules['resource'] = None\nfrom recommend import HeadstartClassifier"
    ended = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, timeout=300
    )
    assert ended.stderr.splitlines()[-1].startswith("warehouse.support.errors.MissingPackage: --verify, ")
