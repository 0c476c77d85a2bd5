"""Deadline of a search, and the time that a trial may take within it."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from warehouse.support.text import LONGEST_SECONDS

USUAL_LIMIT = 60.0
"""Seconds that a trial may take where the search has no time limit."""
LARGEST_SHARE = 0.25
"""Share of a search's time that one trial may take; a heuristic, as the next."""
LEAST_LIMIT = 2.0
"""Seconds that a trial may take in any case: on a busy machine it takes long to begin."""
FIRST_SHARE = 0.2
"""Share of the time left that the first fit is expected to take at most."""


@dataclass(frozen=True)
class Deadline:
    """The end of a search."""

    seconds: float | None
    """None = there is no end."""
    began: float | None = None
    """When the time began, by the clock; None = now."""
    clock: Callable[[], float] = field(default=time.monotonic, repr=False)

    def __post_init__(self) -> None:
        if self.began is None:
            object.__setattr__(self, "began", self.clock())

    def elapsed(self) -> float:
        """Seconds since the time began."""
        assert self.began is not None
        return self.clock() - self.began

    def left(self, kept: float = 0.0) -> float:
        """Seconds until the end, 0 or more; without an end, more than any fit may take.

        Args:
            kept: seconds before the end that are kept for something else.
        """
        return LONGEST_SECONDS if self.seconds is None else max(self.seconds - self.elapsed() - kept, 0.0)


def trial_limit(wanted: float | None, seconds: float | None) -> float:
    """Seconds that a trial may take.

    Args:
        wanted: by the user; None = nothing is said.
        seconds: of the whole search; None = no limit.
    """
    if wanted is not None:
        return wanted
    return USUAL_LIMIT if seconds is None else max(LARGEST_SHARE * seconds, LEAST_LIMIT)
