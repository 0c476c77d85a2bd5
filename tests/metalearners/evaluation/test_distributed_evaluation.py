"""Leave-one-dataset-out on Dask workers: the same figures, and plain errors."""

import os
import signal

import pytest
from distributed import Client, LocalCluster

from metalearners.evaluation.protocol import evaluate
from tests.contracts.meta_learner import toy_metafeatures, toy_runs
from warehouse.support.errors import BadInput, Failed
from warehouse.support.parallel import dask_workers, side_by_side

FAST = {"trees": 20, "leaves": 4}


def test_workers_give_the_same_figures_as_this_machine(dask_client: Client) -> None:
    runs, metafeatures = toy_runs(n_datasets=4), toy_metafeatures(4)
    here = evaluate(runs, metafeatures, "lightgbm", FAST)
    executor = dask_client.get_executor()
    assert evaluate(runs, metafeatures, "lightgbm", FAST, jobs=2, executor=executor) == here


def refuse(name: str) -> str:
    raise BadInput(f"{name} cannot be used")


def test_an_error_on_a_worker_is_raised_unchanged_to_the_caller(dask_client: Client) -> None:
    with pytest.raises(BadInput, match=r"^iris cannot be used$"):
        list(side_by_side(refuse, ["iris", "wine"], 1, dask_client.get_executor()))


def die(_: str) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def test_work_that_kills_each_worker_is_given_up(dask_client: Client) -> None:
    address = dask_client.scheduler_info()["address"]
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


def test_an_address_without_an_answer_is_refused() -> None:
    refused = pytest.raises(Failed, match=r"^no Dask scheduler answers at not-an-address")
    with refused, dask_workers("not-an-address"):
        pass
