"""Rows that come in batches of any size, in batches of one size."""

from collections.abc import Iterable, Iterator

import pyarrow as pa


def regrouped(batches: Iterable[pa.RecordBatch], rows: int) -> Iterator[pa.Table]:
    """The rows of `batches` in tables of so many `rows`, the last of which may have fewer."""
    held: list[pa.RecordBatch] = []
    for batch in batches:
        held.append(batch)
        while sum(map(len, held)) >= rows:
            table = pa.Table.from_batches(held)
            yield table.slice(0, rows).combine_chunks()
            held = table.slice(rows).to_batches()
    if sum(map(len, held)):
        yield pa.Table.from_batches(held).combine_chunks()
