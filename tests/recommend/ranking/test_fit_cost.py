"""What fits take, and what is chosen within a budget."""

import numpy as np
import pytest

from recommend.ranking.choice import Selection, choose_within
from recommend.ranking.fit_cost import worthwhile
from recommend.ranking.machine_speed import slowness
from warehouse.support.arrays import Positions
from warehouse.support.errors import BadOption


def first_three(among: Positions) -> Selection:
    return [(int(position), None) for position in among[:3]]


def positions(choice: Selection) -> list[int]:
    return [position for position, _ in choice]


def test_all_that_is_chosen_fits_into_the_budget_together() -> None:
    """50 + 20 + 20 is too much, so the longest makes room for a shorter one."""
    seconds = np.array([50.0, 20.0, 20.0, 90.0, 10.0])
    assert positions(choose_within(80, seconds, first_three)) == [1, 2, 4]


def test_a_budget_that_suffices_changes_nothing() -> None:
    assert positions(choose_within(1000, np.array([50.0, 20.0, 20.0, 90.0]), first_three)) == [0, 1, 2]


def test_what_takes_an_unknown_time_fits_into_no_budget() -> None:
    assert positions(choose_within(10, np.array([np.nan, 3.0]), first_three)) == [1]


def test_a_budget_that_nothing_fits_into_is_refused() -> None:
    with pytest.raises(BadOption, match="the quickest configuration takes about 12 s"):
        choose_within(10, np.array([20.0, 12.0, np.nan]), first_three)


def test_a_budget_is_refused_where_no_time_is_known() -> None:
    with pytest.raises(BadOption, match="no run of the warehouse says how long"):
        choose_within(10, np.full(3, np.nan), first_three)


def test_a_long_fit_has_to_be_worth_it() -> None:
    """Ten times the median of 3 s is 30 s: of the two that take longer, one gains enough."""
    seconds = np.array([2.0, 3.0, 3.0, 40.0, 40.0])
    predicted = np.array([0.0, 1.0, 0.5, 1.05, 1.2])
    assert worthwhile(seconds, predicted).tolist() == [0, 1, 2, 4]


def test_a_few_seconds_are_never_long() -> None:
    assert worthwhile(np.array([0.1, 0.1, 9.0]), np.array([0.0, 1.0, 1.0])).tolist() == [0, 1, 2]


def test_where_no_time_is_known_all_are_worth_trying() -> None:
    assert worthwhile(np.full(3, np.nan), np.arange(3.0)).tolist() == [0, 1, 2]


def test_a_fit_that_takes_twice_as_long_makes_a_machine_half_as_fast(monkeypatch: pytest.MonkeyPatch) -> None:
    """In steps of sqrt(2), so that two measurements seldom differ."""
    for seconds, slower in [(0.0185, 1.0), (0.0192, 1.0), (0.037, 2.0), (0.0093, 0.5), (0.027, 2**0.5)]:
        ticks = iter(np.arange(100) * seconds)
        monkeypatch.setattr(
            "recommend.ranking.machine_speed.time.process_time", lambda ticks=ticks: next(ticks)
        )
        assert slowness() == pytest.approx(slower)
