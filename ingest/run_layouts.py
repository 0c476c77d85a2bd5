"""Layouts of run files: tables of several programs become one row per run.

Frames of OpenML's Python client have a row for each run and measure (`function`, `value`), those of its R
client dots in their names (`task.id`), and a row for each hyperparameter if they were joined with lists of
setups (`parameter.name`, `value`). Tables of ASlib, the library of algorithm selection scenarios, have
`repetition`, and `openml_task_id` or `instance_id`. Search tools mark hyperparameters (`params.C`) or keep
them in a dictionary, and a column like `runstatus` or `state` tells which runs failed or have not ended.
"""

import ast
import json
import logging
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from ingest.reading.formats.encoding import quoted
from ingest.reading.formats.typed_tables import TypedColumn, TypedTable
from ingest.run_columns import (
    BOOKKEEPING,
    INTERNAL,
    first_row,
    lists_parameters,
    measure_of,
    names_in_comment,
    spelled,
)
from warehouse.support.errors import UnreadableInput
from warehouse.support.text import counted

logger = logging.getLogger(__name__)

_ASLIB = frozenset({"instance_id", "openml_task_id", "openml_data_id"})
_ALIASES = {
    "openml_task_id": "task_id",
    "tid": "task_id",
    "openml_data_id": "data_id",
    "did": "data_id",
    "task_type_id": "task_type",
    "ttid": "task_type",
}

_OF_MEASURES = ("function", "measure", "metric")
_OF_SETUPS = frozenset({"data_type", "default_value", "full_name", "parameter_name"})
"""Columns of a list of setups."""

_STATUS = frozenset({"runstatus", "state", "status"})
_ENDED_WELL = re.compile(
    r"(.*\.)?(ok|success|succeeded|finished|completed?|done|terminated)\b.*", re.IGNORECASE
)
_ENDED_ELSE = re.compile(
    r"(.*\.)?(abort|cancel|crash|error|fail|invalid|kill|mem|not_applicable|other|pend|prun|run|sched|stop"
    r"|time|wait).*",
    re.IGNORECASE,
)
"""Words for a run that failed or has not ended: its values, if any, are not its configuration's."""

_OF_SETTING = re.compile(r"params?[._](?=.)|config[./](?=.)")
_MARK = re.compile(
    rf"^(?:{_OF_SETTING.pattern}|metrics\.|metric_|values_(?=[a-z])|tags\.|user_attrs_|summary\.)"
)
_FLOAT = re.compile(r"(?<=[ \[(])-?(?:nan|inf)(?=[,\])}])")
_DICTIONARIES = frozenset({"config", "hyperparameters", "parameters", "params", "summary"})
"""Names of columns with a dictionary in each cell: hyperparameters, or the results in a `summary`."""


def unified(table: TypedTable) -> TypedTable:
    """Give a table one row per run, and bookkeeping columns their names in `BOOKKEEPING`.

    Rows of runs that failed or have not ended, and repeated rows of a run, are left out, which is logged.

    Raises:
        BadInput: rows of measures lack a run or contradict one another, or a cell with a dictionary of
            hyperparameters can't be read.
    """
    columns: dict[str, TypedColumn] = {}
    is_aslib = "repetition" in table.columns and not _ASLIB.isdisjoint(table.columns)
    for name, column in table.columns.items():
        if is_aslib and name == "repetition":
            continue
        plain = "task_id" if is_aslib and name == "instance_id" else spelled(name)
        plain = _ALIASES.get(plain, plain)
        is_bookkeeping = plain in BOOKKEEPING or plain in _OF_SETUPS or plain == "task_id"
        columns[plain if is_bookkeeping and plain not in table.columns else name] = column
    columns = _of_ended_runs(columns)
    metadata = table.metadata
    naming = _naming_column(columns)
    if naming in _OF_MEASURES:
        measures = [*map(str, columns[naming].values)]
        metadata = {**metadata, "col_measures": [*(metadata.get("col_measures") or []), *measures]}
    if naming is not None:
        columns = _one_row_a_run(columns, naming)
    columns = _once_a_run(columns)
    marked = [name for name in columns if _OF_SETTING.match(name)]
    for name in [] if marked else [name for name in columns if name.lower() in _DICTIONARIES]:
        of_client = name == "parameters" and not {"setup_id", "run_id"}.isdisjoint(columns)
        if of_client or any(str(value).startswith("{") for value in columns[name].values):
            columns |= _from_dictionaries(name, columns.pop(name))
    return replace(table, columns=columns, metadata=metadata)


def without_marks(table: TypedTable) -> TypedTable:
    """Remove the marks of MLflow, Optuna, Ray Tune or scikit-learn from names; return others unchanged.

    These tools mark hyperparameters (`params.C`, `param_C`, `config/C`); of the other columns only measures
    and tasks are kept, and the rest is logged. A comment that lists hyperparameters takes precedence.
    """
    settings = {_MARK.sub("", name) for name in table.columns if _OF_SETTING.match(name)}
    if not settings or lists_parameters(table):
        return table
    measures = names_in_comment(table, "col_measures")
    settings_last = sorted(table.columns.items(), key=lambda column: bool(_OF_SETTING.match(column[0])))
    columns = {name if name in measures else _MARK.sub("", name): own for name, own in settings_last}
    known = {*settings, *measures, "task_id"} | BOOKKEEPING
    left_out = [name for name in columns if name not in known and measure_of(name) is None]
    if left_out:
        logger.warning("left out, since not hyperparameters: %s", ", ".join(left_out))
    return replace(table, columns={name: own for name, own in columns.items() if name not in left_out})


def _of_ended_runs(columns: dict[str, TypedColumn]) -> dict[str, TypedColumn]:
    """The rows without a message of an error whose status, if they have one, says that the run ended well."""
    for name in [name for name in columns if name.lower() in _STATUS or name == "error_message"]:
        codes, words = columns[name].codes, [str(value) for value in columns[name].values]
        well = [code for code, word in enumerate(words) if _ENDED_WELL.fullmatch(word)]
        if name == "error_message":
            kept = np.isin(codes, [-1, *(code for code, word in enumerate(words) if word == "None")])
        elif well or any(map(_ENDED_ELSE.fullmatch, words)):
            kept = np.isin(codes, well)
        else:
            continue
        if not kept.all():
            logger.warning("%s whose %s is not ok left out", counted(int((~kept).sum()), "rows"), name)
        columns = {other: own.take(kept) for other, own in columns.items()}
    return columns


def _once_a_run(columns: dict[str, TypedColumn]) -> dict[str, TypedColumn]:
    """The rows without those that repeat a row of the same `run_id`, as answers of a server in pages may."""
    run = columns.get("run_id")
    if run is None or len(run.values) == len(run.codes):
        return columns
    cells = pd.DataFrame(
        {name: own.codes for name, own in columns.items() if not INTERNAL.match(name or "_")}
    )
    repeated = cells.duplicated().to_numpy()
    if repeated.any():
        logger.warning("%s that repeat a run left out", counted(int(repeated.sum()), "rows"))
    return {name: own.take(~repeated) for name, own in columns.items()}


def _naming_column(columns: Mapping[str, TypedColumn]) -> str | None:
    """The column that names what `value` is of, if a run has several rows; always `function`."""
    run = columns.get("run_id")
    if "value" not in columns or "function" in columns or run is None or len(run.values) == len(run.codes):
        return "function" if {"function", "value"} <= columns.keys() else None
    names = (*_OF_MEASURES, "parameter_name", "parameter", "name")
    return next((name for name in names if name in columns), None)


def _one_row_a_run(columns: Mapping[str, TypedColumn], naming: str) -> dict[str, TypedColumn]:
    """Replace the rows per measure or hyperparameter, named in a column, by a column for each."""
    value, named, run = _whole(columns), columns[naming], columns.get("run_id")
    mark = "" if naming in _OF_MEASURES else "params."
    n = len(named.codes)
    runs = np.arange(n) if run is None else run.codes
    if run is None and len(named.values) > 1:
        raise UnreadableInput("rows have different measures in the column function, and there is no run_id")
    _, first, row_of = np.unique(runs, return_index=True, return_inverse=True)
    order = np.argsort(first)  # runs in the order of the file
    place = np.argsort(order)[row_of]
    found = {
        name: column.take(first[order])
        for name, column in columns.items()
        if name not in (naming, "value", "values") and not (mark and name in _OF_SETUPS)
    }
    for code, name in enumerate(named.values):
        codes = np.full(len(first), -1)
        rows = named.codes == code
        codes[place[rows]] = value.codes[rows]
        contradicted = codes[place[rows]] != value.codes[rows]
        if contradicted.any():
            row = int(np.flatnonzero(rows)[np.argmax(contradicted)])
            raise UnreadableInput(
                f"row {row + 1} has another value of {quoted(name)} than a later row of its run"
            )
        found[f"{mark}{name}"] = TypedColumn(codes, value.values)
    return found


def _whole(columns: Mapping[str, TypedColumn]) -> TypedColumn:
    """The column `value`, or the means of `values`, lists of one for each fold, if no row has a value."""
    value, folds = columns["value"], columns.get("values")
    if folds is None or (value.codes >= 0).any():
        return value
    try:
        return TypedColumn(folds.codes, tuple(float(np.mean(json.loads(str(own)))) for own in folds.values))
    except (ValueError, TypeError):
        return value


def _from_dictionaries(column_name: str, column: TypedColumn) -> dict[str, TypedColumn]:
    """A column for each key of the dictionaries in the cells, in the notation of Python or JSON."""
    mark = "summary." if column_name.lower() == "summary" else "params."
    settings: list[Mapping[str, str]] = []
    for code, text in enumerate(column.values):
        setting = _dictionary(str(text))
        if setting is None:
            raise UnreadableInput(
                f"row {first_row(column, code)}: {column_name} is {quoted(text)}, not a dictionary of Python "
                "or JSON"
            )
        texts = {
            f"{mark}{name}": value if isinstance(value, str) else json.dumps(value, default=str)
            for name, value in _flat(setting)
        }
        settings.append({_storable(name): _storable(value) for name, value in texts.items()})
    found = {}
    for name in dict.fromkeys(name for setting in settings for name in setting):
        cells = TypedColumn.from_text(pd.Series([setting.get(name) for setting in settings], dtype="str"))
        found[name] = TypedColumn(np.append(cells.codes, -1)[column.codes], cells.values)
    return found


def _storable(text: str) -> str:
    """A text without halves of characters, which JSON may have."""
    return text.encode(errors="replace").decode()


def _dictionary(text: str) -> Mapping[Any, Any] | None:
    for read in (json.loads, ast.literal_eval, lambda text: ast.literal_eval(_FLOAT.sub(r"'\g<0>'", text))):
        try:
            found = read(text)
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            continue
        if isinstance(found, dict):
            return found
    return None


def _flat(setting: Mapping[Any, Any]) -> Iterator[tuple[str, Any]]:
    """Names and values, those of dictionaries within as `outer.inner`."""
    for name, value in setting.items():
        if isinstance(value, dict) and value and "oml-python:serialized_object" not in value:
            yield from ((f"{name}.{inner}", own) for inner, own in _flat(value))
        else:
            yield str(name), value
