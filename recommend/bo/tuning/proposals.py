"""Proposals of an optimizer that knows a history."""

from __future__ import annotations

from dataclasses import dataclass, field

from recommend.bo.candidates import SpaceCandidates
from recommend.bo.optimizer import AskTell, Proposal
from recommend.bo.tuning.history import TrialHistory
from recommend.bo.tuning.trials import Trial


@dataclass
class Proposals:
    """The next proposal, given the trials of the history.

    The optimizer must not have seen a trial; it is told each with its value.
    """

    optimizer: AskTell
    candidates: SpaceCandidates
    history: TrialHistory
    measure: str
    _recalled: int = field(default=0, init=False)
    _told: set[int] = field(default_factory=set, init=False)

    def next(self) -> Trial | None:
        """Begin the next trial; None where there is nothing to try (`AskTell.ask`)."""
        self.catch_up()
        proposal = self.optimizer.ask()
        if proposal is None:
            return None
        self._recalled += 1
        configuration = self.candidates.configuration_of(proposal.candidate)
        self.history.begin(Trial(proposal.number, configuration, proposal.origin, share=proposal.share))
        return self.history.trials[proposal.number]

    def catch_up(self) -> None:
        """Tell the optimizer the trials it has not seen, in the order of their numbers."""
        for trial in self.history.trials:
            if trial.number == self._recalled:
                candidate = self.candidates.of(trial.configuration)
                self.optimizer.recall(Proposal(trial.number, candidate, trial.origin, trial.share))
                self._recalled += 1
            if trial.evaluation is not None and trial.number not in self._told:
                score = trial.score(self.measure)
                self.optimizer.tell(trial.number, score, trial.evaluation.seconds)
                self._told.add(trial.number)
