"""A disk that is full at any write of a commit: whether the warehouse is then as before, or as after.

    python -m tests.benchmarks.full_disk FOLDER

The same commit, which changes a row, adds others and follows upon a killed one, is made again and again on a
copy of its warehouse. The n-th of the calls by which Python writes to the disk fails as on a full disk, once
before it has done anything and once after all, for every n; what deltalake and Arrow write within such a call
fails as a whole. Then the warehouse is opened, verified (`--deep`) and written to again. Counted are

    lost      commits that were reported and are not there
    half      contents that are neither the one before nor the one after
    damage    findings of damage, and warehouses that can't be opened
    stuck     warehouses that do not take the commit when the disk has room again
"""

from __future__ import annotations

import argparse
import errno
import os
import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pandas as pd
import pyarrow.parquet as pq
from deltalake import DeltaTable

from tests.warehouse.worlds import runs, values
from warehouse.store import Warehouse
from warehouse.support.errors import BadInput
from warehouse.support.locks import HOLDER

CALLS: tuple[tuple[Any, str], ...] = (
    (os, "fsync"),
    (os, "open"),
    (os, "mkdir"),
    (Path, "replace"),
    (Path, "write_text"),
    (pq.ParquetWriter, "write_batch"),
    (pq.ParquetWriter, "close"),
    (DeltaTable, "create_write_transaction"),
    (DeltaTable, "restore"),
    (DeltaTable, "create_checkpoint"),
)
BEFORE, AFTER = [0.9, 0.9], [0.8, 0.9, 0.9]


@contextmanager
def full_disk(fails_at: int | None, *, late: bool) -> Iterator[Counter[str]]:
    """Have the call with this number fail, before or after it is done; yields the number of calls."""
    made: Counter[str] = Counter()

    def failing(work: Callable[..., Any]) -> Callable[..., Any]:
        def write(*arguments: Any, **options: Any) -> Any:
            made["calls"] += 1
            if made["calls"] - 1 != fails_at:
                return work(*arguments, **options)
            if late:
                work(*arguments, **options)
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        return write

    patches = [patch.object(owner, name, failing(getattr(owner, name))) for owner, name in CALLS]
    for one in patches:
        one.start()
    try:
        yield made
    finally:
        for one in patches:
            one.stop()


def commit(path: Path) -> int:
    """Change one run and add another; returns the version."""
    changed, added = runs(name="a", accuracies={"openml:1": AFTER[0]}), runs(name="c")
    rows = {name: pd.concat([changed[name], added[name]]).drop_duplicates() for name in changed}
    return Warehouse.open(path).write(rows, source="test").version


def judge(path: Path, reported: int) -> Iterator[str]:
    """What is wrong with the warehouse after a commit that may have failed."""
    try:
        now = Warehouse.open(path)
        if now.version < reported:
            yield "lost"
        if values(now) != (AFTER if now.version == 3 else BEFORE):
            yield "half"
        if Warehouse.verify(path, deep=True).damage:
            yield "damage"
    except BadInput:
        yield "damage"
        return
    try:
        if commit(path) != 3 or values(Warehouse.open(path)) != AFTER:
            yield "stuck"
    except BadInput:
        yield "stuck"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, help="new folder, which is removed at the end")
    folder: Path = parser.parse_args().folder
    template = folder / "template"
    for name in ("a", "b"):
        Warehouse.create(template).write(runs(name=name), source="test")
    (template / HOLDER).touch()
    with full_disk(None, late=False) as made:
        commit(shutil.copytree(template, folder / "undisturbed"))
    found: Counter[str] = Counter()
    for late in (False, True):
        for place in range(made["calls"]):
            path, reported = shutil.copytree(template, folder / "copy"), 2
            try:
                with full_disk(place, late=late):
                    reported = commit(path)
            except BadInput:
                found["failed"] += 1
            for wrong in judge(path, reported):
                found[wrong] += 1
                print(f"write {place}, {'done' if late else 'refused'}: {wrong}", flush=True)
            found["writes"] += 1
            shutil.rmtree(path)
    shutil.rmtree(folder)
    names = ("writes", "failed", "lost", "half", "damage", "stuck")
    print(", ".join(f"{found[name]} {name}" for name in names))


if __name__ == "__main__":
    main()
