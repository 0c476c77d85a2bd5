"""Time of `recommend` as a whole process, compared with importing the libraries that it could use.

Also the share of its time spent on meta-features, including the import of scikit-learn.

    python -m tests.benchmarks.recommend_time [--runs 5]

Commands are timed in turn (A B C, A B C, ...), so that drifts of the machine affect all of them. The first
round warms the disk cache and is not counted.
"""

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd

IMPORTS = [sys.executable, "-c", "import pandas, lightgbm, duckdb"]


TIMED = """
import sys, time
start = time.perf_counter()
from recommend.ranking import knowledge
from recommend.cli import main
describe = knowledge.compute_metafeatures
def timed(*arguments):
    begin = time.perf_counter()
    try:
        return describe(*arguments)
    finally:
        timed.seconds = time.perf_counter() - begin
knowledge.compute_metafeatures = timed
sys.argv = ["recommend", *sys.argv[1:]]
try:
    main()
finally:
    print(timed.seconds / (time.perf_counter() - start), file=sys.stderr)
"""
"""`recommend`, which then prints to stderr the share of its time spent on meta-features."""


def write_csv(path: Path, rows: int, columns: int) -> None:
    """Write numbers and (a fifth of the columns) categories with gaps, and a target that depends on both."""
    rng = np.random.default_rng(rows)
    frame = pd.DataFrame(rng.normal(size=(rows, columns - 1)).round(4)).add_prefix("x")
    for column in frame.columns[::5]:
        frame[column] = rng.choice(["north", "east", "south", "west"], rows)
    frame["outcome"] = np.where(frame["x1"] + (frame["x0"] == "north") > 0.3, "yes", "no")
    frame.mask(rng.random(frame.shape) < 0.02).assign(outcome=frame["outcome"]).to_csv(path, index=False)


def seconds(command: list[str]) -> float:
    """Wall-clock time of a successful command."""
    start = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True)
    return time.perf_counter() - start


def share_of_metafeatures(options: list[str]) -> float:
    """Share of `recommend`'s time spent on meta-features."""
    command = [sys.executable, "-c", TIMED, *options]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stderr.split()[-1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=5)
    runs = parser.parse_args().runs
    program = str(Path(sys.executable).with_name("recommend"))
    with tempfile.TemporaryDirectory() as folder:
        commands = {"import pandas, lightgbm, duckdb": IMPORTS}
        shares = {}
        for rows, columns in ((1_000, 20), (50_000, 50)):
            path = Path(folder) / f"{rows}x{columns}.csv"
            write_csv(path, rows, columns)
            options = ["--dataset", str(path), "--top", "3"]
            commands[f"recommend, {rows:,} x {columns}"] = [program, *options]
            shares[f"recommend, {rows:,} x {columns}"] = statistics.median(
                share_of_metafeatures(options) for _ in range(runs)
            )
        rounds = [{name: seconds(command) for name, command in commands.items()} for _ in range(runs + 1)][1:]
    for name in commands:
        times = [measured[name] for measured in rounds]
        ratios = [measured[name] / measured["import pandas, lightgbm, duckdb"] for measured in rounds]
        print(
            f"{name:<34} median {statistics.median(times):.2f} s "
            f"(min {min(times):.2f}, max {max(times):.2f}); ratio {statistics.median(ratios):.2f}"
            + (f"; meta-features {shares[name]:.0%}" if name in shares else "")
        )


if __name__ == "__main__":
    main()
