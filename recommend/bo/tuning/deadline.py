"""Deadline of a search: the time left, and the share reserved for the steps after the trials."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from recommend.bo.tuning.settings import Finish, Search
from recommend.bo.tuning.trials import Trial, scored

_MARGIN = 1.2
"""Times as long as expected; set by hand, as the two below."""
_START = 0.5  # seconds that it takes to begin and end the processes of a step
_LARGEST_SHARE = 0.5  # of the time, that what comes after the trials may have


@dataclass(frozen=True)
class Deadline:
    """The end of the time that began when this was made."""

    seconds: float | None
    """None: there is no end."""
    clock: Callable[[], float] = time.monotonic
    _began: float = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_began", self.clock())

    def left(self) -> float:
        """Seconds until the end, 0 or more."""
        return np.inf if self.seconds is None else max(self.seconds - (self.clock() - self._began), 0.0)

    def share(self, wanted: float) -> float:
        """Seconds to reserve for the steps after the trials, given their expected seconds."""
        return wanted if self.seconds is None else min(wanted, _LARGEST_SHARE * self.seconds)


def finals_seconds(trials: Sequence[Trial], search: Search, finish: Finish, jobs: int) -> float:
    """Expected seconds of the steps after these trials; leaders take as long as their trials took."""
    leaders = _best_seconds(trials, search)[: finish.leaders if finish.leaders > 1 else 0]
    return _side_by_side(leaders, jobs) + held_out_seconds(trials, search, finish, jobs)


def held_out_seconds(trials: Sequence[Trial], search: Search, finish: Finish, jobs: int) -> float:
    """Expected seconds of scoring the first, the best and the members of an ensemble on the rows held out.

    That is a fit each on about as many rows as one of the trial's folds has.
    """
    fits = [seconds / max(search.folds - 1, 1) for seconds in _best_seconds(trials, search)]
    first = fits[:1] * 2  # of which the second stands for the first trial that succeeded
    return _side_by_side([*first, *fits[1 : finish.ensemble]], jobs)


def _best_seconds(trials: Sequence[Trial], search: Search) -> list[float]:
    """Seconds of the trials on all rows that succeeded, the best first."""
    ranked = sorted(scored(trials, search.measure), key=lambda pair: -pair[0])
    return [trial.evaluation.seconds for _, trial in ranked if trial.evaluation is not None]


def _side_by_side(seconds: Sequence[float], jobs: int) -> float:
    return _MARGIN * max(sum(seconds) / jobs, *seconds) + _START if seconds else 0.0
