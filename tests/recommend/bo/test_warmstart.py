"""Starts: the first configurations, chosen by a meta-learner's predictions."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

from metalearners import DEFAULT_LEARNER, new_learner
from metalearners.learners.base import MetaLearner
from metalearners.predictions import Prediction
from recommend.bo.simulation.runner import choices_of_most_correlated
from recommend.bo.warmstart import (
    SEEDS,
    STARTS,
    Start,
    first_choices,
    get_start,
)
from tests.contracts.meta_learner import toy_metafeatures, toy_runs
from warehouse.support.errors import BadInput
from warehouse.vocabulary.table import ConfigurationTable

CONFIGURATIONS = toy_runs().configurations
IS_GINI = (CONFIGURATIONS.parameters["criterion"] == "gini").to_numpy()
FEW_CLASSES = toy_metafeatures().iloc[0]
"""Gini is better on this dataset."""


def trained(start: Start) -> MetaLearner:
    return new_learner(start.learner, start.settings).fit(toy_runs(), toy_metafeatures())


class Knows:
    """A learner with these predictions, which would try the configurations from the last to the first."""

    def __init__(self, expected: list[float]) -> None:
        self._expected = np.array(expected)

    def predict(self, configurations: ConfigurationTable, metafeatures: pd.Series) -> Prediction:  # noqa: ARG002
        return Prediction(self._expected)

    def choose(self, configurations: ConfigurationTable, metafeatures: pd.Series, n: int) -> np.ndarray:  # noqa: ARG002
        return np.arange(len(configurations))[::-1][:n]


def chosen(choice: Any, expected: list[float], n: int = SEEDS) -> list[int]:
    """Positions of the starts of a learner with these predictions."""
    learner: Any = Knows(expected)
    positions = first_choices(choice, learner, CONFIGURATIONS.take(slice(len(expected))), FEW_CLASSES, n)
    assert positions.dtype == np.intp
    return [int(position) for position in positions]


@pytest.mark.parametrize("name", STARTS)
def test_every_start_chooses_three_different_configurations(name: str) -> None:
    start = get_start(name)
    positions = first_choices(start.choice, trained(start), CONFIGURATIONS, FEW_CLASSES)
    assert len(set(positions.tolist())) == len(positions) == SEEDS == 3
    assert (positions >= 0).all()
    assert (positions < len(CONFIGURATIONS)).all()


@pytest.mark.parametrize("name", ["top", "delta", "nearest-3"])
def test_the_first_is_of_the_kind_that_is_good_on_such_datasets(name: str) -> None:
    start = get_start(name)
    positions = first_choices(start.choice, trained(start), CONFIGURATIONS, FEW_CLASSES)
    assert IS_GINI[positions[0]]


def test_a_portfolio_covers_every_dataset() -> None:
    """It does not use the new dataset's meta-features."""
    start = get_start("portfolio")
    learner = trained(start)
    few, many = (
        first_choices(start.choice, learner, CONFIGURATIONS, dataset)
        for dataset in (FEW_CLASSES, toy_metafeatures().iloc[1])
    )
    assert few.tolist() == many.tolist()
    assert set(IS_GINI[few]) == {True, False}


def test_the_worst_have_the_lowest_predictions() -> None:
    start = get_start("worst")
    positions = first_choices(start.choice, trained(start), CONFIGURATIONS, FEW_CLASSES)
    assert not IS_GINI[positions].any()
    assert chosen("worst", [0.5, -1.0, 2.0, 0.0]) == [1, 3, 0]


def test_a_quick_start_adds_a_quick_one_and_orders_by_time() -> None:
    """The learner would try 4, 3, 2; of the quicker half, 0, 1 and 2, it would try 2."""
    learner: Any = Knows([0.0] * 5)
    table = CONFIGURATIONS.take(slice(5))
    by_time = first_choices("quick", learner, table, FEW_CLASSES, 2, np.array([1.0, 2.0, 3.0, 20.0, 10.0]))
    assert by_time.tolist() == [2, 4, 3]
    assert first_choices("quick", learner, table, FEW_CLASSES, 2).tolist() == [4, 3]


def test_a_start_may_use_another_learner() -> None:
    assert get_start("delta") == Start("delta", DEFAULT_LEARNER)
    assert get_start("delta@lightgbm") == Start("delta", "lightgbm")
    assert get_start("nearest-3") == Start("choose", "nearest-25", {"datasets": 3})
    assert get_start("knn-3").settings["comparison"] == "medians"
    assert get_start("nearest-3@functional-pca") == Start("choose", "functional-pca")


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        (
            "best",
            "unknown start 'best'; known are none, top, quick, top-25, worst, delta, knn-3, nearest-3",
        ),
        ("", "unknown start ''"),
        ("best@functional-pca", "unknown start 'best'"),
        ("delta@oracle", "unknown learner 'oracle'; known are functional-pca, lightgbm"),
    ],
)
def test_unknown_names_are_refused_with_the_known_ones(name: str, reason: str) -> None:
    with pytest.raises(BadInput, match=reason) as caught:
        get_start(name)
    assert "\n" not in str(caught.value)


def test_opt_3_takes_the_best_of_the_datasets_with_truly_similar_rankings() -> None:
    """Even toy datasets prefer gini: if the values say so, they are the most correlated ones."""
    model = new_learner("nearest-25", {"datasets": 3}).learn(toy_runs(), toy_metafeatures())
    for prefers, dataset in ((True, FEW_CLASSES), (False, FEW_CLASSES)):
        values = np.where(prefers == IS_GINI, 1.0, 0.0) + np.linspace(0, 0.1, len(IS_GINI))
        positions = choices_of_most_correlated(model, CONFIGURATIONS, dataset, values)
        assert (IS_GINI[positions] == prefers).all()
        assert len(set(positions.tolist())) == SEEDS


def test_a_name_may_state_the_number_of_starts() -> None:
    """MOSAIC's start is the best on each of the 25 nearest datasets (section 3.4)."""
    assert get_start("top").n == get_start("nearest-3").n == SEEDS
    assert get_start("top-25") == Start("choose", n=25)
    assert get_start("nearest-25") == Start("choose", "nearest-25", {"datasets": 25}, n=25)
    assert get_start("top-25@functional-pca").n == 25
