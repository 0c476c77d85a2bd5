"""Declared search spaces of flows that Headstart does not build."""

from __future__ import annotations

import io
import json
import logging
import tomllib
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
import pyarrow as pa

from ingest.reading.formats.encoding import quoted, read_bytes
from warehouse.support.errors import (
    RefusedRows,
    UnfitConfiguration,
    UnknownName,
    UnreadableInput,
    one_line,
)
from warehouse.vocabulary.declaration import declaration, read_declaration
from warehouse.vocabulary.parameters import Value
from warehouse.vocabulary.searched_flow import OTHER, SearchedFlow

if TYPE_CHECKING:
    from warehouse.storage.writing import Commit
    from warehouse.store import Warehouse
    from warehouse.vocabulary.parameters import Scale

logger = logging.getLogger(__name__)

_FLOWS = """
SELECT DISTINCT flow FROM setups WHERE flow IN ($flow, 'openml:' || $flow, 'other:' || $flow) ORDER BY flow
"""
_HYPERPARAMETERS = """
SELECT h.setup, h.parameter, h.value FROM setups s JOIN hyperparameters h USING (setup)
WHERE s.flow = $flow AND h.tunable IS DISTINCT FROM false ORDER BY h.setup, h.parameter
"""


def ingest_space(warehouse: Warehouse, path: str | Path, flow: str) -> Commit:
    """Write the declared search space of a flow to the warehouse, and the scales of its numbers.

    Of a space that lacks hyperparameters of the runs only the scales are written.

    Args:
        path: see `read_space`; hyperparameters have their names in the warehouse.
        flow: key in the warehouse, "openml:8353" or "8353" for short, or another name.

    Raises:
        BadInput: the file is not a search space, the warehouse has no setup of the flow, or the space has an
            unknown hyperparameter or excludes a configuration that was run.
    """
    key = flow.removeprefix(OTHER)
    found = warehouse.sql(_FLOWS, {"flow": key})
    if found.empty:
        read_space(path, flow)
        raise UnknownName(f"the warehouse has no setup of a flow {quoted(flow)}: ingest its runs first")
    key = str(found["flow"][0])
    declared = read_space(path, key)
    rows = warehouse.arrow(_HYPERPARAMETERS, {"flow": key})
    known = sorted(set(rows["parameter"].to_pylist()))
    names = [own.name for own in declared.hyperparameters]
    strangers = sorted(set(names) - set(known))
    if strangers:
        raise UnknownName(
            f"{path}: the flow {flow} has no hyperparameter {quoted(strangers[0])};"
            f" it has {', '.join(known) or 'none'}"
        )
    tables: dict[str, Any] = {"scales": scale_rows({key: declared.scales})}
    if set(known) <= set(names):
        refuse_unfit(path, declared, rows)
        tables["spaces"] = space_rows(declared)
    return warehouse.write(tables, source="search space", location=str(path))


def refuse_unfit(path: str | Path, declared: SearchedFlow, hyperparameters: pa.Table) -> None:
    """Check that a space contains all configurations that were run.

    Args:
        path: file of the space.
        hyperparameters: columns setup, parameter and value of the warehouse.

    Raises:
        BadInput: it lacks one.
    """
    setups: dict[str, dict[str, Value]] = {}
    texts: dict[str, Value] = {}
    columns = (hyperparameters[name].to_pylist() for name in ("setup", "parameter", "value"))
    for setup, parameter, text in zip(*columns, strict=True):
        if text not in texts:
            texts[text] = json.loads(text)
        setups.setdefault(setup, {})[parameter] = texts[text]
    for values in setups.values():
        try:
            declared.fit(values)
        except UnfitConfiguration as error:
            raise RefusedRows(f"{path} does not fit the runs: {error}") from error


def space_rows(declared: SearchedFlow) -> pd.DataFrame:
    """The row of the warehouse's table of spaces."""
    return pd.DataFrame({"flow": [declared.name], "space": [json.dumps(declaration(declared))]})


def scale_rows(scales: Mapping[str, Mapping[str, Scale]]) -> pd.DataFrame:
    """Rows of the warehouse's table of scales: key of the flow -> hyperparameter -> scale."""
    rows = [(flow, parameter, scale) for flow, of in scales.items() for parameter, scale in of.items()]
    return pd.DataFrame(rows, columns=["flow", "parameter", "scale"])


def read_space(path: str | Path, key: str) -> SearchedFlow:
    """Read a flow with the space that a file declares.

    The file is TOML (by its name) or JSON in the format of `warehouse.vocabulary.declaration`, or the output
    of ConfigSpace's `to_json`.

    Args:
        key: of the flow in the warehouse.

    Raises:
        BadInput: the file is none of these; the message says what is wrong.
    """
    path = Path(path)
    try:
        text = read_bytes(path).decode("utf-8-sig")
        content = tomllib.loads(text) if path.suffix == ".toml" else json.loads(text)
    except (ValueError, RecursionError) as error:
        reason = one_line(f"{type(error).__name__}: {error}")
        raise UnreadableInput(f"{path} is not a search space: it can't be read ({reason})") from error
    if isinstance(content, dict) and isinstance(content.get("hyperparameters"), list):
        content = _of_configspace(path, text)
    try:
        return read_declaration(key, key.removeprefix(OTHER), content)
    except UnreadableInput as error:
        raise UnreadableInput(f"{path} is not a search space: {one_line(error)}") from error


def _of_configspace(path: Path, text: str) -> dict[str, Any]:
    """Convert ConfigSpace's JSON to a declaration."""
    from ConfigSpace import ConfigurationSpace

    try:
        with warnings.catch_warnings(action="ignore"):  # about old fields, which `_dropped` reports
            space = ConfigurationSpace.from_json(io.StringIO(text))
    except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError) as error:
        reason = one_line(f"{type(error).__name__}: {error}")
        raise UnreadableInput(f"{path} is not a search space in ConfigSpace's JSON ({reason})") from error
    hyperparameters = {name: _of_hyperparameter(own) for name, own in space.items()}
    dropped = _dropped(json.loads(text)["hyperparameters"])
    if dropped:
        logger.warning("%s: left out, and searched uniformly instead: %s", path, ", ".join(dropped))
    for condition in _parts(space.conditions):
        kind = type(condition).__name__
        if kind not in ("EqualsCondition", "InCondition"):
            raise UnreadableInput(f"{path}: a condition can't be kept: {one_line(condition)}")
        values = condition.values if kind == "InCondition" else [condition.value]
        when = hyperparameters[condition.child.name].setdefault("when", {})
        when[condition.parent.name] = [_plain(value) for value in values]
    forbidden = []
    for clause in space.forbidden_clauses:
        equalities = _parts([clause])
        if any(type(one).__name__ != "ForbiddenEqualsClause" for one in equalities):
            raise UnreadableInput(f"{path}: a forbidden clause can't be kept: {one_line(clause)}")
        forbidden.append({one.hyperparameter.name: _plain(one.value) for one in equalities})
    return {"hyperparameters": hyperparameters, **({"forbidden": forbidden} if forbidden else {})}


def _dropped(hyperparameters: list[dict[str, Any]]) -> list[str]:
    """Steps, weights and distributions in ConfigSpace's JSON, which a declaration can't express."""
    return [
        f"{what} of {own.get('name')}"
        for own in hyperparameters
        for what, is_there in {
            f"the step {own.get('q')}": own.get("q") not in (None, 1),
            "the weights": len(set(own.get("weights") or own.get("probabilities") or ())) > 1,
            "the distribution": str(own.get("type", "")).startswith(("normal", "beta")),
        }.items()
        if is_there
    ]


def _of_hyperparameter(own: Any) -> dict[str, Any]:
    if hasattr(own, "lower"):
        ends = {"low": _plain(own.lower), "high": _plain(own.upper), "log": bool(own.log)}
        return {**ends, "default": _plain(own.default_value)}
    choices = getattr(own, "choices", None) or getattr(own, "sequence", None) or (own.value,)
    return {"choices": [_plain(choice) for choice in choices], "default": _plain(own.default_value)}


def _parts(conditions: Any) -> list[Any]:
    """Conditions or clauses, with conjunctions replaced by their parts."""
    return [
        part
        for one in conditions
        for part in (_parts(one.components) if "AndConjunction" in type(one).__name__ else [one])
    ]


def _plain(value: Any) -> Value:
    plain: Value = value.item() if hasattr(value, "item") else value
    return plain
