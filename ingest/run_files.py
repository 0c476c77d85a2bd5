"""Import of run files: exported tables of runs.

One row is one run of one flow: hyperparameters, values of measures, and `task_id`.
"""

import json
import logging
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from ingest.flows import FLOWS, find_flow
from ingest.keys import digest, setup_key
from ingest.reading.column_types.columns import label
from ingest.reading.formats.encoding import quoted, read_bytes
from ingest.reading.formats.typed_tables import TypedColumn, TypedTable, read_typed_table
from ingest.run_columns import (
    first_row,
    measure_names,
    measured,
    names_listed,
    parameter_columns,
    rows_of_flow,
    unified,
)
from ingest.spaces import read_space, refuse_unfit, scale_rows, space_rows
from warehouse.storage.writing import Commit
from warehouse.store import Warehouse
from warehouse.support.errors import BadInput, BadOption, UnknownName, UnreadableInput
from warehouse.support.text import counted
from warehouse.vocabulary.searched_flow import OTHER, SearchedFlow
from warehouse.vocabulary.task_types import CLASSIFICATION, REGRESSION, TASK_TYPES

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class RunFile:
    """Content of a run file, before anything is written."""

    path: Path
    flow: str
    """Key of the flow in the warehouse."""
    tables: Mapping[str, pa.Table | pd.DataFrame]
    tasks: Mapping[str, str]
    """Tasks of the runs, with the names of their types."""
    qualities: Mapping[str, Mapping[str, float | None]]
    """Task -> quality -> value."""
    space: SearchedFlow | None
    """The flow as declared; None if its space is inferred from its runs, or it is ours."""

    @property
    def is_ours(self) -> bool:
        """Whether Headstart builds the flow."""
        return find_flow(self.flow) is not None


def ingest_run_file(
    warehouse: Warehouse,
    path: str | Path,
    flow: str,
    *,
    qualities: str | Path | None = None,
    space: str | Path | None = None,
) -> Commit:
    """Write the runs of a file to the warehouse; see `read_run_file` and `write_run_file`."""
    return write_run_file(warehouse, read_run_file(path, flow, qualities=qualities, space=space))


def read_run_file(
    path: str | Path, flow: str, *, qualities: str | Path | None = None, space: str | Path | None = None
) -> RunFile:
    """Read the runs of `flow` ("6969", "openml:6969", "random_forest", or any other name) from a file.

    Columns are `task_id`, measures (`warehouse.vocabulary.measures`) and hyperparameters; a JSON object in
    the first comment may list them as `col_measures` and `col_parameters`. A measure may have one of its
    other names, such as `rmse`; `neg_` says that its sign is turned. Numbers whose name sounds like an
    unknown measure are refused unless the comment lists them. Rows without a value of any measure are left
    out; an empty cell of a hyperparameter means that the run does not set it. Frames that OpenML's clients
    made of evaluations and setups are read as they are (`ingest.run_columns`). The column
    `task_type` says which tasks are classification and which regression, by OpenML's names or numbers;
    without it, a table with measures of regression and none of classification is of regression tasks.

    Args:
        qualities: JSON file of OpenML's qualities, {task id: {quality: value}}: -1 is kept as published, NaN
            becomes null.
        space: file that declares the flow's search space (`ingest.spaces.read_space`).

    Raises:
        BadInput: the file is no run table of this flow, or its configurations are not in the space.
    """
    path = Path(path)
    key = flow_key(flow)
    if space is not None and find_flow(key) is not None:
        raise BadOption(f"Headstart builds {flow} and knows its space; leave out --space")
    declared = None if space is None else read_space(space, key)
    content = read_bytes(path)
    try:
        table = unified(read_typed_table(content))
        _check_flow(table.metadata, key)
        table = rows_of_flow(table, key)
        tasks = _tasks(table)
        tables, task_types = _run_tables(table, key, tasks), _task_types(table, tasks)
    except BadInput as error:
        raise UnreadableInput(f"{path}: {error}") from error
    if space is None or declared is None:
        tables["scales"] = _known_scales(key, set(tables["hyperparameters"]["parameter"].to_pylist()))
    else:
        refuse_unfit(space, declared, tables["hyperparameters"])
        tables |= {"scales": scale_rows({key: declared.scales}), "spaces": space_rows(declared)}
    types = {task: task_types[task] for task in tables["runs"]["task"].unique().to_pylist()}
    of_tasks = {} if qualities is None else _read_qualities(Path(qualities), types)
    return RunFile(path, key, tables, types, of_tasks, declared)


def write_run_file(warehouse: Warehouse, read: RunFile) -> Commit:
    """Write the run file; tasks and flows already in the warehouse stay unchanged."""

    def tables(now: Warehouse) -> dict[str, pa.Table | pd.DataFrame]:
        datasets = _datasets_of_tasks(now, [*read.tasks])
        qualities = {"qualities": _quality_rows(read.qualities, datasets)} if read.qualities else {}
        return {
            **read.tables,
            **_new_tasks(now, datasets, read.tasks),
            **_new_flow(now, read.flow),
            **qualities,
        }

    return warehouse.write(tables, source="run file", location=str(read.path))


def flow_key(flow: str) -> str:
    """Key in the warehouse of a flow given as OpenML id, key or name.

    Raises:
        BadInput: it is no sensible name, or nearly one of ours.
    """
    if re.fullmatch(r"(openml:)?[0-9]{1,18}", flow):
        return f"openml:{int(flow.removeprefix('openml:'))}"
    known = find_flow(flow)
    if known is not None:
        return known.id
    name = flow.removeprefix(OTHER)
    alike = find_flow(re.sub(r"[-. ]", "_", name.lower()))
    if alike is not None:
        raise UnknownName(f"unknown flow {quoted(flow)}; Headstart's is called {alike.name}")
    if not re.fullmatch(r"(?=.*[A-Za-z])[A-Za-z0-9][A-Za-z0-9._-]{0,63}", name):
        raise UnknownName(
            f"unknown flow {quoted(flow)}; give an OpenML flow id, one of {', '.join(FLOWS)}, or a name "
            "of up to 64 letters, digits and -_. that has a letter and begins with no sign"
        )
    return f"{OTHER}{name}"


def _run_tables(table: TypedTable, flow: str, tasks: np.ndarray) -> dict[str, pa.Table]:
    """Rows of the tables setups, hyperparameters, runs and evaluations.

    Args:
        tasks: (rows,) task of each row.
    """
    names = measure_names(table)
    measures = {measure: measured(name, measure, table.columns[name]) for name, measure in names.items()}
    evaluated = np.logical_or.reduce([~np.isnan(values) for values in measures.values()])
    position = np.flatnonzero(evaluated)
    if not len(position):
        raise UnreadableInput(f"no row has a value of {', '.join(names)}")
    if not evaluated.all():
        left_out = counted(int((~evaluated).sum()), "rows")
        logger.warning("%s without a value of any measure left out", left_out)
    parameters = {
        name: column.take(position) for name, column in parameter_columns(table, names, flow).items()
    }
    tasks, setups = tasks[position], _setup_ids(flow, parameters, len(position))
    runs = _run_ids(tasks, setups)
    return {
        **_setup_tables(flow, setups, parameters),
        "runs": pa.table(
            {
                "run": runs,
                "task": tasks,
                "setup": setups,
                "outcome": ["success"] * len(runs),
                "position": position,
            }
        ),
        "evaluations": pa.concat_tables(
            _evaluations(flow, runs, name, values[position]) for name, values in measures.items()
        ),
    }


def _check_flow(metadata: Mapping[str, Any], flow: str) -> None:
    stated = metadata.get("flow_id")
    if stated is not None and flow.startswith("openml:") and flow != f"openml:{stated}":
        raise UnreadableInput(f"the file states runs of flow {stated}, not of {flow}; give the right flow")


def _tasks(table: TypedTable) -> np.ndarray:
    """The task of every row, as a key of the warehouse."""
    column = table.columns.get("task_id")
    if column is None:
        raise UnreadableInput(f"there is no column task_id, only {names_listed(table.columns)}")
    keys = np.empty(len(column.values) + 1, dtype=object)
    for code, value in enumerate(column.values):
        if isinstance(value, bool | str | None) or value != int(value) or value < 0:
            raise UnreadableInput(
                f"row {first_row(column, code)}: task_id is {quoted(value)}, not an OpenML task id"
            )
        keys[code] = f"openml:{int(value)}"
    if (column.codes < 0).any():
        raise UnreadableInput(f"row {first_row(column, -1)} has no task_id")
    tasks: np.ndarray = keys[column.codes]
    return tasks


def _task_types(table: TypedTable, tasks: np.ndarray) -> dict[str, str]:
    """Task -> name of its type, by the column `task_type` or else by the measures."""
    column = table.columns.get("task_type")
    if column is None:
        measures = {*measure_names(table).values()}
        is_regression = measures & {*REGRESSION.measures} and not measures & {*CLASSIFICATION.measures}
        return dict.fromkeys(tasks, (REGRESSION if is_regression else CLASSIFICATION).name)
    known = {str(word): one.name for one in TASK_TYPES.values() for word in (one.words, one.openml_id)}
    found: dict[str, str] = {}
    for task, code in {*zip(tasks, column.codes.tolist(), strict=True)}:
        word = "unknown" if code < 0 else label(column.values[code]).lower().replace(" ", "_")
        task_type = known.get(word, word)
        if found.setdefault(task, task_type) != task_type:
            raise UnreadableInput(f"the task {task.removeprefix('openml:')} has two task types")
    return found


def _setup_ids(flow: str, parameters: Mapping[str, TypedColumn], n_rows: int) -> pa.Array:
    """Hash of the flow and the JSON object of the values (sorted names), one per row."""
    members = [
        pc.binary_join_element_wise(json.dumps(name), _json_texts(parameters[name]), ": ")
        for name in sorted(parameters)
    ]
    # The first one is never null: Arrow leaves out rows in which all are.
    joined = pc.binary_join_element_wise(pa.repeat("", n_rows), *members, ", ", null_handling="skip")
    values = (text.removeprefix(", ") for text in joined.to_pylist())
    return pa.array([setup_key(flow, "{" + text + "}") for text in values], pa.string())


def _run_ids(tasks: np.ndarray, setups: pa.Array) -> pa.Array:
    """A configuration that is repeated on a task gets one run per repetition."""
    cells = pd.DataFrame({"task": tasks, "setup": setups.to_pylist()})
    cells["repetition"] = cells.groupby(["task", "setup"]).cumcount()
    return pa.array(
        [f"file:{digest(task, setup, str(repetition))}" for task, setup, repetition in cells.to_numpy()],
        pa.string(),
    )


def _setup_tables(flow: str, setups: pa.Array, parameters: Mapping[str, TypedColumn]) -> dict[str, pa.Table]:
    first = np.flatnonzero(~pd.Index(setups.to_pylist()).duplicated())
    unique = setups.take(pa.array(first))
    values = [
        pa.table(
            {
                "setup": unique,
                "parameter": pa.repeat(name, len(first)),
                "value": _json_texts(column.take(first)),
            }
        )
        for name, column in parameters.items()
    ]
    return {
        "setups": pa.table({"setup": unique, "flow": pa.repeat(flow, len(first))}),
        "hyperparameters": pa.concat_tables(
            values or [pa.table({"setup": [], "parameter": [], "value": []})]
        ).drop_null(),
    }


def _evaluations(flow: str, runs: pa.Array, measure: str, values: np.ndarray) -> pa.Table:
    table = pa.table(
        {
            "run": runs,
            "measure": pa.repeat(measure, len(runs)),
            "value": values,
            "flow": pa.repeat(flow, len(runs)),
        }
    )
    return table.filter(pa.array(~np.isnan(values)))


def _json_texts(column: TypedColumn) -> pa.Array:
    """JSON of every cell, null for an empty one."""
    for code, value in enumerate(column.values):
        if isinstance(value, float) and not np.isfinite(value):
            raise UnreadableInput(
                f"row {first_row(column, code)}: {value!r} is not a value of a hyperparameter"
            )
    texts = pa.array([*(json.dumps(value) for value in column.values), None], pa.string())
    return texts.take(pa.array(np.where(column.codes < 0, len(column.values), column.codes)))


def _datasets_of_tasks(warehouse: Warehouse, tasks: list[str]) -> dict[str, str]:
    """Dataset of each task: the one that the warehouse knows, else a stand-in named after the task."""
    known = warehouse.sql(
        "SELECT task, dataset FROM tasks WHERE list_contains($tasks, task)", {"tasks": tasks}
    )
    stand_ins = {task: task.replace("openml:", "openml-task:") for task in tasks}
    return stand_ins | dict(zip(known["task"], known["dataset"], strict=True))


def _new_tasks(
    warehouse: Warehouse, datasets: Mapping[str, str], task_types: Mapping[str, str]
) -> dict[str, pd.DataFrame]:
    """Rows for tasks, and their datasets, of which the id and the task type are known."""
    known = set(warehouse.sql("SELECT task FROM tasks")["task"])
    new = {task: dataset for task, dataset in datasets.items() if task not in known}
    names = [f"dataset of OpenML task {task.removeprefix('openml:')}" for task in new]
    return {
        "datasets": pd.DataFrame({"dataset": list(new.values()), "name": names}),
        "tasks": pd.DataFrame(
            {
                "task": list(new),
                "dataset": list(new.values()),
                "task_type": [task_types[task] for task in new],
            }
        ),
    }


def _new_flow(warehouse: Warehouse, key: str) -> dict[str, pd.DataFrame]:
    if not warehouse.sql("SELECT flow FROM flows WHERE flow = $flow", {"flow": key}).empty:
        return {}
    known = find_flow(key)
    name, algorithm = (known.title, known.name) if known else (key.removeprefix(OTHER), None)
    return {"flows": pd.DataFrame([{"flow": key, "name": name, "algorithm": algorithm}])}


def _known_scales(key: str, parameters: Collection[str]) -> pd.DataFrame:
    """Rows of the table scales for those of `parameters` that a flow of ours declares."""
    known = find_flow(key)
    scales = {} if known is None else known.scales
    return scale_rows({key: {name: scale for name, scale in scales.items() if name in parameters}})


def _read_qualities(path: Path, tasks: Iterable[str]) -> dict[str, Mapping[str, float | None]]:
    """Task -> published quality -> value."""
    try:
        content = _object(path, json.loads(read_bytes(path)))
    except (ValueError, RecursionError) as error:
        raise UnreadableInput(f"{path}: cannot be read as JSON: {error}") from error
    found = {task: _object(path, content.get(task.removeprefix("openml:"), {})) for task in tasks}
    for qualities in found.values():
        for quality, value in qualities.items():
            if isinstance(value, bool | str | list | dict):
                raise UnreadableInput(f"{path}: the quality {quality} is {quoted(value)}, not a number")
    return found


def _quality_rows(
    qualities: Mapping[str, Mapping[str, float | None]], datasets: Mapping[str, str]
) -> pd.DataFrame:
    """Published qualities of the datasets of tasks as rows of the table qualities."""
    rows = [
        (datasets[task], quality, value) for task, of in qualities.items() for quality, value in of.items()
    ]
    frame = pd.DataFrame(rows, columns=["dataset", "quality", "value"])
    return frame.assign(value=frame["value"].astype(float), source="openml", extractor="openml")


def _object(path: Path, content: Any) -> Mapping[str, Any]:
    if not isinstance(content, dict):
        raise UnreadableInput(f"{path}: expected a JSON object {{task id: {{quality: value}}}}")
    return content
