"""Expected times of the fits of a session: by the fits that it has timed, else by runs on other datasets."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

import numpy as np

from warehouse.vocabulary.configuration import Configuration

STARTING = 0.1
"""Seconds that it takes to begin and end a process."""
STOPPED = 4.0
"""Times as long as its limit that a fit is expected to take which was stopped by it."""
TIMED = 0.2
"""Expected seconds from which on a fit tells how fast this machine is."""
PACES = (0.1, 20.0)
"""Least and largest factor between times that were taken and expected."""


@dataclass
class ExpectedSeconds:
    """Expected times of fits on numbers of rows, which become better as fits are timed."""

    known: Callable[[Configuration, int], float]
    """Expected seconds of one fit on a number of rows, on a machine like those of the known runs; NaN =
    unknown."""
    all_rows: int
    fewest_rows: int
    _paces: list[float] = field(default_factory=list, init=False)
    """Times that fits and trials took, as multiples of those expected."""
    _timed: dict[Configuration, tuple[int, float]] = field(default_factory=dict, init=False)
    """Configuration -> rows of a fit, and the seconds that it took."""

    def of_fit(self, one: Configuration, rows: int) -> float:
        """Expected seconds of one fit: by what another one of it took, else by other datasets; NaN = unknown.

        How the time grows with the rows is known from other datasets, else it is in proportion. (A boosted
        ensemble on 16 times the rows takes 2 to 6 times as long.)
        """
        expected = self.known(one, rows)
        if one not in self._timed:
            return expected * (float(np.median(self._paces)) if self._paces else 1.0)
        fitted_on, took = self._timed[one]
        before = self.known(one, fitted_on)
        return took * (expected / before if before > 0 else rows / fitted_on)

    def of_fits(self, several: Iterable[Configuration], rows: int | None = None) -> float:
        """Expected seconds of fits of these in processes of their own; what is unknown counts nothing.

        Args:
            rows: that each is fitted on; None = all.
        """
        seconds = [self.of_fit(one, self.all_rows if rows is None else rows) for one in several]
        return sum(one + STARTING for one in seconds if not math.isnan(one))

    def rows_within(self, seconds: float, one: Configuration, most: int | None = None) -> int | None:
        """All rows, or the half of them, a quarter, ..., on which a fit is expected to take these seconds.

        None where even the fewest take longer.

        Args:
            most: rows of the fit at most, as many as the fewest or more; None = all.
        """
        rows, most = self.all_rows, self.all_rows if most is None else most
        while rows > most or self.of_fits([one], rows) > seconds:
            if rows == self.fewest_rows:
                return None
            rows = max(rows // 2, self.fewest_rows)
        return rows

    def note_pace(self, one: Configuration, rows: int, seconds: float, fits: float = 1.0) -> None:
        """Learn this machine's speed from the seconds of fits on these rows, their process included."""
        expected = self.known(one, rows) * fits
        if expected > TIMED:
            self._paces.append(float(np.clip((seconds - STARTING) / expected, *PACES)))

    def note_fit(self, one: Configuration, rows: int, seconds: float) -> None:
        """Take a fit into account that took these seconds, its process included."""
        self._timed[one] = rows, max(seconds - STARTING, 0.0)

    def note_stopped(self, one: Configuration, rows: int, limit: float) -> None:
        """Take a fit into account that was stopped after `limit` seconds."""
        self._timed[one] = rows, STOPPED * limit

    def note_fit_of_trial(self, one: Configuration, rows: int, seconds: float) -> None:
        """Take the seconds of one of a trial's fits into account, if none on as many rows is known."""
        if rows > self._timed.get(one, (0, 0.0))[0]:
            self._timed[one] = rows, seconds
