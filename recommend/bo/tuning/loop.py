"""The loop of a search: ask, run, tell, until the budget is used up."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from ingest.reading.datasets import Dataset
from ingest.running.cross_validation import evaluate_with_probabilities
from ingest.running.limits import MEBIBYTE, Outcome, Processes, Trial, run_limited, submitting
from recommend.bo.optimizer import ALL_ROWS
from recommend.bo.tuning.deadline import Deadline
from recommend.bo.tuning.ensembles import voting_rows
from recommend.bo.tuning.history import Entry, TrialHistory
from recommend.bo.tuning.proposals import Proposals
from recommend.bo.tuning.result import incumbents
from recommend.bo.tuning.scores import taken_apart, value_of
from recommend.bo.tuning.setup import splits_of
from recommend.bo.tuning.specification import Budget, Search
from warehouse.configurations.configuration import Configuration
from warehouse.support.interrupts import noted_interrupts

Submit = Callable[..., Future[Trial]]
"""Begins a trial; the arguments are those of `run_trial`."""
NOTICED = 0.2
"""Seconds after which the search notices that it is to end, while trials run."""


@dataclass(frozen=True)
class Progress:
    """Progress of a search."""

    done: int
    failed: int
    of: int | None
    seconds_left: float | None
    best: float | None
    best_flow: str | None


@contextmanager
def trials(executor: Executor | None, jobs: int) -> Iterator[Submit]:
    """How a trial is begun: on the executor, or else here, where its process ends with the search."""
    with submitting(executor, jobs) as submit:
        yield partial(submit, run_trial)


@dataclass
class Loop:
    """Asks, runs and tells until the budget is used up."""

    proposals: Proposals
    history: TrialHistory
    part: Dataset
    search: Search
    budget: Budget
    submit: Submit
    report: Callable[[Progress], None]
    deadline: Deadline
    reserve: Callable[[Sequence[Entry]], float] = lambda _: 0.0
    """Seconds to keep for what comes after these trials."""
    _time_is_up: bool = field(default=False, init=False)
    """Whether a trial was cut off by the end of the budget; it is not begun again."""

    def run(self, jobs: int) -> bool:
        """Whether the user interrupted it, which says nothing of the trials that ran."""
        running: dict[Future[Trial], int] = {}
        may_begin = True
        with noted_interrupts() as interrupts, suppress(KeyboardInterrupt):
            while not interrupts.noted:
                while may_begin and len(running) < jobs and (entry := self._next()) is not None:
                    running[self._submitted(entry)] = entry.number
                if not running:
                    return False
                done = wait(running, timeout=NOTICED, return_when=FIRST_COMPLETED).done
                may_begin = bool(done)
                for future in sorted(done, key=lambda future: running[future]):
                    trial = future.result()
                    if trial.outcome is Outcome.success or not interrupts.noted:  # else it was ended with us
                        self._ended(running.pop(future), trial)
        for future, number in running.items():
            future.cancel()
            self.history.stop(number, "interrupted")
        return True

    def _next(self) -> Entry | None:
        """What to run next; None where the budget is used up or nothing is left."""
        if self._time_is_up or self._seconds_left() <= 0:
            return None
        left = self.history.take()
        if left is not None:
            return left
        full = self.budget.trials is not None and len(self.history.entries) >= self.budget.trials
        return None if full else self.proposals.next()

    def _submitted(self, entry: Entry) -> Future[Trial]:
        limit = min(self.search.trial_seconds, self._seconds_left())
        return self.submit(entry.configuration, self.part, self.search, limit, entry.share)

    def _ended(self, number: int, trial: Trial) -> None:
        cut_off = trial.outcome is Outcome.timeout and trial.seconds < self.search.trial_seconds
        if cut_off:  # by the end of the budget, which says nothing about the configuration
            self.history.stop(number, "time")
            self._time_is_up = True
            return
        trial, probabilities = taken_apart(trial)
        self.history.end(number, trial, probabilities)
        self._report()

    def _report(self) -> None:
        """Tell where the search stands."""
        ended = [entry for entry in self.history.entries if entry.trial is not None]
        best = incumbents(ended, self.search.measure)[-1:]
        self.report(
            Progress(
                done=len(ended),
                failed=sum(value_of(entry.trial, self.search.measure) is None for entry in ended),
                of=self.budget.trials,
                seconds_left=None if self.deadline.seconds is None else self._seconds_left(),
                best=value_of(best[0].trial, self.search.measure) if best else None,
                best_flow=best[0].configuration.algorithm if best else None,
            )
        )

    def _seconds_left(self) -> float:
        kept = self.deadline.share(self.reserve(self.history.entries))
        return max(self.deadline.left() - kept, 0.0)


def run_trial(
    configuration: Configuration,
    part: Dataset,
    search: Search,
    seconds: float,
    share: float = ALL_ROWS,
    processes: Processes | None = None,
) -> Trial:
    """One trial, in a process of its own that ends after `seconds`, or with the owner of `processes`.

    Its result are the measures, and the probabilities of the rows that ensembles are chosen on, if there are
    any and it is fitted on all rows.
    """
    splits = splits_of(part, search, share=share)
    trial = run_limited(
        evaluate_with_probabilities,
        configuration.algorithm,
        dict(configuration.values),
        part,
        splits,
        seed=search.seed,
        seconds=seconds,
        memory=search.trial_memory * MEBIBYTE,
        processes=processes,
    )
    if trial.outcome is not Outcome.success:
        return trial
    measures, probabilities = trial.result
    if probabilities is None or share < ALL_ROWS:
        return replace(trial, result=(measures, None))
    return replace(trial, result=(measures, probabilities[voting_rows(splits)].astype(np.float32)))
