"""The KNN of the thesis: the contract, and known answers."""

import numpy as np
import pandas as pd
import pytest

from metalearners import new_learner as make
from tests.contracts.meta_learner import MetaLearnerContract, NewLearner, toy_metafeatures, toy_runs


class TestThesisKNN(MetaLearnerContract):
    @pytest.fixture(scope="class")
    @classmethod
    def new_learner(cls) -> NewLearner:
        return lambda: make("knn-thesis", {"metafeatures": ["NumberOfClasses"], "datasets": 3})


class TestThesisKNNLightGBM(MetaLearnerContract):
    @pytest.fixture(scope="class")
    @classmethod
    def new_learner(cls) -> NewLearner:
        return lambda: make("knn-lightgbm-thesis", {"metafeatures": ["NumberOfClasses"], "datasets": 3})


def three_datasets() -> pd.DataFrame:
    """Two features of the toy datasets; the last dataset lacks one."""
    return pd.DataFrame({"a": [0.0, 10.0, 100.0], "b": [0.0, 4.0, np.nan]}, index=["toy:0", "toy:1", "toy:2"])


def test_gaps_are_filled_with_medians_and_no_logarithms_are_taken() -> None:
    """The median of b is 2, so the third dataset is (100, 2); deviations are 45 and 1.6.

    From (60, 2) the distances of a are 1.33, 1.11 and .89; with logarithms the second would be nearest.
    """
    fitted = make("knn-thesis", {"metafeatures": ["a", "b"], "datasets": 3}).learn(
        toy_runs(n_datasets=3), three_datasets()
    )
    assert fitted.nearest(pd.Series({"a": 60.0, "b": 2.0})).tolist() == [2, 1, 0]
    assert fitted.nearest(pd.Series({"a": 60.0})).tolist() == [
        2,
        1,
        0,
    ]  # the gap of the new one is also filled with 2
    assert fitted.nearest(pd.Series({"a": 60.0, "b": 9.0})).tolist() == [1, 2, 0]


def test_the_five_nearest_runs_are_from_the_nearest_datasets() -> None:
    """A configuration that was run on two datasets gets the mean score: both are at distance 0."""
    runs, described = toy_runs(n_datasets=2), toy_metafeatures(2)
    near = {k: make("knn-thesis", {"metafeatures": ["NumberOfClasses"], "datasets": k}) for k in (1, 2)}
    new = described.iloc[0]
    models = {k: learner.learn(runs, described) for k, learner in near.items()}
    x = models[2].points(runs.configurations, new)
    alone = [models[1].function(dataset, models[1].scores, x) for dataset in (0, 1)]
    both = models[2].predict(runs.configurations, new).mean
    unique = ~pd.DataFrame(x).duplicated(keep=False).to_numpy()
    assert unique.any()
    np.testing.assert_allclose(both[unique], np.mean(alone, axis=0)[unique])
    np.testing.assert_allclose(models[1].predict(runs.configurations, new).mean, alone[0])
