"""The beginning of a search: its first model, its first trials, and their times."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from ingest.flows import FLOWS
from ingest.reading.datasets import Dataset
from ingest.running.resampling import Resampling
from recommend.bo.candidates import SpaceCandidates
from recommend.bo.optimizer import AskTell
from recommend.bo.tuning import Budget, Search
from recommend.bo.tuning.setup import (
    Firsts,
    first_configurations,
    new_search,
    planned_trials,
    seconds_by_rows,
    task_of,
)
from recommend.ranking.candidates import Candidates, find_candidates
from recommend.ranking.fit_cost import PREDICTING
from recommend.ranking.knowledge import Knowledge, gather
from tests.recommend.bo.tuning.searches import QUICK, noisy
from warehouse.store import STARTER, Warehouse
from warehouse.support.errors import TooFewRuns
from warehouse.vocabulary.configuration import Configuration
from warehouse.vocabulary.table import ConfigurationTable

COLD = replace(QUICK, start="none")
"""Uses no meta-learner."""
DEFAULTS = [Configuration(name, FLOWS[name].default()) for name in QUICK.flows]
OWN = Configuration("decision_tree", FLOWS["decision_tree"].default() | {"min_samples_leaf": 13})


def known_of(dataset: Dataset, search: Search, world: Warehouse) -> Knowledge | None:
    task = task_of(dataset, search, world)
    return None if task.learner is None else gather(task)


def candidates_of(known: Knowledge | None) -> Candidates | None:
    return None if known is None else find_candidates(known)


def begun(dataset: Dataset, search: Search, world: Warehouse) -> tuple[AskTell, SpaceCandidates]:
    known = known_of(dataset, search, world)
    task = task_of(dataset, search, world)
    return new_search(task, known, candidates_of(known), search, Resampling(2), [], Budget())


def first(dataset: Dataset, search: Search, world: Warehouse, n: int = 4) -> list[tuple[str, Configuration]]:
    """Origin and configuration of the first proposals."""
    optimizer, candidates = begun(dataset, search, world)
    asked = [optimizer.ask() for _ in range(n)]
    return [(one.origin, candidates.configuration_of(one.candidate)) for one in asked if one is not None]


def on_all_rows(known: Knowledge | None) -> Callable[[Configuration], float]:
    """Expected seconds of a fit on all rows."""
    by_rows = seconds_by_rows(known)
    return lambda one: by_rows(one, 160)


def firsts(
    dataset: Dataset, search: Search, world: Warehouse, seconds: float | None = None
) -> tuple[Firsts, Knowledge | None]:
    known = known_of(dataset, search, world)
    return first_configurations(search, known, candidates_of(known), seconds), known


# ---- the first model -----------------------------------------------------------------------------


def test_the_first_model_is_the_average_that_recommend_proposes(dataset: Dataset) -> None:
    found, known = firsts(dataset, QUICK, Warehouse.open(STARTER))
    seconds = on_all_rows(known)
    assert len(found.members) == 3
    (fallback,) = found.fallbacks
    assert fallback.algorithm not in {one.algorithm for one in found.members}
    assert all(seconds(one) > 0 for one in found.members)


def test_with_less_time_the_first_model_is_quicker() -> None:
    """Unless it is that much worse than another one on fewer rows."""
    starter, many = Warehouse.open(STARTER), noisy(20_000)
    boosted = replace(QUICK, flows=("catboost", "lightgbm"))
    known = known_of(many, boosted, starter)
    seconds, candidates = seconds_by_rows(known), candidates_of(known)
    usual, *others, endless = (
        first_configurations(boosted, known, candidates, time) for time in (None, 0.0, 10.0, 100.0, 1e6)
    )
    slowest = [max(seconds(one, 20_000) for one in found.members) for found in others]
    assert slowest == sorted(slowest)
    assert slowest[0] < 1.0 < slowest[-1]
    assert endless == usual


def test_seeds_are_the_first_model_and_defaults_its_fallbacks(dataset: Dataset, world: Warehouse) -> None:
    found, _ = firsts(dataset, replace(QUICK, seeds=(OWN,)), world)
    assert found == Firsts([OWN], DEFAULTS)


def test_a_search_without_a_meta_learner_begins_with_a_default(dataset: Dataset, world: Warehouse) -> None:
    found, _ = firsts(dataset, COLD, world)
    assert found == Firsts(DEFAULTS[:1], DEFAULTS[1:])


def test_without_timed_runs_the_times_of_fits_are_unknown(dataset: Dataset, world: Warehouse) -> None:
    """Then the first model is the same as without a time limit."""
    assert firsts(dataset, QUICK, world, seconds=1e-6)[0] == firsts(dataset, QUICK, world)[0]
    assert np.isnan(seconds_by_rows(None)(OWN, 160))
    known = known_of(dataset, QUICK, world)
    assert known is not None
    assert np.isnan(seconds_by_rows(replace(known, fit_times=None))(OWN, 160))


# ---- the first trials ----------------------------------------------------------------------------


def test_by_default_a_search_begins_quickly_and_counts_time(dataset: Dataset) -> None:
    """The starter's runs have times."""
    starter, usual_search = Warehouse.open(STARTER), replace(QUICK, surrogate="gp")
    usual = first(dataset, usual_search, starter, 6)
    quick = first(dataset, replace(usual_search, start="quick", acquisition="ei-per-second"), starter, 6)
    assert usual == quick
    top = first(dataset, replace(usual_search, start="top"), starter, 3)
    assert {one for _, one in top} <= {one for _, one in usual[:4]}


def test_without_timed_runs_time_does_not_count(dataset: Dataset, world: Warehouse) -> None:
    usual = replace(QUICK, surrogate="gp")
    plain = replace(usual, start="top", acquisition="ei")
    assert first(dataset, usual, world, 6) == first(dataset, plain, world, 6)
    with pytest.raises(TooFewRuns, match="needs running times, and the warehouse has none"):
        begun(dataset, replace(usual, acquisition="ei-per-second"), world)


def test_no_start_has_an_expected_time_above_the_limit_unless_all_have(dataset: Dataset) -> None:
    starter = Warehouse.open(STARTER)
    known = known_of(dataset, QUICK, starter)
    assert known is not None
    candidates = find_candidates(known)
    assert known.fit_times is not None
    expected = 2 * PREDICTING * known.fit_times.seconds(candidates.table, rows=80)
    seconds = dict(zip(candidates.configurations, expected, strict=True))

    def starts(limit: float) -> list[Configuration]:
        search = replace(QUICK, start="top", trial_seconds=limit)
        return [one for origin, one in first(dataset, search, starter) if origin == "start"]

    unhurried = starts(3600)
    limit = 0.99 * max(seconds[one] for one in unhurried)
    assert len(starts(limit)) == len(unhurried)
    assert max(seconds[one] for one in starts(limit)) < limit
    assert starts(min(seconds.values()) / 2) == unhurried


def test_members_of_the_first_model_are_tried_first_then_seeds_and_starts(
    dataset: Dataset, world: Warehouse
) -> None:
    usual = first(dataset, QUICK, world)
    assert first(dataset, replace(QUICK, seeds=(OWN,)), world) == [("start", OWN), *usual[:3]]
    known = known_of(dataset, QUICK, world)
    optimizer, candidates = new_search(
        task_of(dataset, QUICK, world), known, candidates_of(known), QUICK, Resampling(2), [OWN], Budget()
    )
    asked = optimizer.ask()
    assert asked is not None
    assert candidates.configuration_of(asked.candidate) == OWN


@pytest.mark.parametrize("start", ["none", "file"])
def test_a_search_without_a_meta_learner_begins_at_random(
    dataset: Dataset, world: Warehouse, start: str
) -> None:
    assert [origin for origin, _ in first(dataset, replace(QUICK, start=start), world)] == ["random"] * 4
    assert task_of(dataset, replace(QUICK, start=start), world).learner is None


@pytest.mark.parametrize(
    ("search", "learner"),
    [
        (replace(QUICK, surrogate="blend", start="none"), "functional-pca"),
        (replace(QUICK, surrogate="pmf"), "pmf"),
        (replace(QUICK, start="portfolio"), "portfolio"),
        (replace(QUICK, start="top@lightgbm"), "lightgbm"),
        (replace(QUICK, metalearner="knn"), "knn"),
        (replace(COLD, metalearner="knn"), None),
    ],
)
def test_the_learners_of_surrogate_and_start(
    dataset: Dataset, world: Warehouse, search: Search, learner: str | None
) -> None:
    """Another meta-learner replaces the usual one, and none is trained if none is needed."""
    assert task_of(dataset, search, world).learner == learner


@pytest.mark.parametrize(
    ("budget", "seconds", "planned"),
    [
        (Budget(trials=7, seconds=60), [1.0], 7),
        (Budget(seconds=60), [1.0, 2.0, 300.0, np.nan], 30),
        (Budget(seconds=1), [2.0], 1),
        (Budget(seconds=60), [np.nan], None),
        (Budget(), [1.0], None),
    ],
)
def test_the_planned_trials_are_those_of_usual_length_that_fit_into_the_time(
    budget: Budget, seconds: list[float], planned: int | None
) -> None:
    table = ConfigurationTable(pd.Series(dtype=object), pd.DataFrame(), joint=True)
    assert planned_trials(budget, lambda _: np.array(seconds), table) == planned
