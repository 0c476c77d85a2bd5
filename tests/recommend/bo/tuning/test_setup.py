"""What a search begins with: rows held out, starts, and the trials that its history knows."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from ingest.flows import FLOWS
from ingest.reading.datasets import Dataset, load_dataset
from recommend.bo.candidates import SpaceCandidates
from recommend.bo.optimizer import Optimizer
from recommend.bo.tuning import Search
from recommend.bo.tuning.setup import (
    HELD_OUT,
    new_search,
    resampling_of,
    split_rows,
    splits_of,
    task_of,
)
from recommend.ranking.candidates import find_candidates
from recommend.ranking.fit_cost import trial_seconds
from recommend.ranking.knowledge import gather
from tests.recommend.bo.tuning.searches import QUICK
from warehouse.store import STARTER, Warehouse
from warehouse.support.errors import TooFewRuns, UnusableDataset
from warehouse.vocabulary.configuration import Configuration

COLD = replace(QUICK, start="none")
"""Rests on no meta-learner."""


def begun(dataset: Dataset, search: Search, world: Warehouse) -> tuple[Optimizer, SpaceCandidates]:
    part = dataset.take(split_rows(dataset, search)[0])
    return new_search(task_of(dataset, part, search, world), search)


def first(dataset: Dataset, search: Search, world: Warehouse, n: int = 4) -> list[tuple[str, Configuration]]:
    """Origin and configuration of the first proposals."""
    optimizer, candidates = begun(dataset, search, world)
    asked = [optimizer.ask() for _ in range(n)]
    return [(one.origin, candidates.configuration_of(one.candidate)) for one in asked if one is not None]


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
    with pytest.raises(TooFewRuns, match="ei-per-second needs running times, and the warehouse has none"):
        begun(dataset, replace(usual, acquisition="ei-per-second"), world)


def test_no_start_is_expected_to_take_longer_than_a_trial_may_unless_all_are(dataset: Dataset) -> None:
    starter = Warehouse.open(STARTER)
    part = dataset.take(split_rows(dataset, QUICK)[0])
    known = gather(task_of(dataset, part, QUICK, starter))
    candidates = find_candidates(known)
    rows, _ = resampling_of(part, QUICK).sizes(len(part.features))
    expected = trial_seconds(
        known.fit_times, candidates.table, known.metafeatures, rows=rows, fits=QUICK.folds
    )
    seconds = dict(zip(candidates.configurations, expected, strict=True))

    def starts(trial_seconds: float) -> list[Configuration]:
        search = replace(QUICK, start="top", trial_seconds=trial_seconds)
        return [one for origin, one in first(dataset, search, starter) if origin == "start"]

    unhurried = starts(3600)
    limit = 0.99 * max(seconds[one] for one in unhurried)
    assert len(starts(limit)) == len(unhurried)
    assert max(seconds[one] for one in starts(limit)) < limit
    assert starts(min(seconds.values()) / 2) == unhurried


def test_of_each_class_one_row_in_four_is_held_out(dataset: Dataset) -> None:
    tuned_on, held_out = split_rows(dataset, QUICK)
    assert sorted([*tuned_on, *held_out]) == list(range(160))
    labels = dataset.target.astype(str)
    for label, rows in labels.groupby(labels).groups.items():
        assert (labels.iloc[held_out] == label).sum() == len(rows) // HELD_OUT


@pytest.mark.parametrize("folds", [1, 2])
def test_a_trial_on_a_share_is_fitted_on_fewer_rows_and_tested_on_the_same(
    dataset: Dataset, folds: int
) -> None:
    search = replace(QUICK, folds=folds)
    whole, ninth = splits_of(dataset, search), splits_of(dataset, search, share=1 / 9)
    labels = dataset.target.astype(str)
    for (train, test), (fewer, same) in zip(whole, ninth, strict=True):
        assert test.tolist() == same.tolist()
        assert {*fewer.tolist()} <= {*train.tolist()}
        assert len(fewer) == round(len(train) / 9)
        of_yes = [(labels.iloc[rows] == "yes").mean() for rows in (train, fewer)]
        assert of_yes[0] == pytest.approx(of_yes[1], abs=0.5 / len(fewer) + 1e-9)


def test_a_numeric_target_is_refused() -> None:
    numbers = load_dataset(pd.DataFrame({"x": np.arange(40.0), "target": np.arange(40.0) ** 2}))
    with pytest.raises(UnusableDataset, match=r"'target' is numeric .* regression is not supported yet"):
        split_rows(numbers, QUICK)


@pytest.mark.parametrize(("rows", "folds"), [(range(8), 10), (range(0, 8, 2), 2)])
def test_too_few_rows_for_the_folds_or_of_one_class_alone_are_refused(rows: range, folds: int) -> None:
    eight = load_dataset(pd.DataFrame({"x": np.arange(8.0), "class": ["a", "b"] * 4}), name="few")
    with pytest.raises(TooFewRuns, match=rf"few has too few rows \({len(rows)}\) for {folds} folds"):
        split_rows(eight.take(np.array(rows)), replace(QUICK, folds=folds))


@pytest.fixture(scope="module")
def usual(dataset: Dataset, world: Warehouse) -> list[tuple[str, Configuration]]:
    """The first proposals of a search without seeds."""
    return first(dataset, QUICK, world)


def test_seeds_come_before_what_the_learner_would_try(
    dataset: Dataset, world: Warehouse, usual: list[tuple[str, Configuration]]
) -> None:
    seed = Configuration("decision_tree", FLOWS["decision_tree"].default() | {"min_samples_leaf": 13})
    assert first(dataset, replace(QUICK, seeds=(seed,)), world) == [("start", seed), *usual[:3]]


@pytest.mark.parametrize("start", ["none", "file"])
def test_a_search_that_rests_on_nothing_begins_at_random(
    dataset: Dataset, world: Warehouse, start: str
) -> None:
    assert [origin for origin, _ in first(dataset, replace(QUICK, start=start), world)] == ["random"] * 4
    assert task_of(dataset, dataset, replace(QUICK, start=start), world).learner is None


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
    assert task_of(dataset, dataset, search, world).learner == learner
