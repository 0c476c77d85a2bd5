"""Cardinalities, moments and information of single columns: values by hand, and undefined ones."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from ingest.metafeatures.columns import skewness_and_kurtosis
from tests.ingest.metafeatures.small_tables import FRAME, computed, numeric_dataset

# ---- cardinality ---------------------------------------------------------------------------------


def test_cardinalities_count_what_occurs() -> None:
    """Nominal: colour 3, flag 2, the class 2; numeric: number 7, size 7."""
    assert computed(FRAME, "cardinality").values == pytest.approx(
        {
            "MinCardinalityOfNominalAttributes": 2,
            "MaxCardinalityOfNominalAttributes": 3,
            "MeanCardinalityOfNominalAttributes": 7 / 3,
            "StdevCardinalityOfNominalAttributes": math.sqrt(1 / 3),
            "MinCardinalityOfNumericAttributes": 7,
            "MaxCardinalityOfNumericAttributes": 7,
            "MeanCardinalityOfNumericAttributes": 7,
            "StdevCardinalityOfNumericAttributes": 0,
            "CardinalityAtTwo": 49,
            "CardinalityAtThree": 147,
            "CardinalityAtFour": 294,
        }
    )


def test_unused_declared_values_do_not_count_in_a_cardinality() -> None:
    colour = pd.Categorical(list("rgrg"), categories=list("rgb"))
    values = computed(pd.DataFrame({"colour": colour, "class": list("aabb")}), "cardinality").values
    assert values["MaxCardinalityOfNominalAttributes"] == 2


def test_a_product_of_cardinalities_is_missing_with_too_few_features() -> None:
    """x takes 4 values, the class 2."""
    found = computed(pd.DataFrame({"x": [1.5, 2.5, 3.5, 4.5], "class": list("aabb")}), "cardinality")
    assert found.values["CardinalityAtTwo"] == 8
    assert found.reasons["CardinalityAtThree"] == "there are fewer than 3 features"
    assert found.reasons["CardinalityAtFour"] == "there are fewer than 4 features"


def test_a_numeric_target_is_a_feature_but_not_an_attribute() -> None:
    """x takes 2 values, the target 4."""
    found = computed(
        numeric_dataset(pd.DataFrame({"x": [1.5, 2.5] * 2}), [1.5, 2.5, 3.5, 4.5]), "cardinality"
    )
    assert (found.values["MaxCardinalityOfNumericAttributes"], found.values["CardinalityAtTwo"]) == (2, 8)


# ---- moments -------------------------------------------------------------------------------------

VARYING = st.lists(st.integers(-1000, 1000), min_size=4, max_size=30).filter(lambda x: len(set(x)) > 1)


def test_moments_are_those_of_the_present_values() -> None:
    """x = 0, 0, 0, 4 has mean 1, S_2 = 12, G1 = 2 and G2 = 4 (by hand); missing values change nothing."""
    frame = pd.DataFrame({"x": [0.0, 0, 0, 4, np.nan, np.nan], "class": list("aabbab")})
    values = computed(frame, "statistical").values
    for summary in ("Min", "Quartile1", "Quartile2", "Mean", "Quartile3", "Max"):
        assert values[f"{summary}MeansOfNumericAtts"] == pytest.approx(1)
        assert values[f"{summary}StdDevOfNumericAtts"] == pytest.approx(2)
        assert values[f"{summary}SkewnessOfNumericAtts"] == pytest.approx(2)
        assert values[f"{summary}KurtosisOfNumericAtts"] == pytest.approx(4)


def test_quartiles_are_at_shares_of_the_count_plus_one() -> None:
    """Means 1, 2, 3, 4: the first quartile is at position 1.25, the third at 3.75."""
    frame = pd.DataFrame({f"x{mean}": [mean - 1.0, mean + 1.0] * 5 for mean in (1, 2, 3, 4)})
    values = computed(frame.assign(**{"class": list("aabba") * 2}), "statistical").values
    assert values["Quartile1MeansOfNumericAtts"] == pytest.approx(1.25)
    assert values["Quartile2MeansOfNumericAtts"] == pytest.approx(2.5)
    assert values["Quartile3MeansOfNumericAtts"] == pytest.approx(3.75)


@settings(max_examples=100)
@given(VARYING)
def test_skewness_and_kurtosis_are_scipys(values: list[int]) -> None:
    x = np.array(values, dtype=float)
    expected = (stats.skew(x, bias=False), stats.kurtosis(x, bias=False))
    assert skewness_and_kurtosis(x) == pytest.approx(expected, abs=1e-9)


@settings(max_examples=100)
@given(VARYING, st.sampled_from([1e-200, 1e-3, 7.0, 1e200]), st.sampled_from([1, -1]))
def test_the_unit_changes_neither_skewness_nor_kurtosis(values: list[int], unit: float, sign: int) -> None:
    """Skewness changes sign with the unit; the fourth powers of the largest numbers here overflow."""
    skewness, kurtosis = skewness_and_kurtosis(np.array(values, dtype=float))
    found = skewness_and_kurtosis(np.array(values) * unit * sign)
    assert found == pytest.approx((sign * skewness, kurtosis), abs=1e-9)


def test_a_column_that_varies_by_rounding_only_has_no_spread_and_no_shape() -> None:
    """0.1 + 0.2 is 0.30000000000000004: this x differs from 0.3 only by rounding."""
    found = computed(pd.DataFrame({"x": [0.1 + 0.2, 0.3] * 5, "class": list("aabba") * 2}), "statistical")
    assert found.values["MaxStdDevOfNumericAtts"] == 0
    reason = "no numeric attribute varies over enough rows"
    assert found.reasons["MeanSkewnessOfNumericAtts"] == found.reasons["MeanKurtosisOfNumericAtts"] == reason


def test_three_rows_have_a_skewness_and_no_kurtosis() -> None:
    """x = 0, 0, 3: mean 1, S_2 = 6, S_3 = 6, g1 = 2 / 2^1.5, G1 = sqrt(6) g1 = sqrt(3)."""
    skewness, kurtosis = skewness_and_kurtosis(np.array([0.0, 0.0, 3.0]))
    assert skewness == pytest.approx(math.sqrt(3))
    assert math.isnan(kurtosis)


# ---- information ---------------------------------------------------------------------------------


def test_information_is_what_an_attribute_shares_with_the_class() -> None:
    """`same` determines the class, one bit; `other` is independent of it."""
    frame = pd.DataFrame({"same": list("xxyy"), "other": list("uvuv"), "class": list("aabb")})
    values = computed(frame, "information").values
    assert values["MeanAttributeEntropy"] == pytest.approx(1)
    assert (values["MinMutualInformation"], values["MaxMutualInformation"]) == pytest.approx((0, 1))
    assert values["EquivalentNumberOfAtts"] == pytest.approx(2)
    assert values["MeanNoiseToSignalRatio"] == pytest.approx(1)


def test_ratio_to_zero_information_is_missing() -> None:
    frame = pd.DataFrame({"other": list("uvuv"), "class": list("aabb")})
    assert "nothing about the class" in computed(frame).reasons["EquivalentNumberOfAtts"]


def test_rows_without_a_value_do_not_count_in_mutual_information() -> None:
    """Of the rows with a value, u, u, v have the classes a, a, b: all three values are H(1/3)."""
    frame = pd.DataFrame({"c": ["u", "u", "v", None, None, None], "class": list("aababb")})
    values = computed(frame, "information").values
    shared = math.log2(3) - 2 / 3
    assert values["MeanAttributeEntropy"] == pytest.approx(shared)
    assert values["MeanMutualInformation"] == pytest.approx(shared)
    assert values["EquivalentNumberOfAtts"] == pytest.approx(1 / shared)


def test_with_a_numeric_target_attributes_have_entropies_but_no_mutual_information() -> None:
    found = computed(numeric_dataset(pd.DataFrame({"c": list("uvuv")}), [0.5, 1.5, 2.5, 3.7]), "information")
    assert found.values["MeanAttributeEntropy"] == 1
    assert found.reasons["MeanMutualInformation"] == "the task is regression"
    assert found.reasons["EquivalentNumberOfAtts"] == "the task is regression"
