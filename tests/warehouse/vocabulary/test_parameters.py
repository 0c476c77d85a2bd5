"""Ranges and choices, and their form in ConfigSpace."""

from typing import Any

import pytest

from warehouse.vocabulary.parameters import Choice, Number


def test_a_range_between_whole_ends_has_whole_numbers_and_both_ends() -> None:
    leaves = Number("leaves", 1, 3, default=2).hyperparameter()
    assert {leaves.to_value(place) for place in (0.0, 0.5, 1.0)} == {1, 2, 3}
    assert all(type(leaves.to_value(place / 10)) is int for place in range(11))
    assert not leaves.legal_value(1.5)
    assert not leaves.legal_value(4)


def test_a_range_with_a_fractional_end_is_continuous() -> None:
    share = Number("share", 0, 1.0, default=0.5).hyperparameter()
    assert [share.to_value(place) for place in (0.0, 0.25, 1.0)] == [0.0, 0.25, 1.0]
    assert share.default_value == 0.5


@pytest.mark.parametrize(("low", "high"), [(0.001, 10.0), (1, 100)])
def test_half_way_on_a_log_scale_is_the_geometric_mean(low: float, high: float) -> None:
    """It is 0.1 for 0.001 and 10, and 10 for 1 and 100; on a linear scale it would be 5.0005 and 50.5."""
    scaled = Number("C", low, high, default=high, log=True).hyperparameter()
    assert scaled.to_value(0.5) == pytest.approx((low * high) ** 0.5)
    plain = Number("C", low, high, default=high).hyperparameter()
    assert plain.to_value(0.5) == pytest.approx((low + high) / 2, abs=0.5)


def test_choices_keep_their_type_and_have_no_order() -> None:
    depth: Any = Choice("depth", (None, 3, "all", True), default=None).hyperparameter()
    assert depth.choices == (None, 3, "all", True)
    assert [type(choice) for choice in depth.choices] == [type(None), int, str, bool]
    assert depth.default_value is None


def test_additional_choices_come_last_and_keep_the_default() -> None:
    """A value that a flow once had is only legal in the wider space."""
    features = Choice("features", ("sqrt", "log2"), default="sqrt")
    wider: Any = features.hyperparameter("auto")
    assert wider.choices == ("sqrt", "log2", "auto")
    assert wider.default_value == "sqrt"
    assert wider.legal_value("auto")
    assert not features.hyperparameter().legal_value("auto")
