"""Fits of the configurations that a search's model may consist of.

The first fit is a quick one on few rows, of a booster with few rounds, so that there is a model whenever the
search ends. The time that it took tells on how many rows and with how many rounds the configuration is fitted
next. Where it takes too long, it is fitted on fewer rows; where it fails, another configuration takes its
place.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from ingest.running.limits import LimitedCall, Outcome
from recommend.bo.tuning.deadline import FIRST_SHARE, Deadline
from recommend.bo.tuning.expected_seconds import ExpectedSeconds
from recommend.bo.tuning.fitting import Fitted
from recommend.bo.tuning.resampling import Splits
from recommend.bo.tuning.running import Task
from recommend.bo.tuning.trials import Trial
from recommend.ranking.fit_cost import time_for_use
from warehouse.vocabulary.configuration import Configuration

PROBE, SHORT = 0.05, 0.5
"""Share of the remaining time that the very first fit is expected to take, or this many seconds if more. It
tells how fast this machine is on this dataset before a long fit begins."""
STEP = 4
"""Most times as many rows for the next fit of the first configuration. With texts and many categories the
time grows faster with the rows than on other datasets, and each fit tells how fast."""
SLOWER = 2.0
"""Limit of a fit of the first configuration, as a multiple of its share of the time."""
LONGER, LEAST = 4.0, 2.0
"""Limit of a fit during the search: a multiple of its expected seconds, and seconds beyond that."""
LAST_RESORT = 20.0
"""Seconds allowed for the last and quickest configuration, on the fewest rows, where all others failed. A
busy machine starts processes slowly, and a late model is better than none."""
AT_ONCE = 0.4
"""Largest share of the remaining time in which the other members of the first model are fitted at once. They
nearly always remain members."""
LEAST_PART = 1 / 3
"""Least number of rows of a member, as a share of the largest number of a member. On tables of the choosing
half, a member on half as many rows did an average of probabilities no harm; one on a quarter did."""
MARGIN = 1.2
"""Time kept for a final fit, as a multiple of its expected seconds."""


@dataclass
class ModelFits:
    """The fits of a search that were made, and those that are to be made."""

    deadline: Deadline
    times: ExpectedSeconds
    candidates: Sequence[Configuration]
    """Configurations for the first fit, in order of preference; the last one is tried in any case."""
    wants_model: bool = True
    """Whether anything is to be fitted."""
    jobs: int = 1
    """Number of fits that can run at the same time."""
    shortens: bool = False
    """Whether boosters of the first model have fewer rounds where all take too long. They no longer change
    once there is a trial."""
    fitted: dict[Configuration, Fitted] = field(default_factory=dict, init=False)
    """Configuration -> its last fit."""
    failed: dict[Configuration, str] = field(default_factory=dict, init=False)
    """Configuration with all rounds -> reason of a failure that fewer rows would not have prevented."""
    _queue: dict[Configuration, int] = field(default_factory=dict, init=False)
    """Configuration to fit before the next trial -> number of rows."""
    _running: set[Configuration] = field(default_factory=set, init=False)

    # ---- what is fitted -------------------------------------------------------------------------------

    @property
    def first(self) -> dict[Configuration, float]:
        """Weights of a model of the first fitted configuration alone; empty before."""
        return dict.fromkeys([*self.fitted][:1], 1.0)

    @property
    def is_first_running(self) -> bool:
        """Whether the very first fit is running."""
        return not self.fitted and bool(self._running)

    def rows(self, one: Configuration) -> int:
        """Number of rows that a configuration is fitted on, 0 if it is not."""
        return self.fitted[one].rows if one in self.fitted else 0

    def missing(self, several: Iterable[Configuration]) -> list[Configuration]:
        """Configurations among `several` that are not fitted on all rows, and have not failed."""
        return [one for one in several if not self._has_failed(one) and self.rows(one) < self.times.all_rows]

    def is_possible(self, one: Configuration, rows: int) -> bool:
        """Whether it is fitted, or is expected to be on this number of rows within the remaining time."""
        if not self.wants_model or one in self.fitted:
            return True
        return not self._has_failed(one) and self.times.of_fits([one], rows) <= self.deadline.left()

    def _has_failed(self, one: Configuration) -> bool:
        return self.times.whole(one) in self.failed

    def plan(
        self,
        weights: Mapping[Configuration, float],
        seconds: float,
        trials: Iterable[Trial],
        splits: Splits,
    ) -> dict[Configuration, int]:
        """The members that are fitted or can be within these seconds, with the number of rows of each.

        Unfitted ones come first, then the heaviest, as long as there is time for more rows. A member that
        can't be fitted on as many rows as its trial is left out, since its value then is unknown; so is one
        on much fewer rows than another member.
        """
        if not self.wants_model:
            return dict.fromkeys(weights, self.times.all_rows)
        tried = {trial.configuration: splits.rows_of(trial.share) for trial in trials if trial.counts}
        planned = {}
        for one in sorted(weights, key=lambda one: (one in self.fitted, -weights[one])):
            before = self.rows(one)
            rows = self.times.rows_within(seconds / MARGIN, one) if self.missing([one]) else None
            if rows is not None and rows > before and rows >= tried.get(one, splits.rows_of()):
                planned[one] = rows
                seconds -= MARGIN * self.times.of_fits([one], rows) / self.jobs
            elif before:
                planned[one] = before
        least = LEAST_PART * max(planned.values(), default=0)
        return {one: rows for one, rows in planned.items() if rows >= least}

    def seconds_of(self, planned: Mapping[Configuration, int]) -> float:
        """Seconds to keep for the fits of a plan that are still to be made."""
        more = {one: rows for one, rows in planned.items() if rows > self.rows(one)}
        return MARGIN * sum(self.times.of_fits([one], rows) for one, rows in more.items()) / self.jobs

    # ---- what is fitted next --------------------------------------------------------------------------

    def request(self, rows: Mapping[Configuration, int]) -> None:
        """Have configurations fitted on these numbers of rows before the next trial."""
        for one, wanted in rows.items():
            if one not in self._running and wanted > self.rows(one):
                self._queue[one] = wanted

    def next(self, *, final: bool) -> Task | None:
        """The next fit; None if there is none for now.

        Args:
            final: whether trials have ended, so that a fit may take all remaining time.
        """
        task = None
        if not self.wants_model or self.fitted:
            task = self._next_requested(final=final)
        elif not self._running:
            task = self._first_fit()
        if task is not None:
            self._running.add(task.configuration)
        return task

    def _next_requested(self, *, final: bool) -> Task | None:
        while self._queue:
            one = next(iter(self._queue))
            rows, limit = self._queue.pop(one), self.deadline.left()
            if not final:
                most = max(SLOWER * FIRST_SHARE * limit, LEAST)
                limit = min(limit, most, LONGER * self.times.of_fits([one], rows) + LEAST)
            if limit > 0:
                return Task("fit", one, limit, rows=rows)
        return None

    def _first_fit(self) -> Task | None:
        """A quick fit of the first candidate whose fits are expected to take their share of the time at most.

        The last candidate gets some seconds whatever time is left, and is fitted on the fewest rows.
        """
        possible = [one for one in dict.fromkeys(self.candidates) if one not in self.failed]
        left = self.deadline.left()
        share = FIRST_SHARE * left
        for one in possible[:-1]:
            quickest = self.times.shortened(one, 0.0) if self.shortens else one
            if share > 0 and self.times.rows_within(share, quickest):
                quick = min(max(PROBE * left, SHORT), share)
                rows = self.times.rows_within(quick, quickest) or self.times.fewest_rows
                return Task("fit", quickest, SLOWER * share, rows=rows)
        limit = max(SLOWER * share, LAST_RESORT)
        return Task("fit", possible[-1], limit, rows=self.times.fewest_rows) if possible else None

    def note(self, task: Task, call: LimitedCall) -> None:
        """Take the outcome of a fit into account."""
        one, rows = task.configuration, task.rows
        self._running.discard(one)
        if call.outcome in (Outcome.success, Outcome.timeout):
            self.times.note_pace(one, rows, call.seconds, time_for_use(one, rows))
        if call.outcome is Outcome.success:
            self.times.note_fit(one, rows, call.seconds)
            if (before := self._version(one)) not in (None, one):
                del self.fitted[before]
            self.fitted[one] = Fitted(call.result, rows)
        elif call.outcome is Outcome.timeout and rows > self.times.fewest_rows and self.deadline.left() > 0:
            self.times.note_stopped(one, rows, call.seconds)
        else:
            self.failed[self.times.whole(one)] = call.message or str(call.outcome)

    def _version(self, one: Configuration) -> Configuration | None:
        """The fitted configuration that differs from this one at most in its number of rounds."""
        whole = self.times.whole(one)
        return next((fitted for fitted in self.fitted if self.times.whole(fitted) == whole), None)

    def affordable(self, one: Configuration) -> tuple[Configuration, int]:
        """The next fit of a configuration of the first model: with its rounds, and its number of rows.

        Both are as many as its share of the time allows, but the rows at most `STEP` times those of its last
        fit. What is fitted stays, unless more rows are possible, or more rounds on as many rows.
        """
        times, seconds = self.times, FIRST_SHARE * self.deadline.left()
        next_one = times.shortened(one, seconds) if self.shortens else one
        before = self._version(one)
        most = None if before is None else STEP * self.rows(before)
        rows = times.rows_within(seconds, next_one, most) or 0
        if before is None or (rows, times.share(next_one)) > (self.rows(before), times.share(before)):
            return next_one, rows
        return before, self.rows(before)

    def extend_first(self, members: Iterable[Configuration]) -> None:
        """Request the next fit of the first configuration, and the other members where all are quick."""
        one, rows = self.affordable(next(iter(self.fitted)))
        self.request({one: rows})
        rest = [other for other in members if not self._has_failed(other)]
        if rows == self.times.all_rows and self.times.of_fits(rest) <= AT_ONCE * self.deadline.left():
            self.request(dict.fromkeys(rest, rows))
