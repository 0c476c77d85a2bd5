"""Resources used by a command: wall-clock time, processor time and peak memory."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

# A process inherits the peak memory of its parent, so the parent must be small.
_SMALL_PARENT = """
import json, resource, subprocess, sys, time
start = time.perf_counter()
try:
    code = subprocess.run(sys.argv[2:], timeout=json.loads(sys.argv[1])).returncode
except subprocess.TimeoutExpired:
    code = None
used = resource.getrusage(resource.RUSAGE_CHILDREN)
seconds = time.perf_counter() - start
print()
print(json.dumps([seconds, used.ru_utime + used.ru_stime, used.ru_maxrss, code]))
"""


@dataclass(frozen=True)
class Measured:
    """Resources used by a command, and how it ended."""

    seconds: float
    """Wall-clock time."""
    processor: float
    """Processor time in seconds, of all its threads and processes."""
    peak: int
    """Peak memory of its largest process, in MiB."""
    code: int | None
    """Exit code; None if it was stopped at the limit."""
    printed: str
    errors: str


def measured(command: list[str], limit: float | None = None) -> Measured:
    """Run a command, such as a console script of this environment, for at most `limit` seconds."""
    script = Path(sys.executable).parent / command[0]
    program = [str(script) if script.is_file() else command[0], *command[1:]]
    begun = [sys.executable, "-S", "-c", _SMALL_PARENT, json.dumps(limit), *program]
    done = subprocess.run(begun, capture_output=True, text=True, check=True)
    printed, _, used = done.stdout.rstrip("\n").rpartition("\n")
    seconds, processor, peak, code = json.loads(used)
    return Measured(seconds, processor, peak // 1024, code, printed, done.stderr.strip())
