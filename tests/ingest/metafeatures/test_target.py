"""The distribution and correlations of a numeric target equal values by hand or SciPy's."""

import math
from collections.abc import Sequence

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from ingest.metafeatures.prepared import average_ranks, quantile_bins
from tests.cases import each
from tests.ingest.metafeatures.small_tables import computed, numeric_dataset

# ---- distribution --------------------------------------------------------------------------------


def _described(target: Sequence[float] | np.ndarray) -> dict[str, float]:
    features = pd.DataFrame({"x": np.arange(len(target)) / 7})
    return computed(numeric_dataset(features, target), "target").values


def test_distribution_of_six_values() -> None:
    """Centred and in tens they are -1, -1, -1, 0, 1, 2: S_2 = 8, S_3 = 6, S_4 = 20.

    g1 = 1 / (8 / 6)^1.5 and g2 = (20 / 6) / (8 / 6)^2 - 3 = -1.125. Relative to the lowest, the others are
    10, 20, 30 with median 20. The three equal values share one of the ten bins; the quartiles are 10.5 and
    33.
    """
    values = _described([10.5, 10.5, 10.5, 20.5, 30.5, 40.5])
    logs = np.log1p([0, 0, 0, 0.5, 1, 1.5])
    assert values == pytest.approx(
        {
            "TargetSkewness": math.sqrt(30) / 4 / (8 / 6) ** 1.5,
            "TargetKurtosis": 5 / 12 * (7 * -1.125 + 6),
            "TargetLogSkewness": stats.skew(logs, bias=False),
            "TargetLogKurtosis": stats.kurtosis(logs, bias=False),
            "TargetShareOfMostFrequent": 1 / 2,
            "TargetShareOfLowest": 1 / 2,
            "TargetDistinctValuesPerRow": 4 / 6,
            "TargetIsWhole": 1,
            "TargetShareOfOutliers": 0,
            "TargetShareOfFarOutliers": 0,
            "TargetEntropy": math.log2(2) / 2 + math.log2(6) / 2,
        }
    )


def test_a_count_that_is_mostly_0_shows_its_zeros() -> None:
    values = _described([0.0] * 15 + [1.0, 1.0, 2.0, 2.0, 9.0])
    assert values["TargetShareOfLowest"] == values["TargetShareOfMostFrequent"] == 0.75
    assert values["TargetDistinctValuesPerRow"] == 0.2
    assert _described(-np.array([0.0] * 15 + [1.0, 1.0, 2.0, 2.0, 9.0]))["TargetShareOfLowest"] == 0.05


def test_different_values_fill_ten_bins_equally() -> None:
    assert _described(np.arange(40) ** 2 / 3)["TargetEntropy"] == pytest.approx(math.log2(10))


def test_outliers_are_several_interquartile_ranges_beyond_the_quartiles() -> None:
    """0 to 18 and one more: the quartiles are at positions 5.25 and 15.75, 4.25 and 14.75, 10.5 apart."""
    below, above = 14.75 + 1.5 * 10.5, 14.75 + 3 * 10.5
    for last, shares in ((below, (0, 0)), (below + 0.1, (0.05, 0)), (above + 0.1, (0.05, 0.05))):
        values = _described([*map(float, range(19)), last])
        assert (values["TargetShareOfOutliers"], values["TargetShareOfFarOutliers"]) == shares


@each(
    "target, is_whole",
    [
        ([3.0, 5.0, 9.0, 4.0], True),
        ([2.0, 4.0, 7.0], True),  # multiples of 1, which is not the difference of two neighbours
        ([0.25, 0.5, 1.5, 1.75], True),
        ([1e6, 1e6 + 4000, 1e6 + 9999], True),
        ([0.0, 1.0, 10_001.0], False),
        ([0.0, 1.0, math.pi, 5.0], False),
        (np.random.default_rng(0).normal(size=50), False),
        (np.random.default_rng(0).poisson(30, size=50), True),
    ],
)
def test_whole_numbers_are_multiples_of_a_step(target: Sequence[float], is_whole: bool) -> None:
    for unit, shift in ((1, 0), (0.37, -1.3), (1e4, 3e5)):
        assert _described(unit * np.asarray(target) + shift)["TargetIsWhole"] == is_whole


def test_the_logarithm_of_a_lognormal_target_is_less_skewed() -> None:
    values = _described(np.exp(1.5 * np.random.default_rng(0).normal(size=1000)))
    assert values["TargetSkewness"] > 5
    assert abs(values["TargetLogSkewness"]) < 1.5


def test_a_constant_target_has_no_distribution() -> None:
    found = computed(numeric_dataset(pd.DataFrame({"x": [1.5, 2.5, 3.5]}), [7.0] * 3))
    for name in ("TargetSkewness", "MaxTargetPearson", "RidgeR2", "KNN1Against15"):
        assert found.reasons[name] == "the target has one value only"


# ---- ranks ---------------------------------------------------------------------------------------

VALUES = st.lists(st.integers(-5, 5), min_size=1, max_size=40).map(lambda x: np.array(x, dtype=float))


@settings(max_examples=100)
@given(VALUES)
def test_ranks_equal_scipys(values: np.ndarray) -> None:
    assert average_ranks(values).tolist() == stats.rankdata(values).tolist()


@settings(max_examples=100)
@given(VALUES)
def test_bins_keep_equal_values_together_and_the_order(values: np.ndarray) -> None:
    bins = quantile_bins(values)
    assert 0 <= bins.min() <= bins.max() <= 9
    order = np.argsort(values)
    assert (np.diff(bins[order]) >= 0).all()
    assert all(np.ptp(bins[values == value]) == 0 for value in values)


# ---- correlations --------------------------------------------------------------------------------


def test_correlations_equal_scipys_over_the_rows_without_gaps() -> None:
    random = np.random.default_rng(0)
    x, t = random.normal(size=(2, 60))
    features = pd.DataFrame({"x": np.where(random.random(60) < 0.2, np.nan, x), "z": -(t**3) + x})
    found = computed(numeric_dataset(features, t), "target_correlations")
    present = features["x"].notna().to_numpy()
    for name, of_scipy in (("Pearson", stats.pearsonr), ("Spearman", stats.spearmanr)):
        first = abs(of_scipy(features["x"][present], t[present])[0])
        second = abs(of_scipy(features["z"], t)[0])
        assert found.values[f"MaxTarget{name}"] == pytest.approx(second)
        assert found.values[f"MeanTarget{name}"] == pytest.approx((first + second) / 2)
    assert found.reasons["MaxTargetCorrelationRatio"] == "no nominal attribute varies"


def test_correlation_ratio_of_three_pairs() -> None:
    """t = 0, 2, 3, 5, 6, 8: means 1, 4, 7; the sum of squares within is 6 of 42, with 3 and 5 degrees of
    freedom.

    `no` is uninformative: within its two categories it is 42 - 6 * 0.25 = 40.5, with 4 degrees of freedom.
    """
    features = pd.DataFrame({"tells": list("uuvvww"), "no": list("abbaab")})
    found = computed(numeric_dataset(features, [0.0, 2, 3, 5, 6, 8]), "target_correlations")
    expected = math.sqrt(1 - (6 / 3) / (42 / 5))
    assert found.values["MaxTargetCorrelationRatio"] == pytest.approx(expected)
    assert found.values["MeanTargetCorrelationRatio"] == pytest.approx(expected / 2)
    assert found.reasons["MaxTargetPearson"] == "no numeric attribute varies"
