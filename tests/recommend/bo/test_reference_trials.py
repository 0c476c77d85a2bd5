"""Anchors: configurations that a search tries whatever their prediction."""

from dataclasses import replace

import pytest

from ingest.flows import FLOWS
from ingest.reading.datasets import Dataset
from recommend.bo.candidates import SpaceCandidates
from recommend.bo.reference_trials import anchors, best_on_average
from recommend.bo.tuning import Search
from recommend.bo.tuning.setup import task_of
from recommend.ranking.candidates import find_candidates
from recommend.ranking.knowledge import gather
from recommend.space import Space
from tests.recommend.bo.tuning.searches import QUICK, noisy
from warehouse.store import Warehouse
from warehouse.vocabulary.configuration import Configuration

LEARNING = replace(QUICK, start="top")
"""A learner that uses runs on other datasets."""


@pytest.fixture(scope="module")
def dataset() -> Dataset:
    return noisy(160)


def found(dataset: Dataset, world: Warehouse, search: Search, seed: int = 0) -> list[Configuration]:
    space = Space([FLOWS[name] for name in search.flows], n_features=3)
    candidates = SpaceCandidates(space, seed=seed)
    task = task_of(dataset, search, world)
    known = None if task.learner is None else gather(task)
    best = None if known is None else best_on_average(known, find_candidates(known))
    return [candidates.configuration_of(anchor) for anchor in anchors(best, candidates, seed)]


def test_a_default_the_best_on_average_and_a_random_one(dataset: Dataset, small_world: str) -> None:
    world = Warehouse.open(small_world)
    default, usual, drawn = found(dataset, world, LEARNING)
    assert default == Configuration("decision_tree", FLOWS["decision_tree"].default())
    assert usual in find_candidates(gather(task_of(dataset, LEARNING, world))).configurations
    assert drawn not in (default, usual)


def test_the_default_is_lightgbms_where_it_is_searched(dataset: Dataset, small_world: str) -> None:
    search = replace(QUICK, start="none", flows=("decision_tree", "lightgbm"))
    default = found(dataset, Warehouse.open(small_world), search)[0]
    assert default == Configuration("lightgbm", FLOWS["lightgbm"].default())


def test_the_best_on_average_needs_runs(dataset: Dataset, small_world: str) -> None:
    assert len(found(dataset, Warehouse.open(small_world), replace(QUICK, start="none"))) == 2


def test_the_best_on_average_has_the_highest_mean_of_frequently_run_ones(
    dataset: Dataset, small_world: str
) -> None:
    """On a toy copy of the starter, with the means computed in another way."""
    known = gather(task_of(dataset, LEARNING, Warehouse.open(small_world)))
    candidates = find_candidates(known)
    runs = known.runs.runs.assign(score=known.scores)
    ran = runs[runs["setup"].isin(candidates.table.setups)].groupby("setup")["score"]
    often = ran.count()[ran.count() >= ran.count().max() / 2].index
    best = ran.mean()[often].sort_values().index[-1]
    assert (
        found(dataset, Warehouse.open(small_world), LEARNING)[1]
        == dict(zip(candidates.table.setups, candidates.configurations, strict=True))[best]
    )
