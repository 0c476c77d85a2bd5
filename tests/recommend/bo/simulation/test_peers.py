"""Optimizers of other projects propose configurations of the space, and improve."""

import sys
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest

from ingest.flows import FLOWS, Flow
from recommend.bo.candidates import Candidate
from recommend.bo.simulation.peers import PEERS, new_peer
from recommend.bo.simulation.runner import SimulationPlan, simulate
from recommend.bo.simulation.tasks import ModelTask
from recommend.space import Space
from tests.contracts.meta_learner import toy_metafeatures
from tests.tables import flow_table
from warehouse.questions.queries import RunTable
from warehouse.support.errors import MissingPackage
from warehouse.vocabulary.parameters import Choice, Number

TRIALS = {"smac": 19, "optuna-tpe": 60, "optuna-gp": 11, "flaml": 60}
"""SMAC uses its model, which is slow, every eighth time."""


def never_built(values: object, seed: int) -> None:
    """Estimator of flows that are searched on a model of runs, and so never built."""
    raise NotImplementedError


def toy_flow(name: str, *hyperparameters: Number | Choice) -> Flow:
    return Flow(name, name, hyperparameters, never_built)  # type: ignore[arg-type]


MIXED = toy_flow(
    "mixed",
    Number("rate", 1e-4, 1.0, 0.1, log=True),
    Number("depth", 1, 20, 5),
    Choice("features", ("sqrt", 0.5, True), "sqrt"),
)
SMALL = toy_flow("small", Choice("algorithm", (True, False), True), Choice("b", ("x", "y"), "x"))
"""Like AdaBoost, it has a hyperparameter named `algorithm`."""


def runs_of(flow: Flow, datasets: int = 1) -> RunTable:
    """Forty random configurations of the flow; lower values of their last hyperparameter are better."""
    space = Space([flow], joint=False)
    vectors = space.sample(40, np.random.default_rng(0))
    setups = [f"setup {number}" for number in range(len(vectors))]
    parameters = space.configurations(vectors).table.parameters.set_axis(setups)
    runs = [
        {"run": f"{setup} on {dataset}", "dataset": f"toy:{dataset}", "setup": setup, "value": -vector[-1]}
        for dataset in range(datasets)
        for setup, vector in zip(setups, vectors, strict=True)
    ]
    frame = pd.DataFrame(runs).assign(task="t", flow=flow.id, algorithm=flow.name, train_rows=np.nan)
    frame["family"] = frame["dataset"]
    return RunTable(flow.id, "predictive_accuracy", frame, flow_table(parameters.astype(object), flow.name))


@pytest.fixture(scope="module")
def flows() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(FLOWS, MIXED.name, MIXED)
        patch.setitem(FLOWS, SMALL.name, SMALL)
        yield


@pytest.fixture(scope="module")
def task(flows: None) -> ModelTask:  # noqa: ARG001
    return ModelTask(runs_of(MIXED), toy_metafeatures(), "toy:0")


def depth(candidate: Candidate) -> int:
    return int(candidate.configuration.table.parameters["depth"].iloc[0])


def searched(task: ModelTask, name: str, first: list[int], trials: int, seed: int = 3) -> list[Candidate]:
    """Proposals of the peer if only a small depth is good."""
    search = new_peer(name, task.space, [task.start(place) for place in first], seed, 60)
    proposed = []
    for _ in range(trials):
        (candidate,) = search.ask()
        search.tell(-float(depth(candidate)))
        proposed.append(candidate)
    return proposed


@dataclass(frozen=True)
class Proposed:
    name: str
    candidates: list[Candidate]


@pytest.fixture(scope="module", params=PEERS)
def proposed(task: ModelTask, request: pytest.FixtureRequest) -> Proposed:
    return Proposed(request.param, searched(task, request.param, [7, 5, 7, 6], TRIALS[request.param]))


def test_the_warm_start_comes_first_and_each_configuration_once(task: ModelTask, proposed: Proposed) -> None:
    assert [one.key for one in proposed.candidates[:3]] == [task.start(place).key for place in (7, 5, 6)]
    assert proposed.candidates[3].key != task.start(7).key


def test_proposals_are_configurations_of_the_space(task: ModelTask, proposed: Proposed) -> None:
    for candidate in proposed.candidates:
        vectors = candidate.configuration.vectors
        (configuration,) = task.space.decoded(vectors)
        assert candidate.key == vectors[0].tobytes()
        np.testing.assert_allclose(task.space.vector(configuration), vectors[0], atol=1e-12)
        assert isinstance(configuration.values["depth"], int)
    features = {one.configuration.table.parameters["features"].iloc[0] for one in proposed.candidates}
    assert features <= {"sqrt", 0.5, True}


def test_proposals_concentrate_where_values_are_high(proposed: Proposed) -> None:
    """Random depths from 1 to 20 have a mean of 10.5."""
    assert np.mean([depth(one) for one in proposed.candidates[3:]]) < 7


def test_simulations_start_peers_like_headstarts_surrogates(flows: None) -> None:  # noqa: ARG001
    plan = SimulationPlan(("optuna-tpe+oracle", "optuna-tpe"), trials=4, kind="model")
    best, cold = simulate(runs_of(MIXED, datasets=2), toy_metafeatures(), plan, datasets=["toy:0"])
    assert best.best_so_far[0] == best.best
    assert cold.best_so_far[0] < cold.best
    assert len(cold.best_so_far) == 4


@pytest.mark.parametrize(("name", "library"), [("smac", "smac.facade"), ("optuna-tpe", "optuna.samplers")])
def test_a_missing_library_is_one_line_that_says_what_to_install(
    task: ModelTask, name: str, library: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(MissingPackage, match=r"^\S+ needs the package (\w+): pip install \1$"):
        new_peer(name, task.space, [], 0, 5)


@pytest.mark.parametrize("name", PEERS)
def test_a_joint_space_is_searched_even_if_some_trials_fail(flows: None, name: str) -> None:  # noqa: ARG001
    space = Space([MIXED, SMALL])
    search = new_peer(name, space, [], 1, 40)
    ran = []
    for number in range(12):
        (candidate,) = search.ask()
        assert candidate.key == candidate.configuration.vectors[0].tobytes()
        ran.extend(space.decoded(candidate.configuration.vectors))
        search.tell(None if number % 4 == 3 else float(ran[-1].algorithm == "small"))
    assert {configuration.algorithm for configuration in ran} == {"mixed", "small"}
    assert all(len(one.values) == (3 if one.algorithm == "mixed" else 2) for one in ran)
