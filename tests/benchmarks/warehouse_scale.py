"""Time and memory of a warehouse's operations at OpenML's size.

    python -m tests.benchmarks.warehouse_scale FOLDER [--runs 10000000] [--only append matrix ...]

The warehouse in FOLDER is made by `tests.benchmarks.synthetic_warehouse` if it is not there. Each operation
runs in a process of its own, whose peak memory is what is stated beside its seconds (imports are in the
memory, not in the seconds, unless it is a command). Files are in the disk's cache: each runs after another.

    append       a commit of a tenth of the runs with their setups, to a copy, against pyarrow writing the
                 same rows to plain Parquet files
    runs         `run_table` of the largest flow, hyperparameters as columns
    matrix       `performance_matrix` of the densest flow
    open         open and count the runs
    sample       `run_table` of all flows, as learners have it
    recommend    the command for a CSV of 500 rows: with the starter, then with the warehouse; a model is
                 trained first, which `train` states
    verify       the command, then with --deep
    small        reading after 1,000 appends of 10 runs each, against reading the same runs from one commit;
                 the appends are timed, too
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from tests.benchmarks.recommend_time import write_csv
from tests.benchmarks.synthetic_warehouse import DENSE, LARGEST, Shape, generate, parents, rows
from warehouse.store import STARTER, Warehouse

MEASURE = "predictive_accuracy"
Seconds = dict[str, float]


def append(folder: Path, runs: int) -> Seconds:
    """Commit new runs, and write the same with pyarrow alone."""
    new = rows(Shape(runs), runs, runs // 10)
    with tempfile.TemporaryDirectory(dir=folder.parent) as scratch:
        copy = Path(scratch) / "warehouse"
        shutil.copytree(folder, copy, copy_function=os.link)  # its files are never changed
        warehouse = Warehouse.open(copy)
        start = time.perf_counter()
        warehouse.write(new, source="synthetic")
        ours = time.perf_counter() - start
        start = time.perf_counter()
        for name, table in new.items():
            pq.write_table(table, Path(scratch) / f"{name}.parquet", compression="zstd")
        return {"append": ours, "pyarrow": time.perf_counter() - start}


def run_table(folder: Path, runs: int) -> Seconds:
    """Runs of the largest flow."""
    warehouse, start = Warehouse.open(folder), time.perf_counter()
    table = warehouse.run_table(LARGEST, MEASURE, related=False)
    hyperparameters = table.configurations.hyperparameters
    seconds = time.perf_counter() - start
    return {f"{len(table.runs):,} runs, {' x '.join(map(str, hyperparameters.shape))} values": seconds}


def matrix(folder: Path, runs: int) -> Seconds:
    """The densest flow's configurations by dataset."""
    warehouse, start = Warehouse.open(folder), time.perf_counter()
    found = warehouse.performance_matrix(MEASURE, DENSE)
    return {" x ".join(map(str, found.shape)): time.perf_counter() - start}


def count(folder: Path, runs: int) -> Seconds:
    """Open and count."""
    start = time.perf_counter()
    counted = Warehouse.open(folder).sql("SELECT count(*) AS n FROM runs")["n"][0]
    return {f"{counted:,} runs": time.perf_counter() - start}


def sample(folder: Path, runs: int) -> Seconds:
    """All flows."""
    warehouse, start = Warehouse.open(folder), time.perf_counter()
    table = warehouse.run_table(None, MEASURE)
    return {f"{len(table.runs):,} runs": time.perf_counter() - start}


def small(folder: Path, runs: int) -> Seconds:
    """Many commits against one."""
    shape, n = Shape(10_000), 1_000
    parts = [rows(shape, 10 * number, 10) for number in range(n)]
    with tempfile.TemporaryDirectory(dir=folder.parent) as scratch:
        many, one = (Warehouse.create(Path(scratch) / name) for name in ("many", "one"))
        times = []
        many.write(parents(shape), source="synthetic")
        for part in parts:
            start = time.perf_counter()
            many.write(part, source="synthetic")
            times.append(time.perf_counter() - start)
        one.write(parents(shape), source="synthetic")
        one.write({name: pa.concat_tables([part[name] for part in parts]) for name in parts[0]}, source="s")
        reading = [min(_read(warehouse.path) for _ in range(5)) for warehouse in (many, one)]
    return {
        "an append, first 100": sum(times[:100]) / 100,
        "an append, last 100": sum(times[-100:]) / 100,
        "read after them": reading[0],
        "read one write": reading[1],
    }


def _read(folder: Path) -> float:
    start = time.perf_counter()
    Warehouse.open(folder).run_table(None, MEASURE)
    return time.perf_counter() - start


QUESTIONS: dict[str, Callable[[Path, int], Seconds]] = {
    "append": append,
    "runs": run_table,
    "matrix": matrix,
    "open": count,
    "sample": sample,
    "small": small,
}


def commands(folder: Path, scratch: Path) -> dict[str, tuple[list[str], ...]]:
    """Commands by name of the operation."""
    csv = scratch / "data.csv"
    write_csv(csv, 500, 10)
    of = ["--warehouse", str(folder), "--quiet"]
    asked = [str(csv), "--target", "outcome"]
    return {
        "train": (["metalearners", "train", *of],),
        "recommend": (["recommend", *asked, "--warehouse", str(STARTER), "--quiet"], ["recommend", *asked, *of]),
        "verify": (["warehouse", "verify", "--warehouse", str(folder)], ["warehouse", "verify", "--deep", "--warehouse", str(folder)]),
    }


def main() -> None:
    """Read the command line, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--runs", type=int, default=10_000_000)
    parser.add_argument("--only", nargs="+", help="operations; default: all")
    parser.add_argument("--in-this-process", choices=QUESTIONS, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.in_this_process:
        print(json.dumps(QUESTIONS[arguments.in_this_process](arguments.folder, arguments.runs)))
        return
    if not arguments.folder.is_dir():
        generate(arguments.folder, arguments.runs)
    print("| operation | what | seconds | peak memory (MiB) |\n|---|---|---|---|")
    with tempfile.TemporaryDirectory() as scratch:
        of_commands = commands(arguments.folder.resolve(), Path(scratch))
        for name in arguments.only or [*QUESTIONS, *of_commands]:
            for command in of_commands.get(name, ()):
                start = time.perf_counter()
                _, peak = measured([str(Path(sys.executable).parent / command[0]), *command[1:]])
                print(f"| {name} | `{' '.join(command)}` | {time.perf_counter() - start:.2f} | {peak} |", flush=True)
            if name in QUESTIONS:
                again = [sys.executable, "-m", __spec__.name, str(arguments.folder), "--runs", str(arguments.runs)]
                text, peak = measured([*again, "--in-this-process", name])
                for what, seconds in json.loads(text).items():
                    print(f"| {name} | {what} | {seconds:.3f} | {peak} |", flush=True)


def measured(command: list[str]) -> tuple[str, int]:
    """What a command printed, and its peak memory in MiB."""
    with tempfile.TemporaryFile("w+") as printed:
        process = subprocess.Popen(command, stdout=printed)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            raise subprocess.CalledProcessError(process.returncode, command)
        printed.seek(0)
        return printed.read(), usage.ru_maxrss // 1024


if __name__ == "__main__":
    main()
