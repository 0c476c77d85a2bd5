"""Expected times of fits, from other datasets and from timed fits."""

import math
from collections.abc import Callable

import pytest

from recommend.bo.tuning.expected_seconds import STARTING, ExpectedSeconds
from recommend.ranking.fit_cost import FOR_USE
from tests.recommend.bo.tuning.simulated import configuration
from warehouse.vocabulary.configuration import Configuration

ONE, OTHER = configuration(0), configuration(1)


def by_root(_: Configuration, rows: int) -> float:
    """A second for 100 rows, two for 400."""
    return math.sqrt(rows) / 10


def times(known: Callable[[Configuration, int], float] = by_root) -> ExpectedSeconds:
    return ExpectedSeconds(known, all_rows=1600, fewest_rows=100)


def test_without_a_fit_times_come_from_other_datasets() -> None:
    assert times().of_fit(ONE, 400) == 2.0


def test_a_fit_calibrates_its_configuration_whose_times_grow_like_on_other_datasets() -> None:
    known = times()
    known.note_fit(ONE, 100, 3.0 + STARTING)
    assert known.of_fit(ONE, 1600) == pytest.approx(12.0)
    assert known.of_fit(OTHER, 1600) == 4.0


def test_without_knowledge_time_is_proportional_to_the_rows() -> None:
    known = times(lambda _, __: math.nan)
    assert math.isnan(known.of_fit(ONE, 100))
    known.note_fit(ONE, 100, 3.0 + STARTING)
    assert known.of_fit(ONE, 1600) == pytest.approx(48.0)


def test_a_slow_machine_is_slower_for_all_configurations() -> None:
    known = times()
    known.note_pace(ONE, 100, 3.0 + STARTING)
    assert known.of_fit(OTHER, 400) == pytest.approx(6.0)


def test_rows_are_halved_until_the_time_suffices() -> None:
    known = times()
    assert known.rows_within(5.0, ONE) == 1600
    assert known.rows_within(2.5, ONE) == 400
    assert known.rows_within(0.9, ONE) is None


def test_a_fit_for_the_model_is_longer_than_one_of_a_trial_if_it_is_made_twice() -> None:
    stopped = Configuration("lightgbm", {"early_stopping": True})
    known = times()
    assert known.of_fits([stopped], 400) == pytest.approx(2.0 * FOR_USE[True] + STARTING)
    known.note_fit(stopped, 100, 3.0 * FOR_USE[True] + STARTING)
    assert known.of_fit(stopped, 100) == pytest.approx(3.0)
