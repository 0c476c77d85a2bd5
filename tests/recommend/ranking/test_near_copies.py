"""Near copies of the user's table are left out of training, and named."""

from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from ingest.reading.datasets import load_dataset
from recommend.ranking.task import describe_task, near_copies_in
from recommend.recommender import recommend as rank
from recommend.reporting.terminal import in_words
from tests.recommend.conftest import copy_of, numbers
from warehouse.store import STARTER, Warehouse
from warehouse.support.errors import BadInput

CHANGES: dict[str, Callable[[pd.DataFrame], pd.DataFrame]] = {
    "less a row": lambda frame: frame.iloc[1:],
    "ten rows more": lambda frame: pd.concat([frame, numbers(10, 99)]),
    "renamed": lambda frame: frame.iloc[1:].rename(columns={"x": "length", "z": "width"}),
}


@pytest.mark.parametrize("change", CHANGES)
def test_runs_on_a_near_copy_are_neither_training_data_nor_trials(small_world: Path, change: str) -> None:
    dataset = load_dataset(CHANGES[change](numbers(800, seed=6)))
    result = rank(dataset, warehouse=Warehouse.open(small_world), leave_out=False)
    assert (result.left_out, result.near_copies, result.trials) == (["world800"], ["world800"], 0)
    assert result.model.datasets == 7
    assert all(item.on_dataset is None for item in result.configurations)
    assert "world800" not in dict(result.nearest)
    words = in_words(result, is_default_measure=True, details=False)
    assert "Near copies of it in the warehouse were left out of the model: world800." in words


def test_the_family_of_a_near_copy_is_left_out(small_world: Path, tmp_path: Path) -> None:
    warehouse = copy_of(small_world, tmp_path / "families")
    datasets = warehouse.sql("SELECT * EXCLUDE ingest FROM datasets")
    datasets.loc[datasets["name"].isin(["world700", "world800"]), "family"] = "worlds"
    warehouse.write({"datasets": datasets}, source="test")
    task = describe_task(load_dataset(numbers(800, seed=6).iloc[1:]), warehouse=warehouse)
    assert sorted(task.left_out.values()) == ["world700", "world800"]
    assert task.same == frozenset()


def test_a_warehouse_without_sketches_uses_those_of_the_starter(
    small_world: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For example, a warehouse that began as a copy of an earlier starter."""
    world = Warehouse.open(small_world)
    older = Warehouse.create(tmp_path / "older")
    older.write({"datasets": world.sql("SELECT * EXCLUDE ingest FROM datasets")}, source="test")
    dataset = load_dataset(numbers(800, seed=6).iloc[1:])
    assert near_copies_in(older, dataset) == []
    monkeypatch.setattr("recommend.ranking.task.STARTER", small_world)
    assert [key.split("-")[0] for key in near_copies_in(older, dataset)] == ["local:world800"]


def test_a_damaged_sketch_is_refused_in_one_line(small_world: Path, tmp_path: Path) -> None:
    warehouse = copy_of(small_world, tmp_path / "damaged")
    sketches = warehouse.sql("SELECT * EXCLUDE ingest FROM sketches").assign(cells="?")
    warehouse.write({"sketches": sketches}, source="test")
    with pytest.raises(BadInput, match="has a damaged sketch of a dataset"):
        describe_task(load_dataset(numbers(800, seed=6)), warehouse=warehouse)


@pytest.mark.parametrize("rows", [slice(1, None), slice(None, None, 2)])
def test_a_part_of_a_bundled_dataset_is_recognized(rows: slice) -> None:
    wine = load_dataset("sklearn:wine")
    frame = pd.concat([wine.features, wine.target], axis=1).iloc[rows]
    found = near_copies_in(Warehouse.open(STARTER), load_dataset(frame, target=wine.target.name))
    assert [key.split("-")[0] for key in found] == ["local:wine"]
