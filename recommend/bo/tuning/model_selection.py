"""Selection of a search's model among its trials, as far as their configurations can be fitted in time."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial

from ingest.reading.datasets import Dataset
from ingest.reading.target.strata import strata_of
from ingest.running.evaluation import TIMES, Evaluation
from ingest.running.scorer import scorer_of
from metalearners.encoding.scores import oriented
from recommend.bo.tuning.deadline import Deadline
from recommend.bo.tuning.model_fits import ModelFits
from recommend.bo.tuning.resampling import Splits
from recommend.bo.tuning.selection import (
    MOST_TRIALS,
    Ballot,
    estimate,
    select_ensemble,
    select_single,
    votes_of,
    voting_rows,
)
from recommend.bo.tuning.settings import Search
from recommend.bo.tuning.trials import Trial, ranked
from recommend.ranking.averaging import weights_of
from warehouse.support.arrays import Positions
from warehouse.vocabulary.configuration import Configuration
from warehouse.vocabulary.measures import ACCURACY, AUC, LOG_LOSS

SELECTED_BY = {AUC: LOG_LOSS, ACCURACY: LOG_LOSS}
"""Measure to optimize -> the one by which an ensemble is selected, where that is another. The order of rows,
or their decisions alone, vary more between samples of rows than probabilities. On held-out rows of 28 tables
of the choosing half, an ensemble selected by the log loss is better in the area under the ROC curve than one
selected by the area on 14 and worse on 14, and in the log loss on 18 and 10; and better in accuracy than one
selected by the accuracy on 13 and worse on 8."""
ENDING = 0.5
"""Seconds kept for the last selection and the end of the search."""


@dataclass(frozen=True)
class Selection:
    """The members of a model."""

    weights: dict[Configuration, float]
    value: float | None = None
    """Value of the measure on rows that the selection has not seen; None if unknown."""
    left_out: int = 0
    """Number of members that could not be fitted in time."""


def first_selection(firsts: Sequence[Configuration], search: Search) -> Selection:
    """The selection before any trial: the average of the recommended configurations, or the first alone."""
    members = firsts if search.ensemble else firsts[:1]
    return Selection(weights_of(members) if members else {})


@dataclass(frozen=True)
class ModelSelector:
    """Selects a search's model among its trials."""

    dataset: Dataset
    search: Search
    firsts: Sequence[Configuration]
    """The recommended configurations, the best first."""
    splits: Splits
    fits: ModelFits
    deadline: Deadline

    @cached_property
    def _rows(self) -> Positions:
        """The rows on whose predictions the selection rests."""
        strata = strata_of(self.dataset.target)
        return voting_rows(self.splits.of(), int(strata.max()) + 1)

    def with_votes(self, trial: Trial, evaluation: Evaluation) -> Evaluation:
        """The trial's next evaluation, with its predictions reduced to the rows that selections rest on.

        Trials on fewer rows keep none, since they can't be members.
        """
        votes = None
        if evaluation.predictions is not None and trial.counts:
            votes = votes_of(evaluation.predictions, self.splits.of(len(trial.evaluations)), self._rows)
        return replace(evaluation, predictions=votes)

    def select(self, trials: Sequence[Trial], before: Selection, *, final: bool) -> Selection:
        """Select the model anew.

        Args:
            before: the current selection, which stays as long as no trial has succeeded.
            final: whether this is the last selection, whose value is estimated.
        """
        measure, fits = self.search.measure, self.fits
        found = ranked(trials, measure)
        if not found:
            planned = fits.plan(before.weights, self.deadline.left(ENDING), trials, self.splits)
            weights = {one: before.weights[one] for one in planned} or fits.first
            return Selection(weights, left_out=len(before.weights) - len(planned))
        found = [trial for trial in found if fits.is_possible(trial.configuration, self.splits.rows_of())]
        voters = [] if measure in TIMES else self._voters(found)
        if found and not voters:  # predictions say nothing of a time, and those of some can't be averaged
            return Selection({found[0].configuration: 1.0}, found[0].value(measure))
        left_out: set[Configuration] = set()
        while voters:
            ballot, select = self._vote(voters)
            voted = {voters[number].configuration: weight for number, weight in select().items()}
            weights = self._with_untried(voted, trials, left_out)
            planned = fits.plan(weights, self.deadline.left(ENDING), trials, self.splits)
            if len(planned) == len(weights):
                score = estimate(ballot, select, self.deadline.left) if final and weights == voted else None
                value = None if score is None else oriented(score, measure)
                return Selection(weights, value, len(left_out))
            left_out |= weights.keys() - planned.keys()
            voters = [trial for trial in voters if trial.configuration not in left_out]
        return Selection(fits.first, left_out=len(left_out))

    def _with_untried(
        self, voted: dict[Configuration, float], trials: Sequence[Trial], left_out: Collection[Configuration]
    ) -> dict[Configuration, float]:
        """The selected weights, with the recommended configurations that are fitted and have no trial.

        Their expected value stands until it is measured. Each weighs as much as all others together.
        """
        tried = {trial.configuration for trial in trials if trial.evaluations}
        untried = [
            one
            for one in first_selection(self.firsts, self.search).weights
            if one not in tried and one not in left_out and self.fits.rows(one) >= self.splits.rows_of()
        ]
        if untried and not self.search.ensemble:
            return {untried[0]: 1.0}
        scale = 1 / (1 + len(untried))
        return {one: scale * weight for one, weight in voted.items()} | dict.fromkeys(untried, scale)

    def _vote(self, voters: Sequence[Trial]) -> tuple[Ballot, Callable[..., dict[int, float]]]:
        """The trials' predictions, and a function that selects trials, with weights, on given rows."""
        scorer, measure = scorer_of(self.dataset), self.search.measure
        ballot = Ballot(
            [trial.predictions for trial in voters if trial.predictions is not None],
            scorer.outcomes(self.dataset.target)[self._rows],
            scorer,
            measure,
        )
        of_members = replace(ballot, measure=SELECTED_BY.get(measure, measure))
        place = {trial.configuration: number for number, trial in enumerate(voters)}
        start = [place[one] for one in self.firsts if one in place]

        def select(rows: Positions | slice = slice(None)) -> dict[int, float]:
            if self.search.ensemble:
                left = partial(self.deadline.left, ENDING)
                return select_ensemble(of_members, start, self.search.ensemble, rows, left)
            scores = [ballot.score(one, rows) for one in ballot.predictions]
            return {select_single(ballot, scores, start[0] if start else 0): 1.0}

        return ballot, select

    def _voters(self, found: Sequence[Trial]) -> list[Trial]:
        """The trials to select from: the recommended ones, and all that are better than the worst of these.

        Args:
            found: the successful trials, the best first.
        """
        usable = [trial for trial in found if trial.predictions is not None]
        firsts = [trial for trial in usable if trial.configuration in self.firsts]
        as_good = usable[: usable.index(firsts[-1])] if firsts else usable
        return [*firsts, *(trial for trial in as_good if trial not in firsts)][
            : max(MOST_TRIALS, len(firsts))
        ]
