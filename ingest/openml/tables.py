"""OpenML's documents as rows of the warehouse's tables.

Ids become keys: run 7 is `openml:7`. Published values are kept as they are: -1 for qualities that
do not apply, NaN evaluations as rows without a value, times without a zone.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from ingest.keys import digest
from ingest.openml.api.documents import Parameter, SetupValues, is_number
from ingest.openml.flows import FlowParameter, OpenMLFlow
from ingest.openml.values import is_structure, typed
from ingest.parameter_names import is_tunable, plain_parameter_name
from warehouse.vocabulary.measures import MEASURES
from warehouse.vocabulary.schema import PROVENANCE, TABLES

_AT_A_TIME = 1000  # setups, whose values are Python objects before they become a table

Rows = Sequence[Mapping[str, str]]
Tables = dict[str, pa.Table]


@dataclass(frozen=True)
class KnownFlow:
    """The facts about a flow that its setups need."""

    algorithm: str
    parameters: tuple[FlowParameter, ...]
    has_parameters: bool = True
    """Whether setups may have values; unknown for a flow that the server can't give."""


def key(number: str | int) -> str:
    """Warehouse key of an OpenML id."""
    return f"openml:{number}"


def evaluation_tables(rows: Rows, skip: Callable[[str, str], None] = lambda *_: None) -> Tables:
    """Runs and their evaluations; the first engine's, if several engines evaluated a run.

    Args:
        skip: called with the run of each left-out value, not a number or outside the measure's range, and
            the reason.
    """
    unique = {
        (row["run_id"], row["function"]): row
        for row in sorted(rows, key=lambda row: _whole(row.get("evaluation_engine_id")) or 1, reverse=True)
    }
    evaluations = sorted(unique.values(), key=lambda row: int(row["run_id"]))
    runs = {row["run_id"]: row for row in evaluations}
    return {
        "runs": _run_table([*runs.values()], "success"),
        "evaluations": _table(
            "evaluations",
            run=[key(row["run_id"]) for row in evaluations],
            measure=[row["function"] for row in evaluations],
            value=[_value(row, skip) for row in evaluations],
            array_data=[row.get("array_data") or row.get("values") for row in evaluations],
            flow=[key(row["flow_id"]) for row in evaluations],
        ),
    }


def _value(row: Mapping[str, str], skip: Callable[[str, str], None]) -> float | None:
    """The value of an evaluation; None if it has none, or one outside the measure's range."""
    text = row.get("value") or "NA"  # as R writes it
    try:
        value = math.nan if text == "NA" else float(text)
    except ValueError:
        skip(f"run {row['run_id']}", f"{row['function']} is no number")
        return None
    known = MEASURES.get(row["function"])
    if math.isnan(value):
        return None
    if math.isfinite(value) and (known is None or known.may_be(value)):
        return value if known is None else min(max(value, known.low), known.high)
    skip(f"run {row['run_id']}", f"{row['function']} is not {'finite' if known is None else known.range}")
    return None


def failed_run_tables(rows: Rows) -> Tables:
    """Runs of `run/list` with an error."""
    return {"runs": _run_table(rows, "crash", message=[row.get("error_message") for row in rows])}


def _run_table(rows: Rows, outcome: str, **more: Any) -> pa.Table:
    """A run for each row, with the columns of all runs and more."""
    return _table(
        "runs",
        run=[key(row["run_id"]) for row in rows],
        task=[key(row["task_id"]) for row in rows],
        setup=[key(row["setup_id"]) for row in rows],
        outcome=[outcome] * len(rows),
        position=[int(row["run_id"]) for row in rows],
        uploader=[row.get("uploader") for row in rows],
        uploaded=[row.get("upload_time") for row in rows],
        **more,
    )


def flow_tables(flows: Iterable[OpenMLFlow]) -> Tables:
    """Flows with their components and parameters, and the declared scales of the latter."""
    flows = list(flows)
    parts = [(flow, component) for flow in flows for component in flow.components]
    parameters = [(flow, parameter) for flow in flows for parameter in flow.parameters]
    scaled = [(flow, parameter) for flow, parameter in parameters if parameter.scale is not None]
    return {
        "flows": _table(
            "flows",
            flow=[key(flow.id) for flow in flows],
            name=[flow.name for flow in flows],
            algorithm=[flow.algorithm for flow in flows],
            flow_version=[flow.version for flow in flows],
            external_version=[flow.external_version for flow in flows],
            structure=[flow.structure for flow in flows],
            uploader=[flow.uploader for flow in flows],
        ),
        "components": _table(
            "components",
            flow=[key(flow.id) for flow, _ in parts],
            component=[component.path for _, component in parts],
            component_flow=[key(component.flow) for _, component in parts],
            name=[component.name for _, component in parts],
            component_version=[component.version for _, component in parts],
        ),
        "parameters": _table(
            "parameters",
            flow=[key(flow.id) for flow, _ in parameters],
            component=[parameter.component for _, parameter in parameters],
            name=[parameter.name for _, parameter in parameters],
            parameter=[parameter.parameter for _, parameter in parameters],
            tunable=[parameter.tunable for _, parameter in parameters],
            data_type=[parameter.data_type for _, parameter in parameters],
            default_value=[parameter.default_value for _, parameter in parameters],
        ),
        "scales": _table(
            "scales",
            flow=[key(flow.id) for flow, _ in scaled],
            parameter=[parameter.parameter for _, parameter in scaled],
            scale=[parameter.scale for _, parameter in scaled],
        ),
    }


def setup_tables(
    setups: Collection[SetupValues], parameters: Mapping[str, Parameter], flows: Mapping[str, KnownFlow]
) -> Tables:
    """Setups with every hyperparameter: typed, and with the flow's default if a setup omits it.

    Args:
        parameters: by OpenML id.
        flows: by id; for a missing flow, setups keep the names that they give.
    """
    alike: dict[tuple[str, tuple[str, ...]], list[SetupValues]] = defaultdict(list)
    for setup in setups:
        if setup.exists:
            alike[setup.flow, setup.parameters].append(setup)
    nothing = [setup for setup in setups if not setup.exists]
    groups = []
    for (flow, numbers), members in alike.items():
        set_by_them = [parameters[number] for number in numbers]
        for start in range(0, len(members), _AT_A_TIME):
            some = members[start : start + _AT_A_TIME]
            groups.append(_alike_tables(flow, some, set_by_them, flows.get(flow)))
    first = {
        "setups": _table(
            "setups",
            setup=[key(setup.setup) for setup in nothing],
            flow=[key(setup.flow) for setup in nothing],
            configuration=[None] * len(nothing),
        ),
        "hyperparameters": _table(
            "hyperparameters",
            setup=[],
            parameter=_encoded([]),
            value=_encoded([]),
            raw=_encoded([]),
            component=_encoded([]),
            is_default=[],
            tunable=[],
        ),
    }
    return {
        name: _in_one_piece([rows, *(group.pop(name) for group in groups)]) for name, rows in first.items()
    }


def _encoded(texts: Sequence[str]) -> pa.DictionaryArray:
    """Dictionary-encode texts: tens of texts repeat in hundreds of thousands of hyperparameters."""
    return pa.array(texts, pa.string()).dictionary_encode()


def _in_one_piece(tables: Sequence[pa.Table]) -> pa.Table:
    """The rows of all tables, each column in one chunk: small flows would make thousands of chunks.

    The tables are freed column by column, so that memory holds hardly more than the rows.
    """
    columns: dict[str, pa.ChunkedArray] = {}
    for name in tables[0].column_names:
        columns[name] = pa.chunked_array([chunk for table in tables for chunk in table[name].chunks])
        tables = [table.drop_columns(name) for table in tables]
        columns[name] = columns[name].combine_chunks()
    return pa.table(columns)


def _alike_tables(
    flow: str, setups: Sequence[SetupValues], parameters: Sequence[Parameter], known: KnownFlow | None
) -> Tables:
    """Setups of one flow that set the same parameters."""
    columns = _columns(parameters, known)
    named = {column.parameter for column in columns}
    given = {(column.component_flow, column.name) for column in columns}
    of_flow = {(own.component_flow, own.name) for own in (known.parameters if known else ())}
    # Set in a component that the flow does not have: which of the flow's is meant is unknown.
    elsewhere = {name for component, name in given if (component, name) not in of_flow}
    defaults = [
        parameter
        for parameter in (known.parameters if known else ())
        if parameter.value_left_out is not None
        and parameter.parameter not in named
        and (parameter.component_flow, parameter.name) not in given
        and parameter.name not in elsewhere
        and not is_structure(parameter.value_left_out)
    ]
    everything = [*columns, *defaults]
    n, width = len(setups), len(everything)
    filled = [parameter.value_left_out or "" for parameter in defaults]
    raw = "\0".join("\0".join([setup.texts, *filled] if columns else filled) for setup in setups)
    encoded = _encoded(raw.split("\0") if width else [])
    texts = encoded.dictionary.to_pylist()  # each distinct text once
    values = pa.array([typed(text) for text in texts], pa.string()).take(encoded.indices)
    is_part = np.array([is_structure(text) for text in texts], dtype=bool)[encoded.indices.to_numpy()]
    tunable = ~is_part.reshape(n, width) & np.array(
        [parameter.tunable for parameter in everything], dtype=bool
    )
    places = pa.array(np.tile(np.arange(width), n))
    numbers = pa.array([key(setup.setup) for setup in setups], pa.string())
    algorithm = known.algorithm if known else key(flow)
    return {
        "setups": _table(
            "setups",
            setup=numbers,
            flow=[key(flow)] * n,
            configuration=_configurations(algorithm, everything, values, tunable),
        ),
        "hyperparameters": _table(
            "hyperparameters",
            setup=numbers.take(pa.array(np.repeat(np.arange(n), width))),
            parameter=_encoded([parameter.parameter for parameter in everything]).take(places),
            value=values.dictionary_encode(),
            raw=encoded,
            component=_encoded([parameter.component for parameter in everything]).take(places),
            is_default=pa.array(np.tile(np.arange(width) >= len(columns), n)),
            tunable=pa.array(tunable.ravel()),
        ),
    }


def _columns(parameters: Sequence[Parameter], known: KnownFlow | None) -> list[FlowParameter]:
    """The flow's facts about each parameter, or those of its full name if the flow lacks it."""
    of_flow = known.parameters if known else ()
    exact = {(p.component_flow, p.name): p for p in of_flow}
    names = Counter(p.name for p in of_flow)
    # Setups may name another version of the component, which only matters if names repeat.
    by_name = {p.name: p for p in of_flow if names[p.name] == 1}
    columns = [
        exact.get((p.component_flow, p.name)) or by_name.get(p.name) or _from_full_name(p) for p in parameters
    ]
    counts = Counter(column.parameter for column in columns)
    return [
        column
        if counts[column.parameter] == 1
        else replace(column, parameter=f"{column.component or parameter.id}__{column.name}")
        for column, parameter in zip(columns, parameters, strict=True)
    ]


def _from_full_name(parameter: Parameter) -> FlowParameter:
    """Split `sklearn.tree.tree.DecisionTreeClassifier(7)_max_depth` into its parts."""
    component = parameter.full_name.removesuffix(f"_{parameter.name}")
    return FlowParameter(
        component=re.sub(r"\(\d+\)$", "", component),
        component_flow=parameter.component_flow,
        name=parameter.name,
        parameter=plain_parameter_name(parameter.full_name or parameter.name),
        tunable=is_tunable(parameter.name, component),
        data_type=None,
        default_value=None,
    )


def _configurations(
    algorithm: str, parameters: Sequence[FlowParameter], values: pa.Array, tunable: np.ndarray
) -> list[str]:
    """A text for each of n setups, equal if their tunable values are equal.

    Args:
        values: (n x parameters,) JSON texts, setup by setup.
        tunable: (n, parameters) whether a value is part of the configuration.
    """
    order = sorted(range(len(parameters)), key=lambda place: parameters[place].parameter)
    order = [place for place in order if tunable[:, place].any()]
    names = [f"{parameters[place].parameter}=" for place in order]
    n, width = tunable.shape
    columns = [values.take(pa.array(np.arange(n) * width + place)).to_pylist() for place in order]
    is_whole = bool(tunable[:, order].all())
    keys = []
    for setup, own in enumerate(zip(*columns, strict=True) if columns else [()] * n):
        parts = [name + value for name, value in zip(names, own, strict=True)]
        if not is_whole:
            parts = [part for part, place in zip(parts, order, strict=True) if tunable[setup, place]]
        keys.append(f"{algorithm}/{digest(*parts)}")
    return keys


def task_tables(rows: Rows, procedures: Mapping[str, str]) -> Tables:
    """Tasks of `task/list`.

    Args:
        procedures: name of each estimation procedure by id.
    """
    return {
        "tasks": _table(
            "tasks",
            task=[key(row["task_id"]) for row in rows],
            dataset=[key(row["did"]) for row in rows],
            task_type=[row.get("task_type", "unknown").lower().replace(" ", "_") for row in rows],
            estimation_procedure=[procedures.get(row.get("estimation_procedure", "")) for row in rows],
            target=[row.get("target_feature") for row in rows],
        )
    }


def dataset_tables(rows: Rows, qualities: Mapping[str, Mapping[str, str | None]]) -> Tables:
    """Rows of datasets, from `data/list` and their published qualities.

    Args:
        qualities: by dataset and name; None if a quality is empty.
    """
    described = [
        (dataset, name, _number(value)) for dataset, own in qualities.items() for name, value in own.items()
    ]
    return {
        "datasets": _table(
            "datasets",
            dataset=[key(row["did"]) for row in rows],
            name=[row.get("name", f"dataset {row['did']}") for row in rows],
            rows=[_count(qualities, row["did"], "NumberOfInstances") for row in rows],
            columns=[_count(qualities, row["did"], "NumberOfFeatures") for row in rows],
            classes=[_count(qualities, row["did"], "NumberOfClasses") for row in rows],
            data_version=[_whole(row.get("version")) for row in rows],
            status=[row.get("status", "unlisted") for row in rows],
        ),
        "qualities": _table(
            "qualities",
            dataset=[key(dataset) for dataset, _, _ in described],
            quality=[name for _, name, _ in described],
            value=[value for _, _, value in described],
            source=["openml"] * len(described),
            extractor=["openml"] * len(described),
        ),
    }


def procedure_name(name: str) -> str:
    """A short name of an estimation procedure.

    >>> procedure_name("10-fold Crossvalidation"), procedure_name("10 times 10-fold Cross-validation")
    ('cv10', '10xcv10')
    >>> procedure_name("33% Holdout set")
    '33% Holdout set'
    """
    found = re.fullmatch(r"(?:(\d+) times )?(\d+)-fold Cross-?validation", name, re.IGNORECASE)
    if not found:
        return name
    return f"{found[1]}xcv{found[2]}" if found[1] else f"cv{found[2]}"


def _count(qualities: Mapping[str, Mapping[str, str | None]], dataset: str, name: str) -> int | None:
    value = _number(qualities.get(dataset, {}).get(name))
    return None if value is None or value < 0 or not value.is_integer() else int(value)


def _whole(text: str | None) -> int | None:
    return int(text) if text and is_number(text) else None


def _number(text: str | None) -> float | None:
    """The number in a text; None for other text and non-finite numbers."""
    try:
        value = float(text or "nan")
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def _table(name: str, /, **columns: Any) -> pa.Table:
    """Rows of a warehouse table; optional columns may be left out."""
    schema = TABLES[name].schema
    arrays = {
        field.name: columns[field.name]
        if isinstance(columns[field.name], pa.Array | pa.ChunkedArray)
        else pa.array(columns[field.name], field.type)
        for field in schema
        if field.name in columns and field.name != PROVENANCE
    }
    return pa.table(arrays)
