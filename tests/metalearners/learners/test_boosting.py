"""The LightGBM learner: the contract, and what is special to it."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from metalearners.learners.base import MetaLearner
from metalearners.learners.boosting import LightGBMRankerLearner, LightGBMRegressorLearner
from tests.cases import each
from tests.contracts.meta_learner import MetaLearnerContract, NewLearner, toy_metafeatures, toy_runs
from tests.tables import flow_table
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


def test_hyperparameters_left_out_leave_one_prediction_per_dataset() -> None:
    fitted = learner(inputs="metafeatures").fit(toy_runs(), toy_metafeatures())
    assert np.ptp(fitted.predict(toy_runs().configurations, toy_metafeatures().iloc[0]).mean) == 0


def test_raw_targets_are_predicted_in_scores_all_the_same() -> None:
    fitted = learner(targets="raw", trees=200).fit(toy_runs(), toy_metafeatures())
    predicted = [
        fitted.predict(toy_runs().configurations, toy_metafeatures().iloc[n]).mean for n in range(12)
    ]
    assert abs(np.mean(predicted)) < 0.2
    assert 0.5 < np.mean([of.std() for of in predicted]) < 2


def test_uses_the_metafeatures_that_it_is_told_to() -> None:
    fitted = learner(metafeatures=("NumberOfClasses",)).fit(toy_runs(), toy_metafeatures())
    assert fitted.inputs.names == ["criterion_entropy", "criterion_gini", "depth", "NumberOfClasses"]
    everything = learner(metafeatures=None).fit(toy_runs(), toy_metafeatures())
    assert everything.inputs.names[3:] == list(toy_metafeatures().columns)


def test_sizes_of_hyperparameters_come_from_all_metafeatures() -> None:
    runs = toy_runs()
    values = {"criterion": ["gini"] * 20, "max_features": ["sqrt", "log2"] * 10}
    parameters = pd.DataFrame(values, index=runs.configurations.setups, dtype=object)
    fitted = learner(metafeatures=("NumberOfClasses",)).fit(
        replace(runs, configurations=flow_table(parameters)), toy_metafeatures()
    )
    assert fitted.inputs.names == ["max_features_log2", "max_features_sqrt", "NumberOfClasses"]


def test_one_configuration_alone_is_average() -> None:
    runs = toy_runs(n_configurations=2)
    single = runs.runs.drop_duplicates("dataset")
    alone = replace(runs, runs=single, configurations=runs.configurations.take([0]))
    fitted = learner(inputs="hyperparameters").fit(alone, toy_metafeatures())
    assert fitted.predict(alone.configurations, toy_metafeatures().iloc[0]).mean == pytest.approx([0.0])


def test_adaboost_keeps_its_parameter_called_algorithm() -> None:
    runs = toy_runs()
    parameters = runs.configurations.parameters.set_axis(["algorithm", "depth"], axis="columns")
    fitted = learner().fit(replace(runs, configurations=flow_table(parameters)), toy_metafeatures())
    assert fitted.inputs.names[:2] == ["algorithm_entropy", "algorithm_gini"]


@each(
    ("settings", "message"),
    [
        ({"leaves": 1}, "leaves must be from 2 to 64"),
        ({"leaves": 65}, "leaves must be from 2 to 64"),
        ({"trees": 0}, "must be positive"),
        ({"learning_rate": 0}, "must be positive"),
        ({"inputs": "everything"}, "unknown inputs 'everything'"),
    ],
)
def test_refuses_settings_out_of_range(settings: dict[str, object], message: str) -> None:
    with pytest.raises(BadInput, match=message):
        learner(**settings)


def test_keeps_to_the_protocol() -> None:
    as_protocol: MetaLearner = learner()
    assert as_protocol.settings["trees"] == 20
