"""Names of meta-features and their groups."""

import json
from pathlib import Path

import pytest

from warehouse.errors import BadInput
from warehouse.qualities import GROUPS, LANDMARKERS, STATISTICAL, names_in


def test_groups_and_names_are_taken_in_order_and_once() -> None:
    assert names_in("statistical") == STATISTICAL
    assert names_in("ClassEntropy, NumberOfClasses,statistical")[:3] == (
        "ClassEntropy",
        "NumberOfClasses",
        "NumberOfInstances",
    )
    assert len(names_in("statistical,landmarkers,statistical")) == len(STATISTICAL) + len(LANDMARKERS)


def test_a_list_of_nothing_is_refused() -> None:
    with pytest.raises(BadInput, match="no meta-features named"):
        names_in(" , ")


def test_the_groups_have_names_that_openml_publishes(shared_data: Path) -> None:
    published = json.loads((shared_data / "openml-runs" / "task_qualities.json").read_text())
    names = {name for qualities in published.values() for name in qualities}
    for group in GROUPS.values():
        assert set(group) <= names
