"""Re-evaluation of a search's leaders: the best one, and the ensemble.

The best of many scores is partly luck. So the leaders are cross-validated once more on other folds, and the
one that is best on average over both is named. Which trials make an ensemble is told by what each predicted
of rows that it was not fitted on, averaged over both where it was a leader.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace

import numpy as np

from ingest.reading.datasets import Dataset
from ingest.running.blocks import Split
from ingest.running.evaluation import Evaluation, Limits, evaluate
from ingest.running.limits import Outcome, Processes
from ingest.running.resampling import tested_rows
from ingest.running.scorer import Scorer, scorer_of
from metalearners.encoding.scores import oriented
from recommend.bo.tuning.ensembles import select_ensemble, voting_rows
from recommend.bo.tuning.history import TrialHistory, Where
from recommend.bo.tuning.session import Session
from recommend.bo.tuning.settings import Finish
from recommend.bo.tuning.setup import splits_of
from recommend.bo.tuning.trials import Trial, scored
from warehouse.support.arrays import Floats, Positions

logger = logging.getLogger(__name__)

_STEPS: Mapping[Where, str] = {
    "again": "evaluating the leaders again on other folds",
    "held-out": "scoring on held-out rows",
}


@dataclass(frozen=True)
class Reevaluation:
    """Results of re-evaluating the leaders."""

    again: Mapping[int, float] = field(default_factory=dict)
    """Number of a trial -> value of the measure on other folds."""
    weights: Mapping[int, float] = field(default_factory=dict)
    """Number of a trial -> its weight in the ensemble; empty without an ensemble."""


def run_finals(
    trials: Sequence[Trial],
    part: Dataset,
    session: Session,
    finish: Finish,
    predicted: Callable[[int], Floats | None] = lambda _: None,
    history: TrialHistory | None = None,
) -> Reevaluation:
    """Evaluate the leaders among `trials` again, on the same rows as the trials.

    Args:
        predicted: predictions of the voting rows (`recommend.bo.tuning.ensembles`) by number of a trial.
        history: stores evaluations and weights, and returns the stored ones; None = nothing is stored.
    """
    search = session.search
    ranked = [trial for _, trial in sorted(scored(trials, search.measure), key=lambda pair: -pair[0])]
    leaders = ranked[: finish.leaders] if finish.leaders > 1 else []
    splits = splits_of(part, search, repetition=1)
    evaluations = evaluate_trials("again", leaders, part, splits, session, history)
    again = {
        number: evaluation
        for number, evaluation in evaluations.items()
        if evaluation.value(search.measure) is not None
    }
    weights: dict[int, float] = {}
    if finish.ensemble:
        first = splits_of(part, search)
        rows = tested_rows(first)[voting_rows(first)]
        votes = {
            trial.number: both_times(once, again.get(trial.number), splits, rows)
            for trial in ranked
            if (once := predicted(trial.number)) is not None and len(once) == len(rows)
        }
        question = json.dumps([finish.ensemble, sorted(votes), sorted(again)])
        kept = None if history is None else history.ensemble(question)
        if kept is not None:
            weights = kept
        elif votes:
            weights = _ensemble(votes, part, rows, session, finish.ensemble)
            if history is not None and session.left() > 0:
                history.keep_ensemble(question, weights)
    return Reevaluation({number: one.measures[search.measure] for number, one in again.items()}, weights)


def _ensemble(
    votes: Mapping[int, Floats], part: Dataset, rows: Positions, session: Session, picks: int
) -> dict[int, float]:
    """Number of a trial -> its weight in the ensemble.

    Args:
        votes: number of a trial -> (rows, k) predictions of `rows`.
    """
    scorer = scorer_of(part)
    outcomes = scorer.outcomes(part.target)[rows]
    measure = session.search.measure
    chosen = select_ensemble([*votes.values()], outcomes, scorer, measure, picks, session.left)
    numbers = [*votes]
    return {numbers[place]: weight for place, weight in chosen.items()}


def both_times(once: Floats, again: Evaluation | None, splits: Sequence[Split], rows: Positions) -> Floats:
    """(rows, k) predictions, averaged over both times where the second one tested all of `rows`."""
    place = {row: position for position, row in enumerate(tested_rows(splits).tolist())}
    if again is None or again.predictions is None or not place.keys() >= set(rows.tolist()):
        return once
    return (once + again.predictions[[place[row] for row in rows.tolist()]]) / 2


def winner(trials: Sequence[Trial], finals: Reevaluation, measure: str) -> Trial | None:
    """The leader with the best average of its trial and the one after it; the best trial if there is none."""
    once = scored(trials, measure)
    again = {number: float(oriented(np.array([value]), measure)[0]) for number, value in finals.again.items()}
    both = [(score + again[trial.number], trial) for score, trial in once if trial.number in again]
    return max(both or once, key=lambda pair: pair[0], default=(0.0, None))[1]


def evaluate_trials(
    where: Where,
    trials: Sequence[Trial],
    dataset: Dataset,
    splits: Sequence[Split],
    session: Session,
    history: TrialHistory | None = None,
) -> dict[int, Evaluation]:
    """Number of a trial -> evaluation of its configuration on other splits than the search's.

    Args:
        where: what the splits are to the search.
        session: trials for which too few seconds are left are not in the result.
        history: stores evaluations, and returns the stored ones; None = nothing is stored.
    """
    search = session.search
    evaluations = {
        trial.number: kept
        for trial in trials
        if history is not None and (kept := history.elsewhere(where, trial.number)) is not None
    }
    missing = [trial for trial in trials if trial.number not in evaluations]
    if not missing:
        return evaluations
    logger.info("%s: %d configurations", _STEPS[where], len(missing))
    # The processes end first, so that no thread waits for them.
    with ThreadPoolExecutor(session.jobs) as pool, Processes() as processes:

        def evaluated(trial: Trial) -> Evaluation | None:
            seconds = min(search.trial_seconds, session.left())
            if seconds <= 0:
                return None
            limits = Limits(seconds, search.trial_memory)
            evaluation = evaluate(
                trial.configuration, dataset, [splits], limits, seed=search.seed, processes=processes
            )
            cut_off = evaluation.outcome is Outcome.timeout and seconds < search.trial_seconds
            return None if cut_off else evaluation

        for trial, evaluation in zip(missing, pool.map(evaluated, missing), strict=True):
            if evaluation is not None:
                evaluations[trial.number] = _as_kept(evaluation)
                if history is not None:
                    history.keep_elsewhere(where, trial.number, evaluation)
    return evaluations


def _as_kept(evaluation: Evaluation) -> Evaluation:
    """The evaluation as a history keeps it, so that a search that goes on later finds the same ensemble."""
    predictions = evaluation.predictions
    return replace(evaluation, predictions=None if predictions is None else predictions.astype(np.float32))


def ensemble_value(
    evaluations: Mapping[int, Evaluation],
    weights: Mapping[int, float],
    outcomes: np.ndarray,
    scorer: Scorer,
    measure: str,
) -> float | None:
    """The value of the ensemble of these trials; None where there is none, or a member failed.

    Args:
        outcomes: (tested rows,) true ones.
    """
    members = [evaluations[number] for number in weights if number in evaluations]
    predictions = [one.predictions for one in members if one.predictions is not None]
    if not weights or len(predictions) < len(weights):
        return None
    average = scorer.average(predictions, list(weights.values()))
    return scorer.measures([average], [outcomes])[measure]
