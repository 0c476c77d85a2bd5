"""The loop of a search: ask, run, tell, until the budget is used up."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from ingest.reading.datasets import Dataset
from ingest.running.cross_validation import evaluate_with_probabilities
from ingest.running.limits import MEBIBYTE, Outcome, Processes, Trial, run_limited
from recommend.bo.candidates import SpaceCandidates
from recommend.bo.optimizer import ALL_ROWS, AskTell, Proposal
from recommend.bo.tuning.deadline import Deadline
from recommend.bo.tuning.ensembles import voting_rows
from recommend.bo.tuning.history import Entry, TrialHistory
from recommend.bo.tuning.result import incumbents
from recommend.bo.tuning.scores import taken_apart, value_of
from recommend.bo.tuning.setup import splits_of, tell
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
    """How a trial is begun: on the executor, or else here, where its process ends with the search.

    Threads are enough here: they only wait, each trial has a process of its own.
    """
    if executor is not None:
        yield lambda *trial: executor.submit(run_trial, *trial)
        return
    with ThreadPoolExecutor(jobs) as pool, Processes() as processes:
        try:
            yield partial(pool.submit, partial(run_trial, processes=processes))
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


@dataclass
class Loop:
    """Asks, runs and tells until the budget is used up."""

    optimizer: AskTell
    candidates: SpaceCandidates
    history: TrialHistory
    part: Dataset
    search: Search
    budget: Budget
    submit: Submit
    report: Callable[[Progress], None]
    deadline: Deadline
    reserve: Callable[[Sequence[Entry]], float] = lambda _: 0.0
    """Seconds to keep for what comes after these trials."""

    def run(self, begun: list[Proposal], jobs: int) -> bool:
        """Whether the user interrupted it."""
        waiting: dict[Future[Trial], Proposal] = {}
        with noted_interrupts() as interrupts, suppress(KeyboardInterrupt):
            while not interrupts.noted:
                while len(waiting) < jobs and (proposal := self._next(begun)) is not None:
                    waiting[self._submitted(proposal)] = proposal
                if not waiting:
                    return False
                done = wait(waiting, timeout=NOTICED, return_when=FIRST_COMPLETED).done
                for future in sorted(done, key=lambda future: waiting[future].number):
                    self._ended(waiting.pop(future).number, future.result())
        for future in waiting:
            future.cancel()
        return True

    def _next(self, begun: list[Proposal]) -> Proposal | None:
        """What to run next; None where the budget is used up or nothing is left."""
        if begun:
            return begun.pop(0) if self._seconds_left() > 0 else None
        full = self.budget.trials is not None and len(self.history.entries) >= self.budget.trials
        if full or self._seconds_left() <= 0:
            return None
        proposal = self.optimizer.ask()
        if proposal is not None:
            configuration = self.candidates.configuration_of(proposal.candidate)
            self.history.begin(Entry(proposal.number, configuration, proposal.origin, share=proposal.share))
        return proposal

    def _submitted(self, proposal: Proposal) -> Future[Trial]:
        configuration = self.history.entries[proposal.number].configuration
        limit = min(self.search.trial_seconds, self._seconds_left())
        return self.submit(configuration, self.part, self.search, limit, proposal.share)

    def _ended(self, number: int, trial: Trial) -> None:
        cut_off = trial.outcome is Outcome.timeout and trial.seconds < self.search.trial_seconds
        if cut_off:  # by the end of the budget, which says nothing about the configuration
            return
        trial, probabilities = taken_apart(trial)
        self.history.end(number, trial, probabilities)
        tell(self.optimizer, number, trial, self.search.measure)
        self._report()

    def _report(self) -> None:
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
