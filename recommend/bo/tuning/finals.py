"""Leaders of a search tried again: which of them is best, and which are better together.

The best of many scores is partly luck. So the leaders are cross-validated once more on other folds, and the
one that is best on average over both is named. Which trials make an ensemble is told by what each predicted
of rows that it was not fitted on, averaged over both where it was a leader.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import numpy as np

from ingest.reading.datasets import Dataset
from ingest.running.cross_validation import (
    class_codes,
    evaluate_with_probabilities,
    measures_of_probabilities,
)
from ingest.running.limits import MEBIBYTE, Outcome, Processes, Trial, run_limited
from ingest.running.resampling import Split, tested_rows
from metalearners.encoding.scores import oriented
from recommend.bo.tuning.ensembles import averaged, select_ensemble, voting_rows
from recommend.bo.tuning.history import Entry, TrialHistory, Where
from recommend.bo.tuning.scores import scored, taken_apart
from recommend.bo.tuning.setup import splits_of
from recommend.bo.tuning.specification import Finish, Search
from warehouse.configurations.configuration import Configuration
from warehouse.support.arrays import Floats, Positions

logger = logging.getLogger(__name__)

_STEPS: Mapping[Where, str] = {
    "again": "trying the leaders again on other folds",
    "held-out": "scoring on the rows held out",
}


@dataclass(frozen=True)
class Finals:
    """What came of the leaders."""

    again: Mapping[int, float] = field(default_factory=dict)
    """Number of a trial -> value of the measure on other folds."""
    weights: Mapping[int, float] = field(default_factory=dict)
    """Number of a trial -> its weight in the ensemble; empty where none was wanted."""


@dataclass(frozen=True)
class Judged:
    """A configuration that was fitted on some rows and tested on others."""

    value: float
    """Value of the measure."""
    probabilities: Floats | None
    """(tested rows, classes); None where the classifier gives none."""


def run_finals(
    entries: Sequence[Entry],
    part: Dataset,
    search: Search,
    finish: Finish,
    jobs: int,
    predicted: Callable[[int], Floats | None] = lambda _: None,
    history: TrialHistory | None = None,
    left: Callable[[], float] = lambda: np.inf,
) -> Finals:
    """Evaluate the leaders among `entries` again, on the same rows as the trials.

    Args:
        predicted: probabilities of the voting rows (`recommend.bo.tuning.ensembles`) by number of a trial.
        history: keeps what comes of it, and has what was kept; None = nothing is.
        left: seconds that are left; leaders for which there are none are not evaluated.
    """
    ranked = [entry for _, entry in sorted(scored(entries, search.measure), key=lambda pair: -pair[0])]
    leaders = ranked[: finish.leaders] if finish.leaders > 1 else []
    splits = splits_of(part, search, repetition=1)
    judged = judge_trials("again", leaders, part, splits, search, jobs, history, left)
    again = {number: one for number, one in judged.items() if one is not None}
    weights: dict[int, float] = {}
    if finish.ensemble:
        first = splits_of(part, search)
        rows = tested_rows(first)[voting_rows(first)]
        probabilities = {
            entry.number: both_times(once, again.get(entry.number), splits, rows)
            for entry in ranked
            if (once := predicted(entry.number)) is not None and len(once) == len(rows)
        }
        question = json.dumps([finish.ensemble, sorted(probabilities), sorted(again)])
        kept = None if history is None else history.ensemble(question)
        if kept is not None:
            weights = kept
        elif probabilities:
            actual = class_codes(part)[rows]
            chosen = select_ensemble([*probabilities.values()], actual, search.measure, finish.ensemble, left)
            numbers = [*probabilities]
            weights = {numbers[place]: weight for place, weight in chosen.items()}
            if history is not None and left() > 0:
                history.keep_ensemble(question, weights)
    return Finals({number: one.value for number, one in again.items()}, weights)


def both_times(once: Floats, again: Judged | None, splits: Sequence[Split], rows: Positions) -> Floats:
    """(rows, classes) probabilities, averaged over both times where the second one tested all of `rows`."""
    place = {row: position for position, row in enumerate(tested_rows(splits).tolist())}
    if again is None or again.probabilities is None or not place.keys() >= set(rows.tolist()):
        return once
    return (once + again.probabilities[[place[row] for row in rows.tolist()]]) / 2


def winner(entries: Sequence[Entry], finals: Finals, measure: str) -> Entry | None:
    """The leader with the best average of its trial and the one after it; the best trial if there is none."""
    once = scored(entries, measure)
    again = {number: float(oriented(np.array([value]), measure)[0]) for number, value in finals.again.items()}
    both = [(score + again[entry.number], entry) for score, entry in once if entry.number in again]
    return max(both or once, key=lambda pair: pair[0], default=(0.0, None))[1]


def judge_trials(
    where: Where,
    entries: Sequence[Entry],
    dataset: Dataset,
    splits: Sequence[Split],
    search: Search,
    jobs: int = 1,
    history: TrialHistory | None = None,
    left: Callable[[], float] = lambda: np.inf,
) -> dict[int, Judged | None]:
    """Number of a trial -> what came of its configuration, fitted and tested on each split; None: it failed.

    Args:
        where: what the splits are to the search.
        history: keeps what comes of it, and has what was kept; None = nothing is.
        left: seconds that are left; those for which there are too few are not among what is returned.
    """
    judged: dict[int, Judged | None] = {}
    for entry in entries:
        kept = None if history is None else history.judged(where, entry.number)
        if kept is not None:
            judged[entry.number] = _judged(*kept, search.measure)
    missing = [entry for entry in entries if entry.number not in judged]
    if not missing:
        return judged
    logger.info("%s: %d configurations", _STEPS[where], len(missing))
    # The processes end first, so that no thread waits for them.
    with ThreadPoolExecutor(jobs) as pool, Processes() as processes:

        def evaluate(entry: Entry) -> Trial | None:
            return _fitted_and_tested(entry.configuration, dataset, splits, search, processes, left)

        for entry, trial in zip(missing, pool.map(evaluate, missing), strict=True):
            if trial is not None:
                judged[entry.number] = _kept(where, entry.number, trial, search.measure, history)
    return judged


def _kept(
    where: Where, number: int, trial: Trial, measure: str, history: TrialHistory | None
) -> Judged | None:
    """Keep what came of a configuration."""
    trial, probabilities = taken_apart(trial)
    if probabilities is not None:
        probabilities = probabilities.astype(np.float32)
    if history is not None:
        history.keep_judged(where, number, trial, probabilities)
    return _judged(trial, probabilities, measure)


def ensemble_value(
    judged: Mapping[int, Judged | None], weights: Mapping[int, float], actual: Positions, measure: str
) -> float | None:
    """The value of the ensemble of these trials; None where there is none, or a member failed."""
    members = {number: judged.get(number) for number in weights}
    probabilities = [
        one.probabilities for one in members.values() if one is not None and one.probabilities is not None
    ]
    if not weights or len(probabilities) < len(weights):
        return None
    return measures_of_probabilities(averaged(probabilities, list(weights.values())), actual)[measure]


def _fitted_and_tested(
    configuration: Configuration,
    dataset: Dataset,
    splits: Sequence[Split],
    search: Search,
    processes: Processes,
    left: Callable[[], float],
) -> Trial | None:
    seconds = min(search.trial_seconds, left())
    if seconds <= 0:
        return None
    trial = run_limited(
        evaluate_with_probabilities,
        configuration.algorithm,
        dict(configuration.values),
        dataset,
        splits,
        seed=search.seed,
        seconds=seconds,
        memory=search.trial_memory * MEBIBYTE,
        processes=processes,
    )
    cut_off = trial.outcome is Outcome.timeout and seconds < search.trial_seconds
    return None if cut_off else trial


def _judged(trial: Trial, probabilities: Floats | None, measure: str) -> Judged | None:
    if trial.outcome is not Outcome.success:
        return None
    value = float(trial.result[measure])
    return Judged(value, probabilities) if np.isfinite(value) else None
