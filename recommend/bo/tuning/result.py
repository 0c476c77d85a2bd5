"""Results of a search: its trials, those that were better than all before, their scores on rows held out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from ingest.reading.datasets import Dataset
from ingest.running.cross_validation import class_codes
from ingest.running.limits import common_failure
from recommend.bo.tuning.finals import Finals, ensemble_value, judge_trials, winner
from recommend.bo.tuning.history import Entry, TrialHistory
from recommend.bo.tuning.scores import scored, value_of
from recommend.bo.tuning.specification import Search


@dataclass(frozen=True)
class Tuned:
    """What a search came to."""

    dataset: Dataset
    search: Search
    entries: list[Entry]
    """All trials that ended, in the order of their numbers."""
    incumbents: list[Entry]
    """Trials that were better than all before them."""
    best: Entry | None
    """The best trial, by what came of the leaders when they were tried again; None where none succeeded."""
    finals: Finals
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

    def value(self, entry: Entry) -> float | None:
        """A trial's value of the measure, as it is: smaller is better for costs."""
        return value_of(entry.trial, self.search.measure)

    @property
    def failure(self) -> str | None:
        """Why all trials failed, the most frequent reason; None where one succeeded, or none has ended."""
        return common_failure(entry.trial for entry in self.entries if entry.trial is not None)


def incumbents(entries: Sequence[Entry], measure: str) -> list[Entry]:
    """The trials, in order, that were better than all before them."""
    found: list[Entry] = []
    best = -np.inf
    for score, entry in scored(entries, measure):
        if score > best:
            found.append(entry)
            best = score
    return found


def result(
    dataset: Dataset,
    search: Search,
    history: TrialHistory,
    rows: tuple[np.ndarray, np.ndarray],
    interrupted: bool,
    finals: Finals,
    jobs: int = 1,
    left: Callable[[], float] = lambda: np.inf,
) -> Tuned:
    """Results of the search in `history`, and values on the rows held out unless it was interrupted.

    Args:
        jobs: fits at the same time.
        left: seconds that are left for these values; what there is no time for has none.
    """
    ended = [entry for entry in history.entries if entry.trial is not None]
    better = incumbents(ended, search.measure)
    best = winner(ended, finals, search.measure)
    held_out: dict[int, float] = {}
    of_ensemble = None
    if len(rows[1]) and not interrupted and best is not None:
        numbers = dict.fromkeys([best.number, better[0].number, *finals.weights])
        entries = [history.entries[number] for number in numbers]
        judged = judge_trials("held-out", entries, dataset, [rows], search, jobs, history, left)
        held_out = {number: one.value for number, one in judged.items() if one is not None}
        of_ensemble = ensemble_value(judged, finals.weights, class_codes(dataset)[rows[1]], search.measure)
    return Tuned(
        dataset=dataset,
        search=search,
        entries=ended,
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
