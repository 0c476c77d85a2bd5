"""Probabilistic matrix factorization: the contract, the paper's model, and each option."""

import json
import sys
from dataclasses import replace
from functools import partial
from importlib import import_module

import numpy as np
import pytest

from metalearners.codec import decode, encode
from metalearners.encoding.training_data import runs_on, without_datasets
from metalearners.evaluation.protocol import kendall_tau
from metalearners.learners.base import Watch
from metalearners.predictions import Observations
from metalearners.published.factorization.learner import FactorizationLearner
from metalearners.published.factorization.model import Factorization
from tests.cases import each
from tests.contracts.meta_learner import (
    MetaLearnerContract,
    NewLearner,
    toy_metafeatures,
    toy_runs,
)
from warehouse.support.errors import BadInput
from warehouse.vocabulary.table import ConfigurationTable

pytest.importorskip("torch", reason="training needs the extra `pmf`")

new_small = partial(FactorizationLearner, steps=100, epochs=20)
new_paper = partial(new_small, cold_pipelines=False, cold_datasets=False, scale=False)


class TestFactorization(MetaLearnerContract):
    @pytest.fixture(scope="class")
    @classmethod
    def new_learner(cls) -> NewLearner:
        return new_small


def tau_after(model: Factorization, dataset: str, trials: int) -> float:
    """Tau over the runs on `dataset` except the first few."""
    configurations, values = runs_on(toy_runs(), dataset)
    seen = Observations(configurations.take(slice(trials)), values[:trials])
    predicted = model.condition(seen).predict(configurations, toy_metafeatures().loc[dataset]).mean
    return kendall_tau(predicted[trials:], values[trials:])


def deeper(table: ConfigurationTable) -> ConfigurationTable:
    """Similar configurations without runs."""
    return replace(table, parameters=table.parameters.assign(depth=np.array([99] * len(table), dtype=object)))


@pytest.fixture(scope="module")
def paper() -> Factorization:
    return new_paper().fit(without_datasets(toy_runs(), ["toy:0"]), toy_metafeatures().drop(index="toy:0"))


def test_the_papers_model_learns_only_from_trials(paper: Factorization) -> None:
    configurations = toy_runs().configurations
    before = paper.predict(configurations, toy_metafeatures().iloc[0])
    assert before.mean == pytest.approx(np.zeros(len(configurations)))
    assert before.std is None  # it predicts the measure, not standard scores
    assert tau_after(paper, "toy:0", 4) > 0.3


def test_the_papers_model_predicts_the_mean_for_a_new_configuration(paper: Factorization) -> None:
    configurations, values = runs_on(toy_runs(), "toy:0")
    new = deeper(configurations.take([0]))
    seen = Observations(configurations, values)
    predicted = paper.condition(seen).predict(new, toy_metafeatures().iloc[0])
    assert predicted.mean == pytest.approx([0.0])
    assert np.isnan(paper.latent.positions(new, toy_metafeatures().iloc[0])).all()


def test_a_new_configuration_has_a_position_with_an_encoder() -> None:
    known = toy_runs()
    model = new_small(cold_datasets=False).fit(known, toy_metafeatures())
    configurations, values = runs_on(known, "toy:0")
    new = deeper(configurations.take([0, 1]))
    assert new.parameters["criterion"].tolist() == ["gini", "entropy"]
    predicted = model.condition(Observations(configurations, values)).predict(new, toy_metafeatures().iloc[0])
    assert predicted.mean[0] > predicted.mean[1] + 0.5


@each(
    ("cold_pipelines", "cold_datasets", "scale"),
    [(False, True, True), (True, False, True), (True, True, False), (False, False, False)],
)
def test_it_ranks_after_trials_without_any_option(
    cold_pipelines: bool, cold_datasets: bool, scale: bool
) -> None:
    learner = new_small(cold_pipelines=cold_pipelines, cold_datasets=cold_datasets, scale=scale)
    model = learner.fit(without_datasets(toy_runs(), ["toy:1"]), toy_metafeatures().drop(index="toy:1"))
    assert tau_after(model, "toy:1", 5) > 0.2
    assert tau_after(decode(Factorization, *encode(model)), "toy:1", 5) == tau_after(model, "toy:1", 5)


def test_only_with_scale_do_small_differences_count() -> None:
    """On a dataset with all values within 0.001, trials look like noise unless its spread is inferred."""
    known = without_datasets(toy_runs(), ["toy:2"])
    small = {}
    configurations, values = runs_on(toy_runs(), "toy:2")
    seen = Observations(configurations.take(slice(6)), 0.9 + values[:6] / 1000)
    for scale in (True, False):
        model = new_small(cold_datasets=False, scale=scale).fit(known, toy_metafeatures())
        predicted = model.condition(seen).predict(configurations, toy_metafeatures().loc["toy:2"]).mean
        good = (configurations.parameters["criterion"] == "gini").to_numpy()
        small[scale] = predicted[good].mean() - predicted[~good].mean()
    assert small[True] > 1.0
    assert abs(small[False]) < 0.2


@each("cold_pipelines", [True, False])
def test_an_update_continues_from_the_trained_model(cold_pipelines: bool) -> None:
    new = ["toy:0", "toy:10", "toy:11"]
    learner = new_small(cold_pipelines=cold_pipelines, cold_datasets=False)
    before = learner.fit(without_datasets(toy_runs(), new), toy_metafeatures().drop(index=new))
    rounds: list[int] = []
    watch = Watch(report=lambda epoch: rounds.append(epoch.done))
    known = without_datasets(toy_runs(), ["toy:0"])
    model = learner.update(before, known, toy_metafeatures().drop(index="toy:0"), watch)
    assert rounds[-1] == (20 if cold_pipelines else 4)  # a fifth of the steps or epochs
    assert tau_after(model, "toy:0", 5) > 0.3


def test_predicting_needs_no_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor does conditioning on trials: `recommend --learner pmf` starts as fast as with others."""
    facts, arrays = encode(new_small().fit(toy_runs(), toy_metafeatures()))
    monkeypatch.setitem(sys.modules, "torch", None)
    for name in [name for name in sys.modules if name.startswith("metalearners.published.factorization.")]:
        monkeypatch.delitem(sys.modules, name)
    anew = import_module("metalearners.published.factorization.model")
    configurations, values = runs_on(toy_runs(), "toy:0")
    model = decode(anew.Factorization, json.loads(json.dumps(facts)), arrays)
    model.condition(Observations(configurations, values)).predict(configurations, toy_metafeatures().iloc[0])


def test_equal_runs_are_predicted_as_average() -> None:
    flat = replace(toy_runs(), runs=toy_runs().runs.assign(value=0.5))
    for new in (new_small, new_paper):
        predicted = (
            new().fit(flat, toy_metafeatures()).predict(flat.configurations, toy_metafeatures().iloc[0])
        )
        assert predicted.mean == pytest.approx(np.zeros(len(flat.configurations)))


@each("settings", [{"latent": 0}, {"epochs": 0}, {"steps": 0}])
def test_settings_out_of_range_are_refused(settings: dict[str, object]) -> None:
    with pytest.raises(BadInput):
        FactorizationLearner(**settings)  # type: ignore[arg-type]
