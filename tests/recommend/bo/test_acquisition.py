"""Acquisition functions: closed-form answers, properties, and refusals."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from metalearners.predictions import Prediction
from recommend.bo.acquisition import (
    ACQUISITIONS,
    KAPPA,
    TIMED,
    UNCERTAIN,
    Situation,
    expected_improvement,
    get_acquisition,
)
from warehouse.support.arrays import Floats
from warehouse.support.errors import BadInput

HEIGHT = 0.3989422804014327
"""1 / sqrt(2 pi), density of the standard normal distribution at 0."""


def worth(name: str, mean: list[float], std: list[float] | None, situation: Situation) -> Floats:
    predicted = Prediction(np.array(mean), None if std is None else np.array(std))
    return get_acquisition(name)(predicted, situation)


# Expected improvement


@pytest.mark.parametrize(("mean", "improvement"), [(2.0, 1.0), (1.0, 0.0), (0.2, 0.0)])
def test_improvement_of_a_certain_prediction_is_the_gain_or_0(mean: float, improvement: float) -> None:
    assert worth("ei", [mean], [0.0], Situation(best=1.0, xi=0.0)) == pytest.approx([improvement])


def test_xi_shifts_the_score_to_beat() -> None:
    shifted = worth("ei", [0.3, 1.0], [0.5, 2.0], Situation(best=0.2, xi=0.3))
    assert shifted == pytest.approx(worth("ei", [0.3, 1.0], [0.5, 2.0], Situation(best=0.5, xi=0.0)))
    assert worth("ei", [1.0], [0.0], Situation(best=0.0, xi=0.25)) == pytest.approx([0.75])


# Probability of improvement, upper confidence bound, value


def test_probability_of_beating_an_equal_mean_is_a_half() -> None:
    situation = Situation(best=0.5, xi=0.1)
    assert worth("pi", [0.6, 0.6], [1.0, 1e-3], situation) == pytest.approx([0.5, 0.5])
    assert worth("pi", [0.6 + 1.2815515655], [1.0], situation) == pytest.approx([0.9])


def test_the_upper_bound_is_the_mean_plus_kappa_deviations() -> None:
    assert KAPPA == 1.0
    assert worth("ucb", [0.2, -1.0], [0.5, 2.0], Situation(best=9.0)) == pytest.approx([0.7, 1.0])


def test_value_is_the_predicted_mean() -> None:
    assert worth("value", [0.2, -1.0], None, Situation(best=9.0)).tolist() == [0.2, -1.0]


# Per second


def test_a_trial_of_e_minus_one_seconds_is_the_unit_of_time() -> None:
    """log(1 + t) is 1 for t = e - 1, 2 for e^2 - 1 and log 2 for a second."""
    seconds = np.array([np.e - 1, np.e**2 - 1, 1.0])
    situation = Situation(best=0.0, xi=0.0, seconds=seconds)
    per_second = worth("ei-per-second", [0.0] * 3, [1.0] * 3, situation)
    assert per_second == pytest.approx([HEIGHT, HEIGHT / 2, HEIGHT / np.log(2)])


def test_value_per_second_is_the_excess_over_the_median_by_log_time() -> None:
    seconds = np.array([np.e - 1, np.e**2 - 1, np.e - 1])
    situation = Situation(best=0.0, seconds=seconds)
    assert worth("value-per-second", [1.0, 4.0, 3.0], None, situation) == pytest.approx([-2.0, 0.5, 0.0])


@pytest.mark.parametrize("name", sorted(TIMED))
def test_of_equal_candidates_the_faster_is_worth_more(name: str) -> None:
    situation = Situation(best=0.0, seconds=np.array([0.001, 1.0, 60.0, 86400.0]), usual=-1.0)
    assert (np.diff(worth(name, [0.0] * 4, [1.0] * 4, situation)) < 0).all()


# Properties

scores = st.floats(-5, 5)
deviations = st.just(0.0) | st.floats(1e-9, 5)


@given(scores, scores, deviations, st.sampled_from(sorted(ACQUISITIONS)))
def test_a_higher_mean_is_never_worth_less(one: float, other: float, std: float, name: str) -> None:
    situation = Situation(best=0.0, seconds=np.ones(2), usual=0.0)
    low, high = worth(name, sorted([one, other]), [std, std], situation)
    assert high >= low - 1e-12


@given(deviations, deviations, scores, st.sampled_from(["ei", "ei-per-second", "ucb"]))
def test_a_larger_deviation_is_never_worth_less(one: float, other: float, mean: float, name: str) -> None:
    situation = Situation(best=0.0, seconds=np.ones(2))
    low, high = worth(name, [mean, mean], sorted([one, other]), situation)
    assert high >= low - 1e-12


# Refusals


def test_an_unknown_function_is_refused_with_the_known_ones() -> None:
    with pytest.raises(
        BadInput, match="unknown acquisition function 'luck'; known are ei, ei-per-second, pi"
    ):
        get_acquisition("luck")


@pytest.mark.parametrize("name", sorted(ACQUISITIONS))
def test_the_needs_of_a_function_are_listed(name: str) -> None:
    """Without them it is refused in one line that says what to do."""
    for needs, std, seconds, reason in (
        (UNCERTAIN, None, np.ones(1), "has no uncertainty"),
        (TIMED, [1.0], None, "needs predicted running times"),
    ):
        situation = Situation(best=0.0, seconds=seconds)
        if name in needs:
            with pytest.raises(BadInput, match=reason) as caught:
                worth(name, [0.0], std, situation)
            assert "\n" not in str(caught.value)
        else:
            assert np.isfinite(worth(name, [0.0], std, situation)).all()


def test_expected_improvement_by_the_closed_form() -> None:
    """Mean 1, standard deviation 2, best 0.5, xi 0.1: z = 0.2."""
    expected = 0.4 * norm.cdf(0.2) + 2 * norm.pdf(0.2)
    assert expected_improvement(np.array([1.0]), np.array([2.0]), 0.5, xi=0.1) == pytest.approx([expected])
