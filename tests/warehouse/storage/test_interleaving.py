"""Processes write, read and are killed in any order: each commit is complete or absent.

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
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule, run_state_machine_as_test

from tests.warehouse.interleaving import Process, Processes
from tests.warehouse.worlds import runs, written
from warehouse.store import Warehouse

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs named pipes and forks")

Rows = dict[str, float]
"""Run -> its accuracy."""
AT_MOST = 3
"""Concurrent processes."""
EXAMPLES, STEPS = (2, 15) if settings.get_current_profile_name() == "same" else (700, 60)
OTHER = {"x": 0.1, "y": 0.2}
"""Content of the merged warehouse."""


CALLS = st.one_of(st.integers(1, 60), st.just(1000))
"""Calls that a process makes at a time; a commit takes 30 to 90."""


def operations() -> st.SearchStrategy[tuple[Any, ...]]:
    writes = st.tuples(st.just("write"), st.sampled_from("abc"), st.sampled_from([0.5, 0.6, 0.7]))
    restores = st.tuples(st.just("restore"), st.integers(0, 5))
    others = st.sampled_from([("merge",), ("repair",), ("verify",), ("export",)])
    return st.one_of(writes, writes, restores, others)


def content(warehouse: Warehouse) -> Rows:
    rows = warehouse.arrow(
        "SELECT setup, value FROM evaluations JOIN runs USING (run) JOIN setups USING (setup)"
    ).to_pylist()
    return {row["setup"].rpartition("/")[2]: row["value"] for row in rows}


class Interleaving(RuleBasedStateMachine):
    """The warehouse's versions, in order, and unfinished operations."""

    processes: Processes
    templates: Path

    def __init__(self) -> None:
        super().__init__()
        self._folder = TemporaryDirectory(dir=self.processes.folder)
        self.folder = Path(self._folder.name)
        self.path = self.folder / "warehouse"
        shutil.copytree(self.templates / "begun", self.path)
        self.versions: list[Rows] = [{}, {"a": 0.5}]
        self.running: list[tuple[Process, tuple[Any, ...]]] = []
        self.exports = 0

    # ---- actions -------------------------------------------------------------------------------------

    @precondition(lambda self: len(self.running) < AT_MOST)
    @rule(operation=operations())
    def start(self, operation: tuple[Any, ...]) -> None:
        name, *arguments = operation
        if name == "export":
            self.exports += 1
            arguments = [str(self.folder / f"copy{self.exports}")]
        if name == "merge":
            arguments = [str(self.templates / "other")]
        self.running.append((self.processes.start(name, str(self.path), *arguments), operation))

    @precondition(lambda self: self.running)
    @rule(which=st.integers(0, AT_MOST - 1), calls=CALLS, is_killed=st.sampled_from([False, False, True]))
    def go_on(self, which: int, calls: int, is_killed: bool) -> None:
        """Let a process make this many calls."""
        place = which % len(self.running)
        process, operation = self.running[place]
        process.go_on(calls)
        self.look(process, operation)
        if is_killed and not process.is_over:
            process.kill()
        if process.is_over:
            del self.running[place]

    # ---- invariants ---------------------------------------------------------------------------------

    def look(self, process: Process, operation: tuple[Any, ...]) -> None:
        """Check the warehouse after some calls of one process."""
        now = Warehouse.open(self.path)
        rows = content(now)
        if now.version == len(self.versions):
            assert rows in self.results(operation)
            self.versions.append(rows)
        assert now.version == len(self.versions) - 1
        assert rows == self.versions[-1]
        if process.is_over:
            self.check_result(operation, process.result)

    def results(self, operation: tuple[Any, ...]) -> list[Rows]:
        """Contents that a commit of the operation may produce."""
        before = self.versions[-1]
        match operation:
            case ("write", name, value):
                return [before | {name: value}]
            case ("merge",):
                return [OTHER | before]
            case ("restore", version):
                return self.versions[: version + 1]
        return []

    def check_result(self, operation: tuple[Any, ...], result: Any) -> None:
        match operation:
            case ("verify",):
                assert result == []
            case ("export",):
                version, found = result
                assert sorted(self.versions[version].values()) == sorted(found)
            case ("write", name, value):
                assert self.versions[result][name] == value
            case ("merge",):
                assert self.versions[result].keys() >= OTHER.keys()
            case _:
                assert isinstance(result, int)

    def teardown(self) -> None:
        for process, _ in self.running:
            if not process.is_over:
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
