"""Damage to a warehouse: what `verify` finds of it, and what `repair` brings back.

    python -m tests.benchmarks.damage FOLDER [--bits 200] [--files 50] [--commits 20]

FOLDER is made: a copy of the bundled starter, and commits of own runs on top. Single bits of its files are
flipped one at a time, and files are removed or cut off, but for checkpoints of logs, which may be missing;
printed is how many of these are found, with and without reading every byte. Then half of the files with the
runs of the last commits are damaged at once, and printed is how many of the rows of the other commits are
there after a repair.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pandas as pd

from warehouse import manifests
from warehouse.store import STARTER, Warehouse
from warehouse.verification import is_checkpoint


def grown(folder: Path, commits: int) -> Warehouse:
    """A copy of the starter with some commits of one run each."""
    warehouse = Warehouse.open(STARTER).export(folder)
    setups = warehouse.sql("SELECT setup, flow FROM setups ORDER BY setup LIMIT ?", [commits])
    task = warehouse.sql("SELECT min(task) AS task FROM tasks")["task"][0]
    for number, (setup, flow) in enumerate(setups.itertuples(index=False)):
        run = {"run": [f"file:{number}"], "task": task, "setup": setup, "outcome": "success"}
        value = {"run": [f"file:{number}"], "measure": "predictive_accuracy", "value": 0.5, "flow": flow}
        rows = {"runs": pd.DataFrame(run), "evaluations": pd.DataFrame(value)}
        warehouse.write(rows, source="benchmark")
    return warehouse


@contextmanager
def content_of(path: Path) -> Iterator[bytes]:
    """Its content, which is put back afterwards."""
    content = path.read_bytes()
    yield content
    path.write_bytes(content)


def found(warehouse: Path, deep: bool) -> bool:
    """Whether damage is found."""
    return bool(Warehouse.verify(warehouse, deep=deep).damage)


def flipped_bits(warehouse: Path, files: list[Path], bits: int) -> tuple[int, int]:
    """How many single flipped bits are found by reading everything, and without."""
    deep = shallow = 0
    sizes = [path.stat().st_size for path in files]
    for path in random.Random(0).choices(files, sizes, k=bits):
        with content_of(path) as content:
            damaged = bytearray(content)
            damaged[random.Random(str(path)).randrange(len(damaged))] ^= 1 << random.Random(1).randrange(8)
            path.write_bytes(damaged)
            deep += found(warehouse, deep=True)
            shallow += found(warehouse, deep=False)
    return deep, shallow


def lost_files(warehouse: Path, files: list[Path], number: int) -> int:
    """How many files that are removed, or cut off, are missed without reading the others."""
    count = 0
    for place, path in enumerate(random.Random(2).sample(files, number)):
        with content_of(path) as content:
            path.unlink() if place % 2 else path.write_bytes(content[: len(content) // 2])
            count += found(warehouse, deep=False)
    return count


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--bits", type=int, default=200)
    parser.add_argument("--files", type=int, default=50)
    parser.add_argument("--commits", type=int, default=20)
    options = parser.parse_args()
    path = grown(options.folder, options.commits).path
    newest = manifests.path_of(path, max(manifests.versions(path)))  # may be one that was never written
    files = [
        one for one in sorted(path.rglob("*")) if one.is_file() and one.name not in (".lock", newest.name)
    ]
    result = Warehouse.verify(path, deep=True)
    print(f"{result.files} files, {result.bytes / 1e6:.1f} MB: verify --deep takes {result.seconds:.2f} s")
    deep, shallow = flipped_bits(path, files, options.bits)
    print(f"of {options.bits} flipped bits {deep} are found by --deep, {shallow} without")
    needed = [one for one in files if not is_checkpoint(one.as_posix())]
    print(f"of {options.files} files removed or cut off {lost_files(path, needed, options.files)} are found")
    rows = [one for one in files if one.parent == path / "runs" and one.suffix == ".parquet"]
    small = sorted(rows, key=lambda one: one.stat().st_size)[: options.commits]
    damaged = random.Random(3).sample(small, len(small) // 2)
    before = set(Warehouse.open(path).sql("SELECT run FROM runs")["run"])
    gone: set[str] = set()
    for one in damaged:
        gone |= set(pd.read_parquet(one)["run"])
        one.write_bytes(one.read_bytes()[:-10])
    begun = time.perf_counter()
    Warehouse.repair(path)
    after = set(Warehouse.open(path).sql("SELECT run FROM runs")["run"])
    print(
        f"{len(damaged)} of {len(rows)} files of runs damaged, mended in {time.perf_counter() - begun:.1f} s:"
        f" {len(after & (before - gone)):,} of {len(before - gone):,} runs of the others are there,"
        f" {len(after & gone):,} of {len(gone):,} of theirs"
    )
    print(f"left: {[finding.kind for finding in Warehouse.verify(path, deep=True).damage]}")


if __name__ == "__main__":
    main()
