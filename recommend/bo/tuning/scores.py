"""Values of trials."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from ingest.running.limits import Outcome, Trial
from metalearners.encoding.scores import oriented
from recommend.bo.optimizer import ALL_ROWS
from recommend.bo.tuning.history import Entry
from warehouse.support.arrays import Floats


def value_of(trial: Trial | None, measure: str) -> float | None:
    """The value of the measure; None where there is none."""
    if trial is None or trial.outcome is not Outcome.success:
        return None
    value = float(trial.result[measure])
    return value if np.isfinite(value) else None


def score_of(trial: Trial | None, measure: str) -> float | None:
    """Value of the measure for which larger is better; see `value_of`."""
    value = value_of(trial, measure)
    return None if value is None else float(oriented(np.array([value]), measure)[0])


def taken_apart(trial: Trial) -> tuple[Trial, Floats | None]:
    """A trial whose result are measures and probabilities: the one with its measures alone, and these."""
    if trial.outcome is not Outcome.success:
        return trial, None
    measures, probabilities = trial.result
    return replace(trial, result=measures), probabilities


def scored(entries: Iterable[Entry], measure: str) -> list[tuple[float, Entry]]:
    """The trials on all rows that have a score, each after it; what others score is no measure for these."""
    return [
        (score, entry)
        for entry in entries
        if entry.share == ALL_ROWS and (score := score_of(entry.trial, measure)) is not None
    ]
