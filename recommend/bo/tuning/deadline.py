"""Deadline of a search, and the time limit of its trials."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from warehouse.support.text import LONGEST_SECONDS

USUAL_LIMIT = 60.0
"""Time limit of a trial if the search has none, in seconds."""
LARGEST_SHARE = 0.25
"""Largest share of a search's time for one trial; a heuristic, like the next."""
LEAST_LIMIT = 2.0
"""Least time limit of a trial in seconds: on a busy machine it takes long to begin."""
FIRST_SHARE = 0.2
"""Largest expected share of the time left for the first fit."""


@dataclass(frozen=True)
class Deadline:
    """The end of a search."""

    seconds: float | None
    """None = no limit."""
    began: float | None = None
    """Start of the time, by the clock; None = now."""
    clock: Callable[[], float] = field(default=time.monotonic, repr=False)

    def __post_init__(self) -> None:
        if self.began is None:
            object.__setattr__(self, "began", self.clock())

    def elapsed(self) -> float:
        """Seconds since the start."""
        assert self.began is not None
        return self.clock() - self.began

    def left(self) -> float:
        """Seconds until the end, 0 or more; without a limit, more than any fit may take."""
        return LONGEST_SECONDS if self.seconds is None else max(self.seconds - self.elapsed(), 0.0)


def trial_limit(wanted: float | None, seconds: float | None) -> float:
    """Time limit of a trial in seconds.

    Args:
        wanted: the user's limit; None = none given.
        seconds: of the whole search; None = no limit.
    """
    if wanted is not None:
        return wanted
    return USUAL_LIMIT if seconds is None else max(LARGEST_SHARE * seconds, LEAST_LIMIT)
