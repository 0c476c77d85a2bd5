"""After a power cut, everything reported before is there, and nothing is half done.

`python -m tests.benchmarks.power_cuts FOLDER` simulates power cuts during every job that writes.
"""

import os
import random
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.recorded_disk.disk import Cut, Disk
from tests.recorded_disk.recording import COMPILER, Call, compiled, files_in, recorded
from tests.warehouse.worlds import runs
from warehouse.store import Warehouse
from warehouse.support.journal import Journal

pytestmark = pytest.mark.skipif(
    COMPILER is None or sys.platform != "linux", reason="needs Linux and a C compiler"
)

# The fifth commit compacts tables. The first report is of an empty warehouse.
WRITER = """
from pathlib import Path
from tests.recorded_disk.recording import report
from tests.warehouse.worlds import runs
from warehouse.store import Warehouse
from warehouse.support.journal import Journal

warehouse = Warehouse.create("warehouse")
report()
for number in range(6):
    warehouse.write(runs(name=str(number), values={"depth": number}), source="test")
    Journal(Path("journal")).append({"commit": number})
    report()
"""


@dataclass(frozen=True)
class Recording:
    root: Path
    begun: Path
    calls: list[Call]

    def left(self, calls: list[Call], cut: Cut, seed: int, folder: Path) -> Path:
        Disk(self.root, self.begun, calls).write(folder, cut, random.Random(seed))
        return folder


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Recording:
    folder = tmp_path_factory.mktemp("recording").resolve()
    root, begun = folder / "root", folder / "begun"
    for one in (root, begun):
        one.mkdir()
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[3])}
    return Recording(
        root, begun, recorded([sys.executable, "-c", WRITER], root, compiled(folder), environment)
    )


def test_the_recording_has_everything_written(recording: Recording, tmp_path: Path) -> None:
    copy = recording.left(recording.calls, Cut.none, 0, tmp_path / "copy")
    assert files_in(copy) == files_in(recording.root)


@pytest.mark.parametrize("cut", [Cut.lost, Cut.emptied, Cut.torn])
@pytest.mark.parametrize("seed", range(4))
def test_commits_reported_before_a_cut_are_there(
    recording: Recording, cut: Cut, seed: int, tmp_path: Path
) -> None:
    made = recording.calls[: random.Random(f"{cut} {seed}").randint(0, len(recording.calls))]
    reported = sum(call.is_report for call in made)
    folder = recording.left(made, cut, seed, tmp_path / "disk")
    path = folder / "warehouse"
    if not reported:
        assert Warehouse.create(path).version == 0
        return
    warehouse = Warehouse.open(path)
    version = warehouse.version
    assert version >= reported - 1
    assert len(Journal(folder / "journal").records()) >= reported - 1
    depths = warehouse.sql("SELECT value FROM runs JOIN hyperparameters USING (setup)")
    assert sorted(depths["value"]) == [str(number) for number in range(version)]
    assert Warehouse.verify(path, deep=True).damage == []
    assert warehouse.write(runs(name="after"), source="test").version == version + 1
    assert Warehouse.verify(path, deep=True).damage == []


@pytest.mark.parametrize("cut", [Cut.lost, Cut.emptied])
def test_a_record_never_exists_without_its_rows(recording: Recording, cut: Cut, tmp_path: Path) -> None:
    log = recording.root / "warehouse" / "ingests" / "_delta_log"
    named = [number for number, call in enumerate(recording.calls) if call.other.parent == log]
    for number in named[1:]:  # the first creates the table
        for more in (1, 2):  # with the name of the record's entry, and with its sync
            folder = recording.left(recording.calls[: number + more], cut, 0, tmp_path / f"{number} {more}")
            assert Warehouse.open(folder / "warehouse").version >= 0


def test_without_syncs_commits_would_be_lost(recording: Recording, tmp_path: Path) -> None:
    unsynced = [call for call in recording.calls if call.kind not in "FD"]
    assert list(recording.left(unsynced, Cut.lost, 0, tmp_path / "disk").iterdir()) == []
