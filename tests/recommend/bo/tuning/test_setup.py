"""What a search begins with: its first model, its first trials, and how long they take."""

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
"""Rests on no meta-learner."""
DEFAULTS = [Configuration(name, FLOWS[name].default()) for name in QUICK.flows]
OWN = Configuration("decision_tree", FLOWS["decision_tree"].default() | {"min_samples_leaf": 13})


def known_of(dataset: Dataset, search: Search, world: Warehouse) -> Knowledge | None:
    task = task_of(dataset, search, world)
    return None if task.learner is None else gather(task)


def candidates_of(known: Knowledge | None) -> Candidates | None:
    return None if known is None else find_candidates(known)


def begun(dataset: Dataset, search: Search, world: Warehouse) -> tuple[AskTell, SpaceCandidates]:
    known = known_of(dataset, search, world)
    return new_search(task_of(dataset, search, world), known, candidates_of(known), search, Resampling(2))


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


def test_the_first_model_is_what_recommend_would_average(dataset: Dataset) -> None:
    found, known = firsts(dataset, QUICK, Warehouse.open(STARTER))
    seconds = on_all_rows(known)
    assert len(found.members) == 3
    (fallback,) = found.fallbacks
    assert fallback.algorithm not in {one.algorithm for one in found.members}
    assert all(seconds(one) > 0 for one in found.members)


def test_the_less_time_there_is_the_quicker_is_the_first_model() -> None:
    """Where it is not that much worse than another one on fewer rows."""
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


def test_a_search_that_rests_on_nothing_begins_with_a_default(dataset: Dataset, world: Warehouse) -> None:
    found, _ = firsts(dataset, COLD, world)
    assert found == Firsts(DEFAULTS[:1], DEFAULTS[1:])


def test_where_no_run_says_how_long_it_took_nobody_knows_how_long_a_fit_takes(
    dataset: Dataset, world: Warehouse
) -> None:
    """Then the first model is what it would be without an end."""
    assert firsts(dataset, QUICK, world, seconds=1e-6)[0] == firsts(dataset, QUICK, world)[0]
    assert np.isnan(seconds_by_rows(None)(OWN, 160))
    known = known_of(dataset, QUICK, world)
    assert known is not None
    assert np.isnan(seconds_by_rows(replace(known, fit_times=None))(OWN, 160))


# ---- the first trials ----------------------------------------------------------------------------


def test_without_other_wishes_a_search_begins_quickly_and_minds_the_time(dataset: Dataset) -> None:
    """The starter's runs say how long they took."""
    starter, usual_search = Warehouse.open(STARTER), replace(QUICK, surrogate="gp")
    usual = first(dataset, usual_search, starter, 6)
    quick = first(dataset, replace(usual_search, start="quick", acquisition="ei-per-second"), starter, 6)
    assert usual == quick
    top = first(dataset, replace(usual_search, start="top"), starter, 3)
    assert {one for _, one in top} <= {one for _, one in usual[:4]}


def test_where_no_run_says_how_long_it_took_time_does_not_matter(dataset: Dataset, world: Warehouse) -> None:
    usual = replace(QUICK, surrogate="gp")
    plain = replace(usual, start="top", acquisition="ei")
    assert first(dataset, usual, world, 6) == first(dataset, plain, world, 6)
    with pytest.raises(TooFewRuns, match="needs running times, and the warehouse has none"):
        begun(dataset, replace(usual, acquisition="ei-per-second"), world)


def test_no_start_is_expected_to_take_longer_than_a_trial_may_unless_all_are(dataset: Dataset) -> None:
    starter = Warehouse.open(STARTER)
    known = known_of(dataset, QUICK, starter)
    assert known is not None
    candidates = find_candidates(known)
    assert known.fit_times is not None
    expected = 2 * PREDICTING * known.fit_times.seconds(candidates.table, known.metafeatures, rows=80)
    seconds = dict(zip(candidates.configurations, expected, strict=True))

    def starts(limit: float) -> list[Configuration]:
        search = replace(QUICK, start="top", trial_seconds=limit)
        return [one for origin, one in first(dataset, search, starter) if origin == "start"]

    unhurried = starts(3600)
    limit = 0.99 * max(seconds[one] for one in unhurried)
    assert len(starts(limit)) == len(unhurried)
    assert max(seconds[one] for one in starts(limit)) < limit
    assert starts(min(seconds.values()) / 2) == unhurried


def test_what_the_first_model_averages_is_tried_first_then_seeds_and_starts(
    dataset: Dataset, world: Warehouse
) -> None:
    usual = first(dataset, QUICK, world)
    assert first(dataset, replace(QUICK, seeds=(OWN,)), world) == [("start", OWN), *usual[:3]]
    known = known_of(dataset, QUICK, world)
    optimizer, candidates = new_search(
        task_of(dataset, QUICK, world), known, candidates_of(known), QUICK, Resampling(2), [OWN]
    )
    asked = optimizer.ask()
    assert asked is not None
    assert candidates.configuration_of(asked.candidate) == OWN


@pytest.mark.parametrize("start", ["none", "file"])
def test_a_search_that_rests_on_nothing_begins_at_random(
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
def test_what_surrogate_and_start_rest_on(
    dataset: Dataset, world: Warehouse, search: Search, learner: str | None
) -> None:
    """Another meta-learner takes the place of the usual one, and where none is needed none is learned."""
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
def test_a_time_is_for_as_many_trials_as_usual_ones_fit_into_it(
    budget: Budget, seconds: list[float], planned: int | None
) -> None:
    table = ConfigurationTable(pd.Series(dtype=object), pd.DataFrame(), joint=True)
    assert planned_trials(budget, lambda _: np.array(seconds), table) == planned
