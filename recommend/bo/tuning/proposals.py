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
    """Share of the training rows of each split that it is to be fitted on."""


class Proposer(Protocol):
    """Says what to try next."""

    def propose(self, trials: Sequence[Trial]) -> Proposed | None:
        """A configuration that was not proposed before; None where there is none.

        Args:
            trials: of the search so far, those that run included.
        """


@dataclass
class OptimizerProposer:
    """Proposes what an optimizer asks for, and tells it each trial with the value of its first evaluation.

    A proposal of which no trial was made, such as one that takes too long, counts as failed.
    """

    new_optimizer: Callable[[], tuple[AskTell, SpaceCandidates]]
    """Called when the first proposal is wanted, since that takes seconds."""
    measure: str
    """The measure that is learned (`RankingTask.measure`)."""
    _numbers: dict[int, int] = field(default_factory=dict, init=False)
    """Number of a trial -> number of its proposal."""
    _told: set[int] = field(default_factory=set, init=False)
    _waiting: dict[Configuration, int] = field(default_factory=dict, init=False)
    """Configuration that was proposed last -> number of the proposal, until it is known as a trial."""
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
        """Tell the optimizer of a trial, if it has not been told, and of its outcome."""
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
