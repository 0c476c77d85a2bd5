"""Importance of inputs in a world with a known answer."""

import pytest

from metalearners.evaluation.importance import importances
from tests.contracts.meta_learner import toy_metafeatures, toy_runs


def test_the_decisive_inputs_of_the_toy_world_are_important() -> None:
    table = importances(toy_runs(), toy_metafeatures(), trees=50, leaves=4, min_child_samples=5)
    assert table.loc["criterion", "kind"] == "hyperparameter"
    assert table.loc["NumberOfClasses", "kind"] == "meta-feature"
    for measure in ("gain", "contribution", "permutation"):
        assert set(table[measure].nlargest(2).index) == {"criterion", "NumberOfClasses"}, measure
    assert table["gain"].sum() == pytest.approx(1)
    assert abs(table.loc["depth", "permutation"]) < 0.1
