"""Meta-features: OpenML's definitions, held against what OpenML published; invariant to what is arbitrary."""

import json
import math
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.datasets import load_dataset
from ingest.metafeatures import METAFEATURES, compute_metafeatures, metafeature_names
from warehouse.published import harmonized

# ---- against OpenML ------------------------------------------------------------------------------

PUBLISHED_TASKS = {
    "3": "kr.vs.kp",
    "6": "letter",
    "11": "balance.scale",
    "15": "breast.w",
    "21": "car",
    "24": "mushroom",
    "28": "optdigits",
    "29": "credit.a",
    "32": "pendigits",
    "37": "diabetes",
    "41": "soybean",
    "58": "waveform5000",
    "3021": "sick",
    "3022": "vowel",
    "3567": "collins",
    "14968": "cylinder.bands",
}

OF_NOMINAL = {name for name in metafeature_names() if name.endswith("NominalAttDistinctValues")}
OF_COLUMNS = {
    "NumberOfFeatures",
    "NumberOfSymbolicFeatures",
    "NumberOfBinaryFeatures",
    "PercentageOfNumericFeatures",
    "PercentageOfSymbolicFeatures",
    "PercentageOfBinaryFeatures",
    "Dimensionality",
}

# Where our copy of the data, or OpenML's rule when it computed the value, is another one.
DIFFERENCES = {
    # Computed by an old engine that counted the target among the nominal features.
    "3": {"MeanNominalAttDistinctValues", "StdvNominalAttDistinctValues"},
    # OpenML's copy lacks the column "Train or Test".
    "3022": OF_COLUMNS | {"MeanNominalAttDistinctValues", "StdvNominalAttDistinctValues"},
    # OpenML leaves `timestamp` and `cylinder_number` out (as declared), though it counts them as features.
    "14968": OF_NOMINAL - {"MinNominalAttDistinctValues"},
}


@pytest.mark.parametrize("task", PUBLISHED_TASKS)
def test_values_equal_those_that_openml_published(shared_data: Path, task: str) -> None:
    qualities = json.loads((shared_data / "openml-runs" / "task_qualities.json").read_text())
    published = harmonized(pd.DataFrame([qualities[task]])).iloc[0]
    computed = compute_metafeatures(load_dataset(shared_data / "datasets" / f"{PUBLISHED_TASKS[task]}.arff"))
    different = {
        name
        for name, value in computed.items()
        if not math.isclose(value, published[name], rel_tol=1e-6)
        and not (math.isnan(value) and math.isnan(published[name]))
    }
    assert different == DIFFERENCES.get(task, set())


# ---- by hand -------------------------------------------------------------------------------------

FRAME = pd.DataFrame(
    {
        "number": [1.5, np.nan, 2.5, 3.5, 4.5, 5.5, 6.5, 7.5],
        "size": [3, 1, 4, 1, 5, 9, 2, 6],
        "colour": ["r", "g", "b", "r", None, "g", "b", "r"],
        "flag": ["yes", "no", "yes", None, None, "no", "yes", "no"],
        "class": list("aaabbbaa"),
    }
)


def test_every_value_is_right_on_a_table_counted_by_hand() -> None:
    assert compute_metafeatures(load_dataset(FRAME)) == pytest.approx(
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
            "ClassEntropy": -(5 / 8 * math.log2(5 / 8) + 3 / 8 * math.log2(3 / 8)),
            "AutoCorrelation": 5 / 7,
        }
    )


def test_statistics_of_nominal_features_are_missing_where_there_is_none() -> None:
    computed = compute_metafeatures(load_dataset(FRAME[["number", "size", "class"]]))
    assert {name for name, value in computed.items() if math.isnan(value)} == OF_NOMINAL


def test_a_single_nominal_feature_has_no_spread() -> None:
    computed = compute_metafeatures(load_dataset(FRAME[["number", "colour", "class"]]))
    assert computed["StdvNominalAttDistinctValues"] == 0  # as OpenML writes it


def test_identifiers_are_features_but_no_nominal_ones() -> None:
    frame = pd.DataFrame(
        {"key": [f"k{i}" for i in range(30)], "a": list("xy") * 15, "class": list("pq") * 15}
    )
    computed = compute_metafeatures(load_dataset(frame))
    assert computed["NumberOfSymbolicFeatures"] == 3
    assert computed["MaxNominalAttDistinctValues"] == 2


# ---- registry ------------------------------------------------------------------------------------


def test_the_registry_lists_exactly_what_is_computed() -> None:
    assert set(compute_metafeatures(load_dataset(FRAME))) == set(metafeature_names())
    assert len(metafeature_names()) == len(set(metafeature_names()))
    assert len(metafeature_names("statistical")) == 11
    assert all(feature.definition and feature.source for feature in METAFEATURES)


# ---- invariance ----------------------------------------------------------------------------------


@st.composite
def tables(draw: st.DrawFn) -> pd.DataFrame:
    rows = draw(st.integers(4, 25))
    numbers = st.lists(st.none() | st.integers(-5, 5), min_size=rows, max_size=rows)
    words = st.lists(st.none() | st.sampled_from(["r", "g", "b"]), min_size=rows, max_size=rows)
    columns = draw(st.lists(numbers | words, min_size=1, max_size=4))
    frame = pd.DataFrame(
        {f"c{index}": pd.Series(values, dtype=object) for index, values in enumerate(columns)}
    )
    classes = draw(st.lists(st.sampled_from(["p", "q", "r"]), min_size=rows - 4, max_size=rows - 4))
    return frame.assign(**{"class": ["p", "p", "q", "q", *classes]})


def _values(frame: pd.DataFrame) -> dict[str, float]:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        values = compute_metafeatures(load_dataset(frame, rare_classes="drop"))
    return {name: value for name, value in values.items() if name != "AutoCorrelation"}


@settings(max_examples=50, deadline=None)
@given(tables(), st.integers(0, 2**16))
def test_order_and_names_change_nothing(frame: pd.DataFrame, seed: int) -> None:
    shuffled = frame.sample(frac=1, random_state=seed).sample(frac=1, axis=1, random_state=seed)
    renamed = shuffled.rename(columns=lambda name: name if name == "class" else f"other {name}")
    renamed["class"] = renamed["class"].map({"p": "z", "q": "y", "r": "x"})
    assert _values(renamed) == pytest.approx(_values(frame), nan_ok=True)


@settings(max_examples=50, deadline=None)
@given(tables())
def test_no_value_is_negative_or_infinite(frame: pd.DataFrame) -> None:
    for name, value in _values(frame).items():
        assert math.isnan(value) or 0 <= value < math.inf, name
        assert "Percentage" not in name or value <= 100


def test_numeric_target_is_a_numeric_feature_and_has_no_classes() -> None:
    values = compute_metafeatures(load_dataset(FRAME.assign(**{"class": np.arange(8) / 3})))
    assert (values["NumberOfClasses"], values["NumberOfNumericFeatures"]) == (0, 3)
    assert values["NumberOfSymbolicFeatures"] == 2
    assert math.isnan(values["MajorityClassSize"])
    assert math.isnan(values["ClassEntropy"])
