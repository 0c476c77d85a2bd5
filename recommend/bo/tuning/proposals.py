"""Proposals of an optimizer that knows a history."""

from __future__ import annotations

from dataclasses import dataclass, field

from recommend.bo.candidates import SpaceCandidates
from recommend.bo.optimizer import AskTell, Proposal
from recommend.bo.tuning.history import Entry, TrialHistory
from recommend.bo.tuning.scores import score_of


@dataclass
class Proposals:
    """What to try next, after all that the history knows.

    The optimizer must not have seen a trial; it is told each, and what came of it.
    """

    optimizer: AskTell
    candidates: SpaceCandidates
    history: TrialHistory
    measure: str
    _recalled: int = field(default=0, init=False)
    _told: set[int] = field(default_factory=set, init=False)

    def next(self) -> Entry | None:
        """Begin the next trial; None where there is nothing to try (`AskTell.ask`)."""
        self.catch_up()
        proposal = self.optimizer.ask()
        if proposal is None:
            return None
        self._recalled += 1
        configuration = self.candidates.configuration_of(proposal.candidate)
        self.history.begin(Entry(proposal.number, configuration, proposal.origin, share=proposal.share))
        return self.history.entries[proposal.number]

    def catch_up(self) -> None:
        """Tell the optimizer what it does not know yet, in the order of the numbers."""
        for entry in self.history.entries:
            if entry.number == self._recalled:
                candidate = self.candidates.of(entry.configuration)
                self.optimizer.recall(Proposal(entry.number, candidate, entry.origin, entry.share))
                self._recalled += 1
            if entry.trial is not None and entry.number not in self._told:
                score = score_of(entry.trial, self.measure)
                self.optimizer.tell(entry.number, score, entry.trial.seconds)
                self._told.add(entry.number)
