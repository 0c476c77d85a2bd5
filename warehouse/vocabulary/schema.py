"""The warehouse's tables: columns with types and meanings, and keys.

The terms are OpenML's: a run is a setup (a flow with hyperparameter values) executed on a task (a dataset
with an estimation procedure); evaluations hold a run's values on measures; qualities are meta-features. Keys
are natural, so that writing the same rows twice changes nothing.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import get_args

import pyarrow as pa

from warehouse.vocabulary.parameters import Scale

PROVENANCE = "ingest"
OUTCOMES = ("success", "timeout", "memout", "crash")


@dataclass(frozen=True)
class Table:
    """One table of the warehouse.

    `key` names the columns that identify a row. `checks` maps conditions for every row, in words, to their
    SQL; a condition that is NULL holds. `sort_by` names the columns that files are sorted by, starting with
    the one that most queries filter on, so that readers can skip most of a file by its statistics; empty: in
    order of arrival. `part_of` names the table of which rows are parts: both keys begin with the same column.
    `meaning` says what a row is.
    """

    name: str
    schema: pa.Schema
    key: tuple[str, ...]
    sort_by: tuple[str, ...] = ()
    checks: Mapping[str, str] = field(default_factory=dict)
    meaning: str = ""
    part_of: str = ""

    @property
    def payload(self) -> tuple[str, ...]:
        """Columns besides the key and the provenance."""
        return tuple(name for name in self.schema.names if name not in self.key and name != PROVENANCE)


def _table(name: str, *columns: pa.Field, key: tuple[str, ...], **options: object) -> Table:
    provenance = _required(PROVENANCE, pa.string(), "id of the ingest that wrote this row")
    columns = columns if any(column.name == PROVENANCE for column in columns) else (*columns, provenance)
    return Table(name, pa.schema(columns), key, **options)  # type: ignore[arg-type]


def _required(name: str, kind: pa.DataType, meaning: str) -> pa.Field:
    return pa.field(name, kind, nullable=False, metadata={"meaning": meaning})


def _optional(name: str, kind: pa.DataType, meaning: str) -> pa.Field:
    return pa.field(name, kind, nullable=True, metadata={"meaning": meaning})


_TEXT, _COUNT, _NUMBER, _FLAG, _TIME = (
    pa.string(),
    pa.int64(),
    pa.float64(),
    pa.bool_(),
    pa.timestamp("us", tz="UTC"),
)

_DATASETS = _table(
    "datasets",
    _required(
        "dataset",
        _TEXT,
        "openml:<id>, local:<name>-<content hash>, or openml-task:<id> (see tasks); ends with "
        "`by time=COLUMN` or `by group=COLUMN` if rows are split by it",
    ),
    _required("name", _TEXT, "name for people"),
    _optional("content_hash", _TEXT, "hexadecimal hash of the cells; null if the data was never seen"),
    _optional("rows", _COUNT, "number of instances"),
    _optional("columns", _COUNT, "number of columns with the target, as OpenML counts"),
    _optional("classes", _COUNT, "number of classes of the target"),
    _optional("target", _TEXT, "name of the target column"),
    _optional("note", _TEXT, "remark for readers of results on this dataset"),
    _optional("data_version", _COUNT, "OpenML's version number among datasets of one name"),
    _optional("status", _TEXT, "at OpenML: active, deactivated or in_preparation"),
    _optional("domain", _TEXT, "field of the data: medicine, finance, ..."),
    _optional(
        "family",
        _TEXT,
        "equal for near copies and datasets from one source; null: a family of its own, or of OpenML's "
        "versions of one name",
    ),
    meaning="One dataset, with known data or known from its runs only.",
    key=("dataset",),
)
_TASKS = _table(
    "tasks",
    _required("task", _TEXT, "openml:<id> or <dataset>/<estimation procedure>"),
    _required("dataset", _TEXT, "the task's dataset; openml-task:<id> if only the task is known"),
    _required("task_type", _TEXT, "type of the task, for example supervised_classification"),
    _optional("estimation_procedure", _TEXT, "how a value is estimated, for example cv10; null if unknown"),
    _optional("target", _TEXT, "name of the predicted column; null if unknown"),
    meaning="A dataset with a target and an estimation procedure.",
    key=("task",),
)
_FLOWS = _table(
    "flows",
    _required("flow", _TEXT, "openml:<id>, headstart:<algorithm>, or other:<name> for all others"),
    _required("name", _TEXT, "name of the algorithm or pipeline as given by its source"),
    _optional("algorithm", _TEXT, "canonical name shared by all flows of an algorithm: random_forest"),
    _optional("flow_version", _COUNT, "OpenML's version number among flows of one name"),
    _optional("external_version", _TEXT, "versions of its libraries"),
    _optional("structure", _TEXT, "its components without version numbers: equal for versions of one flow"),
    _optional("uploader", _TEXT, "number of the OpenML user who uploaded it"),
    meaning="One algorithm or pipeline, without values of hyperparameters.",
    key=("flow",),
)
_COMPONENTS = _table(
    "components",
    _required("flow", _TEXT, "the whole flow"),
    _required(
        "component", _TEXT, "path of step names from the flow, joined by __; empty for the flow itself"
    ),
    _required("component_flow", _TEXT, "the component's own flow"),
    _required("name", _TEXT, "its name as given by its source"),
    _optional("component_version", _COUNT, "its version number"),
    meaning="A part of a flow: a step of a pipeline, or a part of such a step.",
    key=("flow", "component"),
)
_PARAMETERS = _table(
    "parameters",
    _required("flow", _TEXT, "the whole flow"),
    _required("component", _TEXT, "path of the parameter's component"),
    _required("name", _TEXT, "the parameter's name in its component"),
    _required("parameter", _TEXT, "its name in the table hyperparameters"),
    _required("tunable", _FLAG, "whether its value is part of the configuration"),
    _optional("data_type", _TEXT, "as given by its source"),
    _optional("default_value", _TEXT, "as given by its source"),
    meaning="A parameter of a flow, or of a component of it.",
    key=("flow", "component", "name"),
)
_SCALES = _table(
    "scales",
    _required("flow", _TEXT, "the parameter's flow"),
    _required("parameter", _TEXT, "its name in the table hyperparameters"),
    _required("scale", _TEXT, "linear or log: how its numbers compare, as declared for the flow"),
    meaning="The scale for drawing and comparing numbers of a hyperparameter.",
    key=("flow", "parameter"),
    checks={"scale is linear or log": f"scale IN {get_args(Scale)}"},
)
_SPACES = _table(
    "spaces",
    _required("flow", _TEXT, "the searched flow"),
    _required("space", _TEXT, "its space as declared, a JSON object (warehouse/vocabulary/declaration.py)"),
    meaning="The declared search space of a flow that Headstart does not build.",
    key=("flow",),
    checks={"space is a JSON object": "space[1] = '{' AND json_valid(space)"},
)
_SETUPS = _table(
    "setups",
    _required("setup", _TEXT, "id of the flow with these hyperparameter values"),
    _required("flow", _TEXT, "the setup's flow"),
    _optional("configuration", _TEXT, "equal for setups of one algorithm whose tunable values are equal"),
    meaning="A flow with values of its hyperparameters.",
    key=("setup",),
)
# DuckDB's json_valid alone accepts `nan` and `inf`.
_IS_JSON = r"""
regexp_full_match(value, 'null|true|false|-?(0|[1-9][0-9]*)([.][0-9]+)?([eE][-+]?[0-9]+)?')
OR (value[1] IN ('"', '[', '{') AND json_valid(value))
"""
_HYPERPARAMETERS = _table(
    "hyperparameters",
    _required("setup", _TEXT, "the setup this value belongs to"),
    _required("parameter", _TEXT, "plain name: max_features"),
    _required("value", _TEXT, 'typed value as JSON text: null, true, 0.5, "gini"'),
    _optional("raw", _TEXT, "the value as given by its source"),
    _optional("component", _TEXT, "path of the parameter's component (see components)"),
    _optional("is_default", _FLAG, "whether the setup omits it, and this is the flow's default"),
    _optional("tunable", _FLAG, "false: no part of the configuration, like a random state; null means true"),
    meaning="The value of one hyperparameter in a setup.",
    key=("setup", "parameter"),
    part_of="setups",
    checks={"value is JSON text": _IS_JSON},
)
_RUNS = _table(
    "runs",
    _required("run", _TEXT, "openml:<id>, file:<hash> or a trial's own id"),
    _required("task", _TEXT, "the task that was run on"),
    _required("setup", _TEXT, "the setup that was run"),
    _required("outcome", _TEXT, "success, timeout, memout or crash"),
    _optional("message", _TEXT, "why it did not succeed"),
    _optional("position", _COUNT, "row number in the source, from 0"),
    _optional("uploader", _TEXT, "number of the OpenML user who uploaded it"),
    _optional("train_rows", _COUNT, "training rows of each fit; null: all of the task's"),
    _optional("test_rows", _COUNT, "predicted rows in total; null: all of the task's"),
    _optional("uploaded", _TEXT, "when, in the source's own words (no time zone): 2014-04-06 23:30:40"),
    meaning="A setup executed on a task, with its outcome.",
    key=("run",),
    checks={f"outcome is one of {', '.join(OUTCOMES)}": f"outcome IN {OUTCOMES}"},
)
_EVALUATIONS = _table(
    "evaluations",
    _required("run", _TEXT, "the run that was evaluated"),
    _required("measure", _TEXT, "predictive_accuracy, area_under_roc_curve, usercpu_time_millis, ..."),
    _optional(
        "value",
        _NUMBER,
        "in the measure's own unit: accuracies as fractions, times in milliseconds; null if undefined",
    ),
    _optional("array_data", _TEXT, "values per class, or other details, as given by the source"),
    _required("flow", _TEXT, "the run's flow, repeated here because files are sorted by it"),
    meaning="The value of a run on a measure.",
    key=("run", "measure"),
    part_of="runs",
    sort_by=("measure", "flow"),
)
_QUALITIES = _table(
    "qualities",
    _required("dataset", _TEXT, "the dataset described"),
    _required("quality", _TEXT, "OpenML's name of the meta-feature: NumberOfInstances, ClassEntropy, ..."),
    _optional("value", _NUMBER, "null if the quality is undefined; OpenML's values as published"),
    _required("source", _TEXT, "openml (published there) or computed (by our extractor)"),
    _required("extractor", _TEXT, "name and version of the program that computed it"),
    meaning="The value of a meta-feature of a dataset.",
    key=("dataset", "quality", "source"),
    checks={"source is openml or computed": "source IN ('openml', 'computed')"},
)
_SKETCHES = _table(
    "sketches",
    _required("dataset", _TEXT, "the dataset sketched"),
    _required("method", _TEXT, "name and version of the sketching method: only equal ones are compared"),
    _required("columns", _COUNT, "number of columns, including the target"),
    _required("bits", _TEXT, "JSON object: digest of a column -> bits of evidence if another dataset has it"),
    _required("cells", _TEXT, "hashes of names and of some rows' cells (ingest/reading/near_copies.py)"),
    meaning="Sketch of a dataset's content, to recognize near copies. No value can be read from it.",
    key=("dataset",),
    checks={"bits is a JSON object": "bits[1] = '{' AND json_valid(bits)"},
)
_INGESTS = _table(
    "ingests",
    _required("ingest", _TEXT, "hash of the written rows and of the ingest before it"),
    _required("version", _COUNT, "version of the warehouse made by this ingest, from 1"),
    _required("source", _TEXT, "source of the rows: openml, file, trials, ..."),
    _optional("location", _TEXT, "address or path of the source"),
    _required("started", _TIME, "when the writer got the lock"),
    _required("finished", _TIME, "when everything before this record was written"),
    _required("added", _TEXT, "JSON object: table -> number of new rows"),
    _required("changed", _TEXT, "JSON object: table -> number of rows with replaced content"),
    _optional("tables", _TEXT, "JSON object: table -> Delta version; null if not copied by an export"),
    meaning="A commit: rows written at once, and the version of every table after it.",
    key=("ingest",),
)


def plain(schema: pa.Schema) -> pa.Schema:
    """`schema` without meanings, which stored tables do not have, and with texts instead of dictionaries.

    Delta takes a column with another description for another column, and refuses its rows.
    """
    return pa.schema(
        [
            field.remove_metadata().with_type(
                field.type.value_type if pa.types.is_dictionary(field.type) else field.type
            )
            for field in schema
        ]
    )


# In the order of writing: referenced tables first.
TABLES: Mapping[str, Table] = MappingProxyType(
    {
        table.name: table
        for table in (
            _DATASETS,
            _TASKS,
            _FLOWS,
            _COMPONENTS,
            _PARAMETERS,
            _SCALES,
            _SPACES,
            _SETUPS,
            _HYPERPARAMETERS,
            _RUNS,
            _EVALUATIONS,
            _QUALITIES,
            _SKETCHES,
            _INGESTS,
        )
    }
)

DATA_TABLES: Mapping[str, Table] = {name: table for name, table in TABLES.items() if name != "ingests"}
"""The tables that are written to: all but the record of ingests."""
