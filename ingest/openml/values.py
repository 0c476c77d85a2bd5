"""Convert OpenML's hyperparameter values to typed values.

scikit-learn's uploads have JSON of the Python value, in Python's dialect (NaN, Infinity); those of 2017 have
`str()` of it, also of lists and tuples; Weka's and R's have the option's text. Texts that are not JSON are
read like cells of a run file, so that both sources have the same values.
"""

from __future__ import annotations

import ast
import json
import math
from typing import Any

from ingest.parameter_names import is_tunable
from ingest.reading.formats.cell_values import typed as cell_value

_SERIALIZED = "oml-python:serialized_object"
_STRUCTURE = frozenset({"component_reference", "composition_step_constant"})


def typed(raw: str) -> str:
    """Convert a raw value to JSON text.

    >>> typed('"gini"'), typed("null"), typed("0.5"), typed("auto"), typed("")
    ('"gini"', 'null', '0.5', '"auto"', '""')

    >>> [typed(raw) for raw in ("None", "True", "TRUE", "1.", ".5", "1L", "Inf")]
    ['null', 'true', 'true', '1.0', '0.5', '1', '"Infinity"']

    Numbers that JSON lacks become texts, Python objects their names:

    >>> typed("NaN"), typed('{"oml-python:serialized_object": "type", "value": "np.float64"}')
    ('"NaN"', '"np.float64"')

    Tuples are lists, and the seeds and resources in an object, such as a splitter, are left out:

    >>> typed("(100, None)"), typed('{"name": "KFold", "parameters": {"n_splits": "3", "random_state": "7"}}')
    ('[100, null]', '{"name": "KFold", "parameters": {"n_splits": "3"}}')
    """
    return json.dumps(_plain(_decoded(raw)), allow_nan=False)


def is_structure(raw: str) -> bool:
    """Whether a value refers to parts of the pipeline, which are not settings of the flow.

    >>> is_structure('[{"oml-python:serialized_object": "component_reference", "value": {"key": "a"}}]')
    True
    """
    return _refers(_decoded(raw)) if "component_reference" in raw or "composition_step" in raw else False


def _decoded(raw: str) -> Any:
    try:
        return json.loads(raw)
    except (ValueError, RecursionError):
        return _of_python(raw) if raw.startswith(("(", "[", "{")) else cell_value(raw)


def _of_python(raw: str) -> Any:
    """The list or object that a text of Python stands for, else the text."""
    try:
        value = json.loads(json.dumps(ast.literal_eval(raw)))
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return raw
    return value if isinstance(value, list | dict) else raw


def _plain(value: Any) -> Any:
    """Convert `value` to one that JSON and a table of values can hold."""
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, list):
        return [_plain(part) for part in value]
    if not isinstance(value, dict):
        return value
    if value.get(_SERIALIZED) in ("type", "function") and isinstance(value.get("value"), str):
        return value["value"]
    return {name: _plain(part) for name, part in value.items() if is_tunable(name)}


def _refers(value: Any) -> bool:
    if isinstance(value, list):
        return any(_refers(part) for part in value)
    return isinstance(value, dict) and value.get(_SERIALIZED) in _STRUCTURE
