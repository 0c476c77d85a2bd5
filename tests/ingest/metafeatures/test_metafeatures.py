"""Meta-features: what each is by hand, what must not change it, and where there is no value of it."""

import math
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.metafeatures import Metafeatures, compute_metafeatures
from ingest.metafeatures.prepared import Prepared
from ingest.reading.datasets import load_dataset
from tests.benchmarks import metafeature_agreement as agreement
from warehouse.qualities import GROUPS, QUALITIES, names_in

# ---- against OpenML ------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def compared(shared_data: Path) -> dict[str, agreement.GroupAgreement]:
    return agreement.compare_values(shared_data)


@pytest.mark.parametrize("group", agreement.EXACT_GROUPS)
def test_a_rule_of_openmls_engine_explains_every_value_that_differs(
    compared: dict[str, agreement.GroupAgreement], group: str
) -> None:
    assert [deviation for deviation in compared[group].deviations if deviation.rule is None] == []
    assert compared[group].equal > 80


def test_counts_and_classes_equal_openmls_where_the_columns_are_the_same(
    compared: dict[str, agreement.GroupAgreement],
) -> None:
    deviations = [*compared["simple"].deviations, *compared["class"].deviations]
    assert {deviation.rule for deviation in deviations} == {agreement.OTHER_COLUMNS, agreement.TARGET_COUNTED}
    assert {deviation.dataset for deviation in deviations} == {"vowel", "cylinder.bands", "kr.vs.kp"}


def test_landmarkers_order_datasets_as_openmls_do(shared_data: Path) -> None:
    correlation = agreement.compare_landmarkers(shared_data)
    assert (correlation["ErrRate"] >= 0.9).all()
    is_random = correlation.index.str.startswith("RandomTree")  # another random tree
    assert (correlation.loc[~is_random, "AUC"] >= 0.9).all()
    assert (correlation.loc[is_random, "AUC"] >= 0.8).all()


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


def computed(frame: pd.DataFrame, selection: str | None = None) -> Metafeatures:
    """Meta-features of a frame; a warning is a failure."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return compute_metafeatures(load_dataset(frame), selection and names_in(selection))


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


def test_moments_are_those_of_the_present_values() -> None:
    """x = 0, 0, 0, 4 has mean 1, S_2 = 12, G1 = 2 and G2 = 4 (worked by hand); y = x with gaps between."""
    frame = pd.DataFrame({"x": [0.0, 0, 0, 4, np.nan, np.nan], "class": list("aabbab")})
    values = computed(frame, "statistical").values
    for summary in ("Min", "Quartile1", "Quartile2", "Mean", "Quartile3", "Max"):
        assert values[f"{summary}MeansOfNumericAtts"] == pytest.approx(1)
        assert values[f"{summary}StdDevOfNumericAtts"] == pytest.approx(2)
        assert values[f"{summary}SkewnessOfNumericAtts"] == pytest.approx(2)
        assert values[f"{summary}KurtosisOfNumericAtts"] == pytest.approx(4)


def test_quartiles_lie_at_a_share_of_one_more_than_there_are() -> None:
    """Means 1, 2, 3, 4: the first quartile is at position 1.25, the third at 3.75."""
    frame = pd.DataFrame({f"x{mean}": [mean - 1.0, mean + 1.0] * 5 for mean in (1, 2, 3, 4)})
    values = computed(frame.assign(**{"class": list("aabba") * 2}), "statistical").values
    assert values["Quartile1MeansOfNumericAtts"] == pytest.approx(1.25)
    assert values["Quartile2MeansOfNumericAtts"] == pytest.approx(2.5)
    assert values["Quartile3MeansOfNumericAtts"] == pytest.approx(3.75)


def test_information_is_what_an_attribute_shares_with_the_class() -> None:
    """`same` tells the class, one bit; `other` tells nothing of it."""
    frame = pd.DataFrame({"same": list("xxyy"), "other": list("uvuv"), "class": list("aabb")})
    values = computed(frame, "information").values
    assert values["MeanAttributeEntropy"] == pytest.approx(1)
    assert (values["MinMutualInformation"], values["MaxMutualInformation"]) == pytest.approx((0, 1))
    assert values["EquivalentNumberOfAtts"] == pytest.approx(2)
    assert values["MeanNoiseToSignalRatio"] == pytest.approx(1)


def test_one_direction_is_one_principal_component() -> None:
    x = np.arange(20) * 1.5
    frame = pd.DataFrame({"x": x, "twice": 2 * x, "minus": -x, "class": list("ab") * 10})
    values = computed(frame, "pca").values
    assert values["PCAComponentsFor95Percent"] == pytest.approx(1 / 3)
    assert values["PCAVarianceOfFirstComponent"] == pytest.approx(1)
    assert values["PCASkewnessFirstComponent"] == pytest.approx(0, abs=1e-6)


def test_shape_of_a_tree_of_two_splits() -> None:
    """x < 1 is a, 1 < x < 2 is b, x > 2 is a: two splits on x, none on the noise beside it."""
    x = np.repeat([0.5, 1.5, 2.5], 10)
    frame = pd.DataFrame({"x": x, "noise": np.tile([0.0, 1.0], 15), "class": np.where(x == 1.5, "b", "a")})
    assert computed(frame, "model").values == pytest.approx(
        {
            "TreeLeavesPerClass": 1.5,
            "TreeLeavesPerRow": 0.1,
            "TreeDepth": 2,
            "MeanTreeBranchLength": 5 / 3,
            "StdevTreeBranchLength": math.sqrt(2 / 9),
            "MaxTreeAttributeUse": 1,
            "StdevTreeAttributeUse": 0.5,
            "TreeAttributesUsed": 0.5,
        }
    )


def test_relative_landmarkers_point_at_the_better_setting() -> None:
    """The class is the sign of a product: no line, and no single split, tells it; scale hides it."""
    random = np.random.default_rng(0)
    x, y = random.uniform(-1, 1, (2, 400))
    frame = pd.DataFrame({"x": x, "y": y, "noise": 1000 * random.normal(size=400)})
    values = computed(frame.assign(**{"class": np.where(x * y > 0, "same", "other")}), "relative").values
    assert values["SVMLinearAgainstRBF"] < -0.1
    assert values["BoostingDepth1Against6"] < -0.1
    assert values["KNNScaledAgainstUnscaled"] > 0.1
    assert values["ForestLeaf1Against20"] > 0


# ---- values that do not exist --------------------------------------------------------------------

OF_NOMINAL = {name for name in GROUPS["simple"] if name.endswith("NominalAttDistinctValues")}


def test_statistics_of_nominal_attributes_are_missing_where_there_is_none() -> None:
    found = computed(FRAME[["number", "size", "class"]], "simple,class")
    assert {name for name, value in found.values.items() if math.isnan(value)} == OF_NOMINAL
    assert set(found.reasons.values()) == {"no attribute is nominal"}


def test_a_single_nominal_attribute_has_no_spread() -> None:
    values = computed(FRAME[["number", "colour", "class"]], "simple").values
    assert values["StdvNominalAttDistinctValues"] == 0  # as OpenML writes it


def test_identifiers_are_features_but_no_attributes() -> None:
    frame = pd.DataFrame(
        {"key": [f"k{i}" for i in range(30)], "a": list("xy") * 15, "class": list("pq") * 15}
    )
    values = computed(frame).values
    assert values["NumberOfSymbolicFeatures"] == 3
    assert values["MaxNominalAttDistinctValues"] == 2
    assert values["MaxAttributeEntropy"] == 1


def test_numeric_target_is_a_numeric_feature_and_has_no_classes() -> None:
    found = computed(FRAME.assign(**{"class": np.arange(8) / 3}))
    assert (found.values["NumberOfClasses"], found.values["NumberOfNumericFeatures"]) == (0, 3)
    assert found.values["NumberOfSymbolicFeatures"] == 2
    assert found.reasons["ClassEntropy"] == "the target is numeric"
    assert {found.reasons[name] for name in GROUPS["landmarkers"]} == {"the target is numeric"}
    assert not math.isnan(found.values["PCAVarianceOfFirstComponent"])


def test_ratio_to_nothing_is_missing() -> None:
    frame = pd.DataFrame({"other": list("uvuv"), "class": list("aabb")})
    assert "nothing about the class" in computed(frame).reasons["EquivalentNumberOfAtts"]


N = 60
RANDOM = np.random.default_rng(0)
LABELS = np.resize(["p", "q", "r"], N)
DIFFICULT = {
    "numbers with gaps": {"x": np.where(RANDOM.random(N) < 0.3, np.nan, RANDOM.normal(size=N))},
    "infinities": {"x": np.where(np.arange(N) % 7 == 0, np.inf, np.arange(N)), "y": RANDOM.normal(size=N)},
    "huge numbers": {"x": RANDOM.normal(size=N) * 1e300, "y": RANDOM.normal(size=N)},
    "tiny numbers": {"x": RANDOM.normal(size=N) * 1e-300},
    "almost constant": {"x": 1e9 + RANDOM.normal(size=N) * 1e-6, "y": RANDOM.normal(size=N)},
    "nothing varies": {"x": np.ones(N), "y": ["same"] * N},
    "nothing at all": {"x": [np.nan] * N, "y": RANDOM.normal(size=N)},
    "one value and gaps": {
        "x": np.where(np.arange(N) % 2, 1.0, np.nan),
        "y": np.where(np.arange(N) % 3, "a", None),
    },
    "dates": {"when": pd.date_range("2020-01-01", periods=N).astype(str)},
    "text": {"t": [f"the {i}th of several long sentences about {i * 7} things" for i in range(N)]},
    "identifiers": {"id": [f"k{i}" for i in range(N)], "row": np.arange(N)},
    "many categories": {"c": [f"v{i % 25}" for i in range(N)]},
    "truth values": {"b": np.arange(N) % 2 == 0},
    "more columns than rows": {f"x{i}": RANDOM.normal(size=N) for i in range(200)},
    "mixed": {
        "x": RANDOM.normal(size=N),
        "c": np.resize(["a", "b", None], N),
        "b": np.resize([True, False], N),
    },
}


@pytest.mark.parametrize("columns", DIFFICULT.values(), ids=DIFFICULT)
def test_a_value_is_finite_or_has_a_reason(columns: dict[str, Any]) -> None:
    found = computed(pd.DataFrame({**columns, "class": LABELS}))
    assert set(found.values) == {quality.name for quality in QUALITIES}
    assert {name for name, value in found.values.items() if math.isnan(value)} == set(found.reasons)
    assert not any(math.isinf(value) for value in found.values.values())


def test_dataset_of_identifiers_has_classes_only() -> None:
    found = computed(pd.DataFrame({"key": [f"k{i}" for i in range(N)], "class": LABELS}))
    assert found.values["NumberOfClasses"] == 3
    assert "no attribute" in found.reasons["kNN1NErrRate"]
    assert "no attribute" in found.reasons["PCAVarianceOfFirstComponent"]


def test_one_row_has_sizes_only() -> None:
    dataset = load_dataset(FRAME)
    one = replace(
        dataset,
        features=dataset.features.head(1),
        target=dataset.target.head(1).cat.remove_unused_categories(),
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = compute_metafeatures(one)
    assert found.values["NumberOfInstances"] == 1
    assert found.reasons["AutoCorrelation"] == "there is one row only"
    assert math.isnan(found.values["kNN1NErrRate"])
    assert math.isnan(found.values["MeanStdDevOfNumericAtts"])


def test_two_hundred_classes_with_two_rows_each() -> None:
    labels = np.repeat([f"c{i}" for i in range(200)], 2)
    found = computed(pd.DataFrame({"x": np.repeat(np.arange(200.0), 2), "class": labels}))
    assert found.values["NumberOfClasses"] == 200
    assert found.values["kNN1NErrRate"] < 0.6
    assert all(0 <= found.values[name] <= 1 for name in GROUPS["landmarkers"] if name.endswith("AUC"))


# ---- what must not change a value ----------------------------------------------------------------


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


ON_ORDER = {quality.name for quality in QUALITIES if quality.depends_on_order}


def _values(frame: pd.DataFrame) -> dict[str, float]:
    return {name: value for name, value in computed(frame).values.items() if name not in ON_ORDER}


@settings(max_examples=15, deadline=None)
@given(tables(), st.integers(0, 2**16))
def test_order_and_names_change_nothing(frame: pd.DataFrame, seed: int) -> None:
    shuffled = frame.sample(frac=1, random_state=seed).sample(frac=1, axis=1, random_state=seed)
    renamed = shuffled.rename(columns=lambda name: name if name == "class" else f"other {name}")
    renamed["class"] = renamed["class"].map({"p": "z", "q": "y", "r": "x"})
    assert _values(renamed) == pytest.approx(_values(frame), nan_ok=True, abs=1e-9)


def test_columns_that_hold_the_same_values_are_told_apart() -> None:
    """Four columns of a full factorial, of which two pairs can be exchanged; noise holds what a holds."""
    levels = np.array(np.meshgrid(*[[1, 2, 3]] * 4)).reshape(4, -1)
    frame = pd.DataFrame(levels.T, columns=list("abcd")).astype(str)
    frame["noise"] = np.random.default_rng(0).permutation(frame["a"])
    weight = levels[0] * levels[1] - levels[2] * levels[3]
    frame["class"] = np.where(weight > 0, "p", np.where(weight < 0, "q", "r"))
    for seed in range(3):
        shuffled = frame.sample(frac=1, random_state=seed).sample(frac=1, axis=1, random_state=seed)
        renamed = shuffled.rename(columns=dict(zip("abcd", "dcab", strict=True)))
        assert _values(renamed) == pytest.approx(_values(frame), nan_ok=True, abs=1e-9)


def test_a_sample_is_the_same_whatever_the_order() -> None:
    random = np.random.default_rng(1)
    frame = pd.DataFrame(random.normal(size=(9000, 3)).round(3)).add_prefix("x")
    frame["class"] = np.where(frame["x0"] + random.normal(size=9000) > 0, "a", "b")
    shuffled = frame.sample(frac=1, random_state=0)
    once, again = computed(frame, "landmarkers,pca"), computed(shuffled, "landmarkers,pca")
    assert once.sample == "7,000 of 9,000 rows"
    assert once.values == pytest.approx(again.values)


def test_a_sample_has_each_class_in_its_share() -> None:
    labels = np.resize(["a"] * 89 + ["b"] * 10 + ["c"], 20_000)
    dataset = load_dataset(pd.DataFrame({"x": np.random.default_rng(0).normal(size=20_000), "class": labels}))
    sample = Prepared(dataset).sample
    assert np.bincount(sample.y).tolist() == [6230, 700, 70]


@settings(max_examples=50, deadline=None)
@given(tables())
def test_twice_the_rows_are_twice_the_counts_and_the_same_shares(frame: pd.DataFrame) -> None:
    exact = "simple,class,cardinality,information"
    once = computed(frame, exact).values
    twice = computed(pd.concat([frame, frame]), exact).values
    doubled = {"NumberOfInstances", "NumberOfMissingValues", "NumberOfInstancesWithMissingValues"}
    doubled |= {"MajorityClassSize", "MinorityClassSize"}
    for name in once.keys() - ON_ORDER:
        factor = 2 if name in doubled else 0.5 if name == "Dimensionality" else 1
        assert twice[name] == pytest.approx(factor * once[name], nan_ok=True, abs=1e-9), name


@settings(max_examples=50, deadline=None)
@given(tables())
def test_sizes_shares_and_entropies_are_in_their_range(frame: pd.DataFrame) -> None:
    for name, value in computed(frame, "simple,class,cardinality,information").values.items():
        assert math.isnan(value) or -1e-9 <= value < math.inf, name
        assert "Percentage" not in name or value <= 100


# ---- groups, budget, registry --------------------------------------------------------------------


def test_only_the_wanted_groups_are_computed() -> None:
    found = computed(FRAME, "ClassEntropy,simple")
    assert list(found.values) == [*GROUPS["simple"], "ClassEntropy"]
    assert set(found.seconds) == {"simple", "class"}


def test_budget_leaves_out_what_is_expensive() -> None:
    found = compute_metafeatures(load_dataset(FRAME), budget=1e-9)
    assert set(found.seconds) == {"simple"}
    assert "time budget" in found.reasons["ClassEntropy"]
    assert list(compute_metafeatures(load_dataset(FRAME), budget=1e9).seconds) == list(GROUPS)


def test_every_group_is_reported_before_it_is_computed() -> None:
    reported: list[str] = []
    compute_metafeatures(load_dataset(FRAME), names_in("pca,class"), report=reported.append)
    assert reported == ["class", "pca"]


def test_registry_names_each_quality_once_with_definition_and_source() -> None:
    assert set(compute_metafeatures(load_dataset(FRAME)).values) == {quality.name for quality in QUALITIES}
    assert len(QUALITIES) == len({quality.name for quality in QUALITIES})
    assert all(quality.definition and quality.source for quality in QUALITIES)
    assert {"AutoCorrelation"} == ON_ORDER


def test_every_quality_that_openml_publishes_is_computed(shared_data: Path) -> None:
    published = agreement.load_published(shared_data)
    assert set(published) <= {quality.name for quality in QUALITIES}
