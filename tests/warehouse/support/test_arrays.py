"""Dataclasses of arrays: selecting rows, concatenating, and changing the precision."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from warehouse.support.arrays import Floats, Positions, Rows, Selection


@dataclass(frozen=True)
class Places(Rows):
    """n places in the plane."""

    xy: Floats  # (n, 2)


@dataclass(frozen=True)
class Towns(Rows):
    """n towns, without numbers of people if nobody counted them."""

    people: Positions | None  # (n,)
    places: Places


def towns(n: int, first: int = 0) -> Towns:
    """Towns number `first` to `first + n - 1`; number i has i people and is at (i, i / 2)."""
    numbers = np.arange(first, first + n)
    return Towns(numbers, Places(np.column_stack([numbers, numbers / 2])))


def uncounted(n: int) -> Towns:
    return Towns(None, towns(n).places)


def numbers_in(some: Towns) -> list[int]:
    """The numbers of these towns, by position; checks the numbers of people if there are any."""
    numbers: list[int] = some.places.xy[:, 0].astype(int).tolist()
    assert (some.places.xy[:, 1] * 2).tolist() == numbers
    assert some.people is None or some.people.tolist() == numbers
    return numbers


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([3, 0, 3], [3, 0, 3]),
        (np.array([2, -1]), [2, 4]),
        (np.array([True, False, False, True, False]), [0, 3]),
        (slice(1, 3), [1, 2]),
        (np.array([], dtype=np.intp), []),
    ],
)
def test_selected_rows_are_taken_from_all_parts(rows: Selection, expected: list[int]) -> None:
    assert numbers_in(towns(5).take(rows)) == expected
    assert len(towns(5).take(rows)) == len(expected)


def test_missing_parts_stay_missing() -> None:
    assert len(uncounted(4)) == 4
    taken = uncounted(4).take([1, 2]).astype(np.float32)
    assert taken.people is None
    assert numbers_in(taken) == [1, 2]
    assert Towns.concatenated([uncounted(1), uncounted(2)]).people is None


@given(cuts=st.lists(st.integers(0, 8), max_size=3).map(sorted))
def test_concatenated_parts_equal_the_whole(cuts: list[int]) -> None:
    bounds = [0, *cuts, 8]
    parts = [towns(8).take(slice(low, high)) for low, high in pairwise(bounds)]
    assert numbers_in(Towns.concatenated(parts)) == list(range(8))


def test_another_precision_applies_to_nested_arrays_and_does_not_change_the_original() -> None:
    original = towns(3)
    half = original.astype(np.float16)
    assert half.people is not None
    assert {str(part.dtype) for part in (half.people, half.places.xy)} == {"float16"}
    assert (type(half), type(half.places)) == (Towns, Places)
    assert original.places.xy.dtype == np.float64
