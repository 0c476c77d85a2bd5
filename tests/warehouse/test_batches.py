"""Batches of one size, whatever size the rows come in."""

from itertools import pairwise

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from warehouse.batches import regrouped

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
