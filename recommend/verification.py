"""Verification of a recommendation: trials of its first configurations and of common defaults on the dataset.

The trials are those of a search without a model (`recommend.bo.tuning`): first the head of the recommendation
and the defaults, then the first of the recommendation updated with the trials, and repetitions of the best
trials on other folds. The final recommendation gives the trials the largest weight.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd
from joblib import cpu_count

from ingest.flows import get_flow
from ingest.keys import setup_of
from ingest.running.limits import Outcome, start_server
from ingest.running.resampling import Resampling
from recommend.bo.tuning.deadline import Deadline
from recommend.bo.tuning.progress import Progress
from recommend.bo.tuning.proposals import Proposed
from recommend.bo.tuning.result import SearchResult
from recommend.bo.tuning.search import search_task
from recommend.bo.tuning.settings import Budget, Search
from recommend.bo.tuning.setup import Firsts
from recommend.bo.tuning.trials import Trial
from recommend.bo.warmstart import NO_START
from recommend.ranking.candidates import Candidates
from recommend.ranking.choice import forecast
from recommend.ranking.dataset_runs import COLUMNS, Measured, OwnTrials, own_trials
from recommend.ranking.fit_cost import worthwhile
from recommend.ranking.knowledge import Knowledge
from warehouse.support.text import counted
from warehouse.vocabulary.configuration import Configuration

HEAD = 8
"""Number of recommended configurations tried first."""
FIRST = 3
"""Number of recommendations tried before the defaults, in case the time is short."""
_TASK = "these trials"


@dataclass(frozen=True)
class VerifiedConfiguration:
    """A trial of a verification."""

    trial: Trial
    setup: str
    """Key of the configuration in the warehouse."""
    recommended: int | None
    """Rank in the recommendation before the verification; None = it was not at its head."""
    is_default: bool
    """Whether it is a common default."""


@dataclass(frozen=True)
class Verification:
    """Trials of recommended configurations on the dataset."""

    search: SearchResult
    configurations: list[VerifiedConfiguration]
    """The best first, those without a value last."""
    trials: OwnTrials | None
    """The dataset's runs after it, earlier runs included."""

    def __repr__(self) -> str:
        best, trials = self.search.best, counted(len(self.configurations), "trials")
        found = (
            "none succeeded" if best is None else f"the best: {get_flow(best.configuration.algorithm).title}"
        )
        return (
            f"Verification of {self.search.dataset.name[:60]}: {trials}, {found}\n"
            "Next: .configurations, .search, .document()"
        )

    @property
    def measured(self) -> dict[str, Measured]:
        """Setup -> value of the configurations whose trials succeeded."""
        rows, _ = self.search.resampling.sizes(len(self.search.dataset.features))
        return {
            one.setup: Measured(value, round(one.trial.share * rows))
            for one in self.configurations
            if (value := one.trial.value(self.search.measure)) is not None
        }

    @property
    def failures(self) -> dict[str, str]:
        """Setup -> outcome of the configurations that failed, if others succeeded.

        If all failed, the cause may lie elsewhere. Running out of time is not a failure.
        """
        outcomes = {one.setup: one.trial.evaluation for one in self.configurations}
        failed = {
            setup: str(evaluation.outcome)
            for setup, evaluation in outcomes.items()
            if evaluation is not None and evaluation.outcome not in (Outcome.success, Outcome.timeout)
        }
        return failed if len(failed) < len(outcomes) else {}

    def document(self) -> dict[str, Any]:
        """The verification as JSON values."""
        return {
            "seconds": self.search.seconds,
            "interrupted": self.search.interrupted,
            "folds": self.search.resampling.folds,
            "train_rows": self.search.resampling.train_rows,
            "remarks": list(self.search.remarks),
            "trials": [
                {
                    "recommended": one.recommended,
                    "is_default": one.is_default,
                    **one.trial.document(self.search.measure),
                }
                for one in self.configurations
            ],
        }


def verify(
    known: Knowledge,
    candidates: Candidates,
    seconds: float,
    *,
    began: float | None = None,
    jobs: int | None = None,
    report: Callable[[Progress], None] = lambda _: None,
) -> Verification:
    """Try the head of the recommendation on `known.task.dataset` for these seconds.

    An interrupt (Ctrl-C) ends it with the results so far.

    Args:
        began: start of the seconds, by `time.monotonic`; None = now.
        jobs: number of parallel trials; None = one per processor.
    """
    start_server()
    head = head_of(known, candidates)
    defaults = [one for one in _defaults(known) if one not in head]
    contestants = [*head[:FIRST], *defaults, *head[FIRST:]]
    flows = tuple(sorted({one.algorithm for one in candidates.configurations}))
    found = search_task(
        known.task,
        known,
        candidates,
        Search(flows=flows, measure=known.task.asked, start=NO_START, anchors=False),
        Budget(seconds=seconds),
        firsts=Firsts(contestants, []),
        proposer=RankingProposer(known, candidates, contestants),
        fit=None,
        deadline=Deadline(seconds, began),
        jobs=jobs or int(cpu_count()),
        report=report,
    )
    return verification_of(found, known, candidates, head)


def verification_of(
    search: SearchResult, known: Knowledge, candidates: Candidates, head: Sequence[Configuration]
) -> Verification:
    """The verification of a recommendation by a search on the dataset.

    Args:
        head: the recommended configurations, the best first.
    """
    rank = {one: place for place, one in enumerate(head, start=1)}
    defaults = set(_defaults(known))
    best = search.leaderboard
    order = [*best, *(trial for trial in search.trials if trial not in best)]
    return Verification(
        search,
        [
            VerifiedConfiguration(
                trial,
                candidates.setup_of(trial.configuration),
                rank.get(trial.configuration),
                trial.configuration in defaults,
            )
            for trial in order
        ],
        trials_after(known, candidates, search.trials, search.resampling),
    )


def head_of(known: Knowledge, candidates: Candidates) -> list[Configuration]:
    """The head of the recommendation: jointly chosen configurations, the best first."""
    expected = forecast(known, candidates)
    among = worthwhile(expected.fits.seconds, expected.scores.mean)
    chosen = among[known.predictor.choose(candidates.table.take(among), known.metafeatures, HEAD)]
    return [candidates.configurations[place] for place in chosen]


def trials_after(
    known: Knowledge, candidates: Candidates, trials: Sequence[Trial], resampling: Resampling
) -> OwnTrials | None:
    """The dataset's runs, including these trials; None if there are none."""
    fitted_on, tested = resampling.sizes(len(known.task.dataset.features))
    measure = known.task.measure
    rows = [
        (_TASK, candidates.setup_of(trial.configuration), fitted_on, value)
        for trial in trials
        if (value := trial.value(measure)) is not None
    ]
    runs = pd.concat([known.own_runs, pd.DataFrame(rows, columns=COLUMNS)])
    test_rows = {**known.own_test_rows, _TASK: tested}
    return own_trials(runs, known.all_runs.configurations, measure, test_rows)


@dataclass
class RankingProposer:
    """Proposes the contestants, then the first of the recommendation updated with the trials so far."""

    known: Knowledge
    candidates: Candidates
    contestants: Sequence[Configuration]
    _proposed: set[Configuration] = field(default_factory=set, init=False)

    def propose(self, trials: Sequence[Trial]) -> Proposed | None:
        """See `recommend.bo.tuning.proposals.Proposer`."""
        self._proposed |= {trial.configuration for trial in trials}
        following = next((one for one in self._ranked(trials) if one not in self._proposed), None)
        if following is None:
            return None
        self._proposed.add(following)
        return Proposed(following, "start" if following in self.contestants else "model")

    def _ranked(self, trials: Sequence[Trial]) -> Sequence[Configuration]:
        """The remaining contestants, else all candidates, the most promising first."""
        if not self._proposed.issuperset(self.contestants):
            return self.contestants
        after = trials_after(self.known, self.candidates, trials, Resampling(1))
        predictor = replace(self.known, trials=after or self.known.trials).predictor
        mean = predictor.predict(self.candidates.table, self.known.metafeatures).mean
        return [self.candidates.configurations[place] for place in np.argsort(-mean, kind="stable")]


def _defaults(known: Knowledge) -> list[Configuration]:
    """The common defaults that are in the warehouse and can be fitted here."""
    setups = known.all_runs.configurations.setups
    flows = [flow for flow in map(get_flow, known.task.target.defaults) if flow.installed]
    found = [Configuration(flow.name, flow.default()) for flow in flows]
    return [one for one in found if setup_of(one) in setups]
