"""Hyperparameter values from OpenML's texts."""

import json

from hypothesis import given
from hypothesis import strategies as st

from ingest.openml.values import is_structure, typed
from tests.cases import each

REFERENCE = '{"oml-python:serialized_object": "component_reference", "value": {"key": "a", "step_name": "a"}}'


@each(
    ("raw", "value"),
    [
        ("False", False),
        ('"None"', "None"),
        ("NA", None),
        ("true", True),
        ("3", 3),
        ("3.0", 3.0),
        ("1e-3", 0.001),
        ("[0, 2]", [0, 2]),
        ("[NaN, 1]", ["NaN", 1]),
        ("-Infinity", "-Infinity"),
        ('{"a": {"b": Infinity}}', {"a": {"b": "Infinity"}}),
        ('{"oml-python:serialized_object": "function", "value": "f_classif"}', "f_classif"),
        ('{"broken', '{"broken'),
        ("(100,)", [100]),
        ("[None, 'a', {'C': (1, 2)}]", [None, "a", {"C": [1, 2]}]),
        ("[0, {1}]", "[0, {1}]"),
        ("(5)", "(5)"),
        ("nan", "NaN"),
        ("<function f_classif at 0x7f6d4012ab>", "<function f_classif>"),
        ('[{"value": {"n_splits": "3", "random_state": "7"}}]', [{"value": {"n_splits": "3"}}]),
    ],
)
def test_values_get_their_type(raw: str, value: object) -> None:
    decoded = json.loads(typed(raw))
    assert (type(decoded), decoded) == (type(value), value)


@given(st.text())
def test_every_text_has_a_value(raw: str) -> None:
    json.loads(typed(raw))


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(), st.lists, max_leaves=5))
def test_json_keeps_its_value(value: object) -> None:
    assert json.loads(typed(json.dumps(value))) == value


def test_deep_nesting_is_text() -> None:
    assert json.loads(typed("[" * 100_000)) == "[" * 100_000


@each(("raw", "expected"), [(REFERENCE, True), (f"[{REFERENCE}]", True), ('"component_reference"', False)])
def test_references_to_components_are_structure(raw: str, expected: bool) -> None:
    assert is_structure(raw) is expected
