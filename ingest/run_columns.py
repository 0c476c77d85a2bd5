"""Columns of a run file: bookkeeping, measures and hyperparameters.

Also reads frames from OpenML's clients: Python's have a row for each run and measure (`function`, `value`),
R's have dots in their names (`task.id`). And tables of ASlib, the library of algorithm selection scenarios:
`repetition`, `openml_task_id` or `instance_id`, and `runstatus`, which is `ok` or the reason why a run has no
value.
"""

import ast
import logging
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace

import numpy as np
import pandas as pd

from ingest.openml.values import is_structure
from ingest.parameter_names import is_tunable, plain_parameter_name
from ingest.reading.formats.encoding import quoted
from ingest.reading.formats.typed_tables import TypedColumn, TypedTable
from warehouse.support.errors import UnreadableInput
from warehouse.support.text import counted
from warehouse.vocabulary.measures import MEASURES, known_name

logger = logging.getLogger(__name__)

# Columns of OpenML's lists of evaluations that identify a run rather than its setup.
BOOKKEEPING = frozenset({
    "", "unnamed: 0", "array_data", "data_id", "data_name", "data_version", "evaluation_engine_id", "flow_id",
    "flow_name", "flow_source", "flow_version", "function", "learner_name", "run_id", "setup_id", "task_type",
    "upload_time", "uploader", "uploader_name",
})  # fmt: skip

_OF_RUN = frozenset({
    "commit", "date", "dataset", "dataset_id", "dataset_name", "fold", "host", "hostname", "id", "index",
    "rep", "repeat", "repetition", "started", "status", "task", "task_name", "timestamp", "trial", "trial_id",
    "user",
})  # fmt: skip
"""Other programs' names of such columns; a file whose hyperparameters have such names has to list them."""

OF_DATASET = "openml-data:"
"""Key prefix of a task of which only the dataset's id is known."""

_ASLIB = {"openml_task_id": "task_id", "instance_id": "task_id", "openml_data_id": "data_id"}

_FEWEST_RUNS = 20  # in fewer, words that are all different may be values

_OUTCOME = re.compile(
    r"acc|accuracy|auc|auroc|roc|f1|fscore|fmeasure|precision|recall|sensitivity|specificity|err|error|mmce|loss"
    r"|score|rmse|mse|mae|mape|smape|r2|rsq|kappa|mcc|brier|nll|likelihood|metric|performance|fitness|regret"
    r"|time|timetrain|timepredict|secs?|seconds|ms|millis|duration|runtime|elapsed"
)
"""Words in names of run outcomes."""
_SETTING = re.compile(
    r"limit|max|min|budget|weight|threshold|tol|tolerance|rate|func|early|patience|iter|window"
)
"""Words that mark the name as a setting: `max_time`, `loss_weight`."""


_OF_SETTING = re.compile(r"params?[._](?=.)|config/")
_MARK = re.compile(rf"^(?:{_OF_SETTING.pattern}|metrics\.|tags\.|user_attrs_)")


def unified(table: TypedTable) -> TypedTable:
    """Give a table one row per run, and bookkeeping columns their names in `BOOKKEEPING`.

    ASlib's rows without a value are left out, which is logged.

    Raises:
        BadInput: rows of measures lack a run, or a cell of `parameters` is not a Python dictionary.
    """
    if "repetition" in table.columns and not _ASLIB.keys().isdisjoint(table.columns):
        table = _from_aslib(table)
    columns: dict[str, TypedColumn] = {}
    for name, column in table.columns.items():
        plain = re.sub(r"\.", "_", name.lower())
        is_bookkeeping = plain in BOOKKEEPING or plain == "task_id"
        columns[plain if is_bookkeeping and plain not in table.columns else name] = column
    if {"function", "value"} <= columns.keys():
        columns = _one_row_a_run(columns)
    if "parameters" in columns and {"setup_id", "run_id"} & columns.keys():
        columns |= _parameters_of_client(columns.pop("parameters"))
    return replace(table, columns=columns)


def without_marks(table: TypedTable) -> TypedTable:
    """Remove the marks of MLflow, Optuna, Ray Tune or scikit-learn from names; return others unchanged.

    These tools mark hyperparameters (`params.C`, `param_C`, `config/C`); of the other columns only measures
    and tasks are kept, and the rest is logged. A comment that lists hyperparameters takes precedence.
    """
    settings = {_MARK.sub("", name) for name in table.columns if _OF_SETTING.match(name)}
    if not settings or names_in_comment(table, "col_parameters"):
        return table
    settings_last = sorted(table.columns.items(), key=lambda column: bool(_OF_SETTING.match(column[0])))
    columns = {_MARK.sub("", name): column for name, column in settings_last}
    known = {*settings, "task_id"} | BOOKKEEPING
    left_out = [name for name in columns if name not in known and _measure_of(name) is None]
    if left_out:
        logger.warning("left out, since not hyperparameters: %s", ", ".join(left_out))
    return replace(table, columns={name: own for name, own in columns.items() if name not in left_out})


def _from_aslib(table: TypedTable) -> TypedTable:
    """A table of ASlib with OpenML's names of columns, and without the rows of runs that failed."""
    columns = {_ASLIB.get(name, name): own for name, own in table.columns.items() if name != "repetition"}
    status = columns.pop("runstatus", None)
    if status is None:
        return replace(table, columns=columns)
    ok = np.isin(status.codes, [code for code, value in enumerate(status.values) if value == "ok"])
    if not ok.all():
        logger.warning("%s whose runstatus is not ok left out", counted(int((~ok).sum()), "rows"))
    return replace(table, columns={name: own.take(ok) for name, own in columns.items()})


def n_rows(table: TypedTable) -> int:
    """Number of rows."""
    return len(next(iter(table.columns.values())).codes)


def task_keys(table: TypedTable) -> np.ndarray:
    """(rows,) warehouse key of each row's task, from `task_id`, or else from the dataset in `data_id`.

    Raises:
        BadInput: neither column exists, or a cell is not an OpenML id.
    """
    name, prefix = ("task_id", "openml:") if "task_id" in table.columns else ("data_id", OF_DATASET)
    column = table.columns.get(name)
    if column is None:
        raise UnreadableInput(f"there is no column task_id, only {names_listed(table.columns)}")
    keys = np.empty(len(column.values) + 1, dtype=object)
    for code, value in enumerate(column.values):
        if isinstance(value, bool | str | None) or value != int(value) or value < 0:
            thing = "a task id" if name == "task_id" else "a dataset id"
            raise UnreadableInput(
                f"row {first_row(column, code)}: {name} is {quoted(value)}, not {thing} of OpenML"
            )
        keys[code] = f"{prefix}{int(value)}"
    if (column.codes < 0).any():
        raise UnreadableInput(f"row {first_row(column, -1)} has no {name}")
    tasks: np.ndarray = keys[column.codes]
    return tasks


def rows_of_flow(table: TypedTable, flow: str) -> TypedTable:
    """Keep the rows of an OpenML flow if there is a column `flow_id`; the number of others is logged.

    Raises:
        BadInput: no row is left.
    """
    column = table.columns.get("flow_id")
    if column is None or not flow.startswith("openml:"):
        return table
    own = [code for code, value in enumerate(column.values) if str(value) == flow.removeprefix("openml:")]
    rows = np.flatnonzero(np.isin(column.codes, own))
    if not len(rows):
        known = names_listed(map(str, column.values))
        raise UnreadableInput(f"its column flow_id has runs of {known}, not of {flow}; give the right flow")
    if len(rows) < len(column.codes):
        left_out = counted(len(column.codes) - len(rows), "rows")
        logger.warning("%s of other flows left out", left_out)
    return replace(table, columns={name: own_column.take(rows) for name, own_column in table.columns.items()})


def _one_row_a_run(columns: Mapping[str, TypedColumn]) -> dict[str, TypedColumn]:
    """Replace the rows per measure, named in `function`, by a column per measure."""
    value, function, run = columns["value"], columns["function"], columns.get("run_id")
    n = len(function.codes)
    runs = np.arange(n) if run is None else run.codes
    if run is None and len(function.values) > 1:
        raise UnreadableInput("rows have different measures in the column function, and there is no run_id")
    _, first, row_of = np.unique(runs, return_index=True, return_inverse=True)
    order = np.argsort(first)  # runs in the order of the file
    place = np.argsort(order)[row_of]
    found = {
        name: column.take(first[order])
        for name, column in columns.items()
        if name not in ("function", "value", "values")
    }
    for code, measure in enumerate(function.values):
        codes = np.full(len(first), -1)
        rows = function.codes == code
        codes[place[rows]] = value.codes[rows]
        found[str(measure)] = TypedColumn(codes, value.values)
    return found


def _parameters_of_client(column: TypedColumn) -> dict[str, TypedColumn]:
    """A column for each key of the dictionaries in which OpenML's client stores setups."""
    settings: list[Mapping[str, str]] = []
    for code, text in enumerate(column.values):
        try:
            setting = ast.literal_eval(str(text))
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            setting = None
        if not isinstance(setting, dict):
            raise UnreadableInput(
                f"row {first_row(column, code)}: parameters is {quoted(text)}, not a dictionary of Python"
            )
        settings.append({str(name): str(value) for name, value in setting.items()})
    found = {}
    for name in dict.fromkeys(name for setting in settings for name in setting):
        cells = TypedColumn.from_text(pd.Series([setting.get(name) for setting in settings], dtype="str"))
        found[name] = TypedColumn(np.append(cells.codes, -1)[column.codes], cells.values)
    return found


def measure_names(table: TypedTable) -> dict[str, str]:
    """Column of each measure -> the measure's name.

    Raises:
        BadInput: no column is a measure, two are the same, or one may be an unknown measure.
    """
    listed = names_in_comment(table, "col_measures")
    parameters = names_in_comment(table, "col_parameters")
    names = {name: known_name(name) or name for name in listed} or {
        name: measure
        for name in table.columns
        if name not in parameters and (measure := _measure_of(name)) is not None
    }
    if not names:
        raise UnreadableInput(
            "no column is a measure: none has a name like predictive_accuracy or area_under_roc_curve, and "
            "no JSON comment in the first line lists col_measures"
        )
    repeated = [name for name, measure in names.items() if [*names.values()].count(measure) > 1]
    if repeated:
        raise UnreadableInput(f"the columns {names_listed(repeated)} are one measure; leave out all but one")
    if not parameters:
        _ask_about(table, names)
    return names


def _measure_of(name: str) -> str | None:
    """The measure that a column is named after; an alias must state the unit of a time."""
    measure = known_name(name)
    says_unit = measure is None or not measure.endswith(("_millis", "_per_1000_rows"))
    return measure if says_unit or name in MEASURES else None


def _ask_about(table: TypedTable, names: Collection[str]) -> None:
    """Refuse numbers that may be an unknown measure: as hyperparameters they would spoil all runs."""
    others = [name for name in table.columns if name not in names and name.lower() not in BOOKKEEPING]
    unclear = [
        name
        for name in others
        if name != "task_id" and _sounds_like_outcome(name) and _has_numbers(table.columns[name])
    ]
    if unclear:
        known = f" ({MEASURES[measure].name}?)" if (measure := known_name(unclear[0])) else ""
        raise UnreadableInput(
            f"what is {names_listed(unclear)}{known}? Give a measure a known name, or list all "
            "hyperparameters, these included, in the first line: "
            '# {"col_parameters": [...], "col_measures": [...]}'
        )


def _sounds_like_outcome(name: str) -> bool:
    last = plain_parameter_name(name)
    words = re.findall("[a-z0-9]+", re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", last).lower())
    return any(map(_OUTCOME.fullmatch, words)) and not any(map(_SETTING.fullmatch, words))


def _has_numbers(column: TypedColumn) -> bool:
    return any(isinstance(value, int | float) and not isinstance(value, bool) for value in column.values)


def measured(name: str, measure: str, column: TypedColumn) -> np.ndarray:
    """Values of a measure, (rows,), NaN in empty cells; percent become shares, which is logged.

    Raises:
        BadInput: a cell is not a number, or outside the range of the measure.
    """
    values = numbers(name, column) * (-1 if "neg" in re.split("[^a-z]+", name.lower()) else 1)
    known = MEASURES.get(measure)
    if known is None:
        return values
    present = values[~np.isnan(values)]
    if known.high == 1 and len(present) and np.median(present) > 1 and present.max() <= 100:
        logger.warning("%s of %g to %g: read as percent", name, present.min(), present.max())
        values = values / 100
    outside = ~np.isnan(values) & ~known.may_be(values)
    if outside.any():
        row = int(np.argmax(outside))
        raise UnreadableInput(
            f"row {row + 1}: {name} is {values[row]:g}, but {measure} is {known.range}; correct it, or name "
            "the column neg_... if its sign is flipped"
        )
    return values.clip(known.low, known.high)


def numbers(name: str, column: TypedColumn) -> np.ndarray:
    """Cells of a column of numbers, (rows,), NaN where they are empty.

    Raises:
        BadInput: a cell is not a finite number.
    """
    values = np.full(len(column.values) + 1, np.nan)
    for code, value in enumerate(column.values):
        if isinstance(value, bool | str | None) or not np.isfinite(value):
            raise UnreadableInput(
                f"row {first_row(column, code)}: {name} is {quoted(value)}, not a finite number"
            )
        values[code] = value
    cells: np.ndarray = values[column.codes]
    return cells


def parameter_columns(
    table: TypedTable, measures: Iterable[str], *, of_others: bool
) -> dict[str, TypedColumn]:
    """Columns of hyperparameters by plain name; if two plain names are equal, both keep their full names.

    Seeds, resources, parts of a pipeline and descriptions of a run or its dataset are left out unless the
    file's comment lists them. A column describes the dataset if it has one value per task, which differs
    between tasks, and the run if it holds words that are all different.

    Args:
        of_others: whether the flows are neither Headstart's nor OpenML's. Their names only lose the component
            that OpenML's clients put in front.
    """
    others = {"task_id", *measures}
    listed = names_in_comment(table, "col_parameters")
    rest = [name for name in table.columns if name not in others and name.lower() not in BOOKKEEPING]
    settings = [name for name in rest if _is_setting(name, table.columns[name])]
    described = _descriptions(table, settings)
    left_out = [] if listed else [name for name in rest if name not in settings or name in described]
    if left_out:
        logger.warning("left out, since not hyperparameters: %s", ", ".join(left_out))
    raw_names = listed or [name for name in rest if name not in left_out]
    unfit = [name for name in raw_names if of_others and (not name or ":" in name)]
    if unfit:
        raise UnreadableInput(f"a hyperparameter can't be called {quoted(unfit[0])}; rename its column")
    plain = {
        raw: raw if of_others and not _OF_COMPONENT.search(raw) else plain_parameter_name(raw)
        for raw in raw_names
    }
    counts = Counter(plain.values())
    return {name if counts[name] == 1 else raw: table.columns[raw] for raw, name in plain.items()}


_OF_COMPONENT = re.compile(r"\(\d+\)_")


def _is_setting(name: str, column: TypedColumn) -> bool:
    is_part = any(isinstance(value, str) and is_structure(value) for value in column.values)
    return is_tunable(plain_parameter_name(name), name) and not is_part


def _descriptions(table: TypedTable, names: Iterable[str]) -> set[str]:
    """The columns among these that describe runs or their datasets."""
    columns = {name: table.columns[name] for name in names}
    found = {name for name in columns if name.lower() in _OF_RUN}
    tasks = table.columns["task_id" if "task_id" in table.columns else "data_id"].codes
    if len(tasks) < _FEWEST_RUNS:
        return found
    # Position of the first run on each task, and place of each run's task among these.
    _, first, task = np.unique(tasks, return_index=True, return_inverse=True)
    varied = {name: own for name, own in columns.items() if (own.codes != own.codes[0]).any()}
    of_task = {name for name, own in varied.items() if (own.codes == own.codes[first][task]).all()}
    of_run = {
        name
        for name, own in varied.items()
        if len(own.values) == len(tasks) and all(isinstance(value, str) for value in own.values)
    }
    # If all columns have one value per task, they are the hyperparameters chosen for each.
    settings = varied.keys() - found - of_task - of_run
    return found | of_run | (of_task if settings else set())


def names_in_comment(table: TypedTable, entry: str) -> list[str]:
    """Columns that the JSON in the file's first comment lists under `entry`; empty without an entry."""
    names = table.metadata.get(entry) or []
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise UnreadableInput(f"{entry} in the file's comment is not a list of names")
    missing = [name for name in names if name not in table.columns]
    if missing:
        raise UnreadableInput(
            f"the comment lists the column {quoted(missing[0])} ({entry}), but the file has none of that name"
        )
    return names


def first_row(column: TypedColumn, code: int) -> int:
    """Number of the first row with this code, counted from 1."""
    return int(np.argmax(column.codes == code)) + 1


def names_listed(names: Iterable[str]) -> str:
    """Names for a message."""
    return quoted(", ".join(names))
