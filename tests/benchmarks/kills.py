"""Jobs killed at any moment: whether anything is lost, duplicated or half done, and whether they can resume.

    python -m tests.benchmarks.kills FOLDER [--kills 110] [--jobs NAME,NAME] [--seed 0]

Each job runs once undisturbed. Then it is started again and again on a copy of its initial folder, and killed
(SIGKILL): alternately at a random time, or after it has written a random number of files, most of them in
commits. The remains are verified (`warehouse verify --deep`) and opened, and the same command is run again.
For each job, it counts over all kills

    lost      rows, finished runs and trials that existed after the kill but are missing or different at the
              end; and reported versions that do not exist
    doubled   rows with a duplicate key
    false     damage, contents that no commit made, and final states that differ from that of
              the undisturbed job
    files     files left by the killed job that belong to no version and still exist after the second run
    left      processes still running a minute after the kill
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import shutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import psutil

from ingest.reading.datasets import load_dataset
from ingest.running.evaluation import Evaluation
from ingest.running.experiments import planned_runs
from ingest.running.limits import Outcome
from ingest.running.plan import design_plan
from ingest.running.rows import description_tables, run_tables
from metalearners.stored_model import load_model
from tests.commands import handled
from tests.openml_server import OpenMLServer, generated_world
from tests.warehouse.worlds import together
from warehouse.store import Warehouse
from warehouse.support.journal import Journal
from warehouse.support.locks import HOLDER, LOCK
from warehouse.vocabulary.schema import TABLES

SMALL_COMMITS = 64
"""After this many, the next commit compacts the tables."""
PATIENCE = 60.0
"""Seconds that child processes of a killed one have to end."""
NO_TIMES = "WHERE measure NOT LIKE '%time%' AND measure NOT LIKE '%seconds%'"
"""Times differ from run to run."""
BAD = ("lost", "doubled", "false", "files", "left")
"""Counts that should be zero."""

Rows = frozenset[str]


def nothing(_: Path) -> Rows:
    """For jobs whose only results are rows of the warehouse."""
    return frozenset()


@dataclass(frozen=True)
class Job:
    """A command to kill."""

    name: str
    prepare: Callable[[Path], None]
    """Makes its initial content in a new folder, with the warehouse in `warehouse`."""
    command: tuple[str, ...]
    """The program and its arguments; it runs in the folder."""
    kept: Callable[[Path], Rows] = nothing
    """Its finished results besides rows of the warehouse."""
    written: str = "warehouse"
    """Folder of the warehouse that it writes; the job creates it, atomically, if it is not `warehouse`."""
    may_begin_damaged: bool = False


@dataclass(frozen=True)
class Undisturbed:
    """An undisturbed run of a job."""

    seconds: float
    files: int
    """Number of written files."""
    states: tuple[Rows, ...]
    """Contents of the written warehouse from start to end, one per commit."""


# ---- what is in a folder ----------------------------------------------------------------------------------


def content(warehouse: Warehouse, *, times: bool = False) -> Rows:
    """All rows without their commits; without `times`, only what is equal in every run of a job."""
    found = []
    for name in TABLES:
        if name != "ingests":
            chosen = "" if times or name != "evaluations" else NO_TIMES
            table = warehouse.arrow(f"SELECT * EXCLUDE (ingest) FROM {name} {chosen}")
            found += [f"{name} {json.dumps(row, default=str)}" for row in table.to_pylist()]
    return frozenset(found)


def content_at(path: Path, *, times: bool = False) -> Rows:
    """The content of the warehouse at a path; empty if there is no warehouse."""
    return content(Warehouse.open(path), times=times) if path.exists() else frozenset()


def useless_files(folder: Path, path: Path) -> int:
    """Files in no version of the warehouse at the path, and temporary ones anywhere in the folder.

    Does not count the locks, which are empty, a writer's mark, which stays until the next commit, and the
    user's caches.
    """
    unlisted = [one.path for one in Warehouse.verify(path).findings if one.kind == "unlisted"]
    hidden = [
        one for one in folder.rglob(".*") if one.name not in (LOCK, HOLDER) and "cache" not in one.parts
    ]
    return len({*(path / one for one in unlisted), *hidden})


def doubled(warehouse: Warehouse) -> int:
    """Number of rows with the key of an earlier row."""
    number = 0
    for name, table in TABLES.items():
        keys = ", ".join(f'"{column}"' for column in table.key)
        counts = warehouse.sql(f"SELECT count(*) AS n, count(DISTINCT ({keys})) AS keys FROM {name}")
        number += int(counts["n"][0] - counts["keys"][0])
    return number


def finished_experiments(folder: Path) -> Rows:
    """Run and processor time of the experiments in the journals or already in the warehouse."""
    journals = (folder / "warehouse" / "journals").glob("*.jsonl")
    records = [record for path in journals for record in Journal(path).records() if record["result"]]
    waiting = {f"{record['run']} {record['result']['usercpu_time_millis']:.6g}" for record in records}
    stored = Warehouse.open(folder / "warehouse").sql(
        "SELECT run, value FROM evaluations WHERE measure = 'usercpu_time_millis'"
    )
    return frozenset(waiting | {f"{run} {value:.6g}" for run, value in stored.itertuples(index=False)})


def finished_trials(folder: Path) -> Rows:
    """Finished trials of a search, with all their results."""
    records = Journal(folder / "history" / "history.jsonl").records()
    return frozenset(json.dumps(record) for record in records if "ended" in record)


def trained_models(folder: Path) -> Rows:
    """Models that can be loaded; raises if one can't."""
    found = []
    for path in sorted((folder / "warehouse" / "models").glob("*")):
        if not path.name.startswith(".") and "fit_times" not in path.name:
            load_model(path)
            found.append(path.name)
    return frozenset(found)


# ---- what jobs begin with ---------------------------------------------------------------------------------


def tables(folder: Path, *sizes: int) -> None:
    """Datasets of two numbers and a class as CSV files."""
    folder.mkdir(parents=True)
    for rows in sizes:
        chance = np.random.default_rng(rows)
        label = chance.permutation(np.arange(rows) % 2)
        frame = pd.DataFrame(chance.normal(size=(rows, 2)).round(3) + label[:, None], columns=["x", "z"])
        frame.assign(label=np.where(label, "b", "a")).to_csv(folder / f"numbers{rows}.csv", index=False)


def run_file(path: Path, runs: int, first: int = 0) -> None:
    """A table of runs of an external flow."""
    chance = np.random.default_rng(first)
    frame = pd.DataFrame({"task_id": chance.integers(1, 40, runs), "alpha": np.arange(first, first + runs)})
    frame.assign(predictive_accuracy=chance.random(runs).round(6)).to_csv(path, index=False)


def one_run(flow: str, number: int) -> dict[str, pd.DataFrame]:
    """One run of a flow."""
    run, setup, key = f"file:{flow}-{number}", f"{flow}/{number}", f"other:{flow}"
    return {
        "datasets": pd.DataFrame({"dataset": ["openml:1"], "name": "iris"}),
        "tasks": pd.DataFrame(
            {"task": ["openml:1"], "dataset": "openml:1", "task_type": "supervised_classification"}
        ),
        "flows": pd.DataFrame({"flow": [key], "name": flow}),
        "setups": pd.DataFrame({"setup": [setup], "flow": key}),
        "runs": pd.DataFrame({"run": [run], "task": "openml:1", "setup": setup, "outcome": "success"}),
        "evaluations": pd.DataFrame(
            {"run": [run], "measure": "predictive_accuracy", "value": 0.5, "flow": key}
        ),
    }


def many_commits(folder: Path, number: int) -> Warehouse:
    """A warehouse of this many commits of one run each."""
    warehouse = Warehouse.create(folder / "warehouse")
    for one in range(number):
        warehouse.write(one_run("small", one), source="benchmark")
    return warehouse


def begin_empty(folder: Path) -> None:
    """An empty warehouse, and a table of runs."""
    many_commits(folder, 0)
    run_file(folder / "runs.csv", 3000)


def begin_with_datasets(folder: Path) -> None:
    """An empty warehouse, and datasets."""
    many_commits(folder, 0)
    tables(folder / "data", 60, 80, 100)


def begin_scattered(folder: Path) -> None:
    """A warehouse that the next commit compacts."""
    many_commits(folder, SMALL_COMMITS)
    run_file(folder / "runs.csv", 50)


def begin_with_runs(folder: Path) -> None:
    """A warehouse to learn from, with made-up runs, and a dataset."""
    tables(folder / "data", *range(50, 130, 10))
    plan = design_plan([], ["decision_tree", "logistic_regression"], configurations=7)
    writes = []
    for place, path in enumerate(sorted((folder / "data").iterdir())):
        dataset = load_dataset(path)
        runs = planned_runs(dataset, plan, plan.tiers[0], plan.pool)
        values = [{"predictive_accuracy": 0.9 - 0.01 * (number % 8)} for number in range(len(runs))]
        results = [
            (run, Evaluation(Outcome.success, 0.1 + place, value))
            for run, value in zip(runs, values, strict=True)
        ]
        writes.append(description_tables(dataset) | run_tables(dataset, results, "cv3"))
    many_commits(folder, 0).write(together(writes), source="experiments")
    tables(folder / "mine", 150)


def begin_damaged(folder: Path) -> None:
    """A warehouse with truncated files whose rows are elsewhere, and without a log entry and a record."""
    begin_scattered(folder)
    run_whole(COMPACTION.command, folder)
    warehouse = folder / "warehouse"
    largest = max((warehouse / "runs").glob("*.parquet"), key=lambda path: path.stat().st_size)
    largest.write_bytes(largest.read_bytes()[:-100])
    (warehouse / "evaluations" / "_delta_log" / f"{3:020}.json").unlink()
    (warehouse / "setups" / "_delta_log" / f"{5:020}.json").write_bytes(b"")


def begin_with_some_commits(folder: Path) -> None:
    """A warehouse of a few commits."""
    many_commits(folder, 6)


def begin_with_another(folder: Path) -> None:
    """Two warehouses with common runs, which only the other one numbers, and which has more."""
    many_commits(folder, 6)
    run_file(folder / "runs.csv", 20_000)
    run_whole((*READ_FILE[:-1], "other"), folder)
    for number in range(6):
        rows = one_run("small", number)
        Warehouse.open(folder / "other").write(
            rows | {"runs": rows["runs"].assign(position=number)}, source="benchmark"
        )


def begin_with_many_rows(folder: Path) -> None:
    """A warehouse with several files per table."""
    many_commits(folder, 6)
    run_file(folder / "runs.csv", 20_000)
    run_whole(READ_FILE, folder)


def begin_with_model(folder: Path) -> None:
    """A warehouse with a model of all its runs but the last."""
    begin_with_runs(folder)
    run_whole(("metalearners", "train", "--learner", "pmf", "--set", "steps=100", *IN_WAREHOUSE), folder)
    (model,) = (folder / "warehouse" / "models").glob("pmf-*")
    model.rename(folder / "model")
    Warehouse.open(folder / "warehouse").write(one_run("small", 1), source="benchmark")


IN_WAREHOUSE = ("--warehouse", "warehouse")
DESIGN = ("--datasets", "data", "--flows", "decision_tree", "--configurations", "2")
MEASURES = "predictive_accuracy,kappa,area_under_roc_curve"
EXPERIMENTS = Job(
    "ingest experiments",
    begin_with_datasets,
    ("ingest", "experiments", *DESIGN, *IN_WAREHOUSE),
    finished_experiments,
)
OPENML = Job(
    "ingest openml",
    begin_empty,
    ("ingest", "openml", "--server", "SERVER", "--rate", "1000000", "--measures", MEASURES, *IN_WAREHOUSE),
)
READ_FILE = ("ingest", "file", "runs.csv", "--flow", "others", *IN_WAREHOUSE)
COMPACTION = Job("compaction", begin_scattered, READ_FILE)
TUNE = ("tune", "mine/numbers150.csv", "--record", "--history", "history", "--trials", "4", "--folds", "2")
JOBS = (
    Job("ingest file", begin_empty, READ_FILE),
    EXPERIMENTS,
    OPENML,
    COMPACTION,
    Job("metalearners train", begin_with_runs, ("metalearners", "train", *IN_WAREHOUSE), trained_models),
    Job(
        "metalearners update",
        begin_with_model,
        ("metalearners", "update", "model", *IN_WAREHOUSE),
        trained_models,
    ),
    Job("warehouse merge", begin_with_another, ("warehouse", "merge", "other", *IN_WAREHOUSE)),
    Job(
        "warehouse export",
        begin_with_many_rows,
        ("warehouse", "export", "copy", *IN_WAREHOUSE),
        written="copy",
    ),
    Job("warehouse repair", begin_damaged, ("warehouse", "repair", *IN_WAREHOUSE), may_begin_damaged=True),
    Job(
        "warehouse restore",
        begin_with_some_commits,
        ("warehouse", "restore", "--version", "3", *IN_WAREHOUSE),
    ),
    Job(
        "tune",
        begin_with_runs,
        (*TUNE, "--flow", "decision_tree", "--surrogate", "gbqr", "--start", "none", *IN_WAREHOUSE),
        finished_trials,
    ),
)


# ---- killing ----------------------------------------------------------------------------------------------


def environment(folder: Path) -> dict[str, str]:
    """Environment variables that keep a process within the folder."""
    own = {"XDG_CACHE_HOME": str(folder / "cache"), "XDG_DATA_HOME": str(folder / "data-home")}
    rest = {name: value for name, value in os.environ.items() if name != "HEADSTART_WAREHOUSE"}
    return rest | own | {"PYTHONPATH": str(Path(__file__).parents[2])}


def invoked(command: tuple[str, ...]) -> list[str]:
    """The command, as a console script of this Python."""
    return [str(Path(sys.executable).with_name(command[0])), *command[1:]]


def run_whole(command: tuple[str, ...], folder: Path) -> None:
    """Run the command to its end in the folder."""
    subprocess.run(
        invoked(command), cwd=folder, env=environment(folder), check=True, stdout=subprocess.DEVNULL
    )


def files(folder: Path) -> int:
    """Number of files in the folder."""
    return sum(len(names) for _, _, names in os.walk(folder))


def start(command: list[str], folder: Path) -> subprocess.Popen[str]:
    """Start the command in its own process group, with its output in the file `printed` beside the folder."""
    with folder.with_name("printed").open("w") as printed, handled():
        return subprocess.Popen(
            command,
            cwd=folder,
            env=environment(folder),
            stdout=printed,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )


def run_killed(command: list[str], folder: Path, plan: Undisturbed, chance: random.Random) -> int | None:
    """Start and kill the command; returns the number of its remaining processes, or None if it had ended."""
    seconds = chance.uniform(0.02, 1.0) * plan.seconds
    written = chance.randint(1, max(plan.files, 1)) if chance.random() < 0.5 else None
    before, begin = files(folder), time.monotonic()
    process = start(command, folder)
    while process.poll() is None:
        if written is None:
            if time.monotonic() - begin > seconds:
                break
        elif files(folder) - before >= written:
            time.sleep(chance.uniform(0, 0.01))
            break
        time.sleep(0.002)
    had_ended = process.poll() is not None
    children = [] if had_ended else psutil.Process(process.pid).children(recursive=True)
    process.kill()
    process.wait()
    return None if had_ended else len(psutil.wait_procs(children, PATIENCE)[1])


def undisturbed(job: Job, command: list[str], begun: Path, folder: Path) -> Undisturbed:
    """Run the job without a kill, on a copy of its initial folder."""
    shutil.copytree(begun, folder)
    warehouse = folder / job.written
    before = files(folder)
    made = not warehouse.exists()
    first = 0 if job.may_begin_damaged or made else Warehouse.open(warehouse).version
    begin = time.monotonic()
    if start(command, folder).wait():
        raise SystemExit(f"{job.name}: {folder.with_name('printed').read_text()}")
    seconds, end = time.monotonic() - begin, Warehouse.open(warehouse)
    older = () if job.may_begin_damaged or made else range(first, end.version)
    states = [content(Warehouse.open(warehouse, version=version)) for version in older]
    states += [frozenset()] * made
    return Undisturbed(seconds, max(files(folder) - before, 1), (*states, content(end)))


def kill_once(
    job: Job, command: list[str], plan: Undisturbed, folder: Path, chance: random.Random
) -> Counter[str]:
    """Start, kill, check, run again, and check again."""
    found: Counter[str] = Counter()
    path = folder / job.written
    left = run_killed(command, folder, plan, chance)
    found["kills"], found["left"] = int(left is not None), left or 0
    reported = re.search(r"warehouse version (\d+)", folder.with_name("printed").read_text())
    there = path.exists()
    damage = Warehouse.verify(path, deep=True).damage if there else []
    kept: Rows = frozenset()
    rows: Rows = frozenset()
    if not job.may_begin_damaged or not damage:
        found["false"] += len(damage)
        found["half"] = int(content_at(path) not in plan.states)
        if there:
            now = Warehouse.open(path)
            found["lost"] += reported is not None and now.version < int(reported[1])
            found["doubled"] += doubled(now)
        rows, kept = content_at(path, times=True), job.kept(folder)
    is_done = there and job.written != "warehouse"  # its result is complete, and not made again
    if not is_done and start(command, folder).wait():
        print(folder.with_name("printed").read_text())
        found["false"] += 1
        return found
    end = Warehouse.open(path)
    replaced = plan.states[0] - plan.states[-1]  # by the job itself
    found["lost"] += len(rows - replaced - content(end, times=True))
    found["lost"] += len(kept - job.kept(folder))
    found["doubled"] += doubled(end)
    found["false"] += len(Warehouse.verify(path, deep=True).damage) + found.pop("half", 0)
    found["false"] += content(end) != plan.states[-1]
    found["files"] = 0 if is_done else useless_files(folder, path)
    return found


def kill_often(job: Job, kills: int, folder: Path, seed: int, server: str) -> Counter[str]:
    """Kill a job this many times, each time on a new copy of its initial folder."""
    command = [part.replace("SERVER", server) for part in invoked(job.command)]
    begun = folder / "begun"
    begun.mkdir(parents=True)
    job.prepare(begun)
    plan = undisturbed(job, command, begun, folder / "undisturbed")
    chance, total = random.Random(f"{seed} {job.name}"), Counter[str](jobs=1)
    while total["kills"] < kills:
        shutil.rmtree(folder / "killed", ignore_errors=True)
        shutil.copytree(begun, folder / "killed")
        found = kill_once(job, command, plan, folder / "killed", chance)
        if any(found[name] for name in BAD):
            shutil.copytree(folder / "killed", folder / f"bad-{total['kills']}", dirs_exist_ok=True)
            print(f"{job.name}, kill {total['kills']}: {dict(found)}", flush=True)
        total += found
    return total


def parser_of(description: str | None, jobs: Sequence[Job]) -> argparse.ArgumentParser:
    """A parser of the options common to the benchmarks of these jobs."""

    def named(names: str) -> list[Job]:
        return [job for job in jobs if job.name in names.split(",")]

    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--jobs", type=named, default=jobs, help="names, separated by commas; default: all")
    parser.add_argument("--seed", type=int, default=0)
    return parser


def main() -> None:
    parser = parser_of(__doc__, JOBS)
    parser.add_argument("--kills", type=int, default=110, help="over all jobs")
    options = parser.parse_args()
    columns = ("kills", *BAD)
    print(f"{'job':20}" + "".join(f"{name:>9}" for name in columns), flush=True)
    total: Counter[str] = Counter()
    with OpenMLServer(generated_world(), page_limit=20) as server:
        for job in options.jobs:
            place = options.folder / job.name.replace(" ", "-")
            each = -(-options.kills // len(options.jobs))
            found: Any = kill_often(job, each, place, options.seed, server.url)
            print(f"{job.name:20}" + "".join(f"{found[name]:9}" for name in columns), flush=True)
            total += found
    print(f"{'all':20}" + "".join(f"{total[name]:9}" for name in columns))
    if any(total[name] for name in columns[1:]):
        raise SystemExit(1)


if __name__ == "__main__":
    main()
