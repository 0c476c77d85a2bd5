"""Positions of numbers on the axes of charts, and ticks."""

from hypothesis import given
from hypothesis import strategies as st

from recommend.reporting.html.axes import MOST_TICKS, Axis, NameAxis, axis_of, round_numbers

NUMBERS = st.lists(st.floats(-1e12, 1e12, allow_nan=False), min_size=1, max_size=9)


def test_equal_differences_are_equal_on_a_linear_axis_and_ratios_on_a_logarithmic_one() -> None:
    assert [Axis(0, 10, 100, 200).at(number) for number in (0, 2.5, 10)] == [100, 125, 200]
    assert [Axis(1, 100, 200, 0, is_log=True).at(number) for number in (1, 10, 100)] == [200, 100, 0]


def test_ticks_are_round_numbers_within_the_axis() -> None:
    assert round_numbers(0.03, 0.97) == [0.2, 0.4, 0.6, 0.8]
    assert round_numbers(-7, 13) == [-5, 0, 5, 10]
    assert [tick.label for tick in Axis(0.5, 3e6, 0, 1, is_log=True).ticks] == ["1", "100", "10 k", "1 M"]
    assert [tick.label for tick in Axis(2, 9, 0, 1, is_log=True).ticks] == ["2", "4", "6", "8"]


@given(NUMBERS, st.booleans())
def test_all_numbers_lie_within_the_ends_of_their_axis(numbers: list[float], is_log: bool) -> None:
    axis = Axis.over(numbers, 260, 8, is_log=is_log)
    places = [axis.at(number) for number in numbers] + [tick.place for tick in axis.ticks]
    assert all(8 <= place <= 260 for place in places)
    assert len(axis.ticks) <= MOST_TICKS + 1


def test_an_axis_suits_the_values_of_a_hyperparameter() -> None:
    assert axis_of([0.001, 1.0], 0, 1).is_log  # type: ignore[attr-defined]
    assert not axis_of([10, 20], 0, 1).is_log  # type: ignore[attr-defined]
    names = axis_of([True, None, "a"], 0, 90)
    assert isinstance(names, NameAxis)
    assert [(tick.label, tick.place) for tick in names.ticks] == [("None", 15), ("True", 45), ("a", 75)]
