"""Work in several processes, and work that is better done in one thread."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar

Thing = TypeVar("Thing")
Result = TypeVar("Result")


def side_by_side(function: Callable[[Thing], Result], things: Sequence[Thing], jobs: int) -> Iterator[Result]:
    """What `function` returns for each of `things`, as it comes, from so many processes."""
    if jobs == 1:
        yield from map(function, things)
        return
    from joblib import Parallel, delayed

    yield from Parallel(n_jobs=jobs, return_as="generator_unordered")(
        delayed(function)(thing) for thing in things
    )


@contextmanager
def one_thread() -> Iterator[None]:
    """A context for many operations on small matrices, whose threads would wait for one another."""
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1):
        yield
