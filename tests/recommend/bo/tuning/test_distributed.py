"""Trials on Dask workers: the same search, and a worker that dies."""

import json
import os
import signal
from collections import Counter
from pathlib import Path

import pytest
from distributed import Client

from ingest.reading.datasets import Dataset, load_dataset
from recommend.bo.tuning import Budget, Progress, Search, tune
from tests.recommend.conftest import numbers
from warehouse.store import Warehouse

QUICK = Search(flows=("decision_tree", "logistic_regression"), surrogate="gbqr", folds=2)


@pytest.fixture(scope="module")
def dataset() -> Dataset:
    return load_dataset(numbers(200, seed=5))


def test_workers_find_what_this_machine_finds(
    dask_client: Client, dataset: Dataset, small_world: Path, tmp_path: Path
) -> None:
    world = Warehouse.open(small_world)
    here = tune(dataset, QUICK, Budget(trials=5), folder=tmp_path / "here", warehouse=world)
    there = tune(
        dataset,
        QUICK,
        Budget(trials=5),
        folder=tmp_path / "there",
        warehouse=world,
        executor=dask_client.get_executor(),
    )
    assert [entry.configuration for entry in there.entries] == [entry.configuration for entry in here.entries]
    assert [there.value(entry) for entry in there.entries] == [here.value(entry) for entry in here.entries]


def test_a_trial_whose_worker_is_killed_is_run_again_and_nothing_is_lost(
    dask_client: Client, dataset: Dataset, small_world: Path, tmp_path: Path
) -> None:
    process_of = dask_client.run(os.getpid)
    killed: list[str] = []

    def kill_a_busy_worker(progress: Progress) -> None:
        busy = [worker for worker, tasks in dask_client.processing().items() if tasks]
        if progress.done >= 4 and busy and not killed:
            killed.append(busy[0])
            os.kill(process_of[busy[0]], signal.SIGKILL)

    tuned = tune(
        dataset,
        QUICK,
        Budget(trials=12),
        folder=tmp_path,
        warehouse=Warehouse.open(small_world),
        jobs=2,
        executor=dask_client.get_executor(),
        report=kill_a_busy_worker,
    )
    assert killed
    assert [entry.number for entry in tuned.entries] == list(range(12))
    assert all(entry.trial is not None and entry.trial.result for entry in tuned.entries)
    records = [json.loads(line) for line in (tmp_path / "history.jsonl").read_text().split("\n") if line]
    assert Counter(record["ended"] for record in records if "ended" in record) == Counter(range(12))
