"""What a server knows: OpenML's tables in memory, open to change while it serves."""

import bisect
import threading
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain

from tests.openml_server.records import (
    Dataset,
    EstimationProcedure,
    Evaluation,
    Flow,
    Run,
    Setup,
    Slot,
    Study,
    Task,
)

RUN_INDEXES = ("task", "setup", "flow", "uploader")


class World:
    """Tables by id. Add and remove rows by the methods, which keep the indexes and count `version`.

    Readers of more than one row hold `lock`. A setup costs little more than its tuple of values: names,
    types and defaults stand once in its flow.
    """

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.version = 0
        self.users: dict[int, str] = {}
        self.datasets: dict[int, Dataset] = {}
        self.parquet: dict[int, bytes] = {}  # files of some datasets, by dataset
        self.procedures: dict[int, EstimationProcedure] = {}
        self.tasks: dict[int, Task] = {}
        self.flows: dict[int, Flow] = {}
        self.setups: dict[int, Setup] = {}
        self.runs: dict[int, Run] = {}
        self.evaluations: dict[int, list[Evaluation]] = defaultdict(list)  # by run
        self.studies: dict[int, Study] = {}
        self.measures: list[str] = []
        self.tags: dict[tuple[str, str], set[int]] = defaultdict(set)  # (kind, tag): ids
        self._run_ids: list[int] = []
        self._runs_by = {name: defaultdict[int, list[int]](list) for name in RUN_INDEXES}
        self._setups_by_flow: dict[int, list[int]] = defaultdict(list)
        self._slots: dict[int, tuple[Slot, ...]] = {}

    # ---- rows in ----------------------------------------------------------------------------

    def add_user(self, uploader: int, name: str) -> None:
        """A user that has a record; uploaders may lack one."""
        with self._change():
            self.users[uploader] = name

    def add_dataset(self, dataset: Dataset) -> None:
        """Add a dataset, or replace it (a new status, late qualities)."""
        with self._change():
            self.datasets[dataset.did] = dataset

    def add_procedure(self, procedure: EstimationProcedure) -> None:
        """Add or replace an estimation procedure."""
        with self._change():
            self.procedures[procedure.id] = procedure

    def add_task(self, task: Task) -> None:
        """Add or replace a task."""
        with self._change():
            self.tasks[task.id] = task

    def add_flow(self, flow: Flow) -> None:
        """Add a flow; its components are there before it."""
        with self._change():
            self.flows[flow.id] = flow
            self._slots[flow.id] = tuple(self._walk(flow, ""))

    def add_setup(
        self, setup: int, flow: int, values: Sequence[str | None] | Mapping[str, str], *, listed: bool = True
    ) -> None:
        """Add a setup with a value per slot of its flow, or with values by path, leaving out the others."""
        if isinstance(values, Mapping):
            values = self._by_slot(flow, values)
        if len(values) != len(self._slots[flow]):
            raise ValueError(f"flow {flow} has {len(self._slots[flow])} parameters, not {len(values)}")
        with self._change():
            self.setups[setup] = Setup(setup, flow, tuple(values), listed)
            bisect.insort(self._setups_by_flow[flow], setup)

    def add_run(
        self,
        run: int,
        task: int,
        setup: int,
        *,
        flow: int | None = None,
        uploader: int = 1,
        upload_time: str = "2018-05-04 03:02:01",
        error_message: str = "",
    ) -> None:
        """Add a run. `flow` need only be said where the setup does not exist."""
        with self._change():
            flow = self.setups[setup].flow if flow is None else flow
            row = Run(run, task, setup, flow, uploader, upload_time, error_message)
            self.runs[run] = row
            for ids in self._indexes_of(row):
                bisect.insort(ids, run)

    def add_evaluation(
        self,
        run: int,
        function: str,
        value: str | None,
        *,
        array_data: str | None = None,
        engine: int = 1,
    ) -> None:
        """Add a value of a measure; a measure that is new is one that evaluationmeasure/list shows."""
        with self._change():
            if function not in self.measures:
                self.measures.append(function)
            self.evaluations[run].append(Evaluation(run, engine, function, value, array_data))

    def add_study(self, study: Study) -> None:
        """Add or replace a suite or a study of runs."""
        with self._change():
            self.studies[study.id] = study

    def add_tag(self, kind: str, tag: str, ids: Iterable[int]) -> None:
        """Tag rows of a kind: data, task, flow, setup or run."""
        with self._change():
            self.tags[kind, tag].update(ids)

    def remove_run(self, run: int) -> None:
        """Remove a run and its evaluations."""
        with self._change():
            for ids in self._indexes_of(self.runs.pop(run)):
                del ids[bisect.bisect_left(ids, run)]
            self.evaluations.pop(run, None)

    # ---- rows out ---------------------------------------------------------------------------

    def run_ids(self, column: str | None = None, values: Iterable[int] = ()) -> list[int]:
        """Ascending ids of all runs, or of those with one of `values` in a column of `RUN_INDEXES`."""
        if column is None:
            return self._run_ids
        found = [self._runs_by[column].get(value, []) for value in set(values)]
        return found[0] if len(found) == 1 else sorted(chain.from_iterable(found))

    def setup_ids(self, flows: Iterable[int] | None = None) -> list[int]:
        """Ascending ids of the setups, or of those of some flows; unlisted ones included."""
        flows = self._setups_by_flow if flows is None else set(flows)
        return sorted(chain.from_iterable(self._setups_by_flow.get(flow, ()) for flow in flows))

    def slots(self, flow: int) -> tuple[Slot, ...]:
        """The parameters that a setup of the flow has values for, those of components included."""
        return self._slots[flow]

    def parameters(self, setup: int) -> dict[str, str]:
        """Values of a setup by path (`classifier__C`), without those that it leaves out."""
        row = self.setups[setup]
        pairs = zip(self._slots[row.flow], row.values, strict=True)
        return {slot.path: value for slot, value in pairs if value is not None}

    def tags_of(self, kind: str, row: int) -> list[str]:
        """Tags of a row, sorted."""
        return sorted(tag for (of, tag), ids in self.tags.items() if of == kind and row in ids)

    def measure_values(self, function: str) -> dict[int, str | None]:
        """Value of a measure by run; of several engines the last one's."""
        return {
            run: row.value
            for run, rows in self.evaluations.items()
            for row in rows
            if row.function == function
        }

    # ---- inside -----------------------------------------------------------------------------

    @contextmanager
    def _change(self) -> Iterator[None]:
        """Keeps readers out; what they remember of the version before is out of date."""
        with self.lock:
            self.version += 1
            yield

    def _indexes_of(self, run: Run) -> list[list[int]]:
        """The sorted lists of ids that a run stands in."""
        return [self._run_ids, *(self._runs_by[name][getattr(run, name)] for name in RUN_INDEXES)]

    def _walk(self, flow: Flow, path: str) -> Iterator[Slot]:
        for parameter in flow.parameters:
            if parameter.in_setups:
                yield Slot(path + parameter.name, flow, parameter)
        for component in flow.components:
            yield from self._walk(self.flows[component.flow], f"{path}{component.identifier}__")

    def _by_slot(self, flow: int, values: Mapping[str, str]) -> list[str | None]:
        paths = [slot.path for slot in self._slots[flow]]
        unknown = set(values) - set(paths)
        if unknown:
            raise ValueError(f"flow {flow} has no parameter {sorted(unknown)[0]}")
        return [values.get(path) for path in paths]
