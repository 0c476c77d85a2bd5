"""Racing, with races worked out by hand (Hutter, Hoos and Leyton-Brown 2011, Procedure 2)."""

from collections.abc import Callable, Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recommend.bo.candidates import Candidate, TableCandidates
from recommend.bo.published.intensification import Intensification, RacedConfiguration
from tests.recommend.bo.toys import grid
from warehouse.support.errors import BadInput

ROWS = TableCandidates(grid())


def in_order(n: int) -> Callable[[Sequence[RacedConfiguration]], Candidate | None]:
    """Propose the first `n` rows of a table in order."""
    return lambda raced: ROWS.row(len(raced)) if len(raced) < n else None


def race(values: Sequence[Sequence[float]], most: int, seed: int = 0) -> tuple[Intensification, list[int]]:
    """A whole race of configurations with these values by key, and the configuration of each run."""
    intensification = Intensification(in_order(len(values)), most, np.random.default_rng(seed))
    order = []
    while (run := intensification.ask()) is not None:
        order.append(int(str(run.candidate.key)))
        intensification.tell(values[order[-1]][run.key])
    return intensification, order


def incumbent(intensification: Intensification) -> int:
    assert intensification.incumbent is not None
    return int(str(intensification.incumbent.candidate.key))


def test_a_worse_challenger_has_one_run_and_the_incumbent_one_more_at_each_challenge() -> None:
    """0 is run once; then 0 again and 1, 0 again and 2, and so on, up to 5 runs of 0."""
    raced, order = race([[0.9] * 5, *[[0.1] * 5] * 6], most=5)
    assert order == [0, 0, 1, 0, 2, 0, 3, 0, 4, 5, 6]
    assert incumbent(raced) == 0


def test_runs_of_a_better_challenger_double_until_it_has_as_many_as_the_incumbent() -> None:
    """Challengers 1 to 4 leave 0 with 5 runs; 5 has 1, 2 and the last 2 of them, and replaces it."""
    raced, order = race([[0.5] * 5, *[[0.1] * 5] * 4, [0.9] * 5], most=5)
    assert order == [0, 0, 1, 0, 2, 0, 3, 0, 4, 5, 5, 5, 5, 5]
    assert incumbent(raced) == 5
    assert set(raced.raced[5].values) == set(raced.raced[0].values) == set(range(5))


@pytest.mark.parametrize("seed", range(8))
def test_only_runs_with_the_same_key_are_compared(seed: int) -> None:
    """At each key, 1 is better by 0.1, although its value at key 0 is below that of 0 at key 1."""
    raced, _ = race([[0.0, 1.0], [0.1, 1.1]], most=2, seed=seed)
    assert incumbent(raced) == 1


@given(st.lists(st.integers(0, 100), min_size=1, max_size=30))
def test_with_one_run_for_each_it_is_plain_search(values: list[int]) -> None:
    raced, order = race([[value] for value in values], most=1)
    assert order == list(range(len(values)))
    assert values[incumbent(raced)] == max(values)


@given(
    st.lists(st.lists(st.floats(0, 1), min_size=4, max_size=4), min_size=1, max_size=12),
    st.integers(0, 9),
)
def test_the_incumbent_has_the_most_runs_and_none_has_too_many(values: list[list[float]], seed: int) -> None:
    raced, _ = race(values, most=4, seed=seed)
    assert raced.incumbent is not None
    counts = [len(one.values) for one in raced.raced]
    assert 1 <= min(counts) <= max(counts) == len(raced.incumbent.values) <= 4


def test_invalid_races_are_refused() -> None:
    with pytest.raises(BadInput, match="not 0"):
        Intensification(in_order(1), 0, np.random.default_rng(0))
    ended = Intensification(in_order(0), 1, np.random.default_rng(0))
    assert ended.ask() is None
    with pytest.raises(BadInput, match="not the value of a proposed run"):
        ended.tell(1.0)
    with pytest.raises(BadInput, match="nan"):
        Intensification(in_order(1), 1, np.random.default_rng(0)).tell(np.nan)
