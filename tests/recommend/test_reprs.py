"""Reprs of results: a few lines with names, values, and the next calls."""

import re
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from ingest import load_dataset
from recommend import Budget, Search, recommend, tune
from recommend.verification import Verification, VerifiedConfiguration
from tests.recommend.conftest import numbers, prices
from tests.recommend.verified import say
from warehouse import Warehouse
from warehouse.vocabulary.measures import measure_title

MOST = 1000
"""Characters."""


def test_a_recommendation_shows_its_ranking_and_the_next_calls(small_world: Path) -> None:
    dataset = load_dataset(numbers(900).assign(text="a " * 900), name="n" * 900, target="class")
    found = recommend(dataset, top=5, warehouse=Warehouse.open(small_world), explain=True)
    lines = repr(found).splitlines()
    assert re.match("Recommendation for n{60}: 5 of [0-9]+ configurations, the first to try:", lines[0])
    assert [line[:19] for line in lines[1:4]] == [f"  {rank}. Decision tree." for rank in (1, 2, 3)]
    assert all(" Expected" in line for line in lines[1:4])
    assert lines[4] == "  ... and 2 more"
    for name in re.findall(r"\.([a-z_]+)", lines[5]):
        assert hasattr(found, name)
    parts = [dataset, found.configurations[0], found.explanation, found.average, found.model]
    for part in [found, *parts, *found.ranges().values()]:
        assert len(repr(part)) < MOST


@pytest.mark.parametrize(
    ("table", "world", "flow"),
    [(numbers, "small_world", "decision_tree"), (prices, "world_of_numbers", "decision_tree_regressor")],
)
def test_a_search_shows_its_model_and_the_next_calls(
    table: Callable[[int], pd.DataFrame],
    world: str,
    flow: str,
    request: pytest.FixtureRequest,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    say(monkeypatch, lambda _: 0.8)
    warehouse = Warehouse.open(request.getfixturevalue(world))
    search = Search(flows=(flow,), surrogate="gbqr", folds=3)
    dataset = load_dataset(table(300), name="mine")
    found = tune(dataset, search, Budget(trials=4), warehouse=warehouse, folder=tmp_path / "history")
    first, *members, last = repr(found).splitlines()
    said = re.fullmatch("SearchResult for mine: 4 trials in .*; expected (.*) on new rows: (.*)", first)
    assert said is not None
    assert said[1] == measure_title(found.measure)
    assert float(said[2]) == pytest.approx(found.value, rel=1e-3)
    assert [float(member.split()[0]) for member in members[:3]] == [
        pytest.approx(weight, abs=0.005) for weight in [*found.weights.values()][:3]
    ]
    for name in re.findall(r"\.([a-z_]+)", last):
        assert hasattr(found, name)
    assert found.best is not None
    tried = VerifiedConfiguration(found.best, "its setup", recommended=1, is_default=False)
    verification = Verification(found, [tried], None)
    assert repr(verification).startswith("Verification of mine: 1 trial, the best: ")
    for part in (found, found.model, found.best, tried, verification):
        assert len(repr(part)) < MOST
