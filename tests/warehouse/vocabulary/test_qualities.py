"""Names of meta-features and their groups."""

import json
from pathlib import Path

import pytest

from warehouse.support.errors import BadInput
from warehouse.vocabulary.qualities import (
    DEFAULT,
    GROUPS,
    QUALITIES,
    SELECTIONS,
    SHAPE,
    TABLE_6_3,
    default_for,
    names_in,
)
from warehouse.vocabulary.task_types import CLASSIFICATION, REGRESSION


def test_groups_and_names_are_selected_in_order_without_duplicates() -> None:
    assert names_in("shape") == SHAPE
    assert names_in("ClassEntropy, NumberOfClasses,shape")[:3] == (
        "ClassEntropy",
        "NumberOfClasses",
        "NumberOfInstances",
    )
    assert len(names_in("shape,landmarkers,shape")) == len(SHAPE) + len(GROUPS["landmarkers"])


def test_the_default_selection_of_a_task_type_has_only_defined_qualities() -> None:
    assert default_for(CLASSIFICATION) == DEFAULT == (*SHAPE, *GROUPS["landmarkers"], *GROUPS["relative"])
    of_numbers = default_for(REGRESSION)
    assert not set(of_numbers) & {"MajorityClassPercentage", *GROUPS["landmarkers"]}
    groups = ("target", "target_correlations", "target_landmarkers", "relative")
    assert {"NumberOfInstances", *(name for group in groups for name in GROUPS[group])} <= set(of_numbers)
    assert set(SELECTIONS["default"]) == {*DEFAULT, *of_numbers}


def test_an_empty_list_is_refused() -> None:
    with pytest.raises(BadInput, match="no meta-features named"):
        names_in(" , ")


def test_qualities_published_by_openml_have_its_names(shared_data: Path) -> None:
    published = json.loads((shared_data / "openml-runs" / "task_qualities.json").read_text())
    names = {name for qualities in published.values() for name in qualities}
    ours = {name for group in ("pca", "model", "relative") for name in GROUPS[group]}
    ours |= {quality.name for quality in QUALITIES if quality.task_type == REGRESSION}
    assert {name for group in GROUPS.values() for name in group} - ours == names


def test_table_6_3_of_the_thesis() -> None:
    assert set(TABLE_6_3) == {
        "NumberOfInstances",
        "NumberOfFeatures",
        "NumberOfClasses",
        "Dimensionality",
        "ClassEntropy",
        "PercentageOfBinaryFeatures",
        "PercentageOfInstancesWithMissingValues",
        "PercentageOfMissingValues",
        "PercentageOfNumericFeatures",
        "PercentageOfSymbolicFeatures",
        "MajorityClassPercentage",
    }
    assert names_in("thesis-6.3") == TABLE_6_3


def test_the_thesis_has_13_statistical_meta_features_and_3_scores_of_15_landmarkers() -> None:
    everything = names_in("thesis-6.3,thesis-b.1")
    assert names_in("thesis") == everything
    assert set(everything) - set(TABLE_6_3) - set(GROUPS["landmarkers"]) == {
        "AutoCorrelation",
        "StdvNominalAttDistinctValues",
    }
    assert len(everything) == 13 + 3 * 15
    known = {name for names in GROUPS.values() for name in names}
    assert set(everything) <= known
