"""Verification: tried configurations, their order, and the effect on the recommendation."""

import json
from dataclasses import replace
from pathlib import Path

import jsonschema
import pandas as pd
import pytest

import recommend
from ingest.flows import get_flow
from ingest.keys import setup_of
from ingest.reading.datasets import Dataset, load_dataset
from ingest.running.evaluation import Evaluation
from ingest.running.limits import Outcome
from ingest.running.resampling import Resampling
from recommend.bo.tuning.artifacts import record
from recommend.bo.tuning.proposals import Proposed
from recommend.bo.tuning.trials import Trial
from recommend.ranking.candidates import Candidates, find_candidates
from recommend.ranking.knowledge import Knowledge, gather
from recommend.ranking.task import describe_task
from recommend.recommender import recommend as rank
from recommend.verification import (
    FIRST,
    HEAD,
    RankingProposer,
    Verification,
    head_of,
    trials_after,
    verify,
)
from tests.recommend.conftest import copy_of, numbers, prices
from tests.recommend.verified import LONG, say, trees_lose
from warehouse.store import Warehouse
from warehouse.vocabulary.configuration import Configuration
from warehouse.vocabulary.table import ConfigurationTable

SCHEMA = json.loads((Path(recommend.__file__).parent / "seeds.schema.json").read_text(encoding="utf-8"))
DEFAULT = Configuration("logistic_regression", get_flow("logistic_regression").default())
"""The usual default in the small world."""


@pytest.fixture
def dataset() -> Dataset:
    return load_dataset(numbers(900, seed=50), name="mine")


def knowledge(world: Path, dataset: Dataset) -> tuple[Knowledge, Candidates]:
    known = gather(describe_task(dataset, warehouse=Warehouse.open(world), leave_out=False))
    return known, find_candidates(known)


def verified(world: Path, dataset: Dataset) -> Verification:
    return verify(*knowledge(world, dataset), LONG, jobs=1)


def success(accuracy: float) -> Evaluation:
    return Evaluation(Outcome.success, 0.1, {"predictive_accuracy": accuracy})


def trees_win(one: Configuration) -> float:
    return 0.9 if one.algorithm == "decision_tree" else 0.6


def trees_crash(one: Configuration) -> float | str:
    return "ValueError: no" if one.algorithm == "decision_tree" else 0.7


# ---- what is tried -------------------------------------------------------------------------------


def test_the_first_then_defaults_then_the_rest_of_the_ranking_are_tried(
    small_world: Path, dataset: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = say(monkeypatch, trees_win)
    known, candidates = knowledge(small_world, dataset)
    head = head_of(known, candidates)
    assert len(head) == HEAD
    found = verify(known, candidates, LONG, jobs=1)
    first = [*head[:FIRST], *([] if DEFAULT in head else [DEFAULT]), *head[FIRST:]]
    assert [*dict.fromkeys(done.configurations)][: len(first)] == first
    ranks = {one.trial.configuration: one.recommended for one in found.configurations}
    assert [ranks[one] for one in head] == [*range(1, HEAD + 1)]
    assert [one.trial.configuration for one in found.configurations if one.is_default] == [DEFAULT]


def test_usual_defaults_of_regression_are_tried_in_the_requested_unit(
    world_of_numbers: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Trees win on all known large datasets; here ridge does."""
    done = say(monkeypatch, lambda one: 0.9 if one.algorithm == "ridge" else 0.6)
    dataset = load_dataset(prices(900, seed=50), name="mine")
    found = verified(world_of_numbers, dataset)
    default = Configuration("ridge", get_flow("ridge").default())
    assert [one.trial.configuration for one in found.configurations if one.is_default] == [default]
    assert {one.algorithm for one in done.configurations} == {"ridge", "decision_tree_regressor"}
    best = found.configurations[0].trial
    assert best.configuration.algorithm == "ridge"
    spread = float(dataset.target.std(ddof=0))
    assert best.value("root_mean_squared_error") == pytest.approx(0.1 * spread, rel=0.05)


@pytest.mark.parametrize(
    ("tree", "regression", "algorithm"), [(0.9, 0.6, "decision_tree"), (0.6, 0.9, "logistic_regression")]
)
def test_the_next_trial_is_the_recommendation_after_the_trials_so_far(
    small_world: Path, dataset: Dataset, tree: float, regression: float, algorithm: str
) -> None:
    """Trees win on all known large datasets, but perhaps not on this one."""
    known, candidates = knowledge(small_world, dataset)
    first = head_of(known, candidates)[0]
    proposer = RankingProposer(known, candidates, [first, DEFAULT])
    trials: list[Trial] = []
    for one, value in ((first, tree), (DEFAULT, regression)):
        proposed = proposer.propose(trials)
        assert proposed == Proposed(one, "start")
        trials.append(Trial(len(trials), one, "start", [success(value)]))
    following = proposer.propose(trials)
    assert following is not None
    assert (following.configuration.algorithm, following.origin) == (algorithm, "model")


def test_all_candidates_are_proposed_once(small_world: Path, dataset: Dataset) -> None:
    known, candidates = knowledge(small_world, dataset)
    proposer = RankingProposer(known, candidates, [DEFAULT])
    proposed = [proposer.propose([]) for _ in range(len(candidates) + 1)]
    assert len({one.configuration for one in proposed if one is not None}) == len(candidates)
    assert proposed[-1] is None


def test_leaders_are_reevaluated_and_ranked_by_their_mean(
    small_world: Path, dataset: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    say(monkeypatch, trees_win)
    found = verified(small_world, dataset)
    assert len(found.configurations[0].trial.evaluations) == 5
    values = [one.trial.value("predictive_accuracy") or 0.0 for one in found.configurations]
    assert values == sorted(values, reverse=True)


# ---- results --------------------------------------------------------------------------------


def test_trials_overrule_the_predictions(
    small_world: Path, dataset: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    say(monkeypatch, trees_lose)
    world = Warehouse.open(small_world)
    assert rank(dataset, warehouse=world).configurations[0].flow.name == "decision_tree"
    result = rank(dataset, warehouse=world, verify=LONG, jobs=1)
    assert result.configurations[0].flow.name == "logistic_regression"
    assert result.configurations[0].on_dataset.value == pytest.approx(0.9)
    assert result.verification is not None
    assert result.trials == len(result.verification.configurations)


def test_a_tried_configuration_has_the_value_of_its_trial(
    world_of_numbers: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Later rows have another spread than all rows, so its relative error does not determine its RMSE."""
    say(monkeypatch, lambda one: 0.9 if one.algorithm == "ridge" else 0.6)
    rows = prices(900, seed=50).assign(day=pd.date_range("2020-01-01", periods=900))
    dataset = load_dataset(rows, name="mine").split_by("time=day")
    result = rank(dataset, warehouse=Warehouse.open(world_of_numbers), verify=LONG, jobs=1)
    assert result.verification is not None
    trials = {one.trial.configuration: one.trial for one in result.verification.configurations}
    tried = [one for one in result.configurations if one.on_dataset is not None]
    assert result.verification.configurations[0].trial.configuration in [one.configuration for one in tried]
    for one in tried:
        assert one.on_dataset.value == trials[one.configuration].value("root_mean_squared_error")


def test_failed_configurations_are_not_recommended(
    small_world: Path, dataset: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    say(monkeypatch, trees_crash)
    result = rank(dataset, warehouse=Warehouse.open(small_world), verify=LONG, jobs=1)
    assert result.verification is not None
    failed = result.verification.failures
    assert {*failed.values()} == {"crash"}
    assert result.failed == {"crash": len(failed)}
    assert result.candidates == 16 - len(failed)
    assert {one.flow.name for one in result.configurations} == {"logistic_regression"}


def test_if_all_fail_the_recommendation_is_unchanged(
    small_world: Path, dataset: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The configurations need not be the cause."""
    say(monkeypatch, lambda _: "OSError: disk full")
    world = Warehouse.open(small_world)
    before, after = rank(dataset, warehouse=world), rank(dataset, warehouse=world, verify=LONG, jobs=1)
    assert after.configurations == before.configurations
    assert after.verification is not None
    assert (after.verification.search.failure, after.trials) == ("OSError: disk full", 0)


def test_the_document_follows_its_schema(
    small_world: Path, dataset: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    for outcome in (trees_win, trees_crash):
        say(monkeypatch, outcome)
        result = rank(dataset, warehouse=Warehouse.open(small_world), verify=LONG, jobs=1)
        document = json.loads(json.dumps(result.document(), allow_nan=False))
        jsonschema.validate(document, SCHEMA, jsonschema.Draft202012Validator)
        trials = document["verification"]["trials"]
        assert {trial["recommended"] for trial in trials} >= {*range(1, HEAD + 1)}
        assert any(trial["is_default"] for trial in trials)


def test_recorded_trials_are_known_to_the_next_recommendation(
    small_world: Path, dataset: Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    say(monkeypatch, trees_lose)
    world = copy_of(small_world, tmp_path / "world")
    found = verified(world.path, dataset)
    for _ in range(2):
        assert record(found.search, world) == len(found.configurations)
    again = rank(dataset, warehouse=Warehouse.open(world.path))
    assert again.trials == len(found.configurations)
    assert again.configurations[0].flow.name == "logistic_regression"


def test_trials_refer_to_the_warehouses_setups(small_world: Path, dataset: Dataset) -> None:
    """It may have a configuration as a setup of another library's flow."""
    known, candidates = knowledge(small_world, dataset)
    names = [f"foreign:{setup}" for setup in candidates.table.setups]

    def renamed(table: ConfigurationTable) -> ConfigurationTable:
        to = dict(zip(candidates.table.setups, names, strict=True))
        return replace(table, algorithms=table.algorithms.rename(to), parameters=table.parameters.rename(to))

    foreign = replace(candidates, table=renamed(candidates.table))
    runs = replace(known.all_runs, configurations=renamed(known.all_runs.configurations))
    trial = Trial(
        0,
        candidates.configurations[3],
        "start",
        [success(0.8)],
    )
    own = trials_after(replace(known, all_runs=runs), foreign, [trial], Resampling(3))
    assert own is not None
    assert {setup: one.value for setup, one in own.measured.items()} == {names[3]: 0.8}
    assert setup_of(trial.configuration) not in own.measured
