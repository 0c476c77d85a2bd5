"""Sizes, column types, missing values and classes, counted by hand."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.ingest.metafeatures.small_tables import FRAME, computed
from warehouse.vocabulary.qualities import GROUPS

OF_NOMINAL = {name for name in GROUPS["simple"] if name.endswith("NominalAttDistinctValues")}


def test_counts_and_classes_are_right_on_a_table_counted_by_hand() -> None:
    assert computed(FRAME, "simple,class").values == pytest.approx(
        {
            "NumberOfInstances": 8,
            "NumberOfFeatures": 5,
            "NumberOfClasses": 2,
            "NumberOfMissingValues": 4,
            "NumberOfInstancesWithMissingValues": 3,
            "NumberOfNumericFeatures": 2,
            "NumberOfSymbolicFeatures": 3,
            "Dimensionality": 5 / 8,
            "MajorityClassPercentage": 62.5,
            "MinorityClassPercentage": 37.5,
            "MaxNominalAttDistinctValues": 3,
            "MinNominalAttDistinctValues": 2,
            "MeanNominalAttDistinctValues": 2.5,
            "StdvNominalAttDistinctValues": math.sqrt(0.5),
            "NumberOfBinaryFeatures": 2,
            "PercentageOfBinaryFeatures": 40,
            "PercentageOfNumericFeatures": 40,
            "PercentageOfSymbolicFeatures": 60,
            "PercentageOfMissingValues": 10,
            "PercentageOfInstancesWithMissingValues": 37.5,
            "MajorityClassSize": 5,
            "MinorityClassSize": 3,
            "DefaultAccuracy": 5 / 8,
            "ClassEntropy": -(5 / 8 * math.log2(5 / 8) + 3 / 8 * math.log2(3 / 8)),
            "AutoCorrelation": 5 / 7,
        }
    )


def test_statistics_of_nominal_attributes_are_missing_without_any() -> None:
    found = computed(FRAME[["number", "size", "class"]], "simple,class")
    assert {name for name, value in found.values.items() if math.isnan(value)} == OF_NOMINAL
    assert set(found.reasons.values()) == {"no attribute is nominal"}


def test_a_single_nominal_attribute_has_no_spread() -> None:
    values = computed(FRAME[["number", "colour", "class"]], "simple").values
    assert values["StdvNominalAttDistinctValues"] == 0  # as at OpenML


def test_unused_declared_values_count() -> None:
    """Two of three declared colours occur: the column has three values and is not binary; the class is."""
    colour = pd.Categorical(list("rgrg"), categories=list("rgb"))
    values = computed(pd.DataFrame({"colour": colour, "class": list("aabb")}), "simple").values
    assert values["MaxNominalAttDistinctValues"] == 3
    assert values["NumberOfBinaryFeatures"] == 1


def test_dates_and_text_are_features_that_are_neither_numeric_nor_symbolic() -> None:
    frame = pd.DataFrame(
        {
            "when": pd.date_range("2020-01-01", periods=30).astype(str),
            "said": [f"the {i}th of several long sentences about {i * 7} things" for i in range(30)],
            "x": np.arange(30) / 7,
            "class": list("ab") * 15,
        }
    )
    values = computed(frame, "simple").values
    assert values["NumberOfFeatures"] == 4
    assert (values["NumberOfNumericFeatures"], values["NumberOfSymbolicFeatures"]) == (1, 1)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(2, 12), min_size=2, max_size=6))
def test_autocorrelation_of_classes_in_blocks(sizes: list[int]) -> None:
    """Of the n - 1 rows after another, all have that one's class, except the first of each block."""
    n, k = sum(sizes), len(sizes)
    labels = np.repeat([f"c{i}" for i in range(k)], sizes)
    values = computed(pd.DataFrame({"x": np.arange(n) / 7, "class": labels}), "class").values
    assert values["AutoCorrelation"] == pytest.approx((n - k) / (n - 1))
    assert (values["MinorityClassSize"], values["MajorityClassSize"]) == (min(sizes), max(sizes))
    assert values["ClassEntropy"] <= math.log2(k) + 1e-9
