"""What a command takes: its seconds, the processor's, and its peak memory."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

# A process begins with the peak memory of the one that starts it, so that one has to be small.
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
    """What a command took, and how it ended."""

    seconds: float
    """By the clock."""
    processor: float
    """Seconds of the processor, of all its threads and processes."""
    peak: int
    """Peak memory of its largest process, in MiB."""
    code: int | None
    """Exit code; None where it was stopped at the limit."""
    printed: str
    errors: str


def measured(command: list[str], limit: float | None = None) -> Measured:
    """Run a command, a console script of this environment by its name, for at most `limit` seconds."""
    script = Path(sys.executable).parent / command[0]
    program = [str(script) if script.is_file() else command[0], *command[1:]]
    begun = [sys.executable, "-S", "-c", _SMALL_PARENT, json.dumps(limit), *program]
    done = subprocess.run(begun, capture_output=True, text=True, check=True)
    printed, _, used = done.stdout.rstrip("\n").rpartition("\n")
    seconds, processor, peak, code = json.loads(used)
    return Measured(seconds, processor, peak // 1024, code, printed, done.stderr.strip())
