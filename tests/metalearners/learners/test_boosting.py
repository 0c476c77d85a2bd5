"""The LightGBM learner: the contract, and its own properties."""

import numpy as np
import pytest

from metalearners.learners.boosting import LightGBMRankerLearner, LightGBMRegressorLearner
from tests.cases import each
from tests.contracts.meta_learner import MetaLearnerContract, NewLearner, toy_metafeatures, toy_runs
from warehouse.support.errors import BadInput


class TestLightGBM(MetaLearnerContract):
    @pytest.fixture(scope="class")
    @classmethod
    def new_learner(cls) -> NewLearner:
        return lambda: LightGBMRegressorLearner(trees=50, leaves=4, min_child_samples=5)


class TestRanker(MetaLearnerContract):
    @pytest.fixture(scope="class")
    @classmethod
    def new_learner(cls) -> NewLearner:
        return lambda: LightGBMRankerLearner(trees=50, leaves=4, min_child_samples=5)


def learner(**settings: object) -> LightGBMRegressorLearner:
    return LightGBMRegressorLearner(**{"trees": 20, **settings})  # type: ignore[arg-type]


def test_without_metafeatures_all_datasets_get_one_ranking() -> None:
    fitted = learner(inputs="hyperparameters").fit(toy_runs(), toy_metafeatures())
    few, many = (
        fitted.predict(toy_runs().configurations, toy_metafeatures().iloc[number]).mean for number in (0, 1)
    )
    np.testing.assert_array_equal(few, many)
    assert "NumberOfClasses" not in fitted.inputs.names


def test_uses_only_the_given_metafeatures() -> None:
    fitted = learner(metafeatures=("NumberOfClasses",)).fit(toy_runs(), toy_metafeatures())
    assert fitted.inputs.names == ["criterion_entropy", "criterion_gini", "depth", "NumberOfClasses"]
    everything = learner(metafeatures=None).fit(toy_runs(), toy_metafeatures())
    assert everything.inputs.names[3:] == list(toy_metafeatures().columns)


@each(
    ("settings", "message"),
    [
        ({"leaves": 1}, "leaves must be from 2 to 64"),
        ({"leaves": 65}, "leaves must be from 2 to 64"),
        ({"trees": 0}, "must be positive"),
        ({"learning_rate": 0}, "must be positive"),
    ],
)
def test_refuses_settings_out_of_range(settings: dict[str, object], message: str) -> None:
    with pytest.raises(BadInput, match=message):
        learner(**settings)
