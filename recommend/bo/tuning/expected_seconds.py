"""Expected times of a session's fits: from its own timed fits, else from runs on other datasets."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

import numpy as np

from recommend.ranking.fit_cost import time_for_use
from warehouse.vocabulary.configuration import Configuration

STARTING = 0.1
"""Seconds for starting and ending a process."""
STOPPED = 4.0
"""Expected time of a stopped fit, as a multiple of its limit."""
TIMED = 0.2
"""Least expected seconds of a fit used for measuring the speed of this machine."""
PACES = (0.1, 20.0)
"""Least and largest ratio of actual to expected times."""


@dataclass
class ExpectedSeconds:
    """Expected times of fits by number of rows, which improve as fits are timed."""

    known: Callable[[Configuration, int], float]
    """Expected seconds of one fit of a trial on a number of rows, on a machine like those of the known runs;
    NaN = unknown."""
    all_rows: int
    fewest_rows: int
    _paces: list[float] = field(default_factory=list, init=False)
    """Ratios of actual to expected times of fits and trials."""
    _timed: dict[Configuration, tuple[int, float]] = field(default_factory=dict, init=False)
    """Configuration -> rows and seconds of a fit of a trial."""

    def of_fit(self, one: Configuration, rows: int) -> float:
        """Expected seconds of one fit of a trial, from another fit or from other datasets; NaN = unknown.

        The growth of the time with the rows is known from other datasets, or else assumed to be proportional.
        (A boosted ensemble on 16 times the rows takes 2 to 6 times as long.)
        """
        expected = self.known(one, rows)
        if one not in self._timed:
            return expected * (float(np.median(self._paces)) if self._paces else 1.0)
        fitted_on, took = self._timed[one]
        before = self.known(one, fitted_on)
        return took * (expected / before if before > 0 else rows / fitted_on)

    def of_fits(self, several: Iterable[Configuration], rows: int | None = None) -> float:
        """Expected total seconds of fitting these for the model, each in its own process; unknown = 0.

        Args:
            rows: of each fit; None = all.
        """
        rows = self.all_rows if rows is None else rows
        seconds = [self.of_fit(one, rows) * time_for_use(one, rows) for one in several]
        return sum(one + STARTING for one in seconds if not math.isnan(one))

    def rows_within(self, seconds: float, one: Configuration, most: int | None = None) -> int | None:
        """Number of rows (all, a half, a quarter, ...) for which a fit is expected to take these seconds.

        None if even the fewest rows take longer.

        Args:
            most: upper limit of the rows, not below the fewest; None = all.
        """
        rows, most = self.all_rows, self.all_rows if most is None else most
        while rows > most or self.of_fits([one], rows) > seconds:
            if rows == self.fewest_rows:
                return None
            rows = max(rows // 2, self.fewest_rows)
        return rows

    def note_pace(self, one: Configuration, rows: int, seconds: float, fits: float = 1.0) -> None:
        """Learn this machine's speed from the seconds of fits on these rows, including their process."""
        expected = self.known(one, rows) * fits
        if expected > TIMED:
            self._paces.append(float(np.clip((seconds - STARTING) / expected, *PACES)))

    def note_fit(self, one: Configuration, rows: int, seconds: float) -> None:
        """Note the seconds of a fit for the model, including its process."""
        self._timed[one] = rows, max(seconds - STARTING, 0.0) / time_for_use(one, rows)

    def note_stopped(self, one: Configuration, rows: int, limit: float) -> None:
        """Note that a fit for the model was stopped after `limit` seconds."""
        self._timed[one] = rows, STOPPED * limit / time_for_use(one, rows)

    def note_fit_of_trial(self, one: Configuration, rows: int, seconds: float) -> None:
        """Note the seconds of one of a trial's fits, unless a fit on at least as many rows is known."""
        if rows > self._timed.get(one, (0, 0.0))[0]:
            self._timed[one] = rows, seconds
