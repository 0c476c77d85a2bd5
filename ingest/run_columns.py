"""Columns of a run file: bookkeeping, measures and hyperparameters."""

import logging
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace

import numpy as np
import pandas as pd

from ingest.openml.flows import structure_of
from ingest.openml.values import is_structure
from ingest.parameter_names import is_tunable, plain_parameter_name
from ingest.reading.column_types.columns import label
from ingest.reading.formats.cell_values import typed
from ingest.reading.formats.encoding import quoted
from ingest.reading.formats.typed_tables import TypedColumn, TypedTable
from warehouse.support.errors import UnreadableInput
from warehouse.support.text import counted
from warehouse.vocabulary.measures import MEASURES, known_name
from warehouse.vocabulary.parameters import Value

logger = logging.getLogger(__name__)

# Columns of OpenML's lists of evaluations that identify a run rather than its setup.
BOOKKEEPING = frozenset({
    "", "array_data", "confusion_matrix", "data_id", "data_name", "data_version", "error_message",
    "evaluation_engine_id", "flow_id", "flow_name", "flow_source", "flow_version", "function", "learner_name",
    "number_of_instances", "os_information", "run_details", "run_id", "setup_id", "tags", "task_type",
    "unnamed: 0", "upload_time", "uploader", "uploader_id", "uploader_name",
})  # fmt: skip

_OF_RUN = frozenset({
    "artifact_uri", "batch_nr", "comment", "commit", "created", "dataset", "dataset_id", "dataset_name",
    "date", "dob", "duration", "end_time", "eol", "errors", "experiment", "experiment_id", "experiment_name",
    "fold", "git_commit", "git_hash", "host", "hostname", "id", "index", "job_id", "level_0", "model_id",
    "model_ids", "name", "notes", "nr", "rep", "repeat", "repetition", "resampling_id", "rn", "rownames",
    "run", "run_name", "runstatus", "source_name", "source_type", "start_time", "started", "state", "status",
    "sweep", "target", "target_feature", "target_name", "task", "task_name", "timestamp", "trial", "trial_id",
    "uhash", "user", "uuid", "warnings",
})  # fmt: skip
"""Other programs' names of such columns; a file whose hyperparameters have such names has to list them."""

INTERNAL = re.compile(r"[._]|mlflow\.|unnamed: \d", re.IGNORECASE)
"""Begin names of columns that R's packages, Weights & Biases, MLflow and pandas add for themselves."""

OF_DATASET = "openml-data:"
"""Key prefix of a task of which only the dataset's id is known."""

_FEWEST_RUNS = 20  # in fewer, words that are all different may be values

_OUTCOME = re.compile(
    r"acc|bacc|accuracy|auc|auroc|roc|aupr|auprc|prauc|aucpr|gini|lift|f1|fscore|fmeasure|gmean|jaccard"
    r"|precision|recall|sens|sensitivity|spec|specificity|[tf][pn]r|[pn]pv|correct|err|error|mmce|ce"
    r"|misclassification|loss|score|rmse|r?msle|mse|mae|medae|mape|smape|mase|wape|r2|rsq|rsquared|kappa|mcc"
    r"|[bm]?brier|nll|likelihood|deviance|aic|bic|perplexity|metric|performance|fitness|regret"
)
"""Words in names of run outcomes."""
_TIME = re.compile(
    r"time|timetrain|timepredict|secs?|seconds|ms|millis|duration|runtime|elapsed|memory|emissions|energy"
)
"""Words in names of run costs."""
_SETTING = re.compile(r"limit|budget|weight|threshold|tol|tolerance|func|early|patience|iter|window")
"""Words that mark the name as a setting: `loss_weight`."""
_SPREAD = re.compile(r"(?:std|sd|se)_(.+)|(.+?)(?:_?sd|_?std|_se|_stderr|_sem)", re.IGNORECASE)
"""Names of standard deviations and errors."""


def spelled(name: str) -> str:
    """A name in lower case with underscores."""
    return re.sub(r"[. ]", "_", name.lower())


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
        if isinstance(value, str):  # a key of the warehouse, such as openml:3
            value = typed(value.removeprefix(prefix))
        if isinstance(value, bool | str | None) or not 0 <= value < 10**18 or value != int(value):
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
    own = [
        code
        for code, value in enumerate(column.values)
        if label(value).removeprefix("openml:") == flow.removeprefix("openml:")
    ]
    rows = np.flatnonzero(np.isin(column.codes, own))
    if not len(rows):
        known = names_listed(map(str, column.values))
        raise UnreadableInput(f"its column flow_id has runs of {known}, not of {flow}; give the right flow")
    if len(rows) < len(column.codes):
        left_out = counted(len(column.codes) - len(rows), "rows")
        logger.warning("%s of other flows left out", left_out)
    return replace(table, columns={name: own_column.take(rows) for name, own_column in table.columns.items()})


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
        if name not in parameters and (measure := measure_of(name)) is not None
    }
    if not names:
        raise UnreadableInput(
            "no column is a measure: none has a name like predictive_accuracy or area_under_roc_curve, and "
            "no JSON comment in the first line lists col_measures"
        )
    repeated = [name for name, measure in names.items() if [*names.values()].count(measure) > 1]
    if repeated:
        raise UnreadableInput(f"the columns {names_listed(repeated)} are one measure; leave out all but one")
    if not lists_parameters(table):
        _ask_about(table, names)
    return names


def measure_of(name: str) -> str | None:
    """The measure that a column is named after; an alias must state the unit of a time."""
    measure = known_name(name)
    says_unit = measure is None or not measure.endswith(("_millis", "_per_1000_rows"))
    return measure if says_unit or spelled(name) in MEASURES else None


def _ask_about(table: TypedTable, names: Collection[str]) -> None:
    """Refuse numbers that may be an unknown measure: as hyperparameters they would spoil all runs."""
    others = [name for name in table.columns if name not in names and name.lower() not in BOOKKEEPING]
    unclear = [
        name
        for name in others
        if name != "task_id"
        and not _is_of_run(name)
        and _sounds_like_outcome(name)
        and _has_numbers(table.columns[name])
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
    if any(map(_SETTING.fullmatch, words)):
        return False
    is_time = any(map(_TIME.fullmatch, words)) and not {"max", "min"} & {*words}
    of_mlr3 = re.fullmatch(r"(classif|regr)\.[a-z_0-9]+", last)  # parameters have more parts
    return bool(is_time or of_mlr3 or any(map(_OUTCOME.fullmatch, words)))


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
        fractions = (values != 0) & (abs(values) <= 1)
        if fractions.any():
            row = int(np.argmax(fractions))
            raise UnreadableInput(
                f"row {row + 1}: {name} is {values[row]:g}, but most others are percent; write fractions only"
            )
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
        if value is None:
            continue
        if isinstance(value, bool | str) or not np.isfinite(value):
            raise UnreadableInput(
                f"row {first_row(column, code)}: {name} is {quoted(value)}, not a finite number"
            )
        values[code] = value
    cells: np.ndarray = values[column.codes]
    return cells


def parameter_columns(
    table: TypedTable, measures: Iterable[str], flows: np.ndarray, *, of_others: bool
) -> dict[str, TypedColumn]:
    """Columns of hyperparameters by plain name; if a flow has two of one, both keep their full names.

    Seeds, resources, parts of a pipeline and descriptions of a run or its dataset are left out unless the
    file's comment lists them. A column describes the dataset if it has one value per task, which differs
    between tasks, and the run if it holds words that are all different.

    Args:
        flows: (rows,) key of each row's flow.
        of_others: whether the flows are neither Headstart's nor OpenML's. Their names only lose the component
            that OpenML's clients put in front.
    """
    others = {"task_id", *measures}
    is_listed = lists_parameters(table)
    rest = [name for name in table.columns if name not in others and name.lower() not in BOOKKEEPING]
    settings = [name for name in rest if _is_setting(name, table.columns[name])]
    described = _descriptions(table, settings)
    left_out = [] if is_listed else [name for name in rest if name not in settings or name in described]
    if left_out:
        logger.warning("left out, since not hyperparameters: %s", ", ".join(left_out))
    listed = names_in_comment(table, "col_parameters")
    raw_names = listed if is_listed else [name for name in rest if name not in left_out]
    unfit = [name for name in raw_names if of_others and (not name or ":" in name)]
    if unfit:
        raise UnreadableInput(f"a hyperparameter can't be called {quoted(unfit[0])}; rename its column")
    plain = {
        raw: raw if of_others and not _OF_COMPONENT.search(raw) else plain_parameter_name(raw)
        for raw in raw_names
    }
    counts = Counter(plain.values())
    found: dict[str, TypedColumn] = {}
    for name, count in counts.items():
        own = {raw: table.columns[raw] for raw in plain if plain[raw] == name}
        united = _united(own, flows) if count > 1 else own[next(iter(own))]
        found |= own if united is None else {name: united}
    return found


_OF_COMPONENT = re.compile(r"\(\d+\)_")


def _united(columns: Mapping[str, TypedColumn], flows: np.ndarray) -> TypedColumn | None:
    """One column of the cells of several, if they belong to different flows or versions of one component."""
    filled = np.array([column.codes >= 0 for column in columns.values()])
    users = pd.DataFrame(filled.T).groupby(flows).any().to_numpy().sum(axis=1)
    if (filled.sum(axis=0) > 1).any() or ((users > 1).any() and len({*map(structure_of, columns)}) > 1):
        return None
    codes, values = np.full(len(flows), -1), list[Value]()
    for column in columns.values():
        codes = np.where(column.codes >= 0, column.codes + len(values), codes)
        values += column.values
    return TypedColumn(codes, tuple(values))


def _is_of_run(name: str) -> bool:
    """Whether a column describes the run by its name, or how much its values of a measure vary."""
    spread = _SPREAD.fullmatch(name)
    of_measure = spread and known_name(spread[1] or spread[2])
    return bool(spelled(name) in _OF_RUN or INTERNAL.match(name) or of_measure)


def _is_setting(name: str, column: TypedColumn) -> bool:
    is_part = any(isinstance(value, str) and is_structure(value) for value in column.values)
    return is_tunable(plain_parameter_name(name), name) and not is_part


def _descriptions(table: TypedTable, names: Iterable[str]) -> set[str]:
    """The columns among these that describe runs or their datasets."""
    columns = {name: table.columns[name] for name in names}
    found = {name for name in columns if _is_of_run(name)}
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


def lists_parameters(table: TypedTable) -> bool:
    """Whether the JSON in the file's first comment lists the hyperparameters, be it none."""
    return table.metadata.get("col_parameters") is not None


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
