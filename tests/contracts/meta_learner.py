"""The contract of every meta-learner: inherit `MetaLearnerContract` and supply the fixture `new_learner`.

The toy world has two families of datasets (few and many classes) and two of configurations (gini and
entropy): gini is better on datasets with few classes, entropy on those with many. `depth` changes nothing.
"""

import json
from collections.abc import Callable
from dataclasses import FrozenInstanceError, replace
from io import BytesIO
from typing import Any

import numpy as np
import pandas as pd
import pytest

from metalearners.codec import decode, encode, with_settings
from metalearners.learners.base import MetaLearner, Model
from metalearners.predictions import Observations, Prediction
from tests.tables import flow_table, joint_table
from warehouse.questions.queries import RunTable
from warehouse.support.errors import BadInput, DamagedModel
from warehouse.vocabulary.table import ConfigurationTable

NewLearner = Callable[[], MetaLearner]

FEW, MANY = 2.0, 20.0
"""Number of classes of the datasets in each family."""


def toy_metafeatures(n_datasets: int = 12) -> pd.DataFrame:
    """(n_datasets, 3): datasets with an even index have few classes, the others many."""
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "NumberOfInstances": rng.integers(100, 1000, n_datasets).astype(float),
            "NumberOfFeatures": rng.integers(5, 50, n_datasets).astype(float),
            "NumberOfClasses": [FEW if number % 2 == 0 else MANY for number in range(n_datasets)],
        },
        index=pd.Index([f"toy:{number}" for number in range(n_datasets)], name="dataset"),
    )


def toy_runs(n_datasets: int = 12, n_configurations: int = 20) -> RunTable:
    """Every configuration on every dataset. Datasets differ in level and spread, which must not matter."""
    rng = np.random.default_rng(1)
    criterion = np.array(["gini", "entropy"] * (n_configurations // 2), dtype=object)
    setups = [f"setup {number}" for number in range(n_configurations)]
    parameters = pd.DataFrame(
        {
            "criterion": criterion,
            "depth": pd.Series(rng.integers(1, 10, n_configurations).tolist(), dtype=object),
        }
    ).set_index(pd.Index(setups, name="setup"))
    rows = [
        {
            "run": f"run {number}-{setup}",
            "dataset": f"toy:{number}",
            "family": f"toy:{number}",
            "task": f"toy:{number}/cv3",
            "flow": "toy",
            "algorithm": "forest",
            "setup": setup,
            "train_rows": np.nan,
            "value": 0.5 + number / 100 + (number + 1) / 50 * (good + rng.normal(scale=0.1)),
        }
        for number in range(n_datasets)
        for setup, good in zip(setups, (criterion == "gini") == (number % 2 == 0), strict=True)
    ]
    return RunTable(
        flow="toy",
        measure="predictive_accuracy",
        runs=pd.DataFrame(rows),
        configurations=flow_table(parameters, "forest"),
    )


def two_algorithms() -> RunTable:
    """The toy runs as if gini and entropy were two algorithms, each with its own parameters."""
    runs = toy_runs()
    given = runs.configurations.parameters
    names = given["criterion"].map({"gini": "forest", "entropy": "boosting"})
    own = given["depth"]
    parameters = pd.DataFrame(
        {
            "boosting:depth": own.where(names == "boosting", np.nan),
            "forest:depth": own.where(names == "forest", np.nan),
        },
        index=names.index,
    )
    return replace(runs, flow=None, configurations=joint_table(parameters, names.tolist()))


def best(
    model: Model, configurations: ConfigurationTable, classes: float, column: str = "criterion"
) -> object:
    """What the model ranks first for a dataset with this many classes."""
    dataset = pd.Series({"NumberOfInstances": 300.0, "NumberOfFeatures": 10.0, "NumberOfClasses": classes})
    predicted = model.predict(configurations, dataset).mean
    return configurations.hyperparameters[column].iloc[int(np.argmax(predicted))]


class Spy:
    """A learner that records the datasets whose runs and meta-features it gets, and learns nothing."""

    def __init__(self, seen: list[tuple[set[str], set[str]]]) -> None:
        self.seen = seen
        self.settings: dict[str, Any] = {}

    def fit(self, runs: RunTable, metafeatures: pd.DataFrame) -> "Spy":
        self.seen.append((set(runs.runs["dataset"]), set(metafeatures.index)))
        return self

    def predict(self, configurations: ConfigurationTable, metafeatures: pd.Series) -> Prediction:  # noqa: ARG002
        return Prediction(np.arange(len(configurations), dtype=float))

    def choose(self, configurations: ConfigurationTable, metafeatures: pd.Series, n: int) -> np.ndarray:  # noqa: ARG002
        return np.arange(len(configurations))[:n]


class MetaLearnerContract:
    """Promises of `metalearners.learners.base.MetaLearner` and `Model`."""

    @pytest.fixture(scope="class")
    @classmethod
    def new_learner(cls) -> NewLearner:
        raise NotImplementedError

    @pytest.fixture(scope="class")
    @classmethod
    def trained(cls, new_learner: NewLearner) -> Model:
        return new_learner().fit(toy_runs(), toy_metafeatures())

    def test_ranks_first_the_best_configuration_of_the_same_family(self, trained: Model) -> None:
        configurations = toy_runs().configurations
        assert [best(trained, configurations, classes) for classes in (FEW, MANY)] == ["gini", "entropy"]

    def test_ranks_several_algorithms_together_and_small_values_of_a_measure_to_minimize_first(
        self, new_learner: NewLearner
    ) -> None:
        runs = replace(two_algorithms(), measure="usercpu_time_millis")
        model = new_learner().fit(runs, toy_metafeatures())
        assert [best(model, runs.configurations, classes, column="algorithm") for classes in (FEW, MANY)] == [
            "boosting",
            "forest",
        ]

    def test_odd_datasets_do_not_matter(self, new_learner: NewLearner) -> None:
        """One has equal values, one values a million times as large, and one no meta-features."""
        runs = toy_runs()
        of, value = runs.runs["dataset"], runs.runs["value"]
        value = value.mask(of == "toy:1", value * 1e6).mask(of == "toy:0", 0.1)
        odd = replace(runs, runs=runs.runs.assign(value=value))
        model = new_learner().fit(odd, toy_metafeatures().drop(index="toy:2"))
        assert [best(model, runs.configurations, classes) for classes in (FEW, MANY)] == ["gini", "entropy"]

    def test_predicts_one_finite_number_per_configuration_independently_of_the_others(
        self, trained: Model
    ) -> None:
        configurations, dataset = toy_runs().configurations, toy_metafeatures().iloc[3]
        prediction = trained.predict(configurations, dataset)
        assert prediction.mean.shape == (len(configurations),)
        assert np.isfinite(prediction.mean).all()
        if prediction.std is not None:
            assert prediction.std.shape == prediction.mean.shape
            assert (prediction.std >= 0).all()
        for some in (slice(None, None, -1), [4], slice(0)):
            part = trained.predict(configurations.take(some), dataset).mean
            np.testing.assert_allclose(part, prediction.mean[some], atol=1e-12)

    def test_chooses_different_configurations_and_no_more_than_there_are(self, trained: Model) -> None:
        configurations, dataset = toy_runs().configurations, toy_metafeatures().iloc[0]
        first = trained.choose(configurations, dataset, 3)
        assert len(set(first.tolist())) == 3
        assert first[0] == trained.predict(configurations, dataset).mean.argmax()
        np.testing.assert_array_equal(trained.choose(configurations, dataset, 2), first[:2])
        assert sorted(trained.choose(configurations, dataset, 99)) == list(range(len(configurations)))
        assert len(trained.choose(configurations.take(slice(0)), dataset, 3)) == 0

    def test_trials_can_reverse_the_ranking(self, trained: Model) -> None:
        configurations, dataset = toy_runs().configurations, toy_metafeatures().iloc[0]
        is_entropy = (configurations.parameters["criterion"] == "entropy").to_numpy()
        seen = np.arange(14)
        knows = trained.condition(Observations(configurations.take(seen), 0.5 + 0.3 * is_entropy[seen]))
        rest = configurations.take(slice(14, None))
        assert rest.parameters["criterion"].iloc[int(knows.predict(rest, dataset).mean.argmax())] == "entropy"
        half = trained.condition(Observations(configurations.take(slice(7)), 0.5 + 0.3 * is_entropy[:7]))
        again = half.condition(Observations(configurations.take(slice(7, 14)), 0.5 + 0.3 * is_entropy[7:14]))
        np.testing.assert_allclose(
            again.predict(rest, dataset).mean, knows.predict(rest, dataset).mean, atol=1e-9
        )

    def test_chooses_the_best_trial_first(self, trained: Model) -> None:
        """Then others, each once; without trials the choice is as before."""
        configurations, dataset = toy_runs().configurations, toy_metafeatures().iloc[0]
        is_entropy = (configurations.parameters["criterion"] == "entropy").to_numpy()
        knows = trained.condition(Observations(configurations, 0.5 + 0.3 * is_entropy))
        first = knows.choose(configurations, dataset, 3)
        assert is_entropy[first[0]]
        assert len(set(first.tolist())) == 3
        nothing = trained.condition(Observations(configurations.take(slice(0)), np.array([])))
        np.testing.assert_array_equal(
            nothing.choose(configurations, dataset, 3), trained.choose(configurations, dataset, 3)
        )

    def test_equal_trials_change_nothing(self, trained: Model) -> None:
        configurations, dataset = toy_runs().configurations, toy_metafeatures().iloc[0]
        before = trained.predict(configurations, dataset)
        for number in (0, 1, 3):
            trials = Observations(configurations.take(slice(number)), np.full(number, 0.7))
            after = trained.condition(trials).predict(configurations, dataset)
            np.testing.assert_array_equal(after.mean, before.mean)
            np.testing.assert_array_equal(after.std, before.std)

    def test_the_same_settings_and_runs_give_the_same_model_and_are_not_changed(
        self, new_learner: NewLearner, trained: Model
    ) -> None:
        runs, metafeatures = toy_runs(), toy_metafeatures()
        again = new_learner().fit(runs, metafeatures).predict(runs.configurations, metafeatures.iloc[0]).mean
        pd.testing.assert_frame_equal(runs.runs, toy_runs().runs)
        pd.testing.assert_frame_equal(runs.configurations.parameters, toy_runs().configurations.parameters)
        pd.testing.assert_frame_equal(metafeatures, toy_metafeatures())
        first = trained.predict(runs.configurations, metafeatures.iloc[0]).mean
        np.testing.assert_array_equal(again, first)

    def test_predicts_for_unseen_values_and_qualities(self, trained: Model) -> None:
        values = {"criterion": ["log_loss", None, 3], "depth": ["deep", None, True]}
        strange = flow_table(pd.DataFrame(values, dtype=object), "forest")
        for dataset in (pd.Series(dtype=float), pd.Series({"NumberOfClasses": np.nan, "Unheard": 1.0})):
            assert np.isfinite(trained.predict(strange, dataset).mean).all()

    def test_refuses_to_learn_from_nothing(self, new_learner: NewLearner) -> None:
        runs = toy_runs()
        empty = replace(runs, runs=runs.runs.iloc[:0], configurations=runs.configurations.take(slice(0)))
        with pytest.raises(BadInput, match="nothing to learn from"):
            new_learner().fit(empty, toy_metafeatures())

    def test_trials_give_another_model_and_do_not_change_this_one(self, trained: Model) -> None:
        configurations, dataset = toy_runs().configurations, toy_metafeatures().iloc[0]
        before = trained.predict(configurations, dataset).mean
        trials = Observations(configurations.take(slice(3)), np.array([0.7, 0.8, 0.9]))
        after = trained.condition(trials).predict(configurations, dataset).mean
        assert np.isfinite(after).all()
        np.testing.assert_array_equal(trained.predict(configurations, dataset).mean, before)

    def test_predicts_the_same_after_saving_and_restoring_and_refuses_incomplete_files(
        self, new_learner: NewLearner, trained: Model
    ) -> None:
        facts, arrays = encode(trained)
        file = BytesIO()
        np.savez(file, allow_pickle=False, **arrays)
        file.seek(0)
        with np.load(file, allow_pickle=False) as loaded:
            restored = decode(new_learner().model, json.loads(json.dumps(facts)), dict(loaded))
        configurations, dataset = toy_runs().configurations, toy_metafeatures().iloc[1]
        np.testing.assert_array_equal(
            restored.predict(configurations, dataset).mean, trained.predict(configurations, dataset).mean
        )
        for incomplete in (({}, arrays), (facts, {})):
            with pytest.raises(DamagedModel):
                decode(new_learner().model, *incomplete)

    def test_a_learner_and_its_model_are_data(self, new_learner: NewLearner, trained: Model) -> None:
        """The model has all fitted values; neither can be changed, and settings are JSON."""
        learner = new_learner()
        assert with_settings(type(learner), json.loads(json.dumps(learner.settings))) == learner
        for data in (learner, trained):
            with pytest.raises(FrozenInstanceError):
                data.seed = 1  # type: ignore[union-attr, misc]
