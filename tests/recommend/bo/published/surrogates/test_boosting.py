"""Quantiles by gradient boosting, and Hyperboost's distance."""

import numpy as np
import pytest

from recommend.bo.published.surrogates.boosting import (
    HIGH,
    HyperboostSurrogate,
    QuantileSurrogate,
    QuantileTripleSurrogate,
)
from recommend.space import Configurations
from tests.contracts.surrogate import predicted
from tests.recommend.bo.surrogates.worlds import METAFEATURES, table
from warehouse.support.arrays import Floats


def noisy_groups() -> tuple[Configurations, Floats, Floats]:
    """Four configurations, each tried 200 times: level 0, 1, 2, 3 and normal noise of 0.5."""
    known = table(criterion=["gini", "entropy"] * 2 * 200, depth=[1, 1, 9, 9] * 200)
    level = np.tile(np.arange(4.0), 200)
    return known, level, level + np.random.default_rng(5).normal(scale=0.5, size=800)


def test_nine_of_ten_values_are_below_the_high_quantile() -> None:
    known, level, values = noisy_groups()
    mean = predicted(QuantileSurrogate(known, METAFEATURES), known, values).mean
    new = level + np.random.default_rng(6).normal(scale=0.5, size=800)
    below = [(new[group::4] < mean[group]).mean() for group in range(4)]
    assert below == pytest.approx([HIGH] * 4, abs=0.06)
    assert np.mean(below) == pytest.approx(HIGH, abs=0.03)
    assert mean[:4] == pytest.approx(np.arange(4) + 1.2816 * 0.5, abs=0.12)


def test_half_of_the_distance_between_the_outer_quantiles_is_the_noise() -> None:
    known, level, values = noisy_groups()
    prediction = predicted(QuantileTripleSurrogate(known, METAFEATURES), known, values)
    assert prediction.std == pytest.approx(np.full(800, 0.5), rel=0.2)
    assert prediction.mean == pytest.approx(level, abs=0.12)


def test_distance_adds_to_the_quantile_by_hand() -> None:
    """x is 0, 25 and 100: U = 0, 0.25 and 1. Only the first was tried, twice, with the values 0.4 and 0.6.

    d = 0, 0.25 and 1; m = 1, since x is a number, and s = 0.1: 0, 0.025 and 0.1 are added to q, which is the
    same for all.
    """
    known = table(x=[0, 25, 100])
    surrogate = HyperboostSurrogate(known, METAFEATURES)
    X = surrogate.encode(known)
    surrogate.fit(X.take([0, 0]), np.array([0.4, 0.6]), np.random.default_rng(0))
    mean = surrogate.predict(X).mean
    assert mean - mean[0] == pytest.approx([0.0, 0.025, 0.1])
    assert surrogate.predict(X.take([1])).mean == pytest.approx(mean[[1]])  # whichever are predicted together


def test_the_bonus_for_distance_fades_as_trials_fill_the_space() -> None:
    """Equation 7 with U = 0, 0.25, 0.5 and 1, so m = 1, and s = 0.3 each time: after 0 alone, after 0 and 1,
    and after 0, 0.5 and 1."""
    known = table(x=[0, 25, 50, 100])
    surrogate = HyperboostSurrogate(known, METAFEATURES)
    X = surrogate.encode(known)
    for tried, values, far in (
        ([0, 0], [0.0, 0.6], [0.0, 0.25, 0.5, 1.0]),
        ([0, 3], [0.0, 0.6], [0.0, 0.25, 0.5, 0.0]),
        ([0, 2, 3, 0], [0.0, 0.6, 0.0, 0.6], [0.0, 0.25, 0.0, 0.0]),
    ):
        quantile = QuantileSurrogate(known, METAFEATURES)
        quantile.fit(X.take(tried).features, np.array(values), np.random.default_rng(0))
        surrogate.fit(X.take(tried), np.array(values), np.random.default_rng(0))
        added = surrogate.predict(X).mean - quantile.predict(X.features).mean
        assert added == pytest.approx(0.3 * np.array(far))
