"""Forests of regression trees."""

from typing import Any

import numpy as np
import pytest
import sklearn.tree

from recommend.bo.published.surrogates.forest import (
    EXTRA_LEAVES,
    EXTRA_TREES,
    FLOOR,
    TREES,
    ExtraTreesSurrogate,
    ForestSurrogate,
)
from tests.contracts.surrogate import predicted
from tests.recommend.bo.surrogates.worlds import table


@pytest.mark.parametrize("seed", range(5))
def test_the_forests_variance_is_the_law_of_total_variance(seed: int) -> None:
    """Two trials with the values 0.2 and 0.8, scores -1 and 1, are too few to split.

    A tree's bootstrap sample is (-1, -1), (1, 1) or mixed. The leaf of the first two has variance 0, for
    which the floor 0.01 is used, and v + m^2 = 1.01; a mixed one has m = 0, v = 1. With p trees of (1, 1), q
    of (-1, -1) and 10 - p - q mixed ones, equations 3.1 and 3.2 are

        mean = (p - q) / 10        variance + mean^2 = (1.01 (p + q) + 10 - p - q) / 10 = 1 + (p + q) / 1000
    """
    prediction = predicted(ForestSurrogate(), table(x=[0, 1, 2]), np.array([0.2, 0.8]), seed)
    assert prediction.std is not None
    mean, variance = (prediction.mean - 0.5) / 0.3, (prediction.std / 0.3) ** 2
    difference, total = mean * TREES, (variance + mean**2 - 1) * 1000
    for count in (difference, total):
        assert count == pytest.approx(np.round(count), abs=1e-6)
    assert (np.abs(difference) <= total + 1e-6).all()
    assert (total <= TREES + 1e-6).all()
    assert (total - difference) / 2 == pytest.approx(np.round((total - difference) / 2), abs=1e-6)  # q


@pytest.mark.parametrize(("hyperparameters", "eligible"), [(1, 1), (2, 2), (4, 4), (6, 5), (7, 6), (12, 10)])
def test_a_split_considers_five_sixths_of_the_hyperparameters_rounded_up(
    hyperparameters: int, eligible: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Thesis, section 3.2.3: the ceiling of d p, with p = 5/6."""
    asked = []

    def tree(**settings: Any) -> sklearn.tree.BaseDecisionTree:
        asked.append(settings["max_features"])
        return whole(**settings)

    whole = sklearn.tree.DecisionTreeRegressor
    monkeypatch.setattr(sklearn.tree, "DecisionTreeRegressor", tree)
    columns = {f"x{number}": [0, 1, 2] for number in range(hyperparameters)}
    predicted(ForestSurrogate(), table(**columns), np.array([0.1, 0.2, 0.3]))
    assert asked == [eligible] * TREES


def test_extremely_randomized_trees_have_a_leaf_for_each_trial_up_to_a_limit() -> None:
    """All trials are in every tree, so that up to 64 are distinguished, each with the floor."""
    x = np.arange(EXTRA_LEAVES)
    surrogate = ExtraTreesSurrogate()
    prediction = predicted(surrogate, table(x=x.tolist()), np.sin(x))
    assert prediction.mean == pytest.approx(np.sin(x))
    assert prediction.std == pytest.approx(np.full(len(x), np.sin(x).std() * np.sqrt(FLOOR)))
    assert len(surrogate._trees) == EXTRA_TREES
    many = predicted(ExtraTreesSurrogate(), table(x=list(range(200))), np.arange(200.0))
    assert len(np.unique(many.mean)) > EXTRA_LEAVES  # trees split elsewhere
    assert np.abs(many.mean - np.arange(200)).max() > 0.1
