"""Rows that come in batches of any size, in batches of one size."""

from collections.abc import Iterable, Iterator

import pyarrow as pa


def regrouped(batches: Iterable[pa.RecordBatch], rows: int) -> Iterator[pa.RecordBatch]:
    """The rows of `batches` in batches of so many `rows`, the last of which may have fewer; all copied."""
    held: list[pa.RecordBatch] = []
    n_held = 0
    for batch in batches:
        taken = 0
        while n_held + len(batch) - taken >= rows:
            held.append(batch.slice(taken, rows - n_held))
            taken += rows - n_held
            joined = _joined(held)
            held, n_held = [], 0  # not held while the caller is at work
            yield joined
        if taken < len(batch):
            held.append(batch.slice(taken))
            n_held += len(batch) - taken
    if held:
        yield _joined(held)


def _joined(batches: list[pa.RecordBatch]) -> pa.RecordBatch:
    """A copy of the rows: of those that lie behind a slice pyarrow would write some bytes as padding."""
    return pa.concat_batches([*batches, batches[0].slice(0, 0)])
