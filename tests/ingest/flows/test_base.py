"""A flow translates, completes or refuses configurations of any version."""

import pytest

from ingest.flows import get_flow
from ingest.reading.column_types.roles import Role
from warehouse.support.errors import BadInput
from warehouse.vocabulary.parameters import Number


def test_retired_value_is_read_but_not_built() -> None:
    adaboost = get_flow("adaboost")
    assert "SAMME.R" in adaboost.space(historical=True)["algorithm"].choices
    assert "SAMME.R" not in adaboost.space()["algorithm"].choices
    with pytest.raises(BadInput, match=r"removed SAMME\.R"):
        adaboost.pipeline({"algorithm": "SAMME.R"}, {"x": Role.numeric})


def test_old_name_of_a_value_is_translated() -> None:
    assert get_flow("random_forest").current({"max_features": "auto"})["max_features"] == "sqrt"


def test_untuned_parameters_accept_only_their_fixed_value() -> None:
    forest = get_flow("random_forest")
    assert "n_estimators" not in forest.current({"n_estimators": 100, "max_depth": None})
    with pytest.raises(BadInput, match="n_estimators=50"):
        forest.current({"n_estimators": 50})


def test_a_value_out_of_its_range_is_refused() -> None:
    flow = get_flow("mlp")
    whole = next(own for own in flow.hyperparameters if isinstance(own, Number) and own.is_whole)
    for value in (1e9, float("inf"), float("nan"), "many", True, None):
        with pytest.raises(BadInput, match=rf"{whole.name} can't be .*: expected a whole number from"):
            flow.current({whole.name: value})
    assert type(flow.current({whole.name: float(whole.low)})[whole.name]) is int
    with pytest.raises(BadInput, match=r"scaling can't be 'cubic': expected one of 'standard'"):
        get_flow("svm").current({"scaling": "cubic"})


def test_unknown_hyperparameter_is_refused_by_name() -> None:
    with pytest.raises(BadInput, match=r"svm has no hyperparameter depth; it has C,"):
        get_flow("svm").pipeline({"depth": 3}, {"x": Role.numeric})


def test_dataset_without_usable_columns_is_refused() -> None:
    with pytest.raises(BadInput, match="no column to learn from"):
        get_flow("svm").pipeline({}, {"id": Role.identifier, "same": Role.constant})
