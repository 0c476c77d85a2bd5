"""External bytes raise only Headstart's errors; `tests/benchmarks/fuzz.py` tries longer."""

import contextlib
from functools import cache

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.cases import each
from tests.fuzzing import ALLOWED, TARGETS

Change = tuple[str, float, float, bytes]
"""A mutation, its position and length as shares of the input, and bytes to insert."""


@cache
def inputs(name: str) -> list[bytes]:
    return [*TARGETS[name].inputs()]


def changed(content: bytes, changes: list[Change]) -> bytes:
    for kind, where, share, piece in changes:
        start = int(where * len(content))
        end = start + int(share**4 * len(content)) + 1  # mostly short
        middle = {
            "cut": b"",
            "put in": piece + content[start:end],
            "put in place": piece,
            "repeat": content[start:end] * 2,
        }[kind]
        content = content[:start] + middle + content[end:]
    return content


@pytest.mark.parametrize("name", TARGETS)
@settings(
    max_examples=12, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.differing_executors]
)
@given(data=st.data())
def test_only_headstarts_errors_are_raised(name: str, data: st.DataObject) -> None:
    pieces = st.one_of(st.sampled_from(TARGETS[name].words), st.binary(max_size=4))
    kinds = st.sampled_from(["cut", "put in", "put in place", "repeat"])
    share = st.floats(0, 1, exclude_max=True)
    changes = st.lists(st.tuples(kinds, share, share, pieces), min_size=1, max_size=4)
    with contextlib.suppress(*ALLOWED):
        TARGETS[name].read(changed(data.draw(st.sampled_from(inputs(name))), data.draw(changes)))


@each("name", TARGETS)
def test_the_unchanged_inputs_are_read(name: str) -> None:
    TARGETS[name].read(inputs(name)[0])
