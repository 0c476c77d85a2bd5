"""The loop of a search: ask, run, tell, until the budget is used up."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import suppress
from dataclasses import dataclass, field, replace

from ingest.reading.datasets import Dataset
from ingest.running.blocks import Split
from ingest.running.evaluation import Evaluation, Limits
from ingest.running.limits import Outcome
from recommend.bo.optimizer import ALL_ROWS
from recommend.bo.tuning.deadline import Deadline
from recommend.bo.tuning.ensembles import voting_rows
from recommend.bo.tuning.history import TrialHistory
from recommend.bo.tuning.proposals import Proposals
from recommend.bo.tuning.result import incumbents
from recommend.bo.tuning.settings import Budget, Search
from recommend.bo.tuning.setup import splits_of
from recommend.bo.tuning.trials import Trial
from warehouse.support.interrupts import noted_interrupts

Submit = Callable[..., Future[Evaluation]]
"""Begins an evaluation, as `ingest.running.evaluation.evaluations` yields it."""
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
    reserve: Callable[[Sequence[Trial]], float] = lambda _: 0.0
    """Seconds to keep for what comes after these trials."""
    _time_is_up: bool = field(default=False, init=False)
    """Whether a trial was cut off by the end of the budget; it is not begun again."""
    _splits: dict[float, list[Split]] = field(default_factory=dict, init=False)
    """Share of the rows -> the splits of trials on it."""

    def run(self, jobs: int) -> bool:
        """Whether the user interrupted it, which says nothing of the trials that ran."""
        running: dict[Future[Evaluation], int] = {}
        may_begin = True
        with noted_interrupts() as interrupts, suppress(KeyboardInterrupt):
            while not interrupts.noted:
                while may_begin and len(running) < jobs and (trial := self._next()) is not None:
                    running[self._submitted(trial)] = trial.number
                if not running:
                    return False
                done = wait(running, timeout=NOTICED, return_when=FIRST_COMPLETED).done
                may_begin = bool(done)
                for future in sorted(done, key=lambda future: running[future]):
                    evaluation = future.result()
                    # A failure after an interrupt is that of a process that was ended with this one.
                    if evaluation.outcome is Outcome.success or not interrupts.noted:
                        self._ended(running.pop(future), evaluation)
        for future, number in running.items():
            future.cancel()
            self.history.stop(number, "interrupted")
        return True

    def _next(self) -> Trial | None:
        """The next trial; None if the budget is used up or nothing is left."""
        if self._time_is_up or self._seconds_left() <= 0:
            return None
        left = self.history.take()
        if left is not None:
            return left
        full = self.budget.trials is not None and len(self.history.trials) >= self.budget.trials
        return None if full else self.proposals.next()

    def _submitted(self, trial: Trial) -> Future[Evaluation]:
        limits = Limits(min(self.search.trial_seconds, self._seconds_left()), self.search.trial_memory)
        splits = self._splits_of(trial.share)
        return self.submit(trial.configuration, self.part, [splits], limits, seed=self.search.seed)

    def _splits_of(self, share: float) -> list[Split]:
        if share not in self._splits:
            self._splits[share] = splits_of(self.part, self.search, share=share)
        return self._splits[share]

    def _ended(self, number: int, evaluation: Evaluation) -> None:
        cut_off = evaluation.outcome is Outcome.timeout and evaluation.seconds < self.search.trial_seconds
        if cut_off:  # by the end of the budget, which says nothing about the configuration
            self.history.stop(number, "time")
            self._time_is_up = True
            return
        self.history.end(number, self._with_votes(number, evaluation))
        self._report()

    def _with_votes(self, number: int, evaluation: Evaluation) -> Evaluation:
        """The evaluation with its predictions of the rows that ensembles are chosen on alone.

        Trials on fewer rows have none: they are no members.
        """
        share, predictions = self.history.trials[number].share, evaluation.predictions
        if predictions is not None:
            votes = voting_rows(self._splits_of(share))
            predictions = predictions[votes] if share == ALL_ROWS else None
        return replace(evaluation, predictions=predictions)

    def _report(self) -> None:
        """Tell where the search stands."""
        ended = [trial for trial in self.history.trials if trial.evaluation is not None]
        best = incumbents(ended, self.search.measure)[-1:]
        self.report(
            Progress(
                done=len(ended),
                failed=sum(trial.value(self.search.measure) is None for trial in ended),
                of=self.budget.trials,
                seconds_left=None if self.deadline.seconds is None else self._seconds_left(),
                best=best[0].value(self.search.measure) if best else None,
                best_flow=best[0].configuration.algorithm if best else None,
            )
        )

    def _seconds_left(self) -> float:
        kept = self.deadline.share(self.reserve(self.history.trials))
        return max(self.deadline.left() - kept, 0.0)
