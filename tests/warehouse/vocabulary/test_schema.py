"""The tables: properties that readers and writers rely on."""

import json
from typing import Any

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from warehouse.vocabulary.schema import DATA_TABLES, OUTCOMES, PROVENANCE, TABLES, Table

DATA = DATA_TABLES.values()
numbers = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
leaves = st.none() | st.booleans() | numbers | st.text()
values = st.recursive(leaves, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=5)


def holds(table: str, **values: str | None) -> bool:
    """Whether a row with these values passes the table's checks."""
    row = ", ".join(f"${name}::VARCHAR AS {name}" for name in values)
    conditions = " AND ".join(f"coalesce({condition}, true)" for condition in TABLES[table].checks.values())
    found = duckdb.execute(f"SELECT {conditions} FROM (SELECT {row})", values).fetchone()
    assert found is not None
    return bool(found[0])


@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
def test_every_row_has_a_key_and_every_column_a_meaning(table: Table) -> None:
    required = {column.name for column in table.schema if not column.nullable}
    assert table.key
    assert {*table.key, *table.sort_by} <= required
    assert all((column.metadata or {}).get(b"meaning") for column in table.schema)
    assert len(set(table.schema.names)) == len(table.schema.names)


@pytest.mark.parametrize("table", DATA, ids=lambda table: table.name)
def test_the_ingest_of_a_row_is_its_last_column_and_not_part_of_its_key(table: Table) -> None:
    assert table.schema.names[-1] == PROVENANCE
    assert sorted([*table.key, *table.payload, PROVENANCE]) == sorted(table.schema.names)


def test_referenced_tables_are_written_before_referring_ones() -> None:
    """A column named like another table's only key refers to that table: `setup` to `setups`."""
    single = {table.name: table.key[0] for table in DATA if len(table.key) == 1}
    owner = {key: name for name, key in single.items() if name == f"{key}s"}
    order = list(TABLES)
    references = [
        (table.name, owner[column])
        for table in DATA
        for column in table.schema.names
        if column in owner and owner[column] != table.name
    ]
    assert ("runs", "setups") in references
    assert [pair for pair in references if order.index(pair[0]) < order.index(pair[1])] == []
    assert order[-1] == "ingests"


def test_outcomes_are_accepted_in_exact_spelling_only() -> None:
    assert all(holds("runs", outcome=outcome) for outcome in OUTCOMES)
    assert not any(holds("runs", outcome=outcome.upper()) for outcome in OUTCOMES)


@given(value=values)
@settings(max_examples=40, deadline=None)
def test_every_json_value_can_be_a_hyperparameter(value: Any) -> None:
    assert holds("hyperparameters", value=json.dumps(value))


@pytest.mark.parametrize(
    "value", ["", "gini", "'gini'", '"gini', "NaN", "nan", "inf", "-Infinity", "True", "None", "01", "+1",
              ".5", "1.", "1e", "0x1f", "1 2", "[1", '{"a"}', "{'a': 1}", '"a" "b"', "\n"]
)  # fmt: skip
def test_text_that_is_not_json_is_not_a_hyperparameter(value: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        json.loads(value, parse_constant=int)  # `parse_constant` refuses NaN
    assert not holds("hyperparameters", value=value)
