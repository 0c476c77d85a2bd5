"""Progress of a search, and remarks on its end, in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ingest.running.evaluation import common_failure
from recommend.bo.optimizer import ALL_ROWS
from recommend.bo.strategies import DEFAULT_STRATEGY, get_strategy
from recommend.bo.tuning.trials import ranked
from recommend.explaining.target_words import target_words
from warehouse.support.console import duration
from warehouse.support.text import counted
from warehouse.vocabulary.configuration import Configuration
from warehouse.vocabulary.measures import measure_title

if TYPE_CHECKING:
    from recommend.bo.tuning.session import Session


@dataclass(frozen=True)
class Progress:
    """Progress of a search."""

    done: int
    """Number of trials that have ended."""
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


def progress_of(session: Session) -> Progress:
    """How far a search is."""
    measure = session.search.measure
    ended = [trial for trial in session.history.trials if trial.evaluations]
    best = next(iter(ranked(ended, measure)), None)
    words = None
    if best is not None:
        value = target_words(session.dataset).measured(best.value(measure) or 0.0)
        words = f"{measure_title(measure)} {value} ({best.configuration.algorithm})"
    return Progress(
        done=len(ended),
        failed=sum(trial.value(measure) is None for trial in ended),
        of=session.budget.trials,
        seconds_left=None if session.deadline.seconds is None else session.deadline.left(),
        best=words,
    )


def remarks_on(session: Session) -> list[str]:
    """Sentences about the strategy's choices, anything skipped for lack of time, and failures."""
    said = [*_choices(session)]
    model, fits = session.model, session.fits
    ended = _reason(session)
    if session.failure is not None:
        said.append(f"The search ended early: {session.failure}.")
    if fits.wants_model and model is None:
        reasons = "; ".join(dict.fromkeys(fits.failed.values()))
        said.append(f"No configuration could be fitted: {reasons or ended}.")
    train_rows = session.splits.resampling.train_rows
    if not any(trial.evaluations for trial in session.history.trials):
        said.append(f"No trial ended, because {ended}: nothing was compared on the data.")
    elif train_rows is not None:
        on = f"{train_rows:,} rows"
        if any(trial.share > ALL_ROWS for trial in session.history.trials):
            on += " or more"
        said.append(f"Trials were fitted on {on}, since there was no time for all rows.")
    failure = common_failure(trial.evaluation for trial in session.history.trials if trial.evaluation)
    if failure is not None and fits.wants_model:  # a verification lists its trials
        said.append(f"No trial succeeded: {failure}.")
    if model is None:
        return said
    missing = [one for one in session.selection.weights if one not in model.weights]
    left_out = len(missing) + session.selection.left_out
    if left_out:
        said.append(f"{counted(left_out, 'members')} of the model could not be fitted {_why(fits.failed)}.")
    shortened = sum(fits.times.share(one) < 1 for one in model.weights)
    if shortened:
        said.append(
            f"{counted(shortened, 'members')} of the model got fewer rounds of boosting than recommended,"
            " since all of them take too long."
        )
    fewer = {one: rows for one, rows in model.rows.items() if rows < fits.times.all_rows}
    if fewer:
        failed = {one: fits.failed[whole] for one in fewer if (whole := fits.times.whole(one)) in fits.failed}
        said.append(
            f"{counted(len(fewer), 'members')} of the model could not be fitted {_why(failed)} on all"
            f" {fits.times.all_rows:,} rows: fitted on {min(fewer.values()):,}"
            f"{' or more' if len({*fewer.values()}) > 1 else ''}."
        )
    return said


def _why(failed: Mapping[Configuration, str]) -> str:
    """Why members could not be fitted: the reasons of failures, else the time."""
    return f"({'; '.join(dict.fromkeys(failed.values()))})" if failed else "in time"


def _reason(session: Session) -> str:
    """Why the search ended, if it has no trials."""
    if session.failure is not None:
        return session.failure
    if session.interrupted:
        return "the search was interrupted"
    limit = session.longest_trial
    if session.deadline.left() > limit:
        return f"none was expected to end within the time limit of a trial, {duration(limit)}"
    return "the time was up"


def _choices(session: Session) -> Iterator[str]:
    """A sentence about the number of trials chosen by a strategy other than the default."""
    name = session.search.strategy
    origins = [trial.origin for trial in session.history.trials if trial.evaluations]
    if name == DEFAULT_STRATEGY or get_strategy(name).shares or not origins:
        return
    trials, others = counted(len(origins), "trials"), "starts, anchors and random ones"
    if "model" in origins:
        chosen, first = origins.count("model"), origins.index("model")
        yield f"{name} chose {chosen} of {trials}, the first after {first} of the others: {others}."
    else:
        yield f"{name} chose none of the {trials}: they were {others}."
