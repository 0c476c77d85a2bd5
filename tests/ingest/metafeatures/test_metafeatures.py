"""Meta-features as a whole: agreement with OpenML's, invariances, and missing values."""

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
from ingest.reading.datasets import Dataset, load_dataset
from tests.benchmarks import metafeature_agreement as agreement
from tests.cases import each
from tests.ingest.metafeatures.small_tables import FRAME, computed, numeric_dataset, tables
from warehouse.vocabulary.qualities import GROUPS, QUALITIES, names_in
from warehouse.vocabulary.task_types import CLASSIFICATION, REGRESSION, TaskType

NUMERIC = numeric_dataset(FRAME.drop(columns="class"), np.arange(8) / 3)

# ---- against OpenML ------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def compared(shared_data: Path) -> dict[str, agreement.GroupAgreement]:
    return agreement.compare_values(shared_data)


@each("group", agreement.EXACT_GROUPS)
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


def test_landmarkers_order_datasets_like_openmls(shared_data: Path) -> None:
    correlation = agreement.compare_landmarkers(shared_data)
    assert (correlation["ErrRate"] >= 0.9).all()
    is_random = correlation.index.str.startswith("RandomTree")  # the random tree differs
    assert (correlation.loc[~is_random, "AUC"] >= 0.9).all()
    assert (correlation.loc[is_random, "AUC"] >= 0.8).all()


# ---- components and trees, by hand ----------------------------------------------------------------


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


# ---- values that do not exist --------------------------------------------------------------------


def test_identifiers_are_features_but_not_attributes() -> None:
    frame = pd.DataFrame(
        {"key": [f"k{i}" for i in range(30)], "a": list("xy") * 15, "class": list("pq") * 15}
    )
    values = computed(frame).values
    assert values["NumberOfSymbolicFeatures"] == 3
    assert values["MaxNominalAttDistinctValues"] == 2
    assert values["MaxAttributeEntropy"] == 1


def test_numeric_target_is_a_numeric_feature_and_has_no_classes() -> None:
    found = computed(NUMERIC)
    assert (found.values["NumberOfClasses"], found.values["NumberOfNumericFeatures"]) == (0, 3)
    assert found.values["NumberOfSymbolicFeatures"] == 2
    assert not math.isnan(found.values["PCAVarianceOfFirstComponent"])


@each("task_type, dataset", [(CLASSIFICATION, load_dataset(FRAME)), (REGRESSION, NUMERIC)])
def test_a_dataset_has_the_metafeatures_of_its_task_type(task_type: TaskType, dataset: Dataset) -> None:
    """All of them by default; those of other task types are missing if requested, and cost nothing."""
    defined = [quality.name for quality in QUALITIES if quality.is_defined_for(task_type)]
    assert list(computed(dataset).values) == defined
    others = [quality.name for quality in QUALITIES if quality.name not in defined]
    found = computed(dataset, ",".join(others))
    assert found.reasons == dict.fromkeys(others, f"the task is {task_type.words}")
    assert found.seconds == {}


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
    "more columns than rows": {f"x{i}": RANDOM.normal(size=N) for i in range(80)},
    "mixed": {
        "x": RANDOM.normal(size=N),
        "c": np.resize(["a", "b", None], N),
        "b": np.resize([True, False], N),
    },
}


TARGETS = {
    "huge": RANDOM.normal(size=N) * 1e300,
    "tiny": RANDOM.normal(size=N) * 1e-300,
    "far from 0": 1e9 + RANDOM.normal(size=N),
    "mostly 0": np.where(np.arange(N) < N - 2, 0.0, 7.0),
    "one value": np.full(N, 7.0),
    "two values": np.resize([0.0, 1.0], N),
    "an outlier": np.append(RANDOM.normal(size=N - 1), 1e12),
}


@each("columns", DIFFICULT.values())
def test_a_value_is_finite_or_has_a_reason(columns: dict[str, Any]) -> None:
    _check_finite(computed(pd.DataFrame({**columns, "class": LABELS})))
    of_the_target = "target,target_correlations,target_landmarkers"
    _check_finite(computed(numeric_dataset(pd.DataFrame(columns), RANDOM.normal(size=N)), of_the_target))


@each("target", TARGETS.values())
def test_a_value_of_a_difficult_target_is_finite_or_has_a_reason(target: np.ndarray) -> None:
    _check_finite(computed(numeric_dataset(pd.DataFrame(DIFFICULT["mixed"]), target)))


def _check_finite(found: Metafeatures) -> None:
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


# ---- invariances ----------------------------------------------------------------


ON_ORDER = {quality.name for quality in QUALITIES if quality.depends_on_order}


def _values(dataset: pd.DataFrame | Dataset) -> dict[str, float]:
    return {name: value for name, value in computed(dataset).values.items() if name not in ON_ORDER}


@settings(max_examples=4, deadline=None)
@given(tables(), st.integers(0, 2**16))
def test_order_and_names_change_nothing(frame: pd.DataFrame, seed: int) -> None:
    shuffled = frame.sample(frac=1, random_state=seed).sample(frac=1, axis=1, random_state=seed)
    renamed = shuffled.rename(columns=lambda name: name if name == "class" else f"other {name}")
    renamed["class"] = renamed["class"].map({"p": "z", "q": "y", "r": "x"})
    assert _values(renamed) == pytest.approx(_values(frame), nan_ok=True, abs=1e-9)


@settings(max_examples=3, deadline=None)
@given(
    tables(),
    st.lists(st.integers(-100, 100), min_size=25, max_size=25),
    st.sampled_from([0.3, 7.0, 1e3]),
    st.sampled_from([-1.0, 0.0, 0.7]),
    st.integers(0, 2**16),
)
def test_order_names_and_the_unit_of_a_numeric_target_change_nothing(
    frame: pd.DataFrame, numbers: list[int], unit: float, shift: float, seed: int
) -> None:
    features = frame.drop(columns="class").add_prefix("x")
    target = np.array(numbers[: len(frame)]) / 4
    order = np.random.default_rng(seed).permutation(len(frame))
    shuffled = features.iloc[order].sample(frac=1, axis=1, random_state=seed).add_prefix("other ")
    changed = numeric_dataset(shuffled.reset_index(drop=True), unit * target[order] + shift)
    assert _values(changed) == pytest.approx(
        _values(numeric_dataset(features, target)), nan_ok=True, abs=1e-6
    )


def test_columns_with_the_same_values_are_distinguished() -> None:
    """Four columns of a full factorial, of which two pairs are interchangeable; `noise` equals `a`."""
    levels = np.array(np.meshgrid(*[[1, 2, 3]] * 4)).reshape(4, -1)
    frame = pd.DataFrame(levels.T, columns=list("abcd")).astype(str)
    frame["noise"] = np.random.default_rng(0).permutation(frame["a"].tolist())
    weight = levels[0] * levels[1] - levels[2] * levels[3]
    frame["class"] = np.where(weight > 0, "p", np.where(weight < 0, "q", "r"))
    values = _values(frame)
    for seed in range(2):
        shuffled = frame.sample(frac=1, random_state=seed).sample(frac=1, axis=1, random_state=seed)
        renamed = shuffled.rename(columns=dict(zip("abcd", "dcab", strict=True)))
        assert _values(renamed) == pytest.approx(values, nan_ok=True, abs=1e-9)


@settings(max_examples=20, deadline=None)
@given(tables())
def test_doubling_the_rows_doubles_counts_and_keeps_shares(frame: pd.DataFrame) -> None:
    exact = "simple,class,cardinality,information"
    once = computed(frame, exact).values
    twice = computed(pd.concat([frame, frame]), exact).values
    doubled = {"NumberOfInstances", "NumberOfMissingValues", "NumberOfInstancesWithMissingValues"}
    doubled |= {"MajorityClassSize", "MinorityClassSize"}
    for name in once.keys() - ON_ORDER:
        factor = 2 if name in doubled else 0.5 if name == "Dimensionality" else 1
        assert twice[name] == pytest.approx(factor * once[name], nan_ok=True, abs=1e-9), name


@settings(max_examples=20, deadline=None)
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
    groups = [
        group for group in GROUPS if group not in ("target", "target_correlations", "target_landmarkers")
    ]
    assert list(compute_metafeatures(load_dataset(FRAME), budget=1e9).seconds) == groups


def test_every_group_is_reported_before_it_is_computed() -> None:
    reported: list[str] = []
    compute_metafeatures(load_dataset(FRAME), names_in("pca,class"), report=reported.append)
    assert reported == ["class", "pca"]


def test_registry_names_each_quality_once_with_definition_and_source() -> None:
    assert len(QUALITIES) == len({quality.name for quality in QUALITIES})
    assert all(quality.definition and quality.source for quality in QUALITIES)
    assert {"AutoCorrelation"} == ON_ORDER


def test_every_quality_that_openml_publishes_is_computed(shared_data: Path) -> None:
    published = agreement.load_published(shared_data)
    assert set(published) <= {quality.name for quality in QUALITIES}
