"""Results of a search: its trials, those that were better than all before, their scores on rows held out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from ingest.reading.datasets import Dataset
from ingest.running.evaluation import common_failure
from ingest.running.scorer import scorer_of
from recommend.bo.tuning.history import TrialHistory
from recommend.bo.tuning.reevaluation import Reevaluation, ensemble_value, evaluate_trials, winner
from recommend.bo.tuning.session import Session
from recommend.bo.tuning.settings import Search
from recommend.bo.tuning.trials import Trial, scored


@dataclass(frozen=True)
class SearchResult:
    """Result of a search."""

    dataset: Dataset
    search: Search
    trials: list[Trial]
    """All trials that ended, in the order of their numbers."""
    incumbents: list[Trial]
    """Trials that were better than all before them."""
    best: Trial | None
    """The best trial, by the mean of both evaluations for leaders; None if none succeeded."""
    finals: Reevaluation
    held_out: dict[int, float]
    """Number of a trial -> value on the rows held out, of the first incumbent, the best trial, and the
    members of the ensemble."""
    ensemble_held_out: float | None
    """Value of the ensemble on the rows held out; None where there is no ensemble."""
    rows: tuple[int, int]
    """Numbers of rows that were tuned on and that were held out."""
    folder: Path
    interrupted: bool
    unfinished: Mapping[int, str] = field(default_factory=dict)
    """Number of a trial without an outcome -> why it has none, in words."""

    def value(self, trial: Trial) -> float | None:
        """A trial's value of the measure, as it is: smaller is better for costs."""
        return trial.value(self.search.measure)

    @property
    def failure(self) -> str | None:
        """Why all trials failed, the most frequent reason; None where one succeeded, or none has ended."""
        return common_failure(trial.evaluation for trial in self.trials if trial.evaluation is not None)


def incumbents(trials: Sequence[Trial], measure: str) -> list[Trial]:
    """The trials, in order, that were better than all before them."""
    found: list[Trial] = []
    best = -np.inf
    for score, trial in scored(trials, measure):
        if score > best:
            found.append(trial)
            best = score
    return found


def result(
    dataset: Dataset,
    history: TrialHistory,
    session: Session,
    rows: tuple[np.ndarray, np.ndarray],
    finals: Reevaluation,
    *,
    interrupted: bool,
) -> SearchResult:
    """Results of the search in `history`, with values on the held-out rows unless it was interrupted.

    Args:
        session: the search, and the time and jobs for the values on the held-out rows.
        rows: positions of the rows that were tuned on, and of those held out.
    """
    search = session.search
    ended = [trial for trial in history.trials if trial.evaluation is not None]
    better = incumbents(ended, search.measure)
    best = winner(ended, finals, search.measure)
    held_out: dict[int, float] = {}
    of_ensemble = None
    if len(rows[1]) and not interrupted and best is not None:
        numbers = dict.fromkeys([best.number, better[0].number, *finals.weights])
        trials = [history.trials[number] for number in numbers]
        evaluations = evaluate_trials("held-out", trials, dataset, [rows], session, history)
        values = {number: one.value(search.measure) for number, one in evaluations.items()}
        held_out = {number: value for number, value in values.items() if value is not None}
        scorer = scorer_of(dataset)
        outcomes = scorer.outcomes(dataset.target)[rows[1]]
        of_ensemble = ensemble_value(evaluations, finals.weights, outcomes, scorer, search.measure)
    return SearchResult(
        dataset=dataset,
        search=search,
        trials=ended,
        incumbents=better,
        best=best,
        finals=finals,
        held_out=held_out,
        ensemble_held_out=of_ensemble,
        rows=(len(rows[0]), len(rows[1])),
        folder=history.folder,
        interrupted=interrupted,
        unfinished=history.unfinished(),
    )
