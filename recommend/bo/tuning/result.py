"""Results of a search: its trials, those that were better than all before, their scores on rows held out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ingest.reading.datasets import Dataset
from ingest.running.cross_validation import evaluate_splits
from ingest.running.limits import MEBIBYTE, Outcome, Trial, run_limited
from metalearners.encoding.scores import oriented
from recommend.bo.tuning.history import Entry, TrialHistory
from recommend.bo.tuning.specification import Search
from warehouse.configurations.configuration import Configuration


@dataclass(frozen=True)
class Tuned:
    """What a search came to."""

    dataset: Dataset
    search: Search
    entries: list[Entry]
    """All trials that ended, in the order of their numbers."""
    incumbents: list[Entry]
    """Trials that were better than all before them."""
    held_out: dict[int, float]
    """Number of a trial -> value on the rows held out, of the first and the last incumbent."""
    rows: tuple[int, int]
    """Numbers of rows that were tuned on and that were held out."""
    folder: Path
    interrupted: bool

    @property
    def best(self) -> Entry | None:
        """The best trial; None where none succeeded."""
        return self.incumbents[-1] if self.incumbents else None

    def value(self, entry: Entry) -> float | None:
        """A trial's value of the measure, as it is: smaller is better for costs."""
        return value_of(entry.trial, self.search.measure)


def value_of(trial: Trial | None, measure: str) -> float | None:
    """The value of the measure; None where there is none."""
    if trial is None or trial.outcome is not Outcome.success:
        return None
    value = float(trial.result[measure])
    return value if np.isfinite(value) else None


def score_of(trial: Trial | None, measure: str) -> float | None:
    """As `value_of`, but larger is better."""
    value = value_of(trial, measure)
    return None if value is None else float(oriented(np.array([value]), measure)[0])


def incumbents(entries: Sequence[Entry], measure: str) -> list[Entry]:
    """The trials, in order, that were better than all before them."""
    found: list[Entry] = []
    best = -np.inf
    for entry in entries:
        score = score_of(entry.trial, measure)
        if score is not None and score > best:
            found.append(entry)
            best = score
    return found


def result(
    dataset: Dataset,
    search: Search,
    history: TrialHistory,
    rows: tuple[np.ndarray, np.ndarray],
    interrupted: bool,
) -> Tuned:
    ended = [entry for entry in history.entries if entry.trial is not None]
    better = incumbents(ended, search.measure)
    scores: dict[int, float | None] = {}
    if len(rows[1]) and not interrupted:
        judged = {entry.number: entry.configuration for entry in better[:1] + better[-1:]}
        scores = {
            number: held_out_value(dataset, configuration, search, rows)
            for number, configuration in judged.items()
        }
    return Tuned(
        dataset=dataset,
        search=search,
        entries=ended,
        incumbents=better,
        held_out={number: score for number, score in scores.items() if score is not None},
        rows=(len(rows[0]), len(rows[1])),
        folder=history.folder,
        interrupted=interrupted,
    )


def held_out_value(
    dataset: Dataset, configuration: Configuration, search: Search, rows: tuple[np.ndarray, np.ndarray]
) -> float | None:
    """The value on the rows held out of the configuration fitted on the others."""
    trial = run_limited(
        evaluate_splits,
        configuration.algorithm,
        dict(configuration.values),
        dataset,
        [rows],
        seed=search.seed,
        seconds=search.trial_seconds,
        memory=search.trial_memory * MEBIBYTE,
    )
    return value_of(trial, search.measure)
