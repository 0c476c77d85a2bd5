"""The session of a search: fits and trials, one after the other, until its time ends.

What is done next:

    1. the configuration with the best expected score is fitted on few rows, so that there is a model whenever
       the session ends; the time of this fit determines on how many rows it is fitted next. If it takes too
       long it is fitted on fewer rows, and if it fails other configurations are. The other members of the
       first model follow at once if they are quick, else at the end
    2. trials: those of a history without an outcome, then the optimizer's proposals
    3. now and then a leading trial is evaluated again on other folds, since the best of many is partly luck
    4. whenever the elapsed time has doubled, the model is selected anew from the trials' predictions, and its
       members are fitted on all rows if that is quick
    5. at the end the model is selected for the last time, and its members are fitted in the time reserved for
       this: on all rows, or as many as there is time for
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from ingest.reading.datasets import Dataset
from ingest.reading.target.strata import strata_of
from ingest.running.evaluation import TIMES, Evaluation
from ingest.running.limits import LimitedCall, Outcome
from ingest.running.resampling import Resampling
from ingest.running.scorer import scorer_of
from metalearners.encoding.scores import oriented
from recommend.bo.optimizer import ALL_ROWS
from recommend.bo.strategies import DEFAULT_STRATEGY, get_strategy
from recommend.bo.tuning.deadline import FIRST_SHARE, Deadline, trial_limit
from recommend.bo.tuning.expected_seconds import ExpectedSeconds
from recommend.bo.tuning.fitting import Fitted, Model, model_of
from recommend.bo.tuning.history import TrialHistory
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
from recommend.bo.tuning.selection import (
    BLOCKS,
    MOST_TRIALS,
    Ballot,
    estimate,
    select_ensemble,
    select_single,
    votes_of,
    voting_rows,
)
from recommend.bo.tuning.settings import Budget, Search
from recommend.bo.tuning.trials import Trial, ranked
from recommend.explaining.target_words import target_words
from recommend.ranking.averaging import weights_of
from warehouse.support.arrays import Positions
from warehouse.support.console import duration
from warehouse.support.errors import Failed
from warehouse.support.interrupts import noted_interrupts
from warehouse.support.text import counted
from warehouse.vocabulary.configuration import Configuration
from warehouse.vocabulary.measures import measure_title

ROUNDS, UNUSED = 3, 0.1
"""Most rounds of trials followed by a model, and the least share of the time left for another round;
heuristics, like the next."""
KEPT = 0.4
"""Largest share of the time reserved for the last fits. The other members of the first average, which are
nearly always among these, are fitted at once if they take no more."""
ON_THE_WAY = 0.1
"""Share of the elapsed time for intermediate fits."""
LEAST = 2.0
"""Seconds for an intermediate fit in addition to `LONGER`."""
LONGER = 4.0
"""Time limit of an intermediate fit, as a multiple of its expected time."""
LAST_RESORT = 20.0
"""Least time limit in seconds of the last and quickest configuration, on the fewest rows, if all others
failed: a busy machine begins slowly, and a late model is better than none."""
PROBE, SHORT = 0.02, 0.5
"""Expected share of the time left, or seconds, of the very first fit, which measures the speed of this
machine on this dataset before a long fit begins."""
SLOWER = 2.0
"""Time limit of a fit of the first configuration, as a multiple of its share of the time."""
STEP = 4
"""Largest increase of its rows from one fit to the next. With texts and many categories the time grows faster
with the rows than on other datasets, which each fit measures."""
MARGIN = 1.2
"""Time reserved for the last fits, as a multiple of the expected time."""
ENDING = 0.5
"""Seconds for selecting the last model and ending."""
ASKED = 10
"""Rejected proposals after which there is no time for a trial."""
FIRST_BY_MODEL = 3.0
"""Expected time of the surrogate's first proposal, as a multiple of the time for making the optimizer."""
MORE = 1.5
"""Time reserved for the last selection, as a multiple of the previous one."""
LIKELY = 2
"""Number of best trials likely to be members of the next selection."""
LEADERS = 5
"""Number of best trials that are evaluated again."""
REPETITIONS = {True: 5, False: 2}
"""Whether rows are few -> most evaluations per trial."""
REPEAT_EVERY = 4
"""Number of trials per repetition."""


@dataclass(frozen=True)
class Progress:
    """Progress of a search."""

    done: int
    """Number of finished trials."""
    failed: int
    of: int | None
    """Number of planned trials; None = as many as the time allows."""
    seconds_left: float | None
    best: str | None
    """The best value so far and its algorithm, in words."""

    def line(self) -> str:
        """A line about a running search."""
        parts = [f"trial {self.done}" + ("" if self.of is None else f" of {self.of}")]
        if self.failed:
            parts.append(f"{self.failed} failed")
        if self.best is not None:
            parts.append(f"best {self.best}")
        if self.seconds_left is not None:
            parts.append(f"{duration(self.seconds_left)} left")
        return ", ".join(parts)


@dataclass(frozen=True)
class Selection:
    """The members of a model."""

    weights: dict[Configuration, float]
    value: float | None = None
    """Value of the measure on rows not used by the selection; None if unknown."""


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
    """Configurations to fit if all of these fail, the last one regardless of the time left."""
    fit_seconds: Callable[[Configuration, int], float]
    """Expected seconds of one fit on a number of rows, on a machine like those of the known runs; NaN =
    unknown."""
    proposer: Proposer
    runner: Runner
    jobs: int = 1
    """Number of parallel tasks of the runner."""
    wants_model: bool = True
    report: Callable[[Progress], None] = lambda _: None
    fitted: dict[Configuration, Fitted] = field(default_factory=dict, init=False)
    """Configuration -> its last fit."""
    failed: dict[Configuration, str] = field(default_factory=dict, init=False)
    """Configuration -> reason of a failure that fewer rows would not have avoided."""
    selection: Selection = field(init=False)
    interrupted: bool = field(default=False, init=False)
    _failure: str | None = field(default=None, init=False)
    """Why it ended early; None if it did not, or was interrupted."""
    _closing: bool = field(default=False, init=False)
    """Whether there is no time left for a new trial."""
    _left_out: int = field(default=0, init=False)
    """Number of members skipped by the last selection for lack of time."""
    _since_repetition: int = field(default=0, init=False)
    _unrepeatable: set[int] = field(default_factory=set, init=False)
    _next_selection: float = field(default=0.0, init=False)
    """Elapsed seconds at which the model is selected anew; 0 = not before the firsts are tried."""
    _selecting: float = field(default=0.0, init=False)
    """Seconds of the last selection."""
    _proposing: float = field(default=0.0, init=False)
    """Expected seconds of the next proposal."""
    _wanted: dict[Configuration, int] = field(default_factory=dict, init=False)
    """Configuration to fit before the next trial -> number of rows."""
    _running: dict[Future[Any], Task] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        first = self.firsts if self.search.ensemble else self.firsts[:1]
        self._firsts = weights_of(first) if first else {}
        self.selection = Selection(self._firsts)
        self._times = ExpectedSeconds(self.fit_seconds, len(self.dataset.features), least_rows(self.dataset))
        self._limit = trial_limit(self.search.trial_seconds, self.budget.seconds)

    @cached_property
    def splits(self) -> Splits:
        """The splits of the trials: those of the history, else as many as the time allows."""
        if self.history.resampling is None:

            def seconds(rows: int) -> float:
                return float(np.median([self._times.of_fit(one, rows) for one in self.firsts]))

            chosen = choose_resampling(self.dataset, self.search.folds, seconds, self.deadline.seconds)
            self.history.settle({"folds": chosen.folds, "train_rows": chosen.train_rows})
        kept, by = self.history.resampling or {}, self.dataset.split and self.dataset.split.kind
        resampling = Resampling(kept["folds"] or 1, train_rows=kept["train_rows"], by=by)
        return Splits(self.dataset, resampling, self.search.seed)

    @cached_property
    def _rows(self) -> Positions:
        """The rows used for selecting the model."""
        strata = strata_of(self.dataset.target)
        return voting_rows(self.splits.of(), int(strata.max()) + 1)

    # ---- the session ----------------------------------------------------------------------------------

    def run(self) -> Model | None:
        """Run the session to its end, and return the model; None if there is none.

        An interrupt ends running tasks, and the model consists of the fits so far.
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
                self._failure = str(error)
            self.interrupted = interrupts.noted
        return self.model

    def _round(self, ended: Callable[[], bool]) -> None:
        """Run trials until their time is up, then fit the model."""
        self._closing = False
        self._work(self._next, ended)
        self._closing = True
        if self.wants_model and not ended():
            self._select(final=True)
            self._work(self._next_fit, ended)

    def _has_time_for_another_round(self) -> bool:
        """Whether much of the time reserved for the last fits is left over."""
        seconds = self.deadline.seconds
        return seconds is not None and self.wants_model and self.deadline.left() > UNUSED * seconds

    @property
    def model(self) -> Model | None:
        """The selected members that are fitted; else the first fitted configuration."""
        found = model_of(self.selection.weights, self.fitted)
        return found or model_of(self._first_fitted, self.fitted)

    @property
    def _first_fitted(self) -> dict[Configuration, float]:
        """The first fitted configuration alone; empty before."""
        return dict.fromkeys([*self.fitted][:1], 1.0)

    def remarks(self) -> list[str]:
        """Sentences about the strategy's choices, anything skipped for lack of time, and failures."""
        said = [*self._choices()]
        model = self.model
        ended = self._failure or ("the search was interrupted" if self.interrupted else "the time was up")
        if self._failure is not None:
            said.append(f"The search ended early: {self._failure}.")
        if self.wants_model and model is None:
            reasons = "; ".join(dict.fromkeys(self.failed.values()))
            said.append(f"No configuration could be fitted: {reasons or ended}.")
        train_rows = self.splits.resampling.train_rows
        if not any(trial.evaluations for trial in self.history.trials):
            said.append(f"No trial ended, because {ended}: nothing was compared on the data.")
        elif train_rows is not None:
            on = f"{train_rows:,} rows"
            if any(trial.share > ALL_ROWS for trial in self.history.trials):
                on += " or more"
            said.append(f"Trials were fitted on {on}, since there was no time for all rows.")
        missing = [one for one in self.selection.weights if model is not None and one not in model.weights]
        left_out = len(missing) + self._left_out
        if model is not None and left_out:
            said.append(f"{counted(left_out, 'members')} of the model could not be fitted in time.")
        fewer = [] if model is None else [rows for rows in model.rows.values() if rows < self._times.all_rows]
        if fewer:
            said.append(
                f"{counted(len(fewer), 'members')} of the model could not be fitted in time on all"
                f" {self._times.all_rows:,} rows: fitted on {min(fewer):,}"
                f"{' or more' if len({*fewer}) > 1 else ''}."
            )
        return said

    def _choices(self) -> Iterator[str]:
        """A sentence about the number of trials chosen by a strategy other than the default."""
        name = self.search.strategy
        origins = [trial.origin for trial in self.history.trials if trial.evaluations]
        if name == DEFAULT_STRATEGY or get_strategy(name).shares or not origins:
            return
        trials, others = counted(len(origins), "trials"), "starts, anchors and random ones"
        if "model" in origins:
            chosen, first = origins.count("model"), origins.index("model")
            yield f"{name} chose {chosen} of {trials}, the first after {first} of the others: {others}."
        else:
            yield f"{name} chose none of the {trials}: they were {others}."

    def _work(self, following: Callable[[], Task | None], ended: Callable[[], bool]) -> None:
        """Run the tasks of `following` until there is none or `ended`."""
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
                    # A failure after an interrupt comes from a process ended together with this one.
                    if outcome.outcome is Outcome.success or not ended():
                        self._ended(running.pop(future), outcome)
        finally:
            for future, task in running.items():
                future.cancel()
                if task.kind == "trial":
                    self.history.stop(task.number, "interrupted")

    # ---- next tasks -----------------------------------------------------------------------------------

    def _next(self) -> Task | None:
        fit = self._next_fit()
        if fit is not None:
            return fit
        if self.fitted and self.deadline.elapsed() >= self._next_selection > 0:
            self._select()
            fit = self._next_fit()
            if fit is not None:
                return fit
        return (
            self._next_repetition()
            or self._next_trial()
            or self._next_repetition(at_once=self.budget.trials is None)
        )

    def _next_trial(self) -> Task | None:
        if self._closing or self._seconds_for_trials() <= 0:
            return None
        trial = self.history.take(self._fits_into)
        if trial is None:
            full = self.budget.trials is not None and len(self.history.trials) >= self.budget.trials
            trial = None if full else self._proposed()
        if trial is None:
            self._closing = not self._of_kind("trial")  # the proposer may wait for their outcomes
            return None
        self._since_repetition += 1
        return Task("trial", trial.configuration, self._seconds_for_trial(), trial.number)

    def _proposed(self) -> Trial | None:
        """Begin the next proposed trial that fits into the time; None if there is none."""
        for _ in range(ASKED):
            if self._seconds_for_trials() <= self._proposing:
                return None
            before = self.deadline.elapsed()
            proposed = self.proposer.propose(self.history.trials)
            if proposed is None:
                return None
            took = self.deadline.elapsed() - before
            is_of_model = proposed.origin == "model"
            self._proposing = took if is_of_model else max(self._proposing, FIRST_BY_MODEL * took)
            if self._fits_into(proposed):
                number, share = self.history.next_number, self._share(proposed)
                trial = Trial(number, proposed.configuration, proposed.origin, share=share)
                self.history.begin(trial)
                return self.history.trial(trial.number)
        return None

    def _share(self, one: Proposed) -> float:
        """The proposed share of a trial's rows, or more if all trials have few rows and this one is quick.

        A configuration should be judged at the training size that the model could have.
        """
        seconds, resampling = self.deadline.seconds, self.splits.resampling
        if one.share != ALL_ROWS or resampling.train_rows is None or seconds is None:
            return one.share
        rows = self._times.rows_within(seconds / TRIALS / self._trial_fits, one.configuration) or 0
        most, _ = replace(resampling, train_rows=None).sizes(self._times.all_rows)
        return max(min(rows, most) / self._trial_rows, ALL_ROWS)

    def _fits_into(self, one: Proposed | Trial) -> bool:
        """Whether the trial is expected to end in time, and so is a fit on as many rows."""
        seconds = self._seconds_for_trial()
        trial = self._times.of_fit(one.configuration, self._rows_of(one)) * self._trial_fits
        return seconds > 0 and not trial > seconds and self._can_be_fitted(one.configuration)

    def _next_repetition(self, *, at_once: bool = False) -> Task | None:
        """Another evaluation of the leader with the fewest evaluations.

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

    def _next_fit(self) -> Task | None:
        if self.wants_model and not self.fitted:
            return None if self._of_kind("fit") else self._first_fit()
        while self._wanted:
            one = next(iter(self._wanted))
            rows, left = self._wanted.pop(one), self.deadline.left()
            limit = left
            if not self._closing:
                most = max(SLOWER * FIRST_SHARE * left, LEAST)
                limit = min(left, most, LONGER * self._times.of_fits([one], rows) + LEAST)
            if limit > 0:
                return Task("fit", one, limit, rows=rows)
        return None

    def _first_fit(self) -> Task | None:
        """A quick fit of the first configuration that can be fitted in its share of the time left.

        The last one is fitted on the fewest rows, and has some seconds regardless of the time left.
        """
        possible = [one for one in dict.fromkeys([*self.firsts, *self.fallbacks]) if one not in self.failed]
        left = self.deadline.left()
        share = FIRST_SHARE * left
        for one in possible[:-1]:
            if share > 0 and self._times.rows_within(share, one):
                quick = min(max(PROBE * left, SHORT), share)
                rows = self._times.rows_within(quick, one) or self._times.fewest_rows
                return Task("fit", one, SLOWER * share, rows=rows)
        limit = max(SLOWER * share, LAST_RESORT)
        return Task("fit", possible[-1], limit, rows=self._times.fewest_rows) if possible else None

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
        one, rows = task.configuration, task.rows
        if call.outcome in (Outcome.success, Outcome.timeout):
            self._times.note_pace(one, rows, call.seconds)
        if call.outcome is Outcome.success:
            self._times.note_fit(one, rows, call.seconds)
            self.fitted[one] = Fitted(call.result, rows)
            if [*self.fitted] == [one] and not self._closing:
                self._want_more(one)
        elif call.outcome is Outcome.timeout and rows > self._times.fewest_rows and self.deadline.left() > 0:
            self._times.note_stopped(one, rows, call.seconds)
        else:
            self.failed[one] = call.message or str(call.outcome)

    def _want_more(self, one: Configuration) -> None:
        """Request a fit of the first model on more rows, and of the other members of the average if all are
        quick.

        It takes several steps if there are many times as many rows as in its fit.
        """
        left, before = self.deadline.left(), self._fitted_rows(one)
        rows = self._times.rows_within(FIRST_SHARE * left, one, most=STEP * before) or 0
        self._want({one: rows})
        rest = [other for other in self.selection.weights if other not in self.failed]
        if rows == self._times.all_rows and self._times.of_fits(rest) <= KEPT * left:
            self._want(dict.fromkeys(rest, rows))

    def _trial_ended(self, task: Task, evaluation: Evaluation) -> None:
        cut_off = evaluation.outcome is Outcome.timeout and task.limit < self._limit
        if cut_off:  # the session ended; this says nothing about the configuration
            self.history.stop(task.number, "time")
            self._closing = True
            return
        trial = self.history.trial(task.number)
        self.history.end(task.number, self._with_votes(task.number, evaluation))
        if evaluation.outcome is Outcome.success:
            rows = self._rows_of(trial)
            self._times.note_pace(task.configuration, rows, evaluation.seconds, self._trial_fits)
            self._note_trial(trial)
        if self._next_selection == 0.0 and len(self.history.trials) >= len(self.firsts):
            self._next_selection = self.deadline.elapsed()
        self._report()

    def _repetition_ended(self, task: Task, evaluation: Evaluation) -> None:
        if evaluation.outcome is Outcome.success:
            self.history.end(task.number, self._with_votes(task.number, evaluation))
            self._unrepeatable.discard(task.number)

    def _with_votes(self, number: int, evaluation: Evaluation) -> Evaluation:
        """The evaluation with only its predictions of the rows used for selection.

        Trials on fewer rows have none, since they can't be members.
        """
        trial, votes = self.history.trial(number), None
        if evaluation.predictions is not None and trial.counts:
            votes = votes_of(evaluation.predictions, self.splits.of(len(trial.evaluations)), self._rows)
        return replace(evaluation, predictions=votes)

    def _report(self) -> None:
        ended = [trial for trial in self.history.trials if trial.evaluations]
        best = ranked(ended, self.search.measure)[:1]
        self.report(
            Progress(
                done=len(ended),
                failed=sum(trial.value(self.search.measure) is None for trial in ended),
                of=self.budget.trials,
                seconds_left=None if self.deadline.seconds is None else self.deadline.left(),
                best=self._in_words(best[0]) if best else None,
            )
        )

    def _in_words(self, trial: Trial) -> str:
        """A trial's value and its algorithm."""
        value = target_words(self.dataset).measured(trial.value(self.search.measure) or 0.0)
        return f"{measure_title(self.search.measure)} {value} ({trial.configuration.algorithm})"

    # ---- the model ------------------------------------------------------------------------------------

    def _select(self, *, final: bool = False) -> None:
        """Select the model anew, and request fits of its members if these are quick.

        Args:
            final: whether this is the last time: then the value is estimated, and all members are fitted.
        """
        before = self.deadline.elapsed()
        self.selection = self._selected(final=final)
        elapsed = self.deadline.elapsed()
        self._selecting = elapsed - before
        self._next_selection = max(2 * elapsed, elapsed + 10 * self._selecting)
        if final:
            self._want(self._planned(self.selection.weights, self._left_until(ENDING)))
            return
        missing = [one for one in self.selection.weights if self._is_missing(one)]
        if self._times.of_fits(missing) <= ON_THE_WAY * elapsed:
            self._want(dict.fromkeys(missing, self._times.all_rows))

    def _selected(self, *, final: bool) -> Selection:
        measure = self.search.measure
        self._left_out = 0
        found = ranked(self.history.trials, measure)
        if not found:
            weights = self.selection.weights
            planned = self._planned(weights, self._left_until(ENDING))
            self._left_out = len(weights) - len(planned)
            return Selection({one: weights[one] for one in planned} or self._first_fitted)
        found = [trial for trial in found if self._can_be_fitted(trial.configuration)]
        voters = [] if measure in TIMES else self._voters(found)
        if found and not voters:  # predictions do not determine a time, and some can't be averaged
            return Selection({found[0].configuration: 1.0}, found[0].value(measure))
        while voters:
            ballot, select = self._vote(voters)
            voted = {voters[number].configuration: weight for number, weight in select().items()}
            weights = self._with_untried(voted)
            planned = self._planned(weights, self._left_until(ENDING))
            if len(planned) == len(weights):
                score = estimate(ballot, select, self.deadline.left) if final and weights == voted else None
                return Selection(weights, None if score is None else oriented(score, measure))
            self._left_out += len(weights) - len(planned)
            voters = [trial for trial in voters if trial.configuration in planned]
        return Selection(self._first_fitted)

    def _with_untried(self, voted: dict[Configuration, float]) -> dict[Configuration, float]:
        """The selected weights, with first members that are fitted but had no time for a trial.

        Their expected values hold until they are measured; each has the same weight as all tried ones
        together.
        """
        tried = {trial.configuration for trial in self.history.trials if trial.evaluations}
        fitted = [one for one in self._firsts if self._fitted_rows(one) >= self._trial_rows]
        untried = [one for one in fitted if one not in tried]
        if untried and not self.search.ensemble:
            return {untried[0]: 1.0}
        scale = 1 / (1 + len(untried))
        return {one: scale * weight for one, weight in voted.items()} | dict.fromkeys(untried, scale)

    def _vote(self, voters: Sequence[Trial]) -> tuple[Ballot, Callable[..., dict[int, float]]]:
        """The trials' predictions, and a function that selects weighted members on given rows."""
        scorer = scorer_of(self.dataset)
        ballot = Ballot(
            [trial.predictions for trial in voters if trial.predictions is not None],
            scorer.outcomes(self.dataset.target)[self._rows],
            scorer,
            self.search.measure,
        )
        place = {trial.configuration: number for number, trial in enumerate(voters)}
        start = [place[one] for one in self.firsts if one in place]

        def select(rows: Positions | slice = slice(None)) -> dict[int, float]:
            if self.search.ensemble:
                left = partial(self._left_until, ENDING)
                return select_ensemble(ballot, start, self.search.ensemble, rows, left)
            scores = [ballot.score(one, rows) for one in ballot.predictions]
            return {select_single(ballot, scores, start[0] if start else 0): 1.0}

        return ballot, select

    def _voters(self, found: Sequence[Trial]) -> list[Trial]:
        """The trials from which the model is selected: the first ones, and those better than the worst of
        these.

        Args:
            found: the successful trials, the best first.
        """
        usable = [trial for trial in found if trial.predictions is not None]
        firsts = [trial for trial in usable if trial.configuration in self.firsts]
        as_good = usable[: usable.index(firsts[-1])] if firsts else usable
        return [*firsts, *(trial for trial in as_good if trial not in firsts)][
            : max(MOST_TRIALS, len(firsts))
        ]

    def _planned(self, weights: Mapping[Configuration, float], seconds: float) -> dict[Configuration, int]:
        """The members that are fitted or can be fitted within these seconds, with the rows of each.

        Unfitted ones come first, then the heaviest, as long as there is time for more rows. A member that
        can't be fitted on as many rows as its trial is left out, since its value is unknown then.
        """
        if not self.wants_model:
            return dict.fromkeys(weights, self._times.all_rows)
        tried = {trial.configuration: self._rows_of(trial) for trial in self.history.trials if trial.counts}
        planned = {}
        for one in sorted(weights, key=lambda one: (one in self.fitted, -weights[one])):
            before = self._fitted_rows(one)
            rows = self._times.rows_within(seconds / MARGIN, one) if self._is_missing(one) else None
            if rows is not None and rows > before and rows >= tried.get(one, self._trial_rows):
                planned[one] = rows
                seconds -= MARGIN * self._times.of_fits([one], rows) / self.jobs
            elif before:
                planned[one] = before
        return planned

    def _can_be_fitted(self, one: Configuration) -> bool:
        """Whether it is fitted, or can be within the time left, on as many rows as a trial."""
        if not self.wants_model or one in self.fitted:
            return True
        return one not in self.failed and self._times.of_fits([one], self._trial_rows) <= self.deadline.left()

    def _fitted_rows(self, one: Configuration) -> int:
        """Number of rows on which it is fitted, 0 if it is not."""
        return self.fitted[one].rows if one in self.fitted else 0

    def _is_missing(self, one: Configuration) -> bool:
        """Whether it is not yet fitted on all rows, and has not failed."""
        return one not in self.failed and self._fitted_rows(one) < self._times.all_rows

    def _want(self, rows: Mapping[Configuration, int]) -> None:
        """Request fits on these numbers of rows before the next trial."""
        running = {task.configuration for task in self._of_kind("fit")}
        for one, wanted in rows.items():
            if one not in running and wanted > self._fitted_rows(one):
                self._wanted[one] = wanted

    def _of_kind(self, kind: str) -> list[Task]:
        """Running tasks of a kind."""
        return [task for task in self._running.values() if task.kind == kind]

    # ---- time -----------------------------------------------------------------------------------------

    def _seconds_for_trials(self) -> float:
        """Seconds left for trials, without those reserved for the last fits."""
        if self.deadline.seconds is None:
            return math.inf
        likely = [trial.configuration for trial in ranked(self.history.trials, self.search.measure)[:LIKELY]]
        members = {**dict.fromkeys(likely, 0.0), **self.selection.weights} if self.wants_model else {}
        planned = self._planned(members, min(self.deadline.left(), KEPT * self.deadline.seconds))
        more = {one: rows for one, rows in planned.items() if rows > self._fitted_rows(one)}
        fits = MARGIN * sum(self._times.of_fits([one], rows) for one, rows in more.items()) / self.jobs
        # The last selection has more trials than the one before, and is followed by its estimate, which
        # takes a selection for each block.
        return self._left_until(fits + MORE * (1 + BLOCKS) * self._selecting + ENDING)

    def _seconds_for_trial(self) -> float:
        """Time limit in seconds of a trial that begins now."""
        return min(self._limit, self._seconds_for_trials())

    def _left_until(self, kept: float) -> float:
        return max(self.deadline.left() - kept, 0.0)

    @property
    def _trial_rows(self) -> int:
        """Least number of rows of each fit of a trial."""
        return self.splits.resampling.sizes(self._times.all_rows)[0]

    def _rows_of(self, trial: Proposed | Trial) -> int:
        """Number of rows of each fit of this trial."""
        return round(trial.share * self._trial_rows)

    @property
    def _trial_fits(self) -> float:
        return fits_of_trial(self.splits.resampling)

    def _note_trial(self, trial: Trial) -> None:
        """Note the time of the fits of a trial."""
        evaluation = trial.evaluation
        if evaluation is None or evaluation.outcome is not Outcome.success:
            return
        rows, one = self._rows_of(trial), trial.configuration
        took = evaluation.measures.get("fit_seconds")
        if took is not None:
            self._times.note_fit_of_trial(one, rows, took)
