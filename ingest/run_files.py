"""Import of run files: exported tables of runs.

One row is one run of a flow: hyperparameters, values of measures, and `task_id`.
"""

import json
import logging
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from ingest.flows import FLOWS, find_flow
from ingest.keys import digest, setup_key
from ingest.openml.values import typed
from ingest.published_qualities import quality_rows, read_qualities
from ingest.reading.column_types.columns import label
from ingest.reading.formats.encoding import quoted, read_bytes
from ingest.reading.formats.typed_tables import TypedColumn, TypedTable, read_typed_table
from ingest.run_columns import (
    BOOKKEEPING,
    OF_DATASET,
    first_row,
    measure_names,
    measured,
    names_listed,
    parameter_columns,
    rows_of_flow,
    spelled,
    task_keys,
)
from ingest.run_layouts import unified, without_marks
from ingest.spaces import read_space, refuse_unfit, scale_rows, space_rows
from warehouse.storage.writing import Commit
from warehouse.store import Warehouse
from warehouse.support.errors import BadInput, BadOption, UnknownName, UnreadableInput
from warehouse.support.text import counted
from warehouse.vocabulary.parameters import Value
from warehouse.vocabulary.searched_flow import OTHER, SearchedFlow
from warehouse.vocabulary.task_types import CLASSIFICATION, REGRESSION, TASK_TYPES

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class RunFile:
    """Content of a run file, before anything is written."""

    path: Path
    flows: tuple[str, ...]
    """Keys of the flows in the warehouse."""
    tables: Mapping[str, pa.Table | pd.DataFrame]
    tasks: Mapping[str, str]
    """Task -> name of its type."""
    qualities: Mapping[str, Mapping[str, float | None]]
    """Task -> published quality -> value."""
    space: SearchedFlow | None
    """The declared flow; None if its space is inferred from its runs, or Headstart builds it."""

    @property
    def of_others(self) -> list[str]:
        """Keys of the flows that Headstart does not build."""
        return [flow for flow in self.flows if find_flow(flow) is None]


def ingest_run_file(
    warehouse: Warehouse,
    path: str | Path,
    flow: str | None = None,
    *,
    flow_column: str | None = None,
    qualities: str | Path | None = None,
    space: str | Path | None = None,
) -> Commit:
    """Write the runs of a file to the warehouse; see `read_run_file` and `write_run_file`."""
    read = read_run_file(path, flow, flow_column=flow_column, qualities=qualities, space=space)
    return write_run_file(warehouse, read)


def read_run_file(
    path: str | Path,
    flow: str | None = None,
    *,
    flow_column: str | None = None,
    qualities: str | Path | None = None,
    space: str | Path | None = None,
) -> RunFile:
    """Read runs of one flow, or of the flows that a column names, from a file.

    A flow is given as "6969", "openml:6969", "random_forest", or any other name. Columns are `task_id`,
    measures (`warehouse.vocabulary.measures`) and hyperparameters; a JSON object in the first comment may
    list them as `col_measures` and `col_parameters`. A measure may have an alias, such as `rmse`; `neg_`
    marks a flipped sign. Numbers whose name sounds like an unknown measure are refused unless the comment
    lists them. Rows without a value of any measure are left out; an empty cell of a hyperparameter means that
    the run does not set it. Frames of evaluations and setups from OpenML's clients, ASlib's tables of runs,
    and tables of search tools are read, too (`ingest.run_layouts`). Without tasks, a table may name OpenML
    datasets in `data_id`. The column `task_type` has OpenML's names or numbers of task types; without it, a
    table that has only measures of regression is of regression tasks.

    Args:
        flow: the flow of all rows; None if `flow_column` names it.
        flow_column: name of the column with each row's flow. A flow without hyperparameters is one
            configuration.
        qualities: file of OpenML's qualities: JSON, {task id: {quality: value}}, or a table with a row for
            each task. -1 is kept as published, NaN becomes null.
        space: file that declares the search space of `flow` (`ingest.spaces.read_space`).

    Raises:
        BadInput: neither or both of `flow` and `flow_column` are given, the file is no run table of this
            flow, or its configurations are not in the space.
    """
    path = Path(path)
    if (flow is None) == (flow_column is None):
        raise BadOption("say whose runs these are: --flow FLOW, or --flow-column COLUMN if a column names it")
    if flow is None and space is not None:
        raise BadOption("--space declares one flow: give --flow, or declare the flows with ingest space")
    key = None if flow is None else flow_key(flow)
    if space is not None and find_flow(str(key)) is not None:
        raise BadOption(f"Headstart builds {flow} and knows its space; leave out --space")
    declared = None if space is None else read_space(space, str(key))
    content = read_bytes(path)
    try:
        table = unified(read_typed_table(content))
        if key is not None:
            _check_flow(table.metadata, key)
            table = rows_of_flow(table, key)
            flows = np.full(len(table), key, dtype=object)
        else:
            table, flows = _flows_in(table, str(flow_column))
        table = without_marks(table)
        tasks = task_keys(table)
        tables, task_types = _run_tables(table, flows, tasks), _task_types(table, tasks)
    except BadInput as error:
        raise UnreadableInput(f"{path}: {error}") from error
    found = tuple(tables["setups"]["flow"].unique().to_pylist())
    if space is None or declared is None:
        tables["scales"] = _known_scales(found, set(tables["hyperparameters"]["parameter"].to_pylist()))
    else:
        refuse_unfit(space, declared, tables["hyperparameters"])
        tables |= {"scales": scale_rows({declared.id: declared.scales}), "spaces": space_rows(declared)}
    types = {task: task_types[task] for task in tables["runs"]["task"].unique().to_pylist()}
    of_tasks = {} if qualities is None else read_qualities(Path(qualities), types)
    return RunFile(path, found, tables, types, of_tasks, declared)


def write_run_file(warehouse: Warehouse, read: RunFile) -> Commit:
    """Write the run file; tasks and flows already in the warehouse stay unchanged."""

    def tables(now: Warehouse) -> dict[str, pa.Table | pd.DataFrame]:
        datasets = _datasets_of_tasks(now, [*read.tasks])
        qualities = {"qualities": quality_rows(read.qualities, datasets)} if read.qualities else {}
        return {
            **read.tables,
            **_new_tasks(now, datasets, read.tasks),
            **_new_flows(now, read.flows),
            **qualities,
        }

    return warehouse.write(tables, source="run file", location=str(read.path))


def flow_key(flow: str) -> str:
    """Key in the warehouse of a flow given as OpenML id, key or name.

    Raises:
        BadInput: the name is not valid, or almost one of Headstart's.
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
    if not re.fullmatch(r"(?=.*[A-Za-z])[A-Za-z0-9][A-Za-z0-9._-]{0,127}", name):
        raise UnknownName(
            f"unknown flow {quoted(flow)}; give an OpenML flow id, one of {', '.join(FLOWS)}, or a name "
            "of up to 128 letters, digits and -_. that has a letter and begins with no sign"
        )
    return f"{OTHER}{name}"


def _flows_in(table: TypedTable, column: str) -> tuple[TypedTable, np.ndarray]:
    """Split off the column that names flows: the other columns, and (rows,) keys of flows.

    Raises:
        BadInput: there is no such column, a cell is empty, or a flow's name is not valid.
    """
    column = column if column in table.columns else spelled(column)
    names = table.columns.get(column)
    if names is None:
        raise UnreadableInput(f"there is no column {quoted(column)}, only {names_listed(table.columns)}")
    if (names.codes < 0).any():
        raise UnreadableInput(f"row {first_row(names, -1)} has no flow in the column {quoted(column)}")
    keys = np.array([flow_key(label(value)) for value in names.values], dtype=object)
    others = {name: own for name, own in table.columns.items() if name != column}
    return replace(table, columns=others), keys[names.codes]


def _run_tables(table: TypedTable, flows: np.ndarray, tasks: np.ndarray) -> dict[str, pa.Table]:
    """Rows of the tables setups, hyperparameters, runs and evaluations.

    Args:
        flows: (rows,) key of each row's flow.
        tasks: (rows,) key of each row's task.
    """
    names = measure_names(table)
    measures = {measure: measured(name, measure, table.columns[name]) for name, measure in names.items()}
    evaluated = np.logical_or.reduce([~np.isnan(values) for values in measures.values()])
    if not evaluated.any():
        raise UnreadableInput(f"no row has a value of {', '.join(names)}")
    if not evaluated.all():
        left_out = counted(int((~evaluated).sum()), "rows")
        logger.warning("%s without a value of any measure left out", left_out)
    of_others = any(str(flow).startswith(OTHER) for flow in pd.unique(flows))
    columns = parameter_columns(table, names, flows, of_others=of_others)
    position = np.flatnonzero(evaluated & _has_known_setup(table, names, flows, columns))
    parameters = {name: column.take(position) for name, column in columns.items()}
    tasks, flows = tasks[position], flows[position]
    setups = _setup_ids(flows, parameters)
    runs = _run_ids(tasks, setups)
    return {
        **_setup_tables(flows, setups, parameters),
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
            _evaluations(flows, runs, name, values[position]) for name, values in measures.items()
        ),
    }


def _has_known_setup(
    table: TypedTable, names: Iterable[str], flows: np.ndarray, columns: Mapping[str, TypedColumn]
) -> np.ndarray:
    """(rows,) whether the hyperparameters of the row's setup at OpenML are known; how many are not is logged.

    Args:
        names: columns of measures.
        columns: of hyperparameters.

    Raises:
        BadInput: a flow has several setups, but the table no column of a hyperparameter.
    """
    setups = table.columns.get("setup_id")
    if setups is None:
        return np.ones(len(flows), dtype=bool)
    is_bare = {name.lower() for name in table.columns} <= BOOKKEEPING | {"task_id", *names}
    if is_bare and len(setups.values) > 1 and len(pd.unique(flows)) == 1:
        raise UnreadableInput(
            f"there are {counted(len(setups.values), 'setups')} (setup_id), but no hyperparameters: export"
            " them, too, as list_evaluations_setups of OpenML's client does, or leave out the column setup_id"
            " if all runs have the same"
        )
    filled = np.any([np.zeros(len(flows), dtype=bool), *(own.codes >= 0 for own in columns.values())], axis=0)
    known: np.ndarray = filled | ~np.isin(flows, flows[filled])
    if not known.all():
        left_out = counted(int((~known).sum()), "rows")
        logger.warning("%s of setups without any hyperparameter left out", left_out)
    return known


def _check_flow(metadata: Mapping[str, Any], flow: str) -> None:
    stated = metadata.get("flow_id")
    if stated is not None and flow.startswith("openml:") and flow != f"openml:{stated}":
        raise UnreadableInput(f"the file states runs of flow {stated}, not of {flow}; give the right flow")


def _task_types(table: TypedTable, tasks: np.ndarray) -> dict[str, str]:
    """Task -> name of its type, from the column `task_type` or else from the measures."""
    column = table.columns.get("task_type")
    if column is None:
        measures = {*measure_names(table).values()}
        is_regression = measures & {*REGRESSION.measures} and not measures & {*CLASSIFICATION.measures}
        return dict.fromkeys(tasks, (REGRESSION if is_regression else CLASSIFICATION).name)
    known = {str(word): one.name for one in TASK_TYPES.values() for word in (one.words, one.openml_id)}
    known |= dict.fromkeys(("classif", "binary", "multiclass"), CLASSIFICATION.name)
    known |= {"regr": REGRESSION.name}
    found: dict[str, str] = {}
    for task, code in {*zip(tasks, column.codes.tolist(), strict=True)}:
        word = "unknown" if code < 0 else label(column.values[code]).lower().replace(" ", "_")
        word = word.removeprefix("tasktype.")
        task_type = known.get(word, word)
        if found.setdefault(task, task_type) != task_type:
            raise UnreadableInput(f"the task {task.removeprefix('openml:')} has two task types")
    return found


def _setup_ids(flows: np.ndarray, parameters: Mapping[str, TypedColumn]) -> pa.Array:
    """Hash of the flow and the JSON object of the values (sorted names), one per row."""
    members = [
        pc.binary_join_element_wise(json.dumps(name), _json_texts(parameters[name]), ": ")
        for name in sorted(parameters)
    ]
    # The first part is never null: Arrow leaves out rows with only nulls.
    joined = pc.binary_join_element_wise(pa.repeat("", len(flows)), *members, ", ", null_handling="skip")
    values = (text.removeprefix(", ") for text in joined.to_pylist())
    keys = [setup_key(flow, "{" + text + "}") for flow, text in zip(flows, values, strict=True)]
    return pa.array(keys, pa.string())


def _run_ids(tasks: np.ndarray, setups: pa.Array) -> pa.Array:
    """A configuration that is repeated on a task gets one run per repetition."""
    cells = pd.DataFrame({"task": tasks, "setup": setups.to_pylist()})
    cells["repetition"] = cells.groupby(["task", "setup"]).cumcount()
    return pa.array(
        [f"file:{digest(task, setup, str(repetition))}" for task, setup, repetition in cells.to_numpy()],
        pa.string(),
    )


def _setup_tables(
    flows: np.ndarray, setups: pa.Array, parameters: Mapping[str, TypedColumn]
) -> dict[str, pa.Table]:
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
        "setups": pa.table({"setup": unique, "flow": pa.array(flows[first], pa.string())}),
        "hyperparameters": pa.concat_tables(
            values
            or [pa.table({name: pa.array([], pa.string()) for name in ("setup", "parameter", "value")})]
        ).drop_null(),
    }


def _evaluations(flows: np.ndarray, runs: pa.Array, measure: str, values: np.ndarray) -> pa.Table:
    table = pa.table(
        {
            "run": runs,
            "measure": pa.repeat(measure, len(runs)),
            "value": values,
            "flow": pa.array(flows, pa.string()),
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
    texts = pa.array([*map(_json_text, column.values), None], pa.string())
    return texts.take(pa.array(np.where(column.codes < 0, len(column.values), column.codes)))


def _json_text(value: Value) -> str:
    if not isinstance(value, str) or not value.startswith(("(", "[", "{")):
        return json.dumps(value)
    text = typed(value)  # a list or an object of OpenML's clients, in one notation
    return json.dumps(text) if text.startswith(("[", "{")) else text


def _datasets_of_tasks(warehouse: Warehouse, tasks: list[str]) -> dict[str, str]:
    """Dataset of each task: named by the warehouse or the task, or else a placeholder."""
    known = warehouse.sql(
        "SELECT task, dataset FROM tasks WHERE list_contains($tasks, task)", {"tasks": tasks}
    )
    stand_ins = {task: _stand_in(task) for task in tasks}
    return stand_ins | dict(zip(known["task"], known["dataset"], strict=True))


def _stand_in(task: str) -> str:
    """Key of a placeholder for the dataset of a task of which only the name is known."""
    return task.replace("openml:", "openml-task:").replace(OF_DATASET, "openml:")


def _new_tasks(
    warehouse: Warehouse, datasets: Mapping[str, str], task_types: Mapping[str, str]
) -> dict[str, pd.DataFrame]:
    """Rows for new tasks and for placeholders of their datasets: only id and task type are known."""
    known = set(warehouse.sql("SELECT task FROM tasks")["task"])
    new = {task: dataset for task, dataset in datasets.items() if task not in known}
    described = set(warehouse.sql("SELECT dataset FROM datasets")["dataset"])
    names = {
        dataset: f"OpenML dataset {task.removeprefix(OF_DATASET)}"
        if task.startswith(OF_DATASET)
        else f"dataset of OpenML task {task.removeprefix('openml:')}"
        for task, dataset in datasets.items()
        if dataset not in described and dataset == _stand_in(task)
    }
    return {
        "datasets": pd.DataFrame({"dataset": list(names), "name": list(names.values())}),
        "tasks": pd.DataFrame(
            {
                "task": list(new),
                "dataset": list(new.values()),
                "task_type": [task_types[task] for task in new],
            }
        ),
    }


def _new_flows(warehouse: Warehouse, keys: Iterable[str]) -> dict[str, pd.DataFrame]:
    known = set(warehouse.sql("SELECT flow FROM flows")["flow"])
    rows = []
    for key in keys:
        ours = find_flow(key)
        name, algorithm = (ours.title, ours.name) if ours else (key.removeprefix(OTHER), None)
        if key not in known:
            rows.append({"flow": key, "name": name, "algorithm": algorithm})
    return {"flows": pd.DataFrame(rows)} if rows else {}


def _known_scales(keys: Iterable[str], parameters: Collection[str]) -> pd.DataFrame:
    """Rows of the table of scales for those of `parameters` that Headstart's flows declare."""
    ours = {key: flow for key in keys if (flow := find_flow(key)) is not None}
    return scale_rows({
        key: {name: scale for name, scale in flow.scales.items() if name in parameters}
        for key, flow in ours.items()
    })  # fmt: skip
