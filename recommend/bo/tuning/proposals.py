"""Proposals of the next trial, by an optimizer that learns from the trials of a history."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol

from metalearners.encoding.scores import learned_score
from recommend.bo.candidates import SpaceCandidates
from recommend.bo.optimizer import ALL_ROWS, AskTell, Origin, Proposal
from recommend.bo.tuning.trials import Trial
from warehouse.vocabulary.configuration import Configuration


@dataclass(frozen=True)
class Proposed:
    """A configuration to try next."""

    configuration: Configuration
    origin: Origin
    share: float = ALL_ROWS
    """Share of the training rows of each split."""


class Proposer(Protocol):
    """Proposes the next trials."""

    def propose(self, trials: Sequence[Trial]) -> Proposed | None:
        """A configuration not proposed before; None if there is none.

        Args:
            trials: of the search so far, including running ones.
        """


@dataclass
class OptimizerProposer:
    """Proposes an optimizer's configurations, and tells it the value of each trial's first evaluation.

    A proposal that does not become a trial, such as one that takes too long, counts as failed.
    """

    new_optimizer: Callable[[], tuple[AskTell, SpaceCandidates]]
    """Called for the first proposal, since it takes seconds."""
    measure: str
    """The learned measure (`RankingTask.measure`)."""
    _numbers: dict[int, int] = field(default_factory=dict, init=False)
    """Number of a trial -> number of its proposal."""
    _told: set[int] = field(default_factory=set, init=False)
    _waiting: dict[Configuration, int] = field(default_factory=dict, init=False)
    """Last proposed configuration -> number of the proposal, until it becomes a trial."""
    _asked: int = field(default=0, init=False)

    @cached_property
    def _optimizer(self) -> tuple[AskTell, SpaceCandidates]:
        return self.new_optimizer()

    def propose(self, trials: Sequence[Trial]) -> Proposed | None:
        optimizer, candidates = self._optimizer
        for trial in trials:
            self._catch_up(trial)
        while self._waiting:
            optimizer.tell(self._waiting.popitem()[1], None)
        proposal = optimizer.ask()
        if proposal is None:
            return None
        self._asked += 1
        configuration = candidates.configuration_of(proposal.candidate)
        self._waiting[configuration] = proposal.number
        return Proposed(configuration, proposal.origin, proposal.share)

    def _catch_up(self, trial: Trial) -> None:
        """Tell the optimizer about a trial and its outcome, unless it knows."""
        optimizer, candidates = self._optimizer
        if trial.number not in self._numbers:
            number = self._waiting.pop(trial.configuration, None)
            if number is None:  # of an earlier session
                number = self._asked
                candidate = candidates.of(trial.configuration)
                share = min(trial.share, ALL_ROWS)
                optimizer.recall(Proposal(number, candidate, trial.origin, share))
                self._asked += 1
            self._numbers[trial.number] = number
        if trial.evaluation is not None and trial.number not in self._told:
            value = trial.evaluation.value(self.measure)
            score = None if value is None else learned_score(value, self.measure)
            optimizer.tell(self._numbers[trial.number], score, trial.evaluation.seconds)
            self._told.add(trial.number)
