"""Expected times of a session's fits: from its own timed fits, else from runs on other datasets."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

import numpy as np

from recommend.bo.tuning.shortening import with_half_the_rounds
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
    _paces: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list), init=False)
    """Algorithm -> ratios of actual to expected times of its fits and trials."""
    _timed: dict[Configuration, tuple[int, float]] = field(default_factory=dict, init=False)
    """Configuration with all rounds -> rows and seconds of a fit of a trial."""
    _shortened: dict[Configuration, tuple[Configuration, float]] = field(default_factory=dict, init=False)
    """Booster with fewer rounds -> the one with all, and the share of its rounds."""

    def of_fit(self, one: Configuration, rows: int) -> float:
        """Expected seconds of one fit of a trial, from another fit or from other datasets; NaN = unknown.

        The growth of the time with the rows is known from other datasets, or else assumed to be proportional.
        (A boosted ensemble on 16 times the rows takes 2 to 6 times as long.)
        """
        whole, share = self.whole(one), self.share(one)
        expected = self.known(whole, rows)
        if whole not in self._timed:
            return share * expected * self._pace(one.algorithm)
        fitted_on, took = self._timed[whole]
        before = self.known(whole, fitted_on)
        return share * took * (expected / before if before > 0 else rows / fitted_on)

    def whole(self, one: Configuration) -> Configuration:
        """The configuration with all rounds, if this is one with fewer; else itself."""
        return self._shortened.get(one, (one, 1.0))[0]

    def share(self, one: Configuration) -> float:
        """The share of the rounds that a booster has; 1 unless it was shortened."""
        return self._shortened.get(one, (one, 1.0))[1]

    def shortened(self, one: Configuration, seconds: float) -> Configuration:
        """The booster with as many rounds as a fit on all rows is expected to have in these seconds.

        It has as few as possible if that takes longer. Others are returned unchanged.
        """
        one = whole = self.whole(one)
        share = 1.0
        while self.of_fits([one]) > seconds and (shorter := with_half_the_rounds(one)) is not None:
            share /= 2
            one = shorter
            self._shortened[one] = whole, share
        return one

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
        whole, share = self.whole(one), self.share(one)
        expected = self.known(whole, rows) * share * fits
        if expected > TIMED:
            self._paces[one.algorithm].append(float(np.clip((seconds - STARTING) / expected, *PACES)))

    def note_fit(self, one: Configuration, rows: int, seconds: float) -> None:
        """Note the seconds of a fit for the model, including its process."""
        whole, share = self.whole(one), self.share(one)
        self._timed[whole] = rows, max(seconds - STARTING, 0.0) / share / time_for_use(one, rows)

    def note_stopped(self, one: Configuration, rows: int, limit: float) -> None:
        """Note that a fit for the model was stopped after `limit` seconds."""
        whole, share = self.whole(one), self.share(one)
        self._timed[whole] = rows, STOPPED * limit / share / time_for_use(one, rows)

    def note_fit_of_trial(self, one: Configuration, rows: int, seconds: float) -> None:
        """Note the seconds of one of a trial's fits, unless a fit on at least as many rows is known."""
        whole, share = self.whole(one), self.share(one)
        if rows > self._timed.get(whole, (0, 0.0))[0]:
            self._timed[whole] = rows, seconds / share

    def _pace(self, algorithm: str) -> float:
        """Expected ratio of actual to expected times: the median of the algorithm's own, else the square root
        of the others' median.

        What is slow for one algorithm, such as many categories, may not be for another; a busy machine is.
        """
        if algorithm in self._paces:
            return float(np.median(self._paces[algorithm]))
        others = [pace for paces in self._paces.values() for pace in paces]
        return math.sqrt(np.median(others)) if others else 1.0
