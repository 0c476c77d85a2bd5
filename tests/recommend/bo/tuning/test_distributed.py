"""Trials on Dask workers: the same search, and a worker that dies."""

import json
from collections import Counter
from pathlib import Path

import pytest
from distributed import Client

from ingest.reading.datasets import Dataset, load_dataset
from recommend.bo.tuning import Budget, tune
from tests.dask_workers import KillABusyWorker
from tests.recommend.bo.tuning.searches import QUICK, configurations, values
from tests.recommend.conftest import numbers
from warehouse.store import Warehouse


@pytest.fixture(scope="module")
def dataset() -> Dataset:
    return load_dataset(numbers(200, seed=5))


def test_workers_give_the_same_results_as_this_machine(
    dask_client: Client, dataset: Dataset, small_world: Path, tmp_path: Path
) -> None:
    world = Warehouse.open(small_world)
    here = tune(dataset, QUICK, Budget(trials=4), folder=tmp_path / "here", warehouse=world)
    there = tune(
        dataset,
        QUICK,
        Budget(trials=4),
        folder=tmp_path / "there",
        warehouse=world,
        executor=dask_client.get_executor(),
    )
    assert configurations(there) == configurations(here)
    assert values(there) == values(here)
    assert there.weights == here.weights


def test_a_trial_whose_worker_is_killed_is_run_again_and_nothing_is_lost(
    dask_client: Client, dataset: Dataset, small_world: Path, tmp_path: Path
) -> None:
    kill_a_worker = KillABusyWorker(dask_client, after=4)
    tuned = tune(
        dataset,
        QUICK,
        Budget(trials=8),
        folder=tmp_path,
        warehouse=Warehouse.open(small_world),
        jobs=2,
        executor=dask_client.get_executor(),
        report=kill_a_worker,
    )
    assert kill_a_worker.killed
    assert [entry.number for entry in tuned.trials] == list(range(8))
    assert all(entry.evaluation is not None and entry.evaluation.measures for entry in tuned.trials)
    records = [json.loads(line) for line in (tmp_path / "history.jsonl").read_text().split("\n") if line]
    assert Counter(record["ended"] for record in records if record.get("repetition") == 0) == Counter(
        range(8)
    )
