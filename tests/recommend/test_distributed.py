"""Jobs on Dask workers: the results of this machine even if a worker dies, and plain errors.

All share one cluster, whose processes take seconds to start and to import what a job needs.
"""

from __future__ import annotations

import json
import os
import signal
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

import dask
import pandas as pd
import pytest
from distributed import Client, LocalCluster

from ingest.reading.dataset_files import find_datasets
from ingest.reading.datasets import load_dataset
from ingest.running.experiments import run_experiments
from ingest.running.plan import design_plan
from metalearners.evaluation.protocol import evaluate
from recommend.bo.tuning import Budget, tune
from tests.contracts.meta_learner import toy_metafeatures, toy_runs
from tests.recommend.bo.simulation.test_runner import TWO, searched
from tests.recommend.bo.tuning.searches import QUICK, configurations, values
from tests.recommend.conftest import numbers
from warehouse.store import Warehouse
from warehouse.support.errors import BadInput, Failed
from warehouse.support.journal import Journal
from warehouse.support.parallel import dask_workers, side_by_side

RUNS = """
    SELECT e.run, e.measure, e.value, r.outcome
    FROM evaluations e JOIN runs r USING (run)
    WHERE e.measure IN ('predictive_accuracy', 'area_under_roc_curve', 'average_cost', 'log_loss')
    ORDER BY ALL
"""


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    """Two workers, which may start their own processes, as trials do; on a busy machine with patience."""
    options = {
        "distributed.worker.daemon": False,
        "distributed.comm.timeouts.connect": "300 s",
        "distributed.scheduler.allowed-failures": 1,  # of a job that ends its worker
    }
    with (
        dask.config.set(options),
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        yield client


class Progress(Protocol):
    @property
    def done(self) -> int: ...


class KillABusyWorker:
    """A `report` that kills one busy worker of a cluster once enough is done."""

    def __init__(self, client: Client, after: int) -> None:
        self.killed: str | None = None
        """Address of the worker."""
        self._client = client
        self._after = after
        self._process_of = client.run(os.getpid)

    def __call__(self, progress: Progress) -> None:
        """Check the progress, and kill."""
        busy = [worker for worker, tasks in self._client.processing().items() if tasks]
        if progress.done >= self._after and busy and self.killed is None:
            self.killed = busy[0]
            os.kill(self._process_of[self.killed], signal.SIGKILL)


def test_leaving_one_dataset_out_gives_the_same_figures_as_on_this_machine(client: Client) -> None:
    runs, metafeatures, fast = toy_runs(n_datasets=4), toy_metafeatures(4), {"trees": 20, "leaves": 4}
    here = evaluate(runs, metafeatures, "lightgbm", fast)
    executor = client.get_executor()
    assert evaluate(runs, metafeatures, "lightgbm", fast, jobs=2, executor=executor) == here


def test_simulated_searches_are_the_same_as_on_this_machine_which_stores_them(
    client: Client, tmp_path: Path
) -> None:
    methods, journal = ("random", "forest+nearest-3"), Journal(tmp_path / "journal.jsonl")
    here = searched(*methods)
    assert searched(*methods, jobs=2, executor=client.get_executor(), journal=journal) == here
    assert {record["dataset"] for record in journal.records()} == set(TWO)
    assert searched(*methods, journal=journal) == here


def test_experiments_make_the_same_runs_as_on_this_machine_even_if_a_worker_is_killed(
    client: Client, tmp_path: Path
) -> None:
    for rows in (60, 90):
        numbers(rows).to_csv(tmp_path / f"rows-{rows}.csv", index=False)
    plan = design_plan(find_datasets(tmp_path), ("decision_tree", "naive_bayes"), 1)
    kill_a_worker = KillABusyWorker(client, after=3)
    here, there = (Warehouse.create(tmp_path / place) for place in ("here", "there"))
    counts = run_experiments(there, plan, jobs=2, executor=client.get_executor(), report=kill_a_worker)
    assert kill_a_worker.killed
    assert counts["success"] == 8
    assert run_experiments(here, plan) == counts
    pd.testing.assert_frame_equal(there.sql(RUNS), here.sql(RUNS))


def test_a_search_is_the_same_as_on_this_machine(client: Client, small_world: Path, tmp_path: Path) -> None:
    dataset, world = load_dataset(numbers(200, seed=5)), Warehouse.open(small_world)
    here, there = (
        tune(dataset, QUICK, Budget(4), folder=tmp_path / place, warehouse=world, executor=executor)
        for place, executor in (("here", None), ("there", client.get_executor()))
    )
    assert configurations(there) == configurations(here)
    assert values(there) == values(here)
    assert there.weights == here.weights


def test_a_trial_whose_worker_is_killed_is_run_again_and_nothing_is_lost(
    client: Client, small_world: Path, tmp_path: Path
) -> None:
    kill_a_worker = KillABusyWorker(client, after=2)
    tuned = tune(
        load_dataset(numbers(200, seed=5)),
        QUICK,
        Budget(trials=5),
        folder=tmp_path,
        warehouse=Warehouse.open(small_world),
        jobs=2,
        executor=client.get_executor(),
        report=kill_a_worker,
    )
    assert kill_a_worker.killed
    assert [entry.number for entry in tuned.trials] == list(range(5))
    assert all(entry.evaluation is not None and entry.evaluation.measures for entry in tuned.trials)
    records = [json.loads(line) for line in (tmp_path / "history.jsonl").read_text().split("\n") if line]
    first = Counter(record["ended"] for record in records if record.get("repetition") == 0)
    assert first == Counter(range(5))


def refuse(name: str) -> str:
    raise BadInput(f"{name} cannot be used")


def test_an_error_on_a_worker_is_raised_unchanged_to_the_caller(client: Client) -> None:
    with pytest.raises(BadInput, match=r"^iris cannot be used$"):
        list(side_by_side(refuse, ["iris", "wine"], 1, client.get_executor()))


def die(_: str) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def test_work_that_kills_each_worker_is_given_up(client: Client) -> None:
    address = client.scheduler_info()["address"]
    with (
        pytest.raises(Failed, match=r"^gave up: the same job ended one worker of tcp://.* after another$"),
        dask_workers(address) as executor,
    ):
        list(side_by_side(die, ["a"], 1, executor))


def test_a_lost_scheduler_ends_the_work() -> None:
    with LocalCluster(n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None) as cluster:
        address = cluster.scheduler_address
        with pytest.raises(Failed, match=r"lost the Dask scheduler"), dask_workers(address) as executor:
            results = side_by_side(abs, range(9), 1, executor)
            assert next(results) == 0
            cluster.close()
            list(results)


def test_work_after_the_loss_of_the_scheduler_is_refused() -> None:
    with LocalCluster(n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None) as cluster:
        address = cluster.scheduler_address
        with pytest.raises(Failed, match=r"lost the Dask scheduler"), dask_workers(address) as executor:
            assert executor is not None
            cluster.close()
            for number in range(100):
                executor.submit(abs, number).result(timeout=60)


def test_an_address_without_an_answer_is_refused() -> None:
    refused = pytest.raises(Failed, match=r"^no Dask scheduler answers at not-an-address")
    with refused, dask_workers("not-an-address"):
        pass
