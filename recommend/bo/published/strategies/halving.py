"""Successive halving, Hyperband and BOHB: many configurations on few rows, the best of them on more.

Van Hoof's thesis, 8.2.2 and 8.2.3. Successive halving: Jamieson and Talwalkar (2016); Hyperband: Li et al.
(2018), algorithm 1; BOHB: Falkner, Klein and Hutter (2018).

Notation
    eta     one in eta configurations of a rung is promoted to the next, with eta times as many rows
    s       rungs of a bracket after its first one, s_max to 0
    n       initial configurations of a bracket
    share   share of the training rows in a rung; 1 in the last one
    rho     share of random ones among the new configurations

Each rung of a complete bracket costs about as much as the one before it: a third of the configurations, on
three times as many rows.

Trial number i:
    1. an anchor, when due, is tried on all rows, outside of the brackets
    2. else, in the first bracket with a finished rung, its best configuration not yet promoted is promoted,
       as long as fewer than one in eta (but at least one) are; a failed trial never is
    3. else the bracket being filled gets a new configuration: a start, a random one, or, with BOHB, the
       choice of a surrogate of the trials at the largest share with enough trials; when it is full, the next
       bracket begins, so that there is no waiting for running trials
    4. if there is no new configuration left, those not promoted are tried on all rows, the best at the
       largest share first
The bracket and rung of a trial are determined by its share and the earlier trials, in whatever order these
ended: a resumed search continues as if it had not stopped.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Sequence
from dataclasses import dataclass, replace
from itertools import cycle, pairwise

import numpy as np

from recommend.bo.optimizer import ALL_ROWS, FEWEST, Optimizer, Proposal, given_proposal
from recommend.bo.strategies import SearchInputs

ETA = 3
"""eta; Li et al. recommend 3 or 4, Falkner et al. use 3."""
S_MAX = 2
"""s_max: the smallest share is 1/9."""
AT_RANDOM = 1 / 3
"""rho of BOHB, whose default is a third, too."""


@dataclass(frozen=True)
class Bracket:
    """A run of successive halving."""

    n: int
    """Number of initial configurations."""
    shares: tuple[float, ...]
    """Share of the rows of each rung, ascending."""


def brackets(s_max: int = S_MAX) -> tuple[Bracket, ...]:
    """The brackets of one iteration of Hyperband, the one with the smallest share first.

    n = ceil((s_max + 1) / (s + 1) eta^s), and the shares are eta^-s, ..., 1 (Li et al. 2018, algorithm 1 with
    R = 1). The default ones begin with 9, 5 and 3 configurations.
    """
    return tuple(
        Bracket(-(-(s_max + 1) * ETA**s // (s + 1)), tuple(1 / ETA**left for left in range(s, -1, -1)))
        for s in range(s_max, -1, -1)
    )


Rung = list[int]
"""Numbers of the trials of one bracket at one share, in order of the configurations."""


class Halving(Optimizer):
    """A search that fits most configurations on few rows.

    With 9, 5 and 3 initial configurations, trials 0 to 8 are on a ninth of the rows, the best three of them
    are trials 9 to 11 on a third, and the best of these is trial 12 on all rows.
    """

    def __init__(self, inputs: SearchInputs, turns: Sequence[Bracket], *, at_random: float = 1.0) -> None:
        """A search without a trial.

        Args:
            turns: brackets, repeated in this order.
            at_random: rho; with 1 the surrogate is never used.
        """
        super().__init__(**inputs.optimizer_arguments())
        self._turns = turns
        self._at_random = at_random

    def _next(self, number: int) -> Proposal | None:
        random = np.random.default_rng([self._seed, number])
        taken = {trial.proposal.candidate.key for trial in self._proposed}
        anchor = given_proposal(number, (), self._anchors, taken)
        if anchor is not None:
            return anchor
        *full, (bracket, rungs) = self._begun()
        found = next(filter(None, (self._promoted(number, *one) for one in full)), None)
        found = found or self._new(number, taken, random, bracket.shares[0])
        return found or self._promoted(number, bracket, rungs) or self._left_behind(number)

    def _begun(self) -> list[tuple[Bracket, list[Rung]]]:
        """The brackets so far with the trials of their rungs; the last one is not full.

        Configurations fill one bracket after the other in the order of their first trials.
        """
        numbers: dict[Hashable, list[int]] = {}
        for number, trial in enumerate(self._proposed):
            if trial.proposal.origin != "anchor":
                numbers.setdefault(trial.proposal.candidate.key, []).append(number)
        left = list(numbers.values())
        found: list[tuple[Bracket, list[Rung]]] = []
        for bracket in cycle(self._turns):
            own, left = left[: bracket.n], left[bracket.n :]
            rungs = [
                [number for of_one in own for number in of_one if self._share(number) == share]
                for share in bracket.shares
            ]
            found.append((bracket, rungs))
            if len(own) < bracket.n:
                break
        return found

    def _promoted(self, number: int, bracket: Bracket, rungs: Sequence[Rung]) -> Proposal | None:
        """The configuration of the bracket to promote to its next rung; None if there is none now."""
        for (below, above), share in zip(pairwise(rungs), bracket.shares[1:], strict=True):
            if not all(self._proposed[one].done for one in below):
                return None
            gone_on = {self._proposed[one].proposal.candidate.key for one in above}
            for one in self._by_value(below)[: max(len(below) // ETA, 1)]:
                if self._proposed[one].proposal.candidate.key not in gone_on:
                    return replace(self._proposed[one].proposal, number=number, share=share)
        return None

    def _new(
        self, number: int, taken: Collection[Hashable], random: np.random.Generator, share: float
    ) -> Proposal | None:
        """A configuration not tried yet; None if there is none."""
        found = given_proposal(number, self._starts, (), taken) or self._chosen(
            number, taken, random, at_random=random.random() < self._at_random, share=self._learned_from()
        )
        return found and replace(found, share=share)

    def _learned_from(self) -> float:
        """The largest share with enough trials to learn from (Falkner et al. 2018, algorithm 2)."""
        shares = {self._share(number) for number in range(len(self._proposed))}
        return max((share for share in shares if len(self._learned(share)) >= FEWEST), default=ALL_ROWS)

    def _left_behind(self, number: int) -> Proposal | None:
        """The best configuration never tried on all rows, to be tried on them.

        None as long as a trial on fewer rows is running, which may be more informative.
        """
        if any(not trial.done and trial.proposal.share < ALL_ROWS for trial in self._proposed):
            return None
        last = {trial.proposal.candidate.key: place for place, trial in enumerate(self._proposed)}
        shares = sorted({self._share(place) for place in last.values()} - {ALL_ROWS}, reverse=True)
        ordered = (
            place
            for share in shares
            for place in self._by_value([one for one in last.values() if self._share(one) == share])
        )
        place = next(ordered, None)
        return (
            None if place is None else replace(self._proposed[place].proposal, number=number, share=ALL_ROWS)
        )

    def _by_value(self, rung: Sequence[int]) -> Rung:
        """The successful trials, the best first; of equals, the earlier one."""
        values = {one: value for one in rung if (value := self._proposed[one].value) is not None}
        return sorted(values, key=lambda one: -values[one])

    def _share(self, number: int) -> float:
        return self._proposed[number].proposal.share
