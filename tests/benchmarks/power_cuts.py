"""Power cuts at any moment of a job: whether what it had reported is on the disk, and nothing half done.

    python -m tests.benchmarks.power_cuts FOLDER [--cuts 110] [--jobs NAME,NAME] [--seed 0]

Each job of `kills` runs once, and every call by which it writes is recorded (`tests/recorded_disk`). Then
folders are made of what a disk may hold after a cut: half of the cuts come right after a report (a commit, a
line of a journal, a stored model), half at a random call. What was not synced by then is lost, or its names
are there and its content is not, or any part of it is there. The warehouse is verified (`--deep`), repaired
where it is damaged, opened, and written to. Counted are, over all cuts of a job,

    repaired  warehouses with damage that `warehouse repair` mended; this is no fault
    lost      rows, finished runs, trials and models that were there at the last report before the cut
    doubled   rows whose key is there twice
    half      contents that no commit made
    damage    warehouses that can't be opened, or that a repair did not mend
    stuck     warehouses that do not take another commit
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
"""What is counted, and should be zero."""
MODULES = {"tune": "recommend.bo.cli"}
"""Program -> the module with its `main`, where that is not its own `cli`."""
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
    """Run the command of this process's arguments, which reports what it has written as it does."""
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
    """What is in the folder of a job."""

    version: int
    """Of its warehouse; -1 where there is none."""
    rows: Rows
    kept: Rows


def is_warehouse(path: Path) -> bool:
    """Whether a warehouse was made at the path."""
    return any((path / "ingests" / "_delta_log").glob("*.json"))


def seen(job: Job, folder: Path) -> Seen:
    """Look into the folder of a job.

    Raises:
        BadInput: its warehouse, or what it keeps beside, is damaged.
    """
    path = folder / job.written
    if not is_warehouse(path):
        return Seen(-1, frozenset(), frozenset())
    warehouse = Warehouse.open(path)
    return Seen(warehouse.version, content(warehouse, times=True), job.kept(folder))


class Recording:
    """One job, recorded from its begin to its end."""

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
        # What the job itself replaces, such as rows that a merge changes.
        self.replaced = begun.rows - end.rows if not job.may_begin_damaged else frozenset()
        warehouse = Warehouse.open(self._root / job.written)
        first = max(begun.version, 0)
        is_whole = job.written == "warehouse" and not job.may_begin_damaged
        versions = range(first, warehouse.version + 1) if is_whole else ()
        opened = (Warehouse.open(warehouse.path, version=version) for version in versions)
        self.states = {frozenset[str](), content(warehouse), *map(content, opened)}

    def left(self, calls: int, cut: Cut, chance: random.Random, name: str) -> Path:
        """A folder with what is left of the first calls."""
        folder = self._folder / name
        shutil.rmtree(folder, ignore_errors=True)
        Disk(self._root, self._begun, self.calls[:calls]).write(folder, cut, chance)
        return folder

    def _at(self, calls: int) -> Seen:
        """What a killed job would have left after the first calls."""
        try:
            return seen(self.job, self.left(calls, Cut.none, random.Random(0), "killed"))
        except BadInput:
            if not self.job.may_begin_damaged:
                raise
            return Seen(-1, frozenset(), frozenset())


def judge(recording: Recording, calls: int, cut: Cut, chance: random.Random) -> Counter[str]:
    """Cut the power after so many calls, and look."""
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
    """Cut the power so many times."""
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
