"""Rows are converted to their table's schema, refused, or compared with stored ones."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.warehouse.worlds import qualities, runs
from warehouse.storage.rows import compare, conform
from warehouse.store import Warehouse
from warehouse.support.errors import BadInput, RefusedRows
from warehouse.vocabulary.schema import TABLES

EVALUATIONS = TABLES["evaluations"]


@pytest.fixture(scope="module")
def connection() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as connection:
        yield connection


def evaluations(accuracies: dict[str, float | None]) -> pd.DataFrame:
    """Run -> its accuracy."""
    value = pd.Series(list(accuracies.values()), dtype=float)
    return pd.DataFrame({"run": list(accuracies), "measure": "accuracy", "value": value, "flow": "f"})


def accuracies(rows: pa.Table) -> dict[str, float | None]:
    """The inverse of `evaluations`."""
    return dict(zip(rows["run"].to_pylist(), rows["value"].to_pylist(), strict=True))


def test_null_is_replaced_by_a_value_and_back(warehouse: Warehouse) -> None:
    for value in (None, 1.5, None, float("nan")):
        warehouse.write({"qualities": qualities({"ClassEntropy": value}, source="openml")}, source="test")
    assert warehouse.version == 3
    assert warehouse.arrow("SELECT value FROM qualities")["value"].to_pylist() == [None]


def test_identical_rows_within_a_write_count_once(warehouse: Warehouse) -> None:
    tables = {name: pd.concat([rows, rows]) for name, rows in runs().items()}
    assert set(warehouse.write(tables, source="test").added.values()) == {1, 2}  # 2 hyperparameters
    assert len(warehouse.sql("SELECT * FROM runs")) == 1


def test_rows_that_contradict_each_other_within_a_write_are_refused(warehouse: Warehouse) -> None:
    rows = runs()["evaluations"]
    with pytest.raises(BadInput, match=r"^evaluations: two rows for run='.*', measure='predictive_accuracy'"):
        warehouse.write({"evaluations": pd.concat([rows, rows.assign(value=0.1)])}, source="test")
    assert warehouse.version == 0


@pytest.mark.parametrize(
    ("table", "rows", "reason"),
    [
        ("trials", {"run": ["a"]}, "no table 'trials'"),
        ("ingests", {"ingest": ["a"]}, "no table 'ingests'"),
        ("setups", {"setup": ["a"]}, "setups: missing column flow"),
        ("setups", {"setup": ["a"], "flow": ["b"], "color": ["red"]}, "setups: unknown column color"),
        ("setups", {"setup": ["a", None], "flow": ["b", "b"]}, "setups: row 1 has no setup"),
        ("setups", {"setup": [31], "flow": ["b"]}, "setups: a value does not fit"),
        (
            "runs",
            {"run": ["a"], "task": ["t"], "setup": ["s"], "outcome": ["ok"]},
            "outcome is one of success",
        ),
        ("scales", {"flow": ["f"], "parameter": ["p"], "scale": ["cubic"]}, "scale is linear or log"),
        ("hyperparameters", {"setup": ["s"], "parameter": ["p"], "value": ["gini"]}, "value is JSON text"),
        ("hyperparameters", {"setup": ["s"], "parameter": ["p"], "value": ["NaN"]}, "value is JSON text"),
        (
            "evaluations",
            {"run": ["r"], "measure": ["m"], "value": [0.5], "flow": [np.nan]},
            "evaluations: row 0 has no flow",
        ),
    ],
)
def test_invalid_rows_are_refused_in_one_line(
    warehouse: Warehouse, table: str, rows: dict[str, list[object]], reason: str
) -> None:
    with pytest.raises(BadInput) as caught:
        warehouse.write({table: pd.DataFrame(rows)}, source="test")
    assert reason in str(caught.value)
    assert "\n" not in str(caught.value)


def test_whole_numbers_with_gaps_stay_whole_numbers(connection: duckdb.DuckDBPyConnection) -> None:
    """pandas makes them floats, and their gaps NaN."""
    frame = pd.DataFrame({"run": ["a", "b"], "task": "t", "setup": "s", "outcome": "success"})
    rows = conform(connection, "runs", frame.assign(position=[3.0, np.nan]))
    assert rows["position"].to_pylist() == [3, None]
    with pytest.raises(RefusedRows, match=r"runs: a value does not fit its column: .*1\.5"):
        conform(connection, "runs", frame.assign(position=[1.5, np.nan]))


known_accuracies = st.dictionaries(st.sampled_from("abcd"), st.sampled_from([None, 0.0, 0.5]))


@given(there=known_accuracies, incoming=known_accuracies)
@settings(max_examples=10, deadline=None)
def test_rows_are_new_by_their_key_and_changed_by_everything_else(
    there: dict[str, float | None], incoming: dict[str, float | None]
) -> None:
    with tempfile.TemporaryDirectory() as folder, duckdb.connect() as connection:
        files = written(conform(connection, "evaluations", evaluations(there)), Path(folder))
        rows = conform(connection, "evaluations", evaluations(incoming))
        difference = compare(connection, EVALUATIONS, rows, files)
    new = {run: value for run, value in incoming.items() if run not in there}
    changed = {run: value for run, value in incoming.items() if run in there and there[run] != value}
    assert list(accuracies(difference.new).items()) == list(new.items())
    assert list(accuracies(difference.changed).items()) == list(changed.items())
    assert bool(difference) == bool(new or changed)


def written(rows: pa.Table, folder: Path) -> list[str]:
    """Write rows like Delta, to files without the partition's column, which is in the folder's name."""
    (folder / "flow=f").mkdir()
    stamped = rows.append_column("ingest", pa.repeat("first", rows.num_rows)).drop_columns("flow")
    files = []
    for number in range(rows.num_rows):
        files.append(str(folder / "flow=f" / f"{number}.parquet"))
        pq.write_table(stamped.slice(number, 1), files[-1])
    return files


def test_texts_stay_dictionaries_except_in_keys(
    connection: duckdb.DuckDBPyConnection, warehouse: Warehouse
) -> None:
    texts = {"run": ["a", "b"], "measure": ["accuracy"] * 2, "flow": ["f"] * 2}
    plain = pa.table({**texts, "value": [0.5, 0.25]})
    encoded = pa.table({name: plain[name].dictionary_encode() for name in ("run", "measure", "flow")})
    encoded = encoded.append_column("value", plain["value"])
    conformed = conform(connection, "evaluations", encoded)
    kept = [column.name for column in conformed.schema if pa.types.is_dictionary(column.type)]
    assert kept == ["measure", "flow"]
    warehouse.write({"evaluations": encoded}, source="test")
    assert warehouse.write({"evaluations": plain}, source="test").ingest is None
    changed = encoded.set_column(3, "value", pa.array([0.5, 0.75]))
    warehouse.write({"evaluations": changed}, source="test")
    assert accuracies(warehouse.arrow("SELECT * FROM evaluations")) == {"a": 0.5, "b": 0.75}
