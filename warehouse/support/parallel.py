"""Execution in several processes, on several machines, or in one thread."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, CancelledError, Executor, Future, wait
from contextlib import contextmanager
from contextvars import ContextVar
from importlib import import_module
from itertools import islice
from typing import Any, TypeVar

from warehouse.support.errors import Failed, MissingPackage

Thing = TypeVar("Thing")
Result = TypeVar("Result")


def side_by_side(
    function: Callable[[Thing], Result], things: Sequence[Thing], jobs: int, executor: Executor | None = None
) -> Iterator[Result]:
    """Results of `function` for each of `things`, in order of completion, `jobs` at a time.

    Args:
        executor: runs them; None = processes on this machine.
    """
    if executor is not None:
        yield from _on_executor(executor, function, things, jobs)
        return
    if jobs == 1:
        yield from map(function, things)
        return
    from joblib import Parallel, delayed

    yield from Parallel(n_jobs=jobs, return_as="generator_unordered")(
        delayed(function)(thing) for thing in things
    )


def _on_executor(
    executor: Executor, function: Callable[[Thing], Result], things: Sequence[Thing], jobs: int
) -> Iterator[Result]:
    left = iter(things)
    waiting = {executor.submit(function, thing) for thing in islice(left, jobs)}
    try:
        while waiting:
            done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
            waiting |= {executor.submit(function, thing) for thing in islice(left, len(done))}
            for future in done:
                yield future.result()
    finally:
        for future in waiting:
            future.cancel()


@contextmanager
def dask_workers(address: str | None) -> Iterator[Executor | None]:
    """An executor on the workers of a Dask cluster; if a worker dies, its work is repeated on another one.

    Args:
        address: of the scheduler, such as `tcp://host:8786`; None = no cluster, and no executor.

    Raises:
        MissingPackage: `distributed` is not installed.
        Failed: no scheduler answers, the scheduler was lost, or work was given up because one worker after
            the other died.
    """
    if address is None:
        yield None
        return
    try:
        distributed: Any = import_module("distributed")
    except ImportError as error:
        raise MissingPackage("--dask needs the package distributed: pip install distributed") from error
    try:
        client = distributed.Client(address)
    except (OSError, ValueError) as error:
        raise Failed(f"no Dask scheduler answers at {address}: {error}") from error
    with client:
        try:
            yield _DaskWorkers(client)
        except distributed.KilledWorker as error:
            raise Failed(f"gave up: the same job ended one worker of {address} after another") from error
        except CancelledError as error:
            raise Failed(f"lost the Dask scheduler at {address}") from error


class _DaskWorkers(Executor):
    """The workers of a Dask client; refuses work once the scheduler is lost.

    The client would take such work, but might never end it: it only cancels what it has at that moment.
    """

    def __init__(self, client: Any) -> None:
        self._client, self._workers = client, client.get_executor()

    def submit(self, function: Callable[..., Result], /, *args: Any, **kwargs: Any) -> Future[Result]:
        """Submit as `Executor.submit` does.

        Raises:
            CancelledError: the scheduler is lost.
        """
        if self._client.status == "running":
            future: Future[Result] = self._workers.submit(function, *args, **kwargs)
            if self._client.status == "running":
                return future
        raise CancelledError


_is_limited = ContextVar("_is_limited", default=False)


@contextmanager
def one_thread() -> Iterator[None]:
    """Run many operations on small matrices in one thread, as several would wait for one another."""
    if _is_limited.get():  # searching for the libraries takes milliseconds
        yield
        return
    from threadpoolctl import threadpool_limits

    token = _is_limited.set(True)
    try:
        with threadpool_limits(1):
            yield
    finally:
        _is_limited.reset(token)
