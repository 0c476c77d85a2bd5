"""Writers, readers and `verify` on one warehouse at the same time, some of the writers killed.

    python -m tests.benchmarks.several_at_once FOLDER [--seconds 120]

FOLDER is made by whichever writer comes first. Three writers commit runs of a flow each, one of them is
killed every few seconds and begun again, and who finds many small files compacts them. A fourth one writes
to a warehouse of its own, FOLDER.other, and merges that. Two readers check that what they read is one
version: as many runs as its record says. `verify` runs again and again. In the end every run that a writer
reported as written has to be there once, and none that was not begun.
"""

from __future__ import annotations

import argparse
import json
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd

from warehouse.store import Warehouse
from warehouse.support.errors import BadInput

FLOWS = ("a", "b", "killed", "merged")


def write(folder: Path, flow: str, end: float, first: int) -> None:
    """Commit one run after the other; prints the number of each that is written."""
    warehouse = Warehouse.create(folder)
    merged = Warehouse.create(folder.with_name(f"{folder.name}.other")) if flow == "merged" else None
    number = first
    while time.time() < end:
        (merged or warehouse).write(rows(flow, number), source=flow)
        if merged:
            warehouse.merge(merged)
        print(number, flush=True)
        number += 1


def rows(flow: str, number: int) -> dict[str, pd.DataFrame]:
    """One run of a flow."""
    run, setup, key = f"file:{flow}-{number}", f"{flow}/{number}", f"other:{flow}"
    return {
        "datasets": pd.DataFrame({"dataset": ["openml:1"], "name": "iris"}),
        "tasks": pd.DataFrame({"task": ["openml:1"], "dataset": "openml:1", "task_type": "classification"}),
        "flows": pd.DataFrame({"flow": [key], "name": flow}),
        "setups": pd.DataFrame({"setup": [setup], "flow": key}),
        "runs": pd.DataFrame({"run": [run], "task": "openml:1", "setup": setup, "outcome": "success"}),
        "evaluations": pd.DataFrame(
            {"run": [run], "measure": "predictive_accuracy", "value": 0.5, "flow": key}
        ),
    }


def read(folder: Path, end: float) -> None:
    """Open the newest version again and again, and count; prints how often."""
    times = 0
    while time.time() < end:
        try:
            warehouse = Warehouse.open(folder)
        except BadInput:
            time.sleep(0.1)  # it is not made yet
            continue
        recorded = warehouse.sql("SELECT added FROM ingests")["added"].map(json.loads)
        expected = sum(added.get("runs", 0) for added in recorded)
        for table in ("runs", "evaluations"):
            count = warehouse.sql(f"SELECT count(*) AS n FROM {table}")["n"][0]
            if count != expected:
                raise SystemExit(f"version {warehouse.version} has {count} {table}, not {expected}")
        times += 1
    print(times)


def check(folder: Path, end: float) -> None:
    """Verify again and again; prints how often."""
    times = 0
    while time.time() < end:
        if (folder / "ingests" / "_delta_log").is_dir():
            damage = Warehouse.verify(folder, deep=times % 2 == 0).damage
            if damage:
                raise SystemExit(f"false damage: {damage}")
            times += 1
        time.sleep(0.2)
    print(times)


def compactions(folder: Path) -> int:
    """How often the writers put many small files of a table into one."""
    entries = [path.read_text() for path in folder.glob("*/_delta_log/*.json")]
    return sum('"dataChange":false' in entry for entry in entries)


def started(*arguments: object) -> subprocess.Popen[str]:
    """This module, doing one of the above."""
    command = [sys.executable, "-m", "tests.benchmarks.several_at_once", *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seconds", type=float, default=120.0)
    parser.add_argument("--part", nargs="+", help="what a process of this benchmark does")
    options = parser.parse_args()
    if options.part:
        name, end, *rest = options.part
        if name == "write":
            write(options.folder, rest[0], float(end), int(rest[1]))
        else:
            {"read": read, "check": check}[name](options.folder, float(end))
        return
    folder, end = options.folder, time.time() + options.seconds
    writers = {flow: started(folder, "--part", "write", end, flow, 0) for flow in FLOWS}
    others = [started(folder, "--part", name, end) for name in ("read", "read", "check")]
    written: dict[str, list[int]] = {flow: [] for flow in FLOWS}
    kills, chance = 0, random.Random(0)
    while time.time() < end - 10:
        time.sleep(chance.uniform(3, 6))
        writers["killed"].send_signal(signal.SIGKILL)
        written["killed"] += map(int, writers["killed"].communicate()[0].split())
        kills += 1
        first = max(written["killed"], default=-1) + 2  # the one after may be written, and not reported
        writers["killed"] = started(folder, "--part", "write", end, "killed", first)
    for flow, writer in writers.items():
        written[flow] += map(int, writer.communicate()[0].split())
    counts = [process.communicate()[0].strip() for process in others]
    codes = [process.returncode for process in (*writers.values(), *others)]
    there = Warehouse.open(folder).sql("SELECT run FROM runs")["run"].tolist()
    reported = {f"file:{flow}-{number}" for flow, numbers in written.items() for number in numbers}
    left = Warehouse.verify(folder, deep=True).damage
    print(f"exit codes {codes}; {kills} kills; {len(there)} commits, {counts[0]} and {counts[1]} reads,")
    print(f"{counts[2]} verifications; reported and lost: {len(reported - set(there))}; twice: ", end="")
    print(f"{len(there) - len(set(there))}; written and not reported: {len(set(there) - reported)}")
    print(f"damage in the end: {len(left)}; compactions: {compactions(folder)}")


if __name__ == "__main__":
    main()
