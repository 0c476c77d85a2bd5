"""The session of a search: fits on all rows and trials, one after the other, until its time ends.

What is done next:

    1. the configuration that is expected to be best is fitted on all rows, so that there is a model whenever
       the session ends; where that fails, the quickest others. The others that the first model averages
       follow at once where they are quick, else at the end
    2. trials: those of a history that were begun and have no outcome, then what the optimizer proposes
    3. now and then a leading trial is evaluated again on other folds, since the best of many is partly luck
    4. whenever the session has lasted twice as long as before, the model is selected anew from the trials'
       predictions, and its members are fitted on all rows where that is quick
    5. at the end the model is selected for the last time, and what it lacks is fitted in the time that was
       kept for it
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from ingest.reading.datasets import Dataset
from ingest.running.evaluation import TIMES, Evaluation
from ingest.running.limits import LimitedCall, Outcome
from ingest.running.resampling import Resampling
from ingest.running.scorer import scorer_of
from metalearners.encoding.scores import oriented
from recommend.bo.optimizer import ALL_ROWS
from recommend.bo.tuning.deadline import Deadline, trial_limit
from recommend.bo.tuning.fitting import Model, model_of
from recommend.bo.tuning.history import TrialHistory
from recommend.bo.tuning.proposals import Proposed, Proposer
from recommend.bo.tuning.resampling import FEW_ROWS, Splits, choose_resampling, trial_seconds
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
from recommend.ranking.averaging import weights_of
from warehouse.support.arrays import Positions
from warehouse.support.console import duration
from warehouse.support.interrupts import noted_interrupts
from warehouse.support.text import counted
from warehouse.vocabulary.configuration import Configuration

AT_ONCE = 0.2
"""Share of the time up to which the first members are fitted before any trial; a heuristic, as the next."""
ROUNDS, UNUSED = 3, 0.1
"""Most rounds of trials with a model after them, and the share of the time from which on there is another."""
KEPT = 0.4
"""Largest share of the time that is kept for the last fits."""
ON_THE_WAY = 0.1
"""Share of the time so far that fits on the way may take."""
LEAST = 2.0
"""Seconds that a fit of the quickest may take in any case before there is a model."""
LONGER = 4.0
"""Times as long as expected that a fit on the way may take."""
FALLBACK = 0.5
"""Share of the time left that a fit may take before there is any model."""
STARTING = 0.1
"""Seconds that it takes to begin and end a process."""
TIMED = 0.2
"""Expected seconds from which on a fit tells how fast this machine is."""
PACES = (0.1, 20.0)
"""Least and largest factor between times that were taken and expected."""
ENDING = 0.5
"""Seconds that it takes to select the last model and to end."""
ASKED = 5
"""Proposals after which there is no time for a trial."""
MORE = 1.5
"""Times as long as the one before that the last selection may take."""
LIKELY = 2
"""Best trials that the next selection is likely to have as members."""
LEADERS = 5
"""Trials that are evaluated again."""
REPETITIONS = {True: 5, False: 2}
"""Whether rows are few -> most evaluations of a trial."""
REPEAT_EVERY = 4
"""Every which trial is a repetition."""


@dataclass(frozen=True)
class Progress:
    """Progress of a search."""

    done: int
    """Trials that have ended."""
    failed: int
    of: int | None
    """Trials that are planned; None = as many as the time allows."""
    seconds_left: float | None
    best: float | None
    """Best value so far."""
    best_flow: str | None
    measure: str

    def line(self) -> str:
        """A line about a search that goes on."""
        parts = [f"trial {self.done}" + ("" if self.of is None else f" of {self.of}")]
        if self.failed:
            parts.append(f"{self.failed} failed")
        if self.best is not None:
            parts.append(f"best {self.measure} {self.best:.4f} ({self.best_flow})")
        if self.seconds_left is not None:
            parts.append(f"{duration(self.seconds_left)} left")
        return ", ".join(parts)


@dataclass(frozen=True)
class Selection:
    """What a model consists of."""

    weights: dict[Configuration, float]
    value: float | None = None
    """Value of the measure on rows that the selection has not seen; None where it is unknown."""


@dataclass
class Session:
    """One search, from its first fit to its model."""

    part: Dataset
    search: Search
    budget: Budget
    deadline: Deadline
    history: TrialHistory
    firsts: Sequence[Configuration]
    """Configurations whose average is the first model, the best first."""
    spares: Sequence[Configuration]
    """Configurations to fit where the first of these fails, each quicker than the one before."""
    fit_seconds: Callable[[Configuration, int], float]
    """Expected seconds of one fit on a number of rows, on a machine like those of the known runs; NaN =
    unknown."""
    proposer: Proposer
    runner: Runner
    jobs: int = 1
    """Tasks that the runner can run at the same time."""
    wants_model: bool = True
    report: Callable[[Progress], None] = lambda _: None
    fitted: dict[Configuration, Any] = field(default_factory=dict, init=False)
    """Configuration -> its pipeline, fitted on all rows."""
    failed: dict[Configuration, str] = field(default_factory=dict, init=False)
    """Configuration -> why its fit on all rows failed."""
    selection: Selection = field(init=False)
    interrupted: bool = field(default=False, init=False)
    _paces: list[float] = field(default_factory=list, init=False)
    """Times that fits and trials took, as multiples of those expected."""
    _closing: bool = field(default=False, init=False)
    """Whether the time no longer suffices for a new trial."""
    _left_out: int = field(default=0, init=False)
    """Members that the last selection had no time for."""
    _since_repetition: int = field(default=0, init=False)
    _unrepeatable: set[int] = field(default_factory=set, init=False)
    _next_selection: float = field(default=0.0, init=False)
    """Seconds from the beginning until the model is selected anew; 0 = not before the firsts are tried."""
    _selecting: float = field(default=0.0, init=False)
    """Seconds that the last selection took."""
    _wanted: list[Configuration] = field(default_factory=list, init=False)
    """Configurations to fit on all rows before the next trial."""
    _running: dict[Future[Any], Task] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        first = self.firsts if self.search.ensemble else self.firsts[:1]
        self.selection = Selection(weights_of(first) if first else {})
        self._limit = trial_limit(self.search.trial_seconds, self.budget.seconds)

    @cached_property
    def splits(self) -> Splits:
        """The splits of the trials: those of the history, else as many as the time allows after the fits."""
        if self.history.resampling is None:

            def seconds(rows: int) -> float:
                return float(np.median([self.fit_seconds(one, rows) for one in self.firsts])) * self._pace

            chosen = choose_resampling(self.part, self.search.folds, seconds, self.deadline.seconds)
            self.history.settle({"folds": chosen.folds, "train_rows": chosen.train_rows})
        kept = self.history.resampling or {}
        resampling = Resampling(
            kept["folds"] or 1, train_rows=kept["train_rows"], by=self.part.split and self.part.split.kind
        )
        return Splits(self.part, resampling, self.search.seed)

    @cached_property
    def _rows(self) -> Positions:
        """The rows that the model is selected on."""
        strata = scorer_of(self.part).strata(self.part.target)
        return voting_rows(self.splits.of(), int(strata.max()) + 1)

    # ---- the session ----------------------------------------------------------------------------------

    def run(self) -> Model | None:
        """Run it to its end; returns the model, None where there is none.

        An interrupt ends what runs, and what is fitted by then is the model.
        """
        self._want_firsts()
        with noted_interrupts() as interrupts:
            try:
                for _ in range(ROUNDS):
                    self._round(lambda: interrupts.noted)
                    if interrupts.noted or not self._has_time_for_another_round():
                        break
            except KeyboardInterrupt:
                interrupts.noted = True
            self.interrupted = interrupts.noted
        return self.model

    def _round(self, ended: Callable[[], bool]) -> None:
        """Trials until there is no more time for them, then the model."""
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
        """What is selected, as far as it is fitted; else the first configuration that is."""
        found = model_of(self.selection.weights, self.fitted)
        return found or model_of(self._first_fitted, self.fitted)

    @property
    def _first_fitted(self) -> dict[Configuration, float]:
        """The first configuration that was fitted, alone; empty before."""
        return dict.fromkeys([*self.fitted][:1], 1.0)

    def remarks(self) -> list[str]:
        """What the time did not suffice for, and what failed, in sentences."""
        said = []
        model = self.model
        if self.wants_model and model is None:
            reasons = "; ".join(dict.fromkeys(self.failed.values()))
            said.append(f"No configuration could be fitted on all rows: {reasons or 'the time was up'}.")
        train_rows = self.splits.resampling.train_rows
        if not any(trial.evaluations for trial in self.history.trials):
            said.append("The time did not suffice for a trial: nothing was compared on the data.")
        elif train_rows is not None:
            said.append(f"Trials were fitted on {train_rows:,} rows, since there was no time for all rows.")
        missing = [one for one in self.selection.weights if model is not None and one not in model.weights]
        left_out = len(missing) + self._left_out
        if model is not None and left_out:
            said.append(f"{counted(left_out, 'members')} of the model had no time to be fitted on all rows.")
        return said

    def _work(self, following: Callable[[], Task | None], ended: Callable[[], bool]) -> None:
        """Do what follows, until nothing does or somebody asks to end."""
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

    # ---- what is next ---------------------------------------------------------------------------------

    def _next(self) -> Task | None:
        fit = self._next_fit()
        if fit is not None:
            return fit
        if self.wants_model and self.deadline.elapsed() >= self._next_selection > 0:
            self._select()
            fit = self._next_fit()
            if fit is not None:
                return fit
        return self._next_repetition() or self._next_trial() or self._next_repetition(at_once=True)

    def _next_trial(self) -> Task | None:
        seconds = self._seconds_for_trials()
        if self._closing or seconds <= 0:
            return None
        trial = self.history.take(lambda one: self._fits_into(seconds, one))
        if trial is None:
            full = self.budget.trials is not None and len(self.history.trials) >= self.budget.trials
            trial = None if full else self._proposed(seconds)
        if trial is None:
            self._closing = not self._of_kind("trial")  # for whose outcomes the proposer may wait
            return None
        self._since_repetition += 1
        return Task("trial", trial.configuration, min(self._limit, seconds), trial.number)

    def _proposed(self, seconds: float) -> Trial | None:
        """The next trial, begun; None where nothing is proposed that fits into the time."""
        for _ in range(ASKED):
            proposed = self.proposer.propose(self.history.trials)
            if proposed is None:
                return None
            if self._fits_into(seconds, proposed):
                number = len(self.history.trials)
                self.history.begin(
                    Trial(number, proposed.configuration, proposed.origin, share=proposed.share)
                )
                return self.history.trials[number]
        return None

    def _fits_into(self, seconds: float, one: Proposed | Trial) -> bool:
        """Whether there is time for the trial, and the time left suffices for a fit on all rows."""
        trial = one.share * self._trial_seconds(one.configuration)
        return trial <= seconds and self._can_be_fitted(one.configuration)

    def _next_repetition(self, *, at_once: bool = False) -> Task | None:
        """Another evaluation of the leader that has the fewest.

        Args:
            at_once: whether there is nothing else to do.
        """
        most = REPETITIONS[len(self.part.features) < FEW_ROWS]
        if self.splits.resampling.folds == 1 or len(self.history.trials) <= len(self.firsts):
            return None
        if not at_once and self._since_repetition < REPEAT_EVERY:
            return None
        seconds = self._seconds_for_trials()
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
        return Task("repetition", trial.configuration, min(self._limit, seconds), trial.number)

    def _next_fit(self) -> Task | None:
        while self._wanted:
            one = self._wanted.pop(0)
            limit = self._fit_limit(one)
            if limit > 0:
                return Task("fit", one, limit)
        return None

    def _fit_limit(self, one: Configuration) -> float:
        """Seconds that the next fit may take; the quickest has some in any case before there is a model."""
        left = self.deadline.left()
        if self.fitted:
            return left if self._closing else min(left, LONGER * self._fits_seconds([one]) + LEAST)
        quickest = [*self.spares, *self.firsts][0]
        limit = FALLBACK * left if self._wanted else left
        return max(limit, LEAST) if one == quickest else limit

    def _splits_of(self, task: Task) -> Sequence[Any]:
        if task.kind == "fit":
            return []
        trial = self.history.trials[task.number]
        return self.splits.of(len(trial.evaluations), trial.share)

    # ---- what came of it ------------------------------------------------------------------------------

    def _ended(self, task: Task, outcome: Any) -> None:
        if task.kind == "fit":
            self._fit_ended(task, outcome)
        elif task.kind == "repetition":
            self._repetition_ended(task, outcome)
        else:
            self._trial_ended(task, outcome)

    def _fit_ended(self, task: Task, call: LimitedCall) -> None:
        expected = self.fit_seconds(task.configuration, len(self.part.features))
        if call.outcome in (Outcome.success, Outcome.timeout):
            self._note_pace(call.seconds, expected)
        if call.outcome is not Outcome.success:
            self.failed[task.configuration] = call.message or str(call.outcome)
            return
        self.fitted[task.configuration] = call.result
        if len(self.fitted) == 1:
            self._wanted = []  # the spares
            rest = [one for one in self.firsts if self._is_missing(one)]
            if (
                self.deadline.seconds is not None
                and self._fits_seconds(rest) <= AT_ONCE * self.deadline.seconds
            ):
                self._want(rest)

    def _trial_ended(self, task: Task, evaluation: Evaluation) -> None:
        cut_off = evaluation.outcome is Outcome.timeout and task.limit < self._limit
        if cut_off:  # by the end of the session, which says nothing about the configuration
            self.history.stop(task.number, "time")
            self._closing = True
            return
        trial = self.history.trials[task.number]
        if evaluation.outcome is Outcome.success:
            expected = self._trial_seconds(task.configuration) / self._pace
            self._note_pace(evaluation.seconds, expected * trial.share)
        self.history.end(task.number, self._with_votes(task.number, evaluation))
        if self._next_selection == 0.0 and len(self.history.trials) >= len(self.firsts):
            self._next_selection = self.deadline.elapsed()
        self._report()

    def _repetition_ended(self, task: Task, evaluation: Evaluation) -> None:
        if evaluation.outcome is Outcome.success:
            self.history.end(task.number, self._with_votes(task.number, evaluation))
            self._unrepeatable.discard(task.number)

    def _with_votes(self, number: int, evaluation: Evaluation) -> Evaluation:
        """The evaluation with its predictions of the rows that members are chosen on alone.

        Trials on fewer rows have none: they are no members.
        """
        trial, votes = self.history.trials[number], None
        if evaluation.predictions is not None and trial.share == ALL_ROWS:
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
                best=best[0].value(self.search.measure) if best else None,
                best_flow=best[0].configuration.algorithm if best else None,
                measure=self.search.measure,
            )
        )

    # ---- the model ------------------------------------------------------------------------------------

    def _select(self, *, final: bool = False) -> None:
        """Select the model anew, and have its members fitted where that is quick.

        Args:
            final: whether this is the last time; then the value is estimated, and all are fitted.
        """
        before = self.deadline.elapsed()
        self.selection = self._selected(final=final)
        elapsed = self.deadline.elapsed()
        self._selecting = elapsed - before
        self._next_selection = max(2 * elapsed, elapsed + 10 * self._selecting)
        missing = [one for one in self.selection.weights if self._is_missing(one)]
        if final or self._fits_seconds(missing) <= ON_THE_WAY * elapsed:
            self._want(missing)

    def _selected(self, *, final: bool) -> Selection:
        measure = self.search.measure
        found = ranked(self.history.trials, measure)
        if not found:
            return Selection(self._affordable(self.selection.weights))
        found = [trial for trial in found if self._can_be_fitted(trial.configuration)]
        if not found:  # none of them in the time left
            return Selection(self._first_fitted)
        voters = [] if measure in TIMES else self._voters(found)
        if not voters:  # predictions say nothing of a time, and those of some pipelines can't be averaged
            return Selection({found[0].configuration: 1.0}, found[0].value(measure))
        scorer = scorer_of(self.part)
        ballot = Ballot(
            [trial.predictions for trial in voters if trial.predictions is not None],
            scorer.outcomes(self.part.target)[self._rows],
            scorer,
            measure,
        )
        place = {trial.configuration: number for number, trial in enumerate(voters)}
        start = [place[one] for one in self.firsts if one in place]
        left = partial(self._left_until, ENDING)

        def select(rows: Positions | slice = slice(None)) -> dict[int, float]:
            if self.search.ensemble:
                return select_ensemble(ballot, start, self.search.ensemble, rows, left)
            scores = [ballot.score(one, rows) for one in ballot.predictions]
            return {select_single(ballot, scores, start[0] if start else 0): 1.0}

        weights = {voters[number].configuration: weight for number, weight in select().items()}
        score = estimate(ballot, select, self.deadline.left) if final else None
        value = None if score is None else oriented(score, measure)
        return Selection(self._affordable(weights), value)

    def _voters(self, found: Sequence[Trial]) -> list[Trial]:
        """The trials that the model is selected from: the first ones, and the best that are as good as these.

        Args:
            found: the trials that succeeded, the best first.
        """
        usable = [trial for trial in found if trial.predictions is not None]
        firsts = [trial for trial in usable if trial.configuration in self.firsts]
        as_good = usable[: usable.index(firsts[-1])] if firsts else usable
        return [*firsts, *(trial for trial in as_good if trial not in firsts)][
            : max(MOST_TRIALS, len(firsts))
        ]

    def _affordable(self, weights: dict[Configuration, float]) -> dict[Configuration, float]:
        """The members that are fitted or can be in the time left, the heaviest first."""
        if not self.wants_model or self.deadline.seconds is None:
            return weights
        left = self._left_until(ENDING)
        kept: dict[Configuration, float] = {}
        for one in sorted(weights, key=lambda one: -weights[one]):
            if one in self.failed:
                continue
            seconds = 0.0 if one in self.fitted else self._fits_seconds([one])
            if seconds <= left:
                kept[one] = weights[one]
                left -= seconds / self.jobs
        self._left_out = len(weights) - len(kept)
        if not kept:
            return self._first_fitted or weights
        total = sum(kept.values())
        return {one: weight / total for one, weight in kept.items()}

    def _can_be_fitted(self, one: Configuration) -> bool:
        """Whether it is fitted on all rows, or is expected to be within the time left."""
        if not self.wants_model or one in self.fitted:
            return True
        return one not in self.failed and self._fits_seconds([one]) <= self.deadline.left()

    def _is_missing(self, one: Configuration) -> bool:
        return one not in self.fitted and one not in self.failed

    def _want(self, several: Sequence[Configuration]) -> None:
        known = {*self._wanted, *(task.configuration for task in self._of_kind("fit"))}
        self._wanted += [one for one in several if one not in known]

    def _of_kind(self, kind: str) -> list[Task]:
        """Tasks of a kind that run."""
        return [task for task in self._running.values() if task.kind == kind]

    def _want_firsts(self) -> None:
        if self.wants_model:
            self._wanted = [*dict.fromkeys([*self.firsts[:1], *self.spares])]

    # ---- time -----------------------------------------------------------------------------------------

    def _seconds_for_trials(self) -> float:
        """Seconds left for trials, without those that the last fits need."""
        if self.deadline.seconds is None:
            return math.inf
        likely = [trial.configuration for trial in ranked(self.history.trials, self.search.measure)[:LIKELY]]
        members = dict.fromkeys([*self.selection.weights, *likely]) if self.wants_model else {}
        missing = [one for one in members if self._is_missing(one)]
        fits = min(self._fits_seconds(missing) / self.jobs, KEPT * self.deadline.seconds)
        # The last selection has more trials to choose from than the one before, and is followed by its
        # estimate, a selection for each block.
        return self._left_until(fits + MORE * (1 + BLOCKS) * self._selecting + ENDING)

    def _left_until(self, kept: float) -> float:
        return max(self.deadline.left() - kept, 0.0)

    def _fits_seconds(self, several: Sequence[Configuration]) -> float:
        """Expected seconds of fits of these on all rows: by their trials where they have one."""
        timed = {
            trial.configuration: trial.evaluations[0].measures.get("fit_seconds", np.nan)
            for trial in self.history.trials
            if trial.evaluations and trial.evaluations[0].outcome is Outcome.success
        }
        rows = len(self.part.features)
        fitted_on, _ = self.splits.resampling.sizes(rows)
        total = 0.0
        for one in several:
            expected = self.fit_seconds(one, rows) * self._pace
            if one in timed:
                before = self.fit_seconds(one, fitted_on)
                growth = self.fit_seconds(one, rows) / before if before > 0 else math.nan
                expected = timed[one] * (rows / fitted_on if math.isnan(growth) else max(growth, 1.0))
            total += 0.0 if math.isnan(expected) else expected + STARTING
        return total

    def _trial_seconds(self, configuration: Configuration) -> float:
        """Expected seconds of a trial; 0 where nothing is known."""
        rows = len(self.part.features)
        expected = trial_seconds(self.splits.resampling, rows, partial(self.fit_seconds, configuration))
        return 0.0 if math.isnan(expected) else expected * self._pace

    @property
    def _pace(self) -> float:
        """How many times longer fits and trials take here than is expected."""
        return float(np.median(self._paces)) if self._paces else 1.0

    def _note_pace(self, took: float, expected: float) -> None:
        """Take the time of a fit or trial into account, but for the time that a process takes to begin."""
        if expected > TIMED:
            self._paces.append(float(np.clip((took - STARTING) / expected, *PACES)))
