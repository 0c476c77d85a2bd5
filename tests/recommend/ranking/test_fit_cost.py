"""Long fits, and the speed of this machine."""

import numpy as np
import pytest

from recommend.ranking.fit_cost import slowness, worthwhile


def test_a_long_fit_has_to_be_worth_it() -> None:
    """Ten times the median of 3 s is 30 s: of the two that take longer, one gains enough."""
    seconds = np.array([2.0, 3.0, 3.0, 40.0, 40.0])
    predicted = np.array([0.0, 1.0, 0.5, 1.05, 1.2])
    assert worthwhile(seconds, predicted).tolist() == [0, 1, 2, 4]


def test_a_fit_that_takes_twice_as_long_makes_a_machine_half_as_fast(monkeypatch: pytest.MonkeyPatch) -> None:
    """In steps of sqrt(2), so that two measurements seldom differ."""
    for seconds, slower in [(0.0185, 1.0), (0.0192, 1.0), (0.037, 2.0), (0.0093, 0.5), (0.027, 2**0.5)]:
        ticks = iter(np.arange(100) * seconds)
        monkeypatch.setattr("recommend.ranking.fit_cost.time.process_time", lambda ticks=ticks: next(ticks))
        assert slowness.__wrapped__() == pytest.approx(slower)
