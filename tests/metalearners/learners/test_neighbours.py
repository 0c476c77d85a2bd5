"""Nearest-neighbour learners: the contract, and known answers."""

import numpy as np
import pandas as pd
import pytest

from metalearners import new_learner as make
from tests.cases import each
from tests.contracts.meta_learner import (
    FEW,
    MANY,
    MetaLearnerContract,
    NewLearner,
    toy_metafeatures,
    toy_runs,
)
from warehouse.support.errors import BadInput


class TestNearestDataset(MetaLearnerContract):
    @pytest.fixture(scope="class")
    @classmethod
    def new_learner(cls) -> NewLearner:
        return lambda: make("knn", {"metafeatures": ["NumberOfClasses"], "datasets": 3})


class TestNearestDatasetLightGBM(MetaLearnerContract):
    @pytest.fixture(scope="class")
    @classmethod
    def new_learner(cls) -> NewLearner:
        return lambda: make("knn-lightgbm", {"metafeatures": ["NumberOfClasses"], "datasets": 3})


def ranked(learner: str, classes: float, **settings: object) -> list[str]:
    """Configurations of the toy world, first choice first."""
    fitted = make(learner, settings).fit(toy_runs(), toy_metafeatures())
    configurations = toy_runs().configurations
    order = fitted.choose(configurations, pd.Series({"NumberOfClasses": classes}), len(configurations))
    return configurations.parameters["criterion"].iloc[order].tolist()


@each("learner", ["average-rank", "portfolio"])
def test_a_learner_without_metafeatures_ranks_alike_for_all(learner: str) -> None:
    assert ranked(learner, FEW) == ranked(learner, MANY)


def test_a_portfolio_covers_every_family() -> None:
    """gini is best on half of the datasets, entropy on the other half; the first two are one of each."""
    assert set(ranked("portfolio", FEW)[:2]) == {"gini", "entropy"}


@each("learner", ["nearest-25", "nearest-portfolio"])
def test_the_best_of_the_nearest_datasets_come_first(learner: str) -> None:
    settings = {"metafeatures": ["NumberOfClasses"]}
    if learner == "nearest-25":
        settings["datasets"] = 4  # type: ignore[assignment]
    assert ranked(learner, FEW, **settings)[0] == "gini"
    assert ranked(learner, MANY, **settings)[0] == "entropy"


def test_without_a_run_of_the_best_configuration_the_most_similar_one_comes_first() -> None:
    fitted = make("portfolio").fit(toy_runs(), toy_metafeatures())
    configurations = toy_runs().configurations
    best = configurations.take(fitted.choose(configurations, pd.Series(dtype=float), 1))
    others = configurations.take(~configurations.setups.isin(best.setups))
    like_it = others.take(fitted.choose(others, pd.Series(dtype=float), 1))
    assert like_it.parameters["criterion"].tolist() == best.parameters["criterion"].tolist()


def test_the_score_of_a_configuration_that_was_run_is_looked_up() -> None:
    fitted = make("knn", {"metafeatures": ["NumberOfClasses"]}).fit(
        toy_runs(n_datasets=2), toy_metafeatures(2)
    )
    runs = toy_runs(n_datasets=2).runs
    values = runs.loc[runs["dataset"] == "toy:1"].groupby("setup", sort=False)["value"].mean()
    expected = (values - values.mean()) / values.std(ddof=0)
    predicted = fitted.predict(toy_runs().configurations, pd.Series({"NumberOfClasses": MANY})).mean
    depth = toy_runs().configurations.parameters.astype(str).agg(" ".join, axis=1)
    alone = ~depth.duplicated(keep=False).to_numpy()
    np.testing.assert_allclose(predicted[alone], expected.to_numpy()[alone], atol=1e-9)


def test_settings_of_the_search_are_checked() -> None:
    with pytest.raises(BadInput, match="datasets must be 1 or more"):
        make("knn", {"datasets": 0})
    with pytest.raises(BadInput, match="distance is 'L3', not one of 'L1', 'L2'"):
        make("knn", {"distance": "L3"})
