"""The session of a search: fits and trials, one after the other, until its time ends.

What is done next:

    1. the configuration with the best expected score is fitted on few rows, so that there is a model whenever
       the session ends (`recommend.bo.tuning.model_fits`), a booster first with few rounds. It is fitted
       again on all rows, with as many rounds as there is time for; the other members of the first model
       follow at once if they are quick, else at the end
    2. trials: those of a history without an outcome, then the optimizer's proposals
    3. now and then a leading trial is evaluated again on other folds, since the best of many is partly luck
    4. whenever the elapsed time has doubled, the model is selected anew from the trials' predictions, and its
       members are fitted on all rows if that is quick
    5. at the end the model is selected for the last time, and its members are fitted in the time reserved for
       this: on all rows, or as many as there is time for
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from ingest.reading.datasets import Dataset
from ingest.running.evaluation import Evaluation
from ingest.running.limits import LimitedCall, Outcome
from ingest.running.resampling import Resampling
from recommend.bo.optimizer import ALL_ROWS
from recommend.bo.tuning.deadline import Deadline, trial_limit
from recommend.bo.tuning.expected_seconds import ExpectedSeconds
from recommend.bo.tuning.fitting import Model, model_of
from recommend.bo.tuning.history import TrialHistory
from recommend.bo.tuning.model_fits import ModelFits
from recommend.bo.tuning.model_selection import ENDING, ModelSelector, Selection, first_selection
from recommend.bo.tuning.progress import Progress, progress_of
from recommend.bo.tuning.proposals import Proposed, Proposer
from recommend.bo.tuning.resampling import (
    FEW_ROWS,
    TRIALS,
    Splits,
    choose_resampling,
    fits_of_trial,
    least_rows,
)
from recommend.bo.tuning.running import Runner, Task
from recommend.bo.tuning.selection import BLOCKS
from recommend.bo.tuning.settings import Budget, Search
from recommend.bo.tuning.trials import Trial, ranked
from warehouse.support.errors import Failed
from warehouse.support.interrupts import noted_interrupts
from warehouse.vocabulary.configuration import Configuration

ROUNDS, UNUSED = 3, 0.1
"""Most rounds of trials and final fits; another round begins only with more than this share of the time left.
A heuristic, as the next."""
KEPT = 0.4
"""Largest share of the time that is kept for the last fits."""
ON_THE_WAY = 0.1
"""Largest share of the elapsed time that fits after a selection may take."""
MOST_PROPOSALS = 10
"""Proposals in a row that do not fit into the time, after which no more are asked for."""
CREATING = 1.0
"""Least seconds for trials for which the optimizer is created, which takes half a second."""
FIRST_BY_MODEL = 3.0
"""Expected seconds of the first proposal by the optimizer's model, as a multiple of those of its creation."""
MORE = 1.5
"""Expected seconds of the last selection, as a multiple of those of the one before."""
LIKELY = 2
"""Number of best trials that are likely members of the next selection."""
LEADERS = 5
"""Number of best trials that are evaluated again."""
REPETITIONS = {True: 5, False: 2}
"""Whether rows are few -> most evaluations of a trial."""
REPEAT_EVERY = 4
"""Number of trials between two repetitions."""


@dataclass
class Session:
    """One search, from its first fit to its model."""

    dataset: Dataset
    search: Search
    budget: Budget
    deadline: Deadline
    history: TrialHistory
    firsts: Sequence[Configuration]
    """Configurations whose average is the first model, the best first."""
    fallbacks: Sequence[Configuration]
    """Configurations to fit if none of these can be, the last one whatever time is left."""
    fit_seconds: Callable[[Configuration, int], float]
    """Expected seconds of one fit on a number of rows, on a machine like those of the known runs; NaN =
    unknown."""
    proposer: Proposer
    runner: Runner
    jobs: int
    """Tasks that the runner can run at the same time."""
    wants_model: bool
    report: Callable[[Progress], None]
    fits: ModelFits = field(init=False)
    selection: Selection = field(init=False)
    longest_trial: float = field(init=False)
    """Time limit of a trial in seconds."""
    interrupted: bool = field(default=False, init=False)
    failure: str | None = field(default=None, init=False)
    """Why it ended early; None if it did not, or was interrupted."""
    _closing: bool = field(default=False, init=False)
    """Whether there is no time left for a new trial."""
    _since_repetition: int = field(default=0, init=False)
    _unrepeatable: set[int] = field(default_factory=set, init=False)
    _next_selection: float = field(default=0.0, init=False)
    """Elapsed seconds at which the model is selected anew; 0 = not before the firsts are tried."""
    _selecting: float = field(default=0.0, init=False)
    """Seconds that the last selection took."""
    _proposing: float | None = field(default=None, init=False)
    """Expected seconds of the next proposal; None before the first, which creates the optimizer."""
    _running: dict[Future[Any], Task] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        times = ExpectedSeconds(self.fit_seconds, len(self.dataset.features), least_rows(self.dataset))
        candidates = [*self.firsts, *self.fallbacks]
        shortens = not (self.deadline.seconds is None or self.history.trials or self.search.seeds)
        self.fits = ModelFits(self.deadline, times, candidates, self.wants_model, self.jobs, shortens)
        self.selection = first_selection(self.firsts, self.search)
        self.longest_trial = trial_limit(self.search.trial_seconds, self.budget.seconds)

    @cached_property
    def splits(self) -> Splits:
        """The splits of the trials: those of the history, else as many as the time allows after the fits."""
        if self.history.resampling is None:

            def seconds(rows: int) -> float:
                return float(np.median([self.fits.times.of_fit(one, rows) for one in self.firsts]))

            chosen = choose_resampling(self.dataset, self.search.folds, seconds, self.deadline.seconds)
            self.history.settle({"folds": chosen.folds, "train_rows": chosen.train_rows})
        kept, by = self.history.resampling or {}, self.dataset.split and self.dataset.split.kind
        resampling = Resampling(kept["folds"] or 1, train_rows=kept["train_rows"], by=by)
        return Splits(self.dataset, resampling, self.search.seed)

    @cached_property
    def _selector(self) -> ModelSelector:
        return ModelSelector(self.dataset, self.search, self.firsts, self.splits, self.fits, self.deadline)

    # ---- the session ----------------------------------------------------------------------------------

    def run(self) -> None:
        """Run it to its end.

        An interrupt ends what runs, and what is fitted by then is the model.
        """
        for trial in self.history.trials:
            self._note_trial(trial)
        with noted_interrupts() as interrupts:
            try:
                for _ in range(ROUNDS):
                    self._round(lambda: interrupts.noted)
                    if interrupts.noted or not self._has_time_for_another_round():
                        break
            except KeyboardInterrupt:
                interrupts.noted = True
            except Failed as error:  # no process can be started
                self.failure = str(error)
            self.interrupted = interrupts.noted

    def _round(self, ended: Callable[[], bool]) -> None:
        """Run trials until there is no more time for them, then select and fit the model."""
        self._closing = False
        self._work(self._next, ended)
        self._closing = True
        if self.wants_model and not ended():
            self._select(final=True)
            self._work(self._next_fit, ended)

    def _has_time_for_another_round(self) -> bool:
        """Whether much of the time that was kept for the last fits is left, since they were not needed."""
        seconds = self.deadline.seconds
        return seconds is not None and self.wants_model and self.deadline.left() > UNUSED * seconds

    @property
    def model(self) -> Model | None:
        """The fitted members of the selection; if there are none, the first configuration that was fitted."""
        fitted = self.fits.fitted
        return model_of(self.selection.weights, fitted) or model_of(self.fits.first, fitted)

    def _work(self, following: Callable[[], Task | None], ended: Callable[[], bool]) -> None:
        """Run tasks until there is no next one or the session is told to end."""
        running = self._running
        may_begin = True
        try:
            while not ended():
                while may_begin and len(running) < self.jobs and (task := following()) is not None:
                    running[self.runner.begin(task, self._splits_of(task))] = task
                if not running:
                    return
                done = self.runner.wait(running)
                may_begin = bool(done)
                for future in sorted(done, key=lambda future: running[future].number):
                    outcome = future.result()
                    # A failure after an interrupt is that of a process that was ended with this one.
                    if outcome.outcome is Outcome.success or not ended():
                        self._ended(running.pop(future), outcome)
        finally:
            for future, task in running.items():
                future.cancel()
                if task.kind == "trial":
                    self.history.stop(task.number, "interrupted")

    # ---- the next task --------------------------------------------------------------------------------

    def _next(self) -> Task | None:
        fit = self._next_fit()
        if fit is None and self.fits.fitted and self.deadline.elapsed() >= self._next_selection > 0:
            self._select()
            fit = self._next_fit()
        return (
            fit
            or self._next_repetition()
            or self._next_trial()
            or self._next_repetition(at_once=self.budget.trials is None)
        )

    def _next_fit(self) -> Task | None:
        return self.fits.next(final=self._closing)

    def _next_trial(self) -> Task | None:
        if self._closing or self._seconds_for_trials() <= 0:
            return None
        if self.fits.shortens and self.fits.is_first_running:
            return None  # it decides on what is tried
        trial = self.history.take(self._fits_into)
        if trial is None:
            full = self.budget.trials is not None and len(self.history.trials) >= self.budget.trials
            trial = None if full else self._proposed()
        if trial is None:
            runs = any(task.kind == "trial" for task in self._running.values())
            self._closing = not runs  # the proposer may wait for their outcomes
            return None
        self._since_repetition += 1
        self.fits.shortens = False
        return Task("trial", trial.configuration, self._seconds_for_trial(), trial.number)

    def _proposed(self) -> Trial | None:
        """The next trial, begun; None if no proposal fits into the time."""
        for _ in range(MOST_PROPOSALS):
            if self._seconds_for_trials() <= (CREATING if self._proposing is None else self._proposing):
                return None
            before = self.deadline.elapsed()
            proposed = self.proposer.propose(self.history.trials)
            if proposed is None:
                return None
            took = self.deadline.elapsed() - before
            is_of_model = proposed.origin == "model"
            self._proposing = took if is_of_model else max(self._proposing or 0.0, FIRST_BY_MODEL * took)
            if self._fits_into(proposed):
                number, share = self.history.next_number, self._share(proposed)
                trial = Trial(number, proposed.configuration, proposed.origin, share=share)
                self.history.begin(trial)
                return self.history.trial(trial.number)
        return None

    def _share(self, one: Proposed) -> float:
        """The proposed share of a trial's rows, or more if all trials have few rows and this one is quick.

        A configuration is judged on as many rows as the model may be fitted on in its time.
        """
        seconds, resampling = self.deadline.seconds, self.splits.resampling
        if one.share != ALL_ROWS or resampling.train_rows is None or seconds is None:
            return one.share
        times = self.fits.times
        rows = times.rows_within(seconds / TRIALS / fits_of_trial(resampling), one.configuration) or 0
        most, _ = replace(resampling, train_rows=None).sizes(times.all_rows)
        return max(min(rows, most) / self.splits.rows_of(), ALL_ROWS)

    def _fits_into(self, one: Proposed | Trial) -> bool:
        """Whether the trial is expected to end in time, and a fit on as many rows within the time left."""
        seconds = self._seconds_for_trial()
        fit = self.fits.times.of_fit(one.configuration, self.splits.rows_of(one.share))
        if seconds <= 0 or fit * fits_of_trial(self.splits.resampling) > seconds:
            return False
        return self.fits.is_possible(one.configuration, self.splits.rows_of())

    def _next_repetition(self, *, at_once: bool = False) -> Task | None:
        """Another evaluation of the leader with the fewest.

        Args:
            at_once: whether there is nothing else to do.
        """
        most = REPETITIONS[len(self.dataset.features) < FEW_ROWS]
        if self.splits.resampling.folds == 1 or len(self.history.trials) <= len(self.firsts):
            return None
        if not at_once and self._since_repetition < REPEAT_EVERY:
            return None
        seconds = self._seconds_for_trial()
        leaders = [
            trial
            for trial in ranked(self.history.trials, self.search.measure)[:LEADERS]
            if trial.number not in self._unrepeatable
            and len(trial.evaluations) < most
            and trial.evaluations[0].seconds <= seconds
        ]
        if not leaders:
            return None
        self._since_repetition = 0
        trial = min(leaders, key=lambda one: len(one.evaluations))
        self._unrepeatable.add(trial.number)  # until it has ended
        return Task("repetition", trial.configuration, seconds, trial.number)

    def _splits_of(self, task: Task) -> Sequence[Any]:
        if task.kind == "fit":
            return []
        trial = self.history.trial(task.number)
        return self.splits.of(len(trial.evaluations), trial.share)

    # ---- outcomes -------------------------------------------------------------------------------------

    def _ended(self, task: Task, outcome: Any) -> None:
        if task.kind == "fit":
            self._fit_ended(task, outcome)
        elif task.kind == "repetition":
            self._repetition_ended(task, outcome)
        else:
            self._trial_ended(task, outcome)

    def _fit_ended(self, task: Task, call: LimitedCall) -> None:
        self.fits.note(task, call)
        is_of_first = [*self.fits.fitted] == [task.configuration]
        if call.outcome is Outcome.success and is_of_first and not self._closing:
            if self.fits.shortens:
                self.firsts = [self.fits.affordable(one)[0] for one in self.firsts]
                self.selection = first_selection(self.firsts, self.search)
            self.fits.extend_first(self.selection.weights)

    def _trial_ended(self, task: Task, evaluation: Evaluation) -> None:
        cut_off = evaluation.outcome is Outcome.timeout and task.limit < self.longest_trial
        if cut_off:  # by the end of the session, which says nothing about the configuration
            self.history.stop(task.number, "time")
            self._closing = True
            return
        trial = self.history.trial(task.number)
        self.history.end(task.number, self._selector.with_votes(trial, evaluation))
        if evaluation.outcome is Outcome.success:
            rows, fits = self.splits.rows_of(trial.share), fits_of_trial(self.splits.resampling)
            self.fits.times.note_pace(task.configuration, rows, evaluation.seconds, fits)
            self._note_trial(trial)
        if self._next_selection == 0.0 and len(self.history.trials) >= len(self.firsts):
            self._next_selection = self.deadline.elapsed()
        self.report(progress_of(self))

    def _repetition_ended(self, task: Task, evaluation: Evaluation) -> None:
        if evaluation.outcome is Outcome.success:
            trial = self.history.trial(task.number)
            self.history.end(task.number, self._selector.with_votes(trial, evaluation))
            self._unrepeatable.discard(task.number)

    def _note_trial(self, trial: Trial) -> None:
        """Take the time of the fits of a trial into account."""
        evaluation = trial.evaluation
        if evaluation is None or evaluation.outcome is not Outcome.success:
            return
        took = evaluation.measures.get("fit_seconds")
        if took is not None:
            rows = self.splits.rows_of(trial.share)
            self.fits.times.note_fit_of_trial(trial.configuration, rows, took)

    # ---- the model ------------------------------------------------------------------------------------

    def _select(self, *, final: bool = False) -> None:
        """Select the model anew, and request fits of its members where that is quick.

        Args:
            final: whether this is the last selection; then its value is estimated, and all are fitted.
        """
        before = self.deadline.elapsed()
        trials, fits = self.history.trials, self.fits
        self.selection = self._selector.select(trials, self.selection, final=final)
        elapsed = self.deadline.elapsed()
        self._selecting = elapsed - before
        self._next_selection = max(2 * elapsed, elapsed + 10 * self._selecting)
        if final:
            left = self.deadline.left(ENDING)
            fits.request(fits.plan(self.selection.weights, left, trials, self.splits))
            return
        missing = fits.missing(self.selection.weights)
        if fits.times.of_fits(missing) <= ON_THE_WAY * elapsed:
            fits.request(dict.fromkeys(missing, fits.times.all_rows))

    # ---- time -----------------------------------------------------------------------------------------

    def _seconds_for_trials(self) -> float:
        """Seconds left for trials, without those that the last fits need."""
        if self.deadline.seconds is None:
            return math.inf
        trials = self.history.trials
        likely = [trial.configuration for trial in ranked(trials, self.search.measure)[:LIKELY]]
        members = {**dict.fromkeys(likely, 0.0), **self.selection.weights} if self.wants_model else {}
        most = min(self.deadline.left(), KEPT * self.deadline.seconds)
        fits = self.fits.seconds_of(self.fits.plan(members, most, trials, self.splits))
        # The last selection has more trials to choose from than the one before, and is followed by its
        # estimate, a selection for each block.
        return self.deadline.left(fits + MORE * (1 + BLOCKS) * self._selecting + ENDING)

    def _seconds_for_trial(self) -> float:
        """Seconds that a trial may take if it begins now."""
        return min(self.longest_trial, self._seconds_for_trials())
