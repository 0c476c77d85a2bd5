"""The choice within a budget, and the delta approach (thesis eq. 6.2)."""

import numpy as np
import pytest

from recommend.ranking.choice import Selection, choose_delta, choose_within
from warehouse.support.arrays import Positions
from warehouse.support.errors import BadOption


def first_three(among: Positions) -> Selection:
    return [(int(position), None) for position in among[:3]]


def positions(choice: Selection) -> list[int]:
    return [position for position, _ in choice]


def test_the_chosen_configurations_together_fit_into_the_budget() -> None:
    """50 + 20 + 20 is too much, so the longest is replaced by a shorter one."""
    seconds = np.array([50.0, 20.0, 20.0, 90.0, 10.0])
    assert positions(choose_within(80, seconds, first_three)) == [1, 2, 4]


def test_configurations_of_unknown_time_fit_into_no_budget() -> None:
    assert positions(choose_within(10, np.array([np.nan, 3.0]), first_three)) == [1]


def test_a_budget_that_nothing_fits_into_is_refused() -> None:
    with pytest.raises(BadOption, match="the quickest configuration takes about 12 s"):
        choose_within(10, np.array([20.0, 12.0, np.nan]), first_three)


def test_a_budget_is_refused_if_no_time_is_known() -> None:
    with pytest.raises(BadOption, match="the warehouse has no running times"):
        choose_within(10, np.full(3, np.nan), first_three)


def test_delta_follows_equation_6_2() -> None:
    """Computed by hand for p = 0, 0.1, ..., 1.

    d = 0.1: (1 - p)^0.1 + p is 1.0 at p = 1, 1.69433 at 0.9, 1.65134 at 0.8: the seed is p = 0.9.
    d = 0.2: 1.53096 at 0.9, 1.52478 at 0.8: still p = 0.9.
    d = 0.3: 1.40119 at 0.9, 1.41703 at 0.8, 1.39685 at 0.7: the seed is p = 0.8.
    """
    p = np.arange(11) / 10
    assert choose_delta(p, 3) == [(10, 0.0), (9, 0.1), (8, pytest.approx(0.3))]


def test_delta_of_several_algorithms_spreads_over_the_better_half() -> None:
    """The median of -100, 0.1, 0.2, ..., 1 is 0.5; up to it p = 0, the others have 0.2, 0.4, ..., 1.

    d = 0.1: (1 - p)^0.1 + p is 1.5124 at p = 0.6, 1.6513 at 0.8, 1 at 1: the seed is p = 0.8.
    d = 0.6: 1.1771 at 0.6, 1.1807 at 0.8: still p = 0.8.
    d = 0.7: 1.0994 at 0.4, 1.1266 at 0.6, 1.1241 at 0.8: the seed is p = 0.6.
    """
    predicted = np.array([-100.0, *np.arange(1, 11) / 10])
    assert choose_delta(predicted, 3, joint=True) == [
        (10, 0.0),
        (9, pytest.approx(0.1)),
        (8, pytest.approx(0.7)),
    ]
    assert min(predicted[positions(choose_delta(predicted, 6, joint=True))]) >= np.median(predicted)


def test_delta_chooses_the_worst_only_if_no_other_is_left() -> None:
    for seed in range(20):
        predicted = np.random.default_rng(seed).normal(size=30)
        chosen = [position for position, _ in choose_delta(predicted, 3)]
        assert len(set(chosen)) == 3
        assert int(predicted.argmin()) not in chosen


def test_delta_fills_up_with_the_next_best() -> None:
    assert choose_delta(np.array([0.0, 1.0]), 2) == [(1, 0.0), (0, None)]
    assert choose_delta(np.array([2.0, 2.0]), 3) == [(0, 0.0), (1, None)]
