"""How long meta-features take, side by side with pymfe, and what a large dataset needs.

    pip install pymfe==0.4.4
    python -m tests.benchmarks.metafeature_time [--data ../shared/data] [--rounds 5]

Both are given a dataset in memory and compute the same groups: pymfe's general, statistical, info-theory and
landmarking; our simple, class, cardinality, statistical, information and landmarkers (45 values of 15
learners, where pymfe has 7). They take turns, so that a machine that drifts drifts for both; the first round
is not counted.
"""

from __future__ import annotations

import argparse
import resource
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd

from ingest.metafeatures import compute_metafeatures
from ingest.reading.datasets import Dataset, load_dataset
from warehouse.qualities import GROUPS

COMPARED = ("diabetes", "optdigits", "letter")
SAME_GROUPS = ("simple", "class", "cardinality", "statistical", "information", "landmarkers")
PEER_GROUPS = ("general", "statistical", "info-theory", "landmarking")
LARGE = (1_000_000, 50)


def names_of(*groups: str) -> list[str]:
    """Meta-features of some groups."""
    return [name for group in groups for name in GROUPS[group]]


def ours(dataset: Dataset, *groups: str) -> None:
    """Compute these groups."""
    compute_metafeatures(dataset, names_of(*groups))


def peer(dataset: Dataset) -> None:
    """The same by pymfe."""
    from pymfe.mfe import MFE

    extractor = MFE(groups=list(PEER_GROUPS), suppress_warnings=True)
    extractor.fit(
        dataset.features.to_numpy(np.float64), dataset.target.cat.codes.to_numpy(), suppress_warnings=True
    )
    extractor.extract(suppress_warnings=True)


def medians(tasks: dict[str, Callable[[], None]], rounds: int) -> dict[str, float]:
    """Median seconds of each task; they take turns."""
    seconds: dict[str, list[float]] = {name: [] for name in tasks}
    for _ in range(rounds + 1):
        for name, task in tasks.items():
            start = time.perf_counter()
            task()
            seconds[name].append(time.perf_counter() - start)
    return {name: statistics.median(times[1:]) for name, times in seconds.items()}


def compare(data: Path, rounds: int) -> None:
    """Print a line per dataset."""
    try:
        import pymfe  # noqa: F401
    except ImportError:
        print("pymfe is not installed: its column is empty")
    header = ("dataset", "rows", "attributes", "same groups", "pymfe", "ratio", "everything")
    print("{:<10} {:>7} {:>10} {:>12} {:>8} {:>6} {:>11}".format(*header))
    for name in COMPARED:
        dataset = load_dataset(data / "datasets" / f"{name}.arff")
        tasks = {
            "same": lambda dataset=dataset: ours(dataset, *SAME_GROUPS),
            "everything": lambda dataset=dataset: ours(dataset, *GROUPS),
        }
        if "pymfe" in sys.modules:
            tasks["pymfe"] = lambda dataset=dataset: peer(dataset)
        seconds = medians(tasks, rounds)
        same, theirs = seconds["same"], seconds.get("pymfe", np.nan)
        print(
            f"{name:<10} {len(dataset.target):>7,} {dataset.features.shape[1]:>10} {same:>10.3f} s "
            f"{theirs:>6.2f} s {theirs / same:>6.1f} {seconds['everything']:>9.3f} s"
        )


def describe_large(path: str) -> None:
    """Load `path` and describe it; runs in a process of its own, whose memory is what it takes."""
    start = time.perf_counter()
    dataset = load_dataset(path)
    print(f"load {time.perf_counter() - start:.1f} s")
    for name, groups in (
        ("simple, class, statistical", ("simple", "class", "statistical")),
        ("everything", GROUPS),
    ):
        start = time.perf_counter()
        ours(dataset, *groups)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        print(f"{name} {time.perf_counter() - start:.1f} s, peak memory of the process {peak:.2f} GiB")


def write_large(path: Path) -> None:
    """30 columns of decimals, 10 of integers, 10 of categories, gaps in one."""
    rows, columns = LARGE
    rng = np.random.default_rng(0)
    table: dict[str, object] = {f"x{i}": rng.normal(size=rows).round(3 + 7 * (i % 2)) for i in range(30)}
    table |= {f"i{i}": rng.integers(0, 10 ** (1 + i % 4), rows) for i in range(10)}
    for i in range(columns - 40):
        categories = [f"v{k}" for k in range(3 + 5 * i)]
        table[f"c{i}"] = pd.Categorical.from_codes(rng.integers(0, len(categories), rows), categories)
    frame = pd.DataFrame(table)
    frame["class"] = np.where(frame["x0"] + rng.normal(size=rows) > 0, "a", "b")
    frame.loc[rng.random(rows) < 0.05, "x3"] = np.nan
    frame.to_parquet(path)


def main() -> None:
    """Print both parts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--large", help=argparse.SUPPRESS)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    if options.large:
        describe_large(options.large)
        return
    compare(options.data, options.rounds)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "large.parquet"
        write_large(path)
        print(f"\n{LARGE[0]:,} x {LARGE[1]}")
        command = [sys.executable, "-m", "tests.benchmarks.metafeature_time", "--large", str(path)]
        print(subprocess.run(command, check=True, capture_output=True, text=True).stdout, end="")


if __name__ == "__main__":
    main()
