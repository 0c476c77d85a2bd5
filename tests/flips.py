"""Flip a bit of a file."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from hypothesis import strategies as st


@contextmanager
def flipped_bit(data: st.DataObject, files: Sequence[Path]) -> Iterator[Path]:
    """Flip any bit of one of the files during the block; yields its path."""
    path = data.draw(st.sampled_from(files))
    content = path.read_bytes()
    bit = data.draw(st.integers(0, 8 * len(content) - 1))
    damaged = bytearray(content)
    damaged[bit // 8] ^= 1 << bit % 8
    path.write_bytes(damaged)
    try:
        yield path
    finally:
        path.write_bytes(content)
