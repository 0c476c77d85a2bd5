"""Long fits, and the speed of this machine."""

import numpy as np
import pytest

from recommend.ranking.fit_cost import slowness, worthwhile


def test_a_long_fit_needs_a_sufficient_gain() -> None:
    """The limit is ten times the median of 3 s, 30 s; one of the two longer fits has enough gain."""
    seconds = np.array([2.0, 3.0, 3.0, 40.0, 40.0])
    predicted = np.array([0.0, 1.0, 0.5, 1.05, 1.2])
    assert worthwhile(seconds, predicted).tolist() == [0, 1, 2, 4]


def test_a_fit_that_takes_twice_as_long_means_half_the_speed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The speed has steps of sqrt(2), so that two measurements seldom differ."""
    for seconds, slower in [(0.0185, 1.0), (0.0192, 1.0), (0.037, 2.0), (0.0093, 0.5), (0.027, 2**0.5)]:
        ticks = iter(np.arange(100) * seconds)
        monkeypatch.setattr("recommend.ranking.fit_cost.time.process_time", lambda ticks=ticks: next(ticks))
        assert slowness.__wrapped__() == pytest.approx(slower)
