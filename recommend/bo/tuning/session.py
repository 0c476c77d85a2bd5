"""The resources of evaluations that follow the trials of a search."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from recommend.bo.tuning.settings import Search


@dataclass(frozen=True)
class Session:
    """A search with the jobs and the time for its fits."""

    search: Search
    jobs: int = 1
    """Number of fits in parallel."""
    left: Callable[[], float] = lambda: math.inf
    """Returns the seconds left. What does not fit into them is not evaluated."""
