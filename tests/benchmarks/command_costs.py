"""Time and memory of every command on a warehouse of OpenML's shape.

    python -m tests.benchmarks.command_costs FOLDER [--runs 10000000] [--only "warehouse export" train ...]

The warehouse in FOLDER is made by `tests.benchmarks.synthetic_warehouse` if it is not there, and stays as it
is: commands work on a copy, one after another. Each is a process of its own, as a user starts it; what is
printed are the seconds that pass, those of the processor (of all threads and processes), and the peak memory
of its largest process. Whoever stops at --limit, in seconds, is said to.

Files that commands read are small, so that what they take is what the warehouse costs: a CSV of 500 rows, a
run table of 1,000 runs, and a warehouse of 1,000 other runs to merge. `ingest openml` is measured by
`tests.benchmarks.openml_ingest`.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

from tests.benchmarks.processes import Measured, measured
from tests.benchmarks.recommend_time import write_csv
from tests.benchmarks.synthetic_warehouse import DENSE, Shape, generate, parents, rows
from warehouse.store import Warehouse

_SPACE = {"hyperparameters": {"eta": {"low": 0.001, "high": 1.0, "log": True, "default": 0.3}}}


def commands(folder: Path, runs: int, scratch: Path) -> list[list[str]]:
    """Command lines, in an order in which each finds what it needs; those before it may have added rows."""
    write_csv(scratch / "data.csv", 500, 10)
    (scratch / "datasets").mkdir()
    write_csv(scratch / "datasets" / "other.csv", 600, 8)
    _write_runs(scratch / "runs.csv")
    (scratch / "space.json").write_text(json.dumps(_SPACE))
    other = Warehouse.create(scratch / "other")
    other.write(parents(Shape(runs)), source="synthetic")
    other.write(rows(Shape(runs), runs, 1_000), source="synthetic")
    data = [str(scratch / "data.csv"), "--target", "outcome", "--quiet"]
    path = {name: str(scratch / name) for name in ("runs.csv", "space.json", "other", "copy", "search")}
    here = ["--warehouse", str(folder)]
    evaluation = str(scratch / "evaluation.json")
    return [
        ["warehouse", "info", *here],
        ["warehouse", "query", "SELECT measure, avg(value) FROM evaluations GROUP BY measure", *here],
        ["warehouse", "verify", *here],
        ["warehouse", "verify", "--deep", *here],
        ["warehouse", "repair", *here],
        ["warehouse", "export", path["copy"], *here],
        ["warehouse", "merge", path["other"], *here],
        ["warehouse", "restore", "--version", "1", "--warehouse", path["other"]],
        ["ingest", "file", path["runs.csv"], "--flow", "own-boosting", *here],
        ["ingest", "space", path["space.json"], "--flow", "own-boosting", *here],
        ["ingest", "status", *here],
        ["ingest", "metafeatures", str(scratch / "data.csv"), "--target", "outcome"],
        [
            *("ingest", "experiments", "--datasets", str(scratch / "datasets"), "--flows", "decision_tree"),
            *("--configurations", "2", "--quiet", *here),
        ],
        ["metalearners", "train", "--quiet", *here],
        ["metalearners", "train", "--flow", DENSE, "--learner", "lightgbm", "--quiet", *here],
        [
            *("metalearners", "evaluate", "--flow", DENSE, "--learner", "average-rank", "--quiet"),
            *("--output", evaluation, *here),
        ],
        ["metalearners", "compare", evaluation, evaluation],
        ["metalearners", "models", *here],
        ["metalearners", "list"],
        ["recommend", *data, *here],
        ["recommend", *data, "--flow", DENSE, "--metalearner", "lightgbm", *here],
        [
            *("tune", *data, "--flow", "decision_tree", "--trials", "5"),
            *("--history", path["search"], *here),
        ],
        [
            *("tune", "simulate", "--flow", DENSE, "--method", "random", "--trials", "5", "--folds", "2"),
            *("--quiet", *here),
        ],
    ]


def _write_runs(path: Path) -> None:
    random = np.random.default_rng(0)
    runs = pd.DataFrame({"task_id": np.repeat(np.arange(1, 11), 100), "eta": np.tile(random.random(100), 10)})
    runs.assign(predictive_accuracy=random.random(len(runs)).round(4)).to_csv(path, index=False)


def main() -> None:
    """Read the command line, and print a table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--runs", type=int, default=10_000_000)
    parser.add_argument("--limit", type=float, default=600.0)
    parser.add_argument("--only", nargs="+", default=[""], help="commands with one of these in their lines")
    options = parser.parse_args()
    if not options.folder.is_dir():
        generate(options.folder, options.runs)
    with tempfile.TemporaryDirectory(dir=options.folder.parent) as scratch:
        copy = Path(scratch) / "warehouse"
        shutil.copytree(options.folder, copy, copy_function=os.link)  # its files are never changed
        print("| command | seconds | of the processor | peak memory (MiB) |\n|---|---|---|---|")
        for command in commands(copy, options.runs, Path(scratch)):
            shown = " ".join(Path(part).name if "/" in part else part for part in command)
            if any(part in shown for part in options.only):
                took = measured(command, options.limit)
                figures = f"{took.seconds:.1f} | {took.processor:.1f} | {took.peak:,}"
                print(f"| `{shown}` {_ended(took)} | {figures} |", flush=True)


def _ended(took: Measured) -> str:
    """Why a command did not do what it was to do; empty where it did."""
    if took.code is None:
        return "stopped"
    return took.errors.rpartition("\n")[2] if took.code else ""


if __name__ == "__main__":
    main()
