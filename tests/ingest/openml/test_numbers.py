"""Sets of numbers in little memory."""

import tracemalloc

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ingest.openml.numbers import IdSet

SETS = st.sets(st.integers(-5_000, 5_000) | st.integers(-(2**60), 2**60))


@given(SETS, SETS)
def test_they_behave_like_sets_of_integers(first: set[int], second: set[int]) -> None:
    numbers = IdSet.of_array(np.array([*first, *first], dtype=np.int64))
    assert numbers == first
    assert (list(numbers), len(numbers)) == (sorted(first), len(first))
    assert numbers - second == first - second
    assert second - numbers == second - first
    numbers |= second
    assert numbers == first | second
    for number in first:
        numbers.discard(number)
    assert numbers == IdSet(second - first)


def test_a_million_dense_numbers_take_less_than_a_megabyte() -> None:
    numbers = np.arange(1_000_000)
    tracemalloc.start()
    known = IdSet.of_array(numbers)
    taken, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(known) == 1_000_000
    assert taken < 2**20
