"""One function for many things, from several processes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
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
