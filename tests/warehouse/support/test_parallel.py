"""Parallel work: every result once, as soon as it is there, and errors unchanged."""

import os
import threading
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from joblib import parallel_config
from threadpoolctl import threadpool_info, threadpool_limits

from warehouse.support.errors import BadInput
from warehouse.support.parallel import one_thread, side_by_side


@pytest.fixture
def threads() -> Iterator[None]:
    """Use threads instead of processes: they start at once, and the test can hold them back."""
    with parallel_config("threading"):
        yield


@pytest.mark.usefixtures("threads")
@pytest.mark.parametrize("jobs", [1, 2, 5])
def test_every_item_has_one_result_whatever_the_number_of_workers(jobs: int) -> None:
    assert sorted(side_by_side(lambda number: number**2, range(7), jobs)) == [0, 1, 4, 9, 16, 25, 36]
    assert list(side_by_side(lambda number: number**2, [], jobs)) == []


@pytest.mark.usefixtures("threads")
def test_a_slow_item_does_not_hold_back_the_others() -> None:
    """The first does not end before the result of the second is received."""
    received = threading.Event()

    def work(name: str) -> str:
        if name == "slow":
            assert received.wait(timeout=300)
        return name

    results = side_by_side(work, ["slow", "quick"], jobs=2)
    assert next(results) == "quick"
    received.set()
    assert list(results) == ["slow"]


@pytest.mark.usefixtures("threads")
@pytest.mark.parametrize("jobs", [1, 2])
def test_an_error_is_raised_unchanged_to_the_caller(jobs: int) -> None:
    def refuse(name: str) -> str:
        raise BadInput(f"{name} cannot be used")

    with pytest.raises(BadInput, match=r"^iris cannot be used$"):
        list(side_by_side(refuse, ["iris"], jobs))


def test_several_jobs_are_several_processes() -> None:
    assert os.getpid() not in side_by_side(lambda _: os.getpid(), range(3), jobs=2)


def test_linear_algebra_has_one_thread_inside_the_block_only() -> None:
    def threads() -> list[int]:
        return [int(pool["num_threads"]) for pool in threadpool_info()]

    np.linalg.eigh(np.eye(2))  # loads the library
    with threadpool_limits(2):
        before = threads()
        assert 2 in before
        with one_thread():
            assert set(threads()) == {1}
        assert threads() == before


@pytest.mark.parametrize("jobs", [1, 3])
def test_an_executor_works_on_a_limited_number_at_a_time(jobs: int) -> None:
    submitted: list[Future[int]] = []

    class Counting(ThreadPoolExecutor):
        def submit(self, *call: Any, **keywords: Any) -> Future[Any]:
            assert sum(not future.done() for future in submitted) < jobs
            submitted.append(super().submit(*call, **keywords))
            return submitted[-1]

    with Counting(8) as executor:
        assert sorted(side_by_side(abs, range(9), jobs, executor)) == list(range(9))
    assert len(submitted) == 9
