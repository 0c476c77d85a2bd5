"""Processes that write, read and are killed in any order: each commit is all there, or nothing of it.

A short search is part of the tests. An hour of it:
`pytest tests/warehouse/storage/test_interleaving.py --hypothesis-profile search`
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    consumes,
    invariant,
    rule,
    run_state_machine_as_test,
)

from tests.warehouse.interleaving import WAITS, Process, Processes
from tests.warehouse.worlds import runs, written
from warehouse.store import Warehouse

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs named pipes and forks")

Rows = dict[str, float]
"""Name of a run -> its accuracy."""
AT_MOST = 3
"""Processes at the same time."""
EXAMPLES, STEPS = (6, 25) if settings.get_current_profile_name() == "same" else (700, 60)
OTHER = {"x": 0.1, "y": 0.2}
"""Content of the warehouse that is merged."""


def content(warehouse: Warehouse) -> Rows:
    rows = warehouse.arrow(
        "SELECT setup, value FROM evaluations JOIN runs USING (run) JOIN setups USING (setup)"
    ).to_pylist()
    return {row["setup"].rpartition("/")[2]: row["value"] for row in rows}


class Interleaving(RuleBasedStateMachine):
    """The warehouse's versions, one after another, and operations that are not over."""

    processes: Processes
    templates: Path
    at_work = Bundle("at_work")

    def __init__(self) -> None:
        super().__init__()
        self._folder = TemporaryDirectory(dir=self.processes.folder)
        self.folder = Path(self._folder.name)
        self.path = self.folder / "warehouse"
        shutil.copytree(self.templates / "begun", self.path)
        self.versions: list[Rows] = [{}, {"a": 0.5}]
        self.running: dict[Process, tuple[Any, ...]] = {}

    # ---- what is done -------------------------------------------------------------------------------------

    def start(self, *operation: Any) -> Process:
        name, *arguments = operation
        process = self.processes.start(name, str(self.path), *arguments)
        self.running[process] = operation
        return process

    @rule(target=at_work, name=st.sampled_from("abc"), value=st.sampled_from([0.5, 0.6, 0.7]))
    def write(self, name: str, value: float) -> Process:
        return self.start("write", name, value)

    @rule(target=at_work)
    def merge(self) -> Process:
        return self.start("merge", str(self.templates / "other"))

    @rule(target=at_work, version=st.integers(0, 5))
    def restore(self, version: int) -> Process:
        return self.start("restore", version)

    @rule(target=at_work, operation=st.sampled_from(["repair", "verify"]))
    def look(self, operation: str) -> Process:
        return self.start(operation)

    @rule(target=at_work)
    def export(self) -> Process:
        return self.start("export", str(self.folder / f"copy{len(list(self.folder.iterdir()))}"))

    @rule(process=at_work, calls=st.integers(1, 150))
    def go_on(self, process: Process, calls: int) -> None:
        """Let a process make so many calls."""
        for _ in range(calls):
            call = process.go_on()
            if call in ("", WAITS):
                break
        self.look_at(process)

    @rule(process=consumes(at_work))
    def kill(self, process: Process) -> None:
        if self.running.pop(process, None):
            process.kill()

    # ---- what has to hold ---------------------------------------------------------------------------------

    def look_at(self, process: Process) -> None:
        """Check the warehouse after some calls of one process."""
        operation = self.running.get(process)
        if operation is None:
            return
        now = Warehouse.open(self.path)
        rows = content(now)
        if now.version == len(self.versions):
            assert rows in self.results(operation)
            self.versions.append(rows)
        assert now.version == len(self.versions) - 1
        assert rows == self.versions[-1]
        if process.is_over:
            del self.running[process]
            self.check_result(operation, process.result)

    def results(self, operation: tuple[Any, ...]) -> list[Rows]:
        """Contents that a commit of the operation may make."""
        before = self.versions[-1]
        match operation:
            case ("write", name, value):
                return [before | {name: value}]
            case ("merge", _):
                return [OTHER | before]
            case ("restore", version):
                return self.versions[: version + 1]
        return []

    def check_result(self, operation: tuple[Any, ...], result: Any) -> None:
        match operation:
            case ("verify",):
                assert result == []
            case ("export", _):
                version, found = result
                assert sorted(self.versions[version].values()) == sorted(found)
            case ("write", name, value):
                assert self.versions[result][name] == value
            case ("merge", _):
                assert self.versions[result].keys() >= OTHER.keys()
            case _:
                assert isinstance(result, int)

    @invariant()
    def at_most_three(self) -> None:
        while len(self.running) > AT_MOST:
            process = next(iter(self.running))
            del self.running[process]
            process.kill()

    def teardown(self) -> None:
        for process in self.running:
            process.kill()
        assert Warehouse.verify(self.path, deep=True).damage == []
        for version, rows in enumerate(self.versions):
            assert content(Warehouse.open(self.path, version=version)) == rows
        Warehouse.open(self.path).write(runs(name="last"), source="test")
        assert Warehouse.verify(self.path, deep=True).findings == []
        self._folder.cleanup()


@pytest.fixture(scope="module")
def processes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Processes]:
    processes = Processes(tmp_path_factory.mktemp("processes"))
    yield processes
    processes.end()


def test_any_order_of_events_leaves_whole_commits(processes: Processes, tmp_path: Path) -> None:
    written(tmp_path / "begun", runs(name="a", accuracies={"openml:1": 0.5}))
    written(tmp_path / "other", *(runs(name=name, accuracies={"openml:1": OTHER[name]}) for name in OTHER))
    Interleaving.processes, Interleaving.templates = processes, tmp_path
    run_state_machine_as_test(
        Interleaving,
        settings=settings(
            max_examples=EXAMPLES, stateful_step_count=STEPS, deadline=None, report_multiple_bugs=False
        ),
    )
