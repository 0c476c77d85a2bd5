"""Functional PCA: the contract, and what is special to it."""

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from metalearners.encoding.training_data import runs_on, without_datasets
from metalearners.judging.evaluation import evaluate
from metalearners.learners.functional_pca import FunctionalPCALearner
from tests.contracts.meta_learner import (
    MetaLearnerContract,
    NewLearner,
    toy_metafeatures,
    toy_runs,
)
from warehouse.queries import RunTable
from warehouse.support.errors import BadInput


class TestFunctionalPCA(MetaLearnerContract):
    @pytest.fixture
    def new_learner(self) -> NewLearner:
        return FunctionalPCALearner


def test_the_best_are_chosen_together() -> None:
    """Two families of configurations: after the best of one, the other is worth more than the second best."""
    learner = FunctionalPCALearner().fit(toy_runs(), toy_metafeatures())
    unknown = pd.Series({"NumberOfClasses": 7.0})  # between the families
    configurations = toy_runs().configurations
    first, second = learner.choose(configurations, unknown, 2)
    assert (
        configurations.parameters["criterion"].iloc[first]
        != configurations.parameters["criterion"].iloc[second]
    )


def test_a_longer_choice_begins_with_the_shorter_one_and_ends_with_what_is_expected_least_of() -> None:
    learner = FunctionalPCALearner().fit(toy_runs(), toy_metafeatures())
    configurations, dataset = toy_runs().configurations, toy_metafeatures().iloc[0]
    everything = learner.choose(configurations, dataset, len(configurations) + 1)
    assert sorted(everything) == list(range(len(configurations)))
    np.testing.assert_array_equal(learner.choose(configurations, dataset, 3), everything[:3])
    assert everything[-1] == learner.predict(configurations, dataset).mean.argmin()


def test_nothing_to_tell_apart_is_predicted_as_average() -> None:
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
    """The toy runs, whose accuracies are a matter of chance, and whose log losses are not."""
    runs = toy_runs()
    clean = runs.runs.set_index("run")["value"]
    random = np.random.default_rng(0)
    noisy = runs.runs["value"] + random.normal(scale=noise, size=len(runs.runs))
    return replace(runs, runs=runs.runs.assign(value=noisy), related=(1 - clean).to_frame("log_loss"))


def likeness(runs: RunTable, **settings: float) -> float:
    """Correlation of predictions with how good the configurations truly are."""
    model = FunctionalPCALearner(**settings).fit(runs, toy_metafeatures())  # type: ignore[arg-type]
    described = toy_metafeatures().iloc[[0, 1]]
    few, many = (model.predict(runs.configurations, dataset).mean for _, dataset in described.iterrows())
    gini = (runs.configurations.parameters["criterion"] == "gini").to_numpy(float)
    return float(np.corrcoef(np.concatenate([few, many]), np.concatenate([gini, 1 - gini]))[0, 1])


def test_related_measures_say_what_a_noisy_one_does_not() -> None:
    noisy = noisy_runs(noise=5.0)
    assert likeness(noisy, related=0.0) < 0.6
    assert likeness(noisy, related=0.5) > 0.8


def test_a_run_without_related_measures_counts_with_its_own() -> None:
    runs = noisy_runs(noise=0.0)
    assert likeness(replace(runs, related=runs.related.iloc[::3])) > 0.95


@pytest.mark.parametrize(
    "settings",
    [{"components": 0}, {"size": 0}, {"normal": 2}, {"worst": 1}, {"related": -1}, {"groups": ["colour"]}],
)
def test_settings_out_of_range_are_refused(settings: dict[str, Any]) -> None:
    with pytest.raises(BadInput):
        FunctionalPCALearner(**settings)


def test_intervals_hold_on_new_datasets() -> None:
    """On average over the toy world; each dataset is left out in turn."""
    result = evaluate(toy_runs(), toy_metafeatures(), "functional-pca")
    assert result.coverage is not None
    assert 0.6 < result.coverage.mean < 0.95


@pytest.mark.parametrize("noise", [0.1, 0.3])
def test_the_first_choice_is_better_than_others_as_often_as_is_stated(noise: float) -> None:
    """Half of them are as good as it, so that chance decides; each dataset is left out in turn."""
    runs, metafeatures = noisy_runs(noise), toy_metafeatures()
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


def test_runs_are_learned_from_where_no_meta_feature_is_known() -> None:
    """Datasets are then all alike, and nothing is said in the measure's own unit."""
    nameless = toy_metafeatures()[[]]
    model = FunctionalPCALearner().fit(toy_runs(), nameless)
    predicted = model.predict(toy_runs().configurations, nameless.iloc[0])
    assert np.ptp(predicted.mean) > 0
    assert model.expect(toy_runs().configurations, nameless.iloc[0]) is None
