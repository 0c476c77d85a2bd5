"""Power cuts at any moment of a job: whether all that it reported is on disk, and nothing is half done.

    python -m tests.benchmarks.power_cuts FOLDER [--cuts 110] [--jobs NAME,NAME] [--seed 0]

Each job of `kills` runs once, and all its write calls are recorded (`tests/recorded_disk`). From these,
possible contents of the disk after a power cut are made: half of the cuts come right after a report (a
commit, a line of a journal, a stored model), half at a random call. Unsynced data are lost, or only their
names exist, or any part of them. The warehouse is verified (`--deep`), repaired if damaged, opened, and
written to. For each job, it counts over all cuts

    repaired  warehouses with damage that `warehouse repair` fixed; this is no fault
    lost      rows, finished runs, trials and models that existed at the last report before the cut
    doubled   rows with a duplicate key
    half      contents that no commit made
    damage    warehouses that can't be opened, or that a repair did not fix
    stuck     warehouses that do not accept another commit
"""

from __future__ import annotations

import random
import shutil
import sys
from collections import Counter
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from tests.benchmarks.kills import (
    IN_WAREHOUSE,
    JOBS,
    Job,
    Rows,
    content,
    doubled,
    environment,
    one_run,
    parser_of,
    run_file,
)
from tests.openml_server import OpenMLServer, generated_world
from tests.recorded_disk.disk import Cut, Disk
from tests.recorded_disk.recording import Call, compiled, files_in, recorded, report, reporting
from warehouse.store import Warehouse
from warehouse.support.errors import BadInput
from warehouse.support.journal import Journal

BAD = ("lost", "doubled", "half", "damage", "stuck")
"""Counts that should be zero."""
MODULES = {"tune": "recommend.bo.cli"}
"""Module with a program's `main`, if it is not its own `cli`."""
RUN = "from tests.benchmarks.power_cuts import run_reporting; run_reporting()"
CUTS = (Cut.lost, Cut.emptied, Cut.torn)


def begin_without_warehouse(folder: Path) -> None:
    """A table of runs."""
    run_file(folder / "runs.csv", 50)


FIRST = Job(
    "first ingest",
    begin_without_warehouse,
    ("ingest", "file", "runs.csv", "--flow", "others", *IN_WAREHOUSE),
)


def run_reporting() -> None:
    """Run the command given by this process's arguments, with reports of what it has written."""
    program = sys.argv[1]
    sys.argv[:2] = [program]
    writing = ("create", "write", "merge", "restore", "repair", "export", "share_model")
    reporting(*((Warehouse, name) for name in writing), (Journal, "append"))
    try:
        import_module(MODULES.get(program, f"{program}.cli")).main()
    except SystemExit as ended:
        if ended.code:
            raise
    report()


@dataclass(frozen=True)
class Seen:
    """Content of a job's folder."""

    version: int
    """Version of its warehouse; -1 if there is none."""
    rows: Rows
    kept: Rows


def is_warehouse(path: Path) -> bool:
    """Whether there is a warehouse at the path."""
    return any((path / "ingests" / "_delta_log").glob("*.json"))


def seen(job: Job, folder: Path) -> Seen:
    """Read the content of a job's folder.

    Raises:
        BadInput: its warehouse, or another result, is damaged.
    """
    path = folder / job.written
    if not is_warehouse(path):
        return Seen(-1, frozenset(), frozenset())
    warehouse = Warehouse.open(path)
    return Seen(warehouse.version, content(warehouse, times=True), job.kept(folder))


class Recording:
    """One job, recorded from start to end."""

    def __init__(self, job: Job, folder: Path, library: Path, server: str) -> None:
        """Run the job in a new folder."""
        self.job, self._folder = job, folder
        self._begun = folder / "begun"
        self._root = (folder / "recorded").resolve()
        self._begun.mkdir(parents=True)
        job.prepare(self._begun)
        shutil.copytree(self._begun, self._root)
        command = [part.replace("SERVER", server) for part in job.command]
        self.calls: list[Call] = recorded(
            [sys.executable, "-c", RUN, *command], self._root, library, environment(self._root)
        )
        if files_in(self.left(len(self.calls), Cut.none, random.Random(0), "end")) != files_in(self._root):
            raise SystemExit(f"{job.name}: not all was recorded")
        self.reports = [place for place, call in enumerate(self.calls, 1) if call.is_report]
        self.at = cache(self._at)
        begun, end = self.at(0), self.at(len(self.calls))
        # Rows replaced by the job itself, such as those changed by a merge.
        self.replaced = begun.rows - end.rows if not job.may_begin_damaged else frozenset()
        warehouse = Warehouse.open(self._root / job.written)
        first = max(begun.version, 0)
        is_whole = job.written == "warehouse" and not job.may_begin_damaged
        versions = range(first, warehouse.version + 1) if is_whole else ()
        opened = (Warehouse.open(warehouse.path, version=version) for version in versions)
        self.states = {frozenset[str](), content(warehouse), *map(content, opened)}

    def left(self, calls: int, cut: Cut, chance: random.Random, name: str) -> Path:
        """A folder with what remains of the first calls after a cut."""
        folder = self._folder / name
        shutil.rmtree(folder, ignore_errors=True)
        Disk(self._root, self._begun, self.calls[:calls]).write(folder, cut, chance)
        return folder

    def _at(self, calls: int) -> Seen:
        """Content left by a job killed after the first calls."""
        try:
            return seen(self.job, self.left(calls, Cut.none, random.Random(0), "killed"))
        except BadInput:
            if not self.job.may_begin_damaged:
                raise
            return Seen(-1, frozenset(), frozenset())


def judge(recording: Recording, calls: int, cut: Cut, chance: random.Random) -> Counter[str]:
    """Cut the power after this many calls, and check."""
    found: Counter[str] = Counter(cuts=1)
    folder = recording.left(calls, cut, chance, "cut")
    path = folder / recording.job.written
    expected = recording.at(max((place for place in recording.reports if place <= calls), default=0))
    try:
        if is_warehouse(path) and Warehouse.verify(path, deep=True).damage:
            found["repaired"] += 1
            repaired = Warehouse.repair(path)
            found["damage"] += bool(Warehouse.verify(path, deep=True).damage)
            found["lost"] += len(repaired.damaged) if not recording.job.may_begin_damaged else 0
        now = seen(recording.job, folder)
        found["lost"] += len(expected.rows - recording.replaced - now.rows)
        found["lost"] += len(expected.kept - now.kept) + (now.version < expected.version)
        if now.version >= 0:
            warehouse = Warehouse.open(path)
            found["doubled"] += doubled(warehouse)
            found["half"] += content(warehouse) not in recording.states
    except BadInput as error:
        print(error)
        found["damage"] += 1
    try:
        Warehouse.create(path).write(one_run("after", 1), source="benchmark")
        rows = Warehouse.open(path).arrow("SELECT 1 FROM runs WHERE run = 'file:after-1'")
        found["stuck"] += rows.num_rows != 1
    except BadInput as error:
        print(error)
        found["stuck"] += 1
    return found


def cut_often(recording: Recording, cuts: int, seed: int) -> Counter[str]:
    """Cut the power this many times."""
    chance, total = random.Random(f"{seed} {recording.job.name}"), Counter[str]()
    for number in range(cuts):
        calls = chance.choice(recording.reports) if number % 2 else chance.randint(0, len(recording.calls))
        cut = chance.choice(CUTS)
        found = judge(recording, calls, cut, chance)
        if any(found[name] for name in BAD):
            print(f"{recording.job.name}, {cut} after {calls} calls: {dict(found)}", flush=True)
        total += found
    return total


def main() -> None:
    parser = parser_of(__doc__, (FIRST, *JOBS))
    parser.add_argument("--cuts", type=int, default=120, help="over all jobs")
    options = parser.parse_args()
    columns = ("cuts", "repaired", *BAD)
    print(f"{'job':20}{'calls':>9}" + "".join(f"{name:>9}" for name in columns), flush=True)
    total: Counter[str] = Counter()
    options.folder.mkdir(parents=True)
    library = compiled(options.folder)
    with OpenMLServer(generated_world(), page_limit=20) as server:
        for job in options.jobs:
            place: Any = options.folder / job.name.replace(" ", "-")
            recording = Recording(job, place, library, server.url)
            found = cut_often(recording, -(-options.cuts // len(options.jobs)), options.seed)
            line = "".join(f"{found[name]:9}" for name in columns)
            print(f"{job.name:20}{len(recording.calls):9}{line}", flush=True)
            total += found
    print(f"{'all':20}{'':9}" + "".join(f"{total[name]:9}" for name in columns))
    if any(total[name] for name in BAD):
        raise SystemExit(1)


if __name__ == "__main__":
    main()
