"""Bayesian optimization with an ask-and-tell interface.

Notation
    t     finished trials, y their values, larger is better

Trial number i:
    1. the starts come first, then random configurations until there are `FEWEST` trials to learn from; the
       tenth trial and then every fifth is one of the anchors, as long as there are any
    2. the surrogate learns from the finished trials, in the order of their numbers; a running trial counts
       with their mean value (the constant liar of Ginsbourger, Le Riche and Carraro 2010), a failed one with
       the lowest; values are in standard scores, so the measure's unit does not matter
    3. the candidate with the highest acquisition function is proposed
All random numbers are determined by (seed, i), so a resumed search continues as if it had not stopped.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Hashable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from metalearners.encoding.scores import standard_scores
from recommend.bo.candidates import Candidate, CandidateSource
from recommend.bo.scoring import CandidateScorer
from recommend.space import Configurations
from warehouse.support.errors import BadOption

FEWEST = 3
"""Trials before the surrogate is used."""
ALL_ROWS = 1.0
"""Share of the rows of a full trial; only full trials can be the best."""
FIRST_ANCHOR, ANCHOR_EVERY = 9, 5
"""Number of the first anchor trial, and period of the following ones; set by hand."""

Origin = Literal["start", "anchor", "random", "model"]


@dataclass(frozen=True)
class Proposal:
    """The next configuration to try."""

    number: int
    """Number of the trial, from 0."""
    candidate: Candidate
    origin: Origin
    share: float = ALL_ROWS
    """Share of the training rows of each split."""


def given_proposal(
    number: int, starts: Sequence[Candidate], anchors: Sequence[Candidate], taken: Collection[Hashable]
) -> Proposal | None:
    """The first start that is not `taken`, or an anchor if it is due; None otherwise."""
    its_turn = number >= FIRST_ANCHOR and (number - FIRST_ANCHOR) % ANCHOR_EVERY == 0
    given: list[tuple[Origin, Candidate]] = [("start", start) for start in starts]
    given += [("anchor", anchor) for anchor in anchors if its_turn]
    free = (Proposal(number, candidate, origin) for origin, candidate in given if candidate.key not in taken)
    return next(free, None)


@dataclass
class RecordedTrial:
    """A proposal with its reported outcome."""

    proposal: Proposal
    done: bool = False
    value: float | None = None
    seconds: float | None = None


class AskTell(ABC):
    """Base class of searches with an ask-and-tell interface.

    `ask` returns the next proposal and marks it as running; `tell` reports the value of one, in any order.
    After ask, ask, tell(1), ask: trial 1 is done, 0 and 2 are running.
    """

    def __init__(self) -> None:
        self._proposed: list[RecordedTrial] = []

    def ask(self) -> Proposal | None:
        """Propose the next configuration and mark it as running; None if there is none.

        In that case everything has been proposed, or the rest depends on running trials.
        """
        proposal = self._next(len(self._proposed))
        if proposal is not None:
            self.recall(proposal)
        return proposal

    def recall(self, proposal: Proposal) -> None:
        """Restore an earlier proposal, from a history's trials in the order of their numbers.

        Raises:
            BadInput: it is not the next number.
        """
        if proposal.number != len(self._proposed):
            raise BadOption(f"expected trial {len(self._proposed)}, not {proposal.number}")
        self._proposed.append(RecordedTrial(proposal))

    def tell(self, number: int, value: float | None, seconds: float | None = None) -> None:
        """Report the outcome of trial `number`.

        Args:
            value: larger is better; None = it failed.
            seconds: duration of the trial.

        Raises:
            BadInput: there is no such trial, it is done, or a number is not finite.
        """
        if not 0 <= number < len(self._proposed) or self._proposed[number].done:
            raise BadOption(f"trial {number} is not running")
        if value is not None and not np.isfinite(value):
            raise BadOption(f"trial {number} can't have the value {value}")
        if seconds is not None and not 0 <= seconds < np.inf:
            raise BadOption(f"trial {number} can't have taken {seconds} s")
        trial = self._proposed[number]
        trial.done, trial.value, trial.seconds = True, value, seconds

    @abstractmethod
    def _next(self, number: int) -> Proposal | None:
        """The proposal for trial `number`, the next one; None if there is none."""


class Optimizer(AskTell):
    """Proposes configurations and learns from their values."""

    def __init__(
        self,
        candidates: CandidateSource,
        scorer: CandidateScorer,
        *,
        starts: Sequence[Candidate] = (),
        anchors: Sequence[Candidate] = (),
        random_every: int | None = None,
        seed: int = 0,
    ) -> None:
        """A search without a trial.

        Args:
            scorer: forgets anything it has learned before.
            starts: candidates to try first, in this order; duplicates count once.
            anchors: candidates to try regardless of their predictions (`recommend.bo.reference_trials`).
            random_every: the period of random proposals: with 2, every second one is random.

        Raises:
            BadInput: a number out of range.
        """
        if random_every is not None and random_every < 1:
            raise BadOption("random_every must be 1 or more")
        super().__init__()
        self._candidates = candidates
        self._scorer = scorer
        self._starts, self._anchors = list(starts), list(anchors)
        self._random_every = random_every
        self._seed = seed

    @property
    def best(self) -> Proposal | None:
        """The first trial on all rows with the highest value; None before one succeeded."""
        known = [
            trial for trial in self._proposed if trial.value is not None and trial.proposal.share == ALL_ROWS
        ]
        return max(known, key=lambda trial: trial.value or 0.0).proposal if known else None

    def _next(self, number: int) -> Proposal | None:
        random = np.random.default_rng([self._seed, number])
        taken = {trial.proposal.candidate.key for trial in self._proposed}
        given = given_proposal(number, self._starts, self._anchors, taken)
        return given or self._chosen(number, taken, random)

    def _chosen(
        self,
        number: int,
        taken: Collection[Hashable],
        random: np.random.Generator,
        *,
        at_random: bool = False,
        share: float = ALL_ROWS,
    ) -> Proposal | None:
        """A new configuration; None if none is left.

        Args:
            at_random: whether to choose it at random.
            share: share of the rows of the trials used for training the surrogate.
        """
        learned = self._learned(share)
        its_turn = self._random_every is not None and number % self._random_every == self._random_every - 1
        if at_random or its_turn or len(learned) < FEWEST:
            drawn = self._candidates.any(taken, random)
            return None if drawn is None else Proposal(number, drawn, "random")
        candidates = [trial.proposal.candidate for trial in self._proposed]
        scores = standard_scores(np.array(list(learned.values())))
        self._scorer.learn([candidates[place].configuration for place in learned], scores, random)
        tried = [*{candidate.key: candidate.configuration for candidate in candidates}.values()]
        found = self._favourite(taken, tried, number, random)
        return None if found is None else Proposal(number, found, "model")

    def _favourite(
        self,
        taken: Collection[Hashable],
        tried: Sequence[Configurations],
        number: int,
        random: np.random.Generator,
    ) -> Candidate | None:
        """The surrogate's choice of the next candidate; None if all were proposed."""
        return self._candidates.best(self._scorer.score, taken, tried, number, random)

    def _learned(self, share: float = ALL_ROWS) -> dict[int, float]:
        """Training values of the surrogate: number of the trial on this share of the rows -> value."""
        trials = {
            number: trial for number, trial in enumerate(self._proposed) if trial.proposal.share == share
        }
        known = [trial.value for trial in trials.values() if trial.value is not None]
        if not known:
            return {}
        lie, worst = float(np.mean(known)), min(known)
        return {
            number: trial.value if trial.value is not None else worst if trial.done else lie
            for number, trial in trials.items()
        }
