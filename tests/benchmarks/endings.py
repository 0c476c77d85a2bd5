"""Long commands interrupted at any moment: whether each reports its results, and leaves nothing behind.

    python -m tests.benchmarks.endings FOLDER [--moments 15] [--jobs NAME,NAME] [--signals SIGHUP] [--seed 0]

Each job of `kills`, `recommend --verify` and a script that fits an estimator run once undisturbed. Then they
are started again and again, each in its own process group, and interrupted by SIGINT, SIGTERM or SIGHUP: the
process alone, its group, and its group three times in a row. This happens alternately at a random moment, and
after a random number of finished trials. Moments begin when a process handles signals, after the start of
Python. For each job and signal, it counts over all moments

    tries      signals before the job had ended
    lost       neither a result nor `error: interrupted`, or no table although trials have finished
    code       exit codes other than 130, or 0 for a finished job
    noise      tracebacks and warnings in the output
    false      recorded failures of runs that succeed undisturbed
    left       processes still running a minute later
"""

from __future__ import annotations

import os
import random
import re
import shutil
import signal
import subprocess
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from tests.benchmarks.kills import (
    IN_WAREHOUSE,
    JOBS,
    PATIENCE,
    Job,
    begin_with_runs,
    invoked,
    parser_of,
    start,
)
from tests.openml_server import OpenMLServer, generated_world
from warehouse.store import Warehouse
from warehouse.support.journal import Journal
from warehouse.support.signals import INTERRUPTED

BAD = ("lost", "code", "noise", "false", "left")
"""Counts that should be zero."""
TARGETS = {"process": (os.kill, 1), "group": (os.killpg, 1), "group x3": (os.killpg, 3)}
"""How a signal is sent, and how often, by its target."""
SCRIPT = """
from sklearn.datasets import make_classification
from recommend import HeadstartClassifier
HeadstartClassifier(time_budget=8, warehouse="warehouse").fit(*make_classification(300))
"""
VERIFY = ("recommend", "mine/numbers150.csv", "--verify", "8s", "--flow", "decision_tree", *IN_WAREHOUSE)
FIT = Job("fit", begin_with_runs, ("python", "-c", SCRIPT))
LONG = (*JOBS, Job("recommend --verify", begin_with_runs, VERIFY), FIT)
TABLES = {"tune": r"^\d+ trials? \(", "recommend --verify": r"^ *1  ", "ingest file": "^warehouse version"}
"""Start of a line of the table printed by a job."""


@dataclass(frozen=True)
class Request:
    """How a job is interrupted."""

    number: signal.Signals
    target: str
    finished: int
    """Number of trials that must have finished."""
    seconds: float
    """Seconds to wait after that, once the job handles signals."""


def handles_signals(process: subprocess.Popen[str]) -> bool:
    """Whether the process handles SIGTERM, as Python itself does not, or has ended; by Linux's procfs."""
    status = Path(f"/proc/{process.pid}/status").read_text()
    caught = re.search(r"^SigCgt:\s*(\w+)$", status, re.M)
    return caught is None or bool(int(caught[1], 16) >> (signal.SIGTERM - 1) & 1)


def failures(folder: Path) -> int:
    """Number of runs and trials recorded as crashed or out of memory."""
    records = [record for path in folder.rglob("*.jsonl") for record in Journal(path).records()]
    failed = sum(record.get("outcome") in ("crash", "memout") for record in records)
    known = "SELECT count(*) AS n FROM runs WHERE outcome IN ('crash', 'memout')"
    return failed + int(Warehouse.open(folder / "warehouse").sql(known)["n"].item())


def ended(job: Job, command: list[str], folder: Path, request: Request) -> Counter[str]:
    """Start a job, interrupt it, and check its output and what it left; empty if it had already ended."""
    process = start(command, folder)
    while process.poll() is None and not (job is FIT or handles_signals(process)):
        time.sleep(0.002)
    while process.poll() is None and len(job.kept(folder)) < request.finished:
        time.sleep(0.002)
    try:
        process.wait(request.seconds)
    except subprocess.TimeoutExpired:
        children = psutil.Process(process.pid).children(recursive=True)
        send, times = TARGETS[request.target]
        for _ in range(times):
            if process.poll() is None:
                send(process.pid, request.number)
                time.sleep(0.05)
        return _found(job, folder, process.wait(PATIENCE), request, children)
    return Counter()


def _found(
    job: Job, folder: Path, code: int, request: Request, children: list[psutil.Process]
) -> Counter[str]:
    printed = folder.with_name("printed").read_text()
    says_so = re.search("^error: interrupted$", printed, re.M) is not None
    table = TABLES.get(job.name)
    has_table = table is not None and re.search(table, printed, re.M) is not None
    finished = job.kept(folder)
    found = Counter(tries=1)
    # A user's script ends as Python does.
    codes = (-request.number, 0) if job is FIT else (INTERRUPTED,) if says_so else (INTERRUPTED, 0)
    found["code"] += code not in codes
    found["lost"] += job is not FIT and code == INTERRUPTED and not (says_so or has_table)
    found["lost"] += job.name == "tune" and bool(finished) and not has_table
    traces = printed if job is not FIT else re.sub(r"^KeyboardInterrupt$", "", printed, count=1, flags=re.M)
    found["noise"] += (
        re.search(r"^\w*(Error|Warning|Interrupt)\b|Exception ignored|resource_tracker", traces, re.M)
        is not None
    )
    found["false"] += failures(folder) if finished else 0
    found["left"] += len(psutil.wait_procs(children, PATIENCE)[1])
    return found


def end_often(
    job: Job, numbers: list[signal.Signals], moments: int, folder: Path, seed: int, server: str
) -> dict[signal.Signals, Counter[str]]:
    """Interrupt a job at random moments, by each signal and target, each on a copy of its initial folder."""
    command = [part.replace("SERVER", server) for part in invoked(job.command)]
    begun = folder / "begun"
    begun.mkdir(parents=True)
    job.prepare(begun)
    shutil.copytree(begun, folder / "whole")
    begin = time.monotonic()
    process = start(command, folder / "whole")
    if process.wait():
        raise SystemExit(f"{job.name}: {(folder / 'printed').read_text()}")
    seconds, whole = time.monotonic() - begin, job.kept(folder / "whole")
    chance = random.Random(f"{seed} {job.name}")
    total: dict[signal.Signals, Counter[str]] = {
        number: Counter(dict.fromkeys(("tries", *BAD), 0)) for number in numbers
    }
    for number in numbers:
        for target in TARGETS:
            for moment in range(moments):
                shutil.rmtree(folder / "told", ignore_errors=True)
                shutil.copytree(begun, folder / "told")
                finished = chance.randint(1, len(whole)) if whole and moment % 2 else 0
                request = Request(number, target, finished, chance.uniform(0, 0.1 if finished else seconds))
                found = ended(job, command, folder / "told", request)
                total[number].update(found)
                if any(found[name] for name in BAD):
                    print(
                        job.name, request, dict(found), (folder / "printed").read_text()[-2000:], flush=True
                    )
    return total


def main() -> None:
    parser = parser_of(__doc__, LONG)
    parser.add_argument("--moments", type=int, default=15, help="of each job, signal and target")
    parser.add_argument("--signals", default="SIGINT,SIGTERM,SIGHUP")
    options = parser.parse_args()
    numbers = [signal.Signals[name] for name in options.signals.split(",")]
    print(f"{'job':20}{'signal':>9}" + "".join(f"{name:>7}" for name in ("tries", *BAD)), flush=True)
    bad = 0
    with OpenMLServer(generated_world(), page_limit=20) as server:
        for job in options.jobs:
            place: Any = options.folder / job.name.replace(" ", "-")
            for number, found in end_often(
                job, numbers, options.moments, place, options.seed, server.url
            ).items():
                bad += sum(found[name] for name in BAD)
                print(
                    f"{job.name:20}{number.name:>9}"
                    + "".join(f"{found[name]:7}" for name in ("tries", *BAD)),
                    flush=True,
                )
    if bad:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
