"""Functional PCA: the contract, and its own properties."""

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from metalearners.encoding.training_data import runs_on, without_datasets
from metalearners.evaluation.protocol import evaluate
from metalearners.learners.functional_pca import FunctionalPCALearner
from tests.cases import each
from tests.contracts.meta_learner import (
    MetaLearnerContract,
    NewLearner,
    toy_metafeatures,
    toy_runs,
)
from warehouse.questions.queries import RunTable
from warehouse.support.errors import BadInput


class TestFunctionalPCA(MetaLearnerContract):
    @pytest.fixture(scope="class")
    @classmethod
    def new_learner(cls) -> NewLearner:
        return FunctionalPCALearner


def test_the_best_are_chosen_together() -> None:
    """With two families of configurations, the best of the other is worth more than the second best."""
    learner = FunctionalPCALearner().fit(toy_runs(), toy_metafeatures())
    unknown = pd.Series({"NumberOfClasses": 7.0})  # between the families
    configurations = toy_runs().configurations
    first, second = learner.choose(configurations, unknown, 2)
    assert (
        configurations.parameters["criterion"].iloc[first]
        != configurations.parameters["criterion"].iloc[second]
    )


def test_a_longer_choice_begins_with_the_shorter_one_and_ends_with_the_worst() -> None:
    learner = FunctionalPCALearner().fit(toy_runs(), toy_metafeatures())
    configurations, dataset = toy_runs().configurations, toy_metafeatures().iloc[0]
    everything = learner.choose(configurations, dataset, len(configurations) + 1)
    assert sorted(everything) == list(range(len(configurations)))
    np.testing.assert_array_equal(learner.choose(configurations, dataset, 3), everything[:3])
    assert everything[-1] == learner.predict(configurations, dataset).mean.argmin()


def test_equal_runs_are_predicted_as_average() -> None:
    runs = toy_runs()
    flat = replace(runs, runs=runs.runs.assign(value=0.5))
    one = replace(
        runs, runs=runs.runs.drop_duplicates("dataset"), configurations=runs.configurations.take([0])
    )
    for nothing in (flat, one):
        fitted = FunctionalPCALearner().fit(nothing, toy_metafeatures())
        predicted = fitted.predict(nothing.configurations, toy_metafeatures().iloc[0])
        assert predicted.mean == pytest.approx(np.zeros(len(nothing.configurations)))
        assert np.isfinite(predicted.std).all()


def noisy_runs(noise: float) -> RunTable:
    """The toy runs with random accuracies and informative log losses."""
    runs = toy_runs()
    clean = runs.runs.set_index("run")["value"]
    random = np.random.default_rng(0)
    noisy = runs.runs["value"] + random.normal(scale=noise, size=len(runs.runs))
    return replace(runs, runs=runs.runs.assign(value=noisy), related=(1 - clean).to_frame("log_loss"))


def likeness(runs: RunTable, **settings: float) -> float:
    """Correlation of predictions with the true quality of configurations."""
    model = FunctionalPCALearner(**settings).fit(runs, toy_metafeatures())  # type: ignore[arg-type]
    described = toy_metafeatures().iloc[[0, 1]]
    few, many = (model.predict(runs.configurations, dataset).mean for _, dataset in described.iterrows())
    gini = (runs.configurations.parameters["criterion"] == "gini").to_numpy(float)
    return float(np.corrcoef(np.concatenate([few, many]), np.concatenate([gini, 1 - gini]))[0, 1])


def test_related_measures_help_to_predict_a_noisy_one() -> None:
    noisy = noisy_runs(noise=5.0)
    assert likeness(noisy, related=0.0) < 0.6
    assert likeness(noisy, related=0.5) > 0.8


@each(
    "settings",
    [{"components": 0}, {"size": 0}, {"normal": 2}, {"worst": 1}, {"related": -1}, {"groups": ["colour"]}],
)
def test_settings_out_of_range_are_refused(settings: dict[str, Any]) -> None:
    with pytest.raises(BadInput):
        FunctionalPCALearner(**settings)


def test_intervals_hold_on_new_datasets() -> None:
    """On average over the toy world, leaving out each dataset in turn."""
    result = evaluate(toy_runs(), toy_metafeatures(), "functional-pca")
    assert result.coverage is not None
    assert 0.6 < result.coverage.mean < 0.95


def test_the_first_choice_is_better_than_others_as_often_as_is_stated() -> None:
    """Half of them are as good as it, so chance decides; each dataset is left out in turn."""
    runs, metafeatures = noisy_runs(0.3), toy_metafeatures()
    stated, true = [], []
    for dataset in runs.runs["dataset"].unique():
        model = FunctionalPCALearner().fit(without_datasets(runs, [dataset]), metafeatures.drop(dataset))
        configurations, values = runs_on(runs, dataset)
        first = model.choose(configurations, metafeatures.loc[dataset], 1)
        others = np.setdiff1d(np.arange(len(values)), first)
        better = model.beats(
            configurations.take(others), configurations.take(first), metafeatures.loc[dataset]
        )
        stated.extend(1 - better)
        true.extend(values[first] > values[others])
    assert np.mean(stated) == pytest.approx(np.mean(true), abs=0.07)


def many_datasets() -> tuple[RunTable, pd.DataFrame]:
    """Forty datasets of the toy world, one of them flat, and two near copies."""
    runs, metafeatures = toy_runs(40), toy_metafeatures(40)
    table = runs.runs
    flat = (table["dataset"] == "toy:7").to_numpy()
    table = table.assign(
        value=table["value"].where(~flat, 0.5), family=table["family"].replace({"toy:11": "toy:9"})
    )
    return replace(runs, runs=table), metafeatures


def test_removing_a_dataset_from_a_model_removes_all_influence_of_its_runs() -> None:
    """Given the hyperparameters, no number of the model without it depends on its runs."""
    runs, metafeatures = many_datasets()
    model = FunctionalPCALearner().fit(runs, metafeatures)
    other = np.random.default_rng(0).normal(size=model.W.shape[1])
    place = model.datasets.index("toy:3")
    changed = replace(
        model,
        W=np.where(np.arange(len(model.W))[:, None] == place, other, model.W).astype(np.float32),
        S=np.where(np.arange(len(model.S))[:, None] == place, 9.0, model.S),
    )
    first, second = model.without({"toy:3"}), changed.without({"toy:3"})
    assert first is not None
    assert second is not None
    assert "toy:3" not in first.datasets
    assert first.own_unit is not None
    assert "toy:3" not in {*first.own_unit.level.datasets, *first.own_unit.judged}
    for new in (metafeatures.iloc[3], metafeatures.iloc[8]):
        expected = [one.predict(runs.configurations, new) for one in (first, second)]
        np.testing.assert_allclose(expected[0].mean, expected[1].mean, atol=1e-9)
        assert expected[0].std == pytest.approx(expected[1].std, abs=1e-9)


def test_a_model_with_a_dataset_removed_predicts_like_one_trained_without() -> None:
    runs, metafeatures = many_datasets()
    taken_out = FunctionalPCALearner().fit(runs, metafeatures).without({"toy:9", "toy:11"})
    trained = FunctionalPCALearner().fit(without_datasets(runs, ["toy:9"]), metafeatures)
    assert taken_out is not None
    assert taken_out.datasets == trained.datasets
    new = metafeatures.loc["toy:9"]
    expected = [one.predict(runs.configurations, new).mean for one in (taken_out, trained)]
    assert np.corrcoef(*expected)[0, 1] > 0.99


def test_removing_nothing_changes_nothing_and_removing_too_much_needs_a_training() -> None:
    runs, metafeatures = many_datasets()
    model = FunctionalPCALearner().fit(runs, metafeatures)
    assert model.without({"toy:7", "unknown"}) is model  # all its runs are equal, so it had no influence
    assert model.without({f"toy:{number}" for number in range(10)}) is None
