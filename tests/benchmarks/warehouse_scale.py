"""Time and memory of a warehouse's operations at OpenML's size.

    python -m tests.benchmarks.warehouse_scale FOLDER [--runs 10000000] [--only append merge ...]

The warehouse in FOLDER is made by `tests.benchmarks.synthetic_warehouse` if it is missing, and the one to
merge beside it. Each operation runs in its own process, whose peak memory is reported beside its seconds
(imports count for the memory, but for the seconds only of commands). Processor time is that of all threads,
and shows how long the machine would take if nothing else ran. Files are in the disk cache: the operations run
one after another.

    append       a commit of a tenth of the runs with their setups, to a copy, against pyarrow writing the
                 same rows to plain Parquet files
    runs         `run_table` of the largest flow, hyperparameters as columns
    open         open and count the runs
    sample       `run_table` of all flows, as for learners
    recommend    the command for a CSV of 500 rows: with the starter, then with the warehouse; first `train`
                 trains a model
    verify       the command, then with --deep
    export       the command's work: a copy with one file per table
    merge        a warehouse of a tenth of the runs, all of them new, into a copy; then the same again
    small        reading after many appends of 10 runs each (--appends), with files compacted now and then,
                 compared with reading the same runs from one commit; the appends are timed, too
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
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from tests.benchmarks.processes import Measured, measured
from tests.benchmarks.recommend_time import write_csv
from tests.benchmarks.synthetic_warehouse import LARGEST, Shape, parents, rows
from warehouse.store import STARTER, Warehouse

MEASURE = "predictive_accuracy"
Seconds = dict[str, np.ndarray]
"""Wall-clock and processor seconds, by operation."""


def now() -> np.ndarray:
    """Current wall-clock and processor time in seconds."""
    return np.array([time.perf_counter(), time.process_time()])


def append(folder: Path, runs: int) -> Seconds:
    """Commit new runs, and write the same rows with pyarrow alone."""
    new = rows(Shape(runs), runs, runs // 10)
    with tempfile.TemporaryDirectory(dir=folder.parent) as scratch:
        copy = Path(scratch) / "warehouse"
        shutil.copytree(folder, copy, copy_function=os.link)  # its files are never changed
        warehouse = Warehouse.open(copy)
        start = now()
        warehouse.write(new, source="synthetic")
        ours = now() - start
        start = now()
        for name, table in new.items():
            pq.write_table(table, Path(scratch) / f"{name}.parquet", compression="zstd")
        return {"append": ours, "pyarrow": now() - start}


def run_table(folder: Path, _runs: int) -> Seconds:
    """Runs of the largest flow."""
    warehouse, start = Warehouse.open(folder), now()
    table = warehouse.run_table(LARGEST, MEASURE, related=False)
    hyperparameters = table.configurations.hyperparameters
    seconds = now() - start
    return {f"{len(table.runs):,} runs, {' x '.join(map(str, hyperparameters.shape))} values": seconds}


def count(folder: Path, _runs: int) -> Seconds:
    """Open the warehouse and count its runs."""
    start = now()
    counted = Warehouse.open(folder).sql("SELECT count(*) AS n FROM runs")["n"][0]
    return {f"{counted:,} runs": now() - start}


def sample(folder: Path, _runs: int) -> Seconds:
    """Runs of all flows."""
    warehouse, start = Warehouse.open(folder), now()
    table = warehouse.run_table(None, MEASURE)
    return {f"{len(table.runs):,} runs": now() - start}


def export(folder: Path, _runs: int) -> Seconds:
    """Copy all rows."""
    with tempfile.TemporaryDirectory(dir=folder.parent) as scratch:
        warehouse, start = Warehouse.open(folder), now()
        warehouse.export(Path(scratch) / "copy")
        return {"export": now() - start}


def merge(folder: Path, _runs: int) -> Seconds:
    """Merge new runs into a copy, and merge them again."""
    with tempfile.TemporaryDirectory(dir=folder.parent) as scratch:
        copy = Path(scratch) / "warehouse"
        shutil.copytree(folder, copy, copy_function=os.link)  # its files are never changed
        warehouse, seconds = Warehouse.open(copy), {}
        for what in ("merge", "merge again"):
            start = now()
            warehouse.merge(_more(folder))
            seconds[what] = now() - start
        return seconds


def _more(folder: Path) -> Path:
    """Path of the warehouse to merge."""
    return folder.with_name(f"{folder.name}-more")


def small(folder: Path, _runs: int, appends: int = 1_000) -> Seconds:
    """Compare many commits with one."""
    shape, n = Shape(10_000), appends
    parts = [rows(shape, 10 * number, 10) for number in range(n)]
    with tempfile.TemporaryDirectory(dir=folder.parent) as scratch:
        many, one = (Warehouse.create(Path(scratch) / name) for name in ("many", "one"))
        times = []
        many.write(parents(shape), source="synthetic")
        for part in parts:
            start = now()
            many.write(part, source="synthetic")
            times.append(now() - start)
        one.write(parents(shape), source="synthetic")
        one.write({name: pa.concat_tables([part[name] for part in parts]) for name in parts[0]}, source="s")
        reading = [np.min([_read(warehouse.path) for _ in range(5)], axis=0) for warehouse in (many, one)]
    return {
        "an append, of the first tenth": np.mean(times[: n // 10], axis=0),
        "an append, of the last tenth": np.mean(times[-n // 10 :], axis=0),
        f"read after {n:,} appends": reading[0],
        "read one write": reading[1],
    }


def _read(folder: Path) -> np.ndarray:
    start = now()
    Warehouse.open(folder).run_table(None, MEASURE)
    return now() - start


QUESTIONS: dict[str, Callable[[Path, int], Seconds]] = {
    "append": append,
    "runs": run_table,
    "open": count,
    "sample": sample,
    "export": export,
    "merge": merge,
    "small": small,
}


def commands(folder: Path, scratch: Path) -> dict[str, tuple[list[str], ...]]:
    """Commands by name of the operation."""
    csv = scratch / "data.csv"
    write_csv(csv, 500, 10)
    recommend = ["recommend", str(csv), "--target", "outcome", "--quiet", "--warehouse"]
    verify = ["warehouse", "verify", "--warehouse", str(folder)]
    return {
        "train": (["metalearners", "train", "--quiet", "--warehouse", str(folder)],),
        "recommend": ([*recommend, str(STARTER)], [*recommend, str(folder)]),
        "verify": (verify, [*verify, "--deep"]),
    }


def main() -> None:
    """Read the command line, and print a table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--runs", type=int, default=10_000_000)
    parser.add_argument("--only", nargs="+", help="operations; default: all")
    parser.add_argument("--appends", type=int, default=1_000, help="of `small`")
    parser.add_argument("--in-this-process", choices=QUESTIONS, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    folder, runs = arguments.folder, arguments.runs
    questions: dict[str, Callable[[Path, int], Seconds]] = {
        **QUESTIONS,
        "small": partial(small, appends=arguments.appends),
    }
    if arguments.in_this_process:
        found = questions[arguments.in_this_process](folder, runs)
        print(json.dumps({what: seconds.tolist() for what, seconds in found.items()}))
        return
    if not folder.is_dir():
        _generate(folder, runs)
    if "merge" in (arguments.only or QUESTIONS) and not _more(folder).is_dir():
        _generate(_more(folder), runs, "--more", str(runs // 10))
    print("| operation | what | seconds | of the processor | peak memory (MiB) |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as scratch:
        of_commands = commands(folder.resolve(), Path(scratch))
        for name in arguments.only or [*QUESTIONS, *of_commands]:
            for command in of_commands.get(name, ()):
                took = _took(command)
                _print(name, f"`{command[0]} {command[-1]}`", [took.seconds, took.processor], took.peak)
            if name in QUESTIONS:
                again = [sys.executable, "-m", "tests.benchmarks.warehouse_scale", str(folder)]
                again += ["--runs", str(runs), "--appends", str(arguments.appends), "--in-this-process", name]
                took = _took(again)
                for what, seconds in json.loads(took.printed).items():
                    _print(name, what, seconds, took.peak)


def _generate(folder: Path, runs: int, *more: str) -> None:
    """Make a warehouse in its own process, so that its memory is not measured."""
    module = "tests.benchmarks.synthetic_warehouse"
    command = [sys.executable, "-m", module, str(folder), "--runs", str(runs), *more]
    subprocess.run(command, check=True, stdout=sys.stderr)


def _took(command: list[str]) -> Measured:
    took = measured(command)
    if took.code:
        raise RuntimeError(f"{' '.join(command)}: {took.errors}")
    return took


def _print(name: str, what: str, seconds: Sequence[float], peak: int) -> None:
    print(f"| {name} | {what} | {seconds[0]:.2f} | {seconds[1]:.2f} | {peak:,} |", flush=True)


if __name__ == "__main__":
    main()
