"""Request the parents of runs once: tasks, datasets with their qualities, and flows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from ingest.openml.answers import Answers
from ingest.openml.api.connection import ApiError
from ingest.openml.api.documents import UnreadableError, read_qualities, read_tasks, rows_in
from ingest.openml.flows import FlowParameter, OpenMLFlow, read_flow, structure_of
from ingest.openml.tables import (
    KnownFlow,
    Rows,
    dataset_tables,
    flow_tables,
    key,
    procedure_name,
    task_tables,
)
from warehouse.store import Warehouse

T = TypeVar("T")

_IDS_IN_A_LIST = 500  # so that paths stay below `LONGEST_TARGET`


class Parents:
    """Tasks, datasets and flows known in the warehouse and from the server."""

    def __init__(
        self, warehouse: Warehouse, answers: Answers, skip: Callable[[str, str], None], refresh: bool
    ) -> None:
        self.requests: list[str] = []
        """Requests so far, whose answers may be forgotten once the tables are written."""
        self.flows: dict[str, KnownFlow] = {} if refresh else _known_flows(warehouse)
        self._warehouse = warehouse
        self._answers = answers
        self._skip = skip
        known = "SELECT task, dataset FROM tasks WHERE starts_with(dataset, 'openml:')"
        self._tasks = set() if refresh else set(warehouse.arrow(known)["task"].to_pylist())
        listed = "SELECT dataset FROM datasets WHERE starts_with(dataset, 'openml:') AND status IS NOT NULL"
        self._datasets = set() if refresh else set(warehouse.arrow(listed)["dataset"].to_pylist())
        self._procedures: Mapping[str, str] | None = None

    def tables_for(self, rows: Rows) -> dict[str, Any]:
        """Rows of all tables for the unknown parents of these runs.

        Args:
            rows: have `task_id`, `flow_id`, and the listed ids and names of their datasets.
        """
        tables = self._flow_tables({row["flow_id"]: row.get("flow_name", "") for row in rows})
        tasks = self._new_tasks({row["task_id"]: row.get("data_id", "") for row in rows})
        names = {row["did"]: row.get("name", "") for row in tasks}
        names |= {row["data_id"]: row.get("data_name", "") for row in rows if "data_id" in row}
        if tasks:
            tables |= task_tables(tasks, self._procedure_names())
        return tables | self._dataset_tables(names, {row["did"]: row["task_id"] for row in tasks})

    def _flow_tables(self, names: Mapping[str, str]) -> dict[str, Any]:
        flows = [self._flow(number, name) for number, name in names.items() if number not in self.flows]
        self.flows |= {
            flow.id: KnownFlow(flow.algorithm, flow.parameters, bool(flow.parameters or not flow.components))
            for flow in flows
        }
        return flow_tables(flows) if flows else {}

    def _flow(self, number: str, name: str) -> OpenMLFlow:
        """The flow with its components; only its name if the server can't give it."""
        path = f"flow/{number}"
        try:
            return self._ask(path, read_flow)
        except (ApiError, UnreadableError) as error:
            self._skip(f"flow {number}", str(error))
            plain = name or path
            return OpenMLFlow(number, plain, None, None, None, structure_of(plain), (), ())

    def _new_tasks(self, datasets: Mapping[str, str]) -> Rows:
        """Rows of `task/list`; an unlisted task has its dataset, from its runs."""
        new = [task for task in datasets if key(task) not in self._tasks]
        self._tasks |= {key(task) for task in new}
        listed = {row["task_id"]: row for row in self._in_lists("task/list/task_id", new, read_tasks)}
        for task in new:
            if task not in listed and datasets[task]:
                self._skip(f"task {task}", "the server does not list it")
                listed[task] = {"task_id": task, "did": datasets[task]}
        return list(listed.values())

    def _dataset_tables(self, names: Mapping[str, str], tasks: Mapping[str, str]) -> dict[str, Any]:
        new = [dataset for dataset in names if key(dataset) not in self._datasets]
        if not new:
            return {}
        self._datasets |= {key(dataset) for dataset in new}
        rows = self._in_lists("data/list/data_id", new, rows_in("data", "dataset"))
        listed = {row["did"] for row in rows}
        rows = [*rows, *({"did": number, "name": names[number]} for number in new if number not in listed)]
        qualities = {
            dataset: self._qualities(dataset) or self._of_stand_in(tasks.get(dataset)) for dataset in new
        }
        return dataset_tables(rows, qualities)

    def _of_stand_in(self, task: str | None) -> Mapping[str, str | None]:
        """Qualities from a run file, imported when only the task of the dataset was known."""
        found = self._warehouse.arrow(
            "SELECT quality, value FROM qualities WHERE dataset = ? AND source = 'openml'",
            [f"openml-task:{task}"],
        ).to_pylist()
        return {row["quality"]: None if row["value"] is None else repr(row["value"]) for row in found}

    def _qualities(self, dataset: str) -> Mapping[str, str | None]:
        try:
            return self._ask(f"data/qualities/{dataset}", read_qualities)
        except (ApiError, UnreadableError) as error:
            self._skip(f"qualities of dataset {dataset}", str(error))
            return {}

    def _procedure_names(self) -> Mapping[str, str]:
        if self._procedures is None:
            try:
                read = rows_in("estimationprocedures", "estimationprocedure")
                rows = self._answers.get("estimationprocedure/list", read)  # kept to the end of the job
            except (ApiError, UnreadableError) as error:
                self._skip("estimation procedures", str(error))
                rows = []
            self._procedures = {row["id"]: procedure_name(row["name"]) for row in rows if "name" in row}
        return self._procedures

    def _in_lists(
        self, path: str, numbers: Sequence[str], read: Callable[[bytes], list[dict[str, str]]]
    ) -> list[dict[str, str]]:
        """Rows of a listing for these ids, of any status."""
        rows = []
        for start in range(0, len(numbers), _IDS_IN_A_LIST):
            some = ",".join(numbers[start : start + _IDS_IN_A_LIST])
            try:
                rows += self._ask(f"{path}/{some}/status/all", read)
            except (ApiError, UnreadableError) as error:
                if not (isinstance(error, ApiError) and error.no_results):
                    self._skip(path, str(error))
        return rows

    def _ask(self, path: str, read: Callable[[bytes], T]) -> T:
        self.requests.append(path)
        return self._answers.get(path, read)


def _known_flows(warehouse: Warehouse) -> dict[str, KnownFlow]:
    """The flows of OpenML that the warehouse has, with components."""
    rows = warehouse.arrow(
        """
        SELECT f.flow, coalesce(f.algorithm, f.flow) AS algorithm, p.component, c.component_flow, p.name,
          p.parameter, p.tunable, p.data_type, p.default_value
        FROM flows f
        LEFT JOIN parameters p USING (flow)
        LEFT JOIN components c ON c.flow = p.flow AND c.component = p.component
        WHERE f.structure IS NOT NULL AND starts_with(f.flow, 'openml:')
        """
    ).to_pylist()
    flows: dict[str, tuple[str, list[FlowParameter]]] = {}
    for row in rows:
        number = row.pop("flow").removeprefix("openml:")
        _, parameters = flows.setdefault(number, (row.pop("algorithm"), []))
        row.pop("algorithm", None)
        if row["name"] is not None:
            row["component_flow"] = row["component_flow"].removeprefix("openml:")
            parameters.append(FlowParameter(**row))
    return {
        number: KnownFlow(name, tuple(parameters), bool(parameters))
        for number, (name, parameters) in flows.items()
    }
