"""Commands on systems such as Windows, which lack some of Python's modules."""

import subprocess
import sys
from pathlib import Path

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
from recommend.cli import main
_, example, *files = sys.argv
for options in (files, ["--verify", "5s"]):
    sys.argv = ["recommend", example, *options]
    try:
        main()
    except SystemExit as end:
        print("exit code", end.code or 0, flush=True)
try:
    from recommend import HeadstartClassifier
except Exception as error:
    print(error, file=sys.stderr)
sys.argv = ["tune", example]
runpy.run_module("recommend.bo", run_name="__main__")
"""
"""Two commands, an import and another command, with the modules of such a system only."""


def test_recommending_needs_no_posix_module_and_training_is_refused_in_one_line(tmp_path: Path) -> None:
    """Training is `--verify`, `tune`, and the import of the classifier."""
    seeds, code = tmp_path / "seeds.json", tmp_path / "first.py"
    code.write_text("an earlier one")
    files = ("--seeds", str(seeds), "--code", str(code))
    command = [sys.executable, "-W", "ignore", "-c", ELSEWHERE, EXAMPLE, *files]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=600)
    codes = [line for line in ended.stdout.splitlines() if line.startswith("exit code")]
    assert (codes, ended.returncode) == (["exit code 0", "exit code 2"], 2), ended.stderr
    assert seeds.stat().st_size > 1000 < code.stat().st_size
    refusals = [line.removeprefix("error: ") for line in ended.stderr.splitlines()]
    assert len(refusals) == 3
    for refusal in refusals:
        assert refusal.startswith("--verify, tune, HeadstartClassifier and experiments")
        assert "Linux (on Windows: in WSL)" in refusal
