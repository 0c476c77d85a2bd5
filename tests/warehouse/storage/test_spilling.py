"""DuckDB within a fixed memory, and rows in batches of one size."""

from itertools import pairwise
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from warehouse.storage import spilling
from warehouse.storage.spilling import bounded, regrouped
from warehouse.support.errors import Failed, Unwritable

# Sorting these takes more than 40 MiB.
SORTED = """
SELECT hash(i) AS key, 'a text that takes some room: ' || i AS value FROM range(600_000) AS numbers(i)
ORDER BY key
"""


def test_rows_beyond_memory_are_on_disk_temporarily(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spilling, "_MEMORY", "40MiB")
    with bounded(tmp_path) as connection:
        batches = connection.sql(SORTED).to_arrow_reader(10_000)
        keys = [next(batches)["key"]]
        assert [path for path in tmp_path.rglob("*") if path.is_file() and path.stat().st_size]
        keys += [batch["key"] for batch in batches]
    assert list(tmp_path.iterdir()) == []
    values = pa.chunked_array(keys).to_numpy()
    assert (len(values), (values[1:] > values[:-1]).all()) == (600_000, True)


def test_a_disk_without_room_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spilling, "_MEMORY", "40MiB")
    with pytest.raises(Unwritable, match=f"{tmp_path} has too little room"), bounded(tmp_path) as connection:
        connection.execute("SET max_temp_directory_size = '1MiB'")
        connection.sql(SORTED).to_arrow_table()


def test_too_little_memory_is_a_failure_in_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spilling, "_MEMORY", "1MiB")
    with pytest.raises(Failed, match="too little memory") as caught, bounded(tmp_path) as connection:
        connection.sql(SORTED).to_arrow_table()
    assert "\n" not in str(caught.value)


ROWS = st.lists(st.tuples(st.text(max_size=3) | st.none(), st.booleans() | st.none()), max_size=40)


def cut(table: pa.Table, cuts: list[int]) -> list[pa.RecordBatch]:
    ends = [0, *sorted(cuts), len(table)]
    return [batch for start, end in pairwise(ends) for batch in table.slice(start, end - start).to_batches()]


@given(ROWS, st.lists(st.integers(0, 40), max_size=6), st.integers(1, 12))
def test_rows_keep_their_order_and_all_batches_but_the_last_have_one_size(
    rows: list[tuple[str | None, bool | None]], cuts: list[int], size: int
) -> None:
    table = pa.table({"text": [text for text, _ in rows], "flag": [flag for _, flag in rows]})
    regrouped_rows = list(regrouped(cut(table, cuts), size))
    lengths = [len(batch) for batch in regrouped_rows]
    assert lengths == [size] * (len(rows) // size) + [len(rows) % size] * (len(rows) % size > 0)
    assert pa.Table.from_batches(regrouped_rows, table.schema) == table
