"""Bandit search: each algorithm has an optimizer of its own, and a policy chooses the next algorithm.

Van Hoof's thesis, chapter 7, Figure 7.1. One pull of an arm is one trial, and what it is rewarded with is the
performance of the configuration that the arm's optimizer proposed.

What happens at trial number i:
    1. starts come first, and anchors when it is their turn, in the given order and whatever the policy says;
       the arm of their algorithm learns from them, and the policy is shown their rewards
    2. else the policy chooses among the arms that have a configuration left, and the optimizer of the one
       that it chose proposes

Rewards are from 0 to 1. Where all values so far are, they are the rewards; otherwise (log loss, of which less
is better) values are scaled so that the lowest so far is 0 and the highest 1, or all 1/2 where they are
equal. A failed trial is rewarded with 0. One that is under way counts as the mean of its arm, else as that of
all arms, else 0. All that is random follows from (seed, i).
"""

from __future__ import annotations

import zlib
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from recommend.bo.candidates import Candidate, CandidateSource
from recommend.bo.optimizer import Optimizer, Proposal, given_proposal
from recommend.bo.published.strategies.policies import Policy, Pulls
from recommend.bo.strategies import SearchInputs
from warehouse.support.errors import BadOption
from warehouse.vocabulary.table import ALGORITHM


@dataclass
class _Pull:
    arm: str
    own_number: int
    """Number of the trial within the arm."""
    key: Hashable
    done: bool = False
    value: float | None = None


class Bandit:
    """A search with one optimizer per algorithm.

    After ask, ask, tell(1), ask: trials 0 and 2 are under way, each in its arm, and trial 1 is done. If 0 and
    2 are of one algorithm and 1 of another, they are trials 0 and 1 of the first arm and 0 of the second.
    """

    def __init__(self, inputs: SearchInputs, policy: Policy) -> None:
        """A search without a trial."""
        self._policy = policy
        self._starts, self._anchors, self._seed = inputs.starts, inputs.anchors, inputs.seed
        self._sources = sources(inputs.candidates)
        self._arms = {
            arm: Optimizer(
                source, inputs.new_scorer(), random_every=inputs.random_every, seed=_seed_of(arm, inputs.seed)
            )
            for arm, source in self._sources.items()
        }
        self._exhausted: set[str] = set()
        self._pulls: list[_Pull] = []

    def ask(self) -> Proposal | None:
        number = len(self._pulls)
        given = given_proposal(number, self._starts, self._anchors, {pull.key for pull in self._pulls})
        if given is not None:
            self.recall(given)
            return given
        while free := [arm for arm in self._arms if arm not in self._exhausted]:
            random = np.random.default_rng([self._seed, number])
            arm = self._policy(Pulls(free, self._history()), random)
            proposal = self._arms[arm].ask()
            if proposal is not None:
                self._remember(arm, proposal)
                return replace(proposal, number=number)
            self._exhausted.add(arm)
        return None

    def recall(self, proposal: Proposal) -> None:
        if proposal.number != len(self._pulls):
            raise BadOption(f"expected trial {len(self._pulls)}, not {proposal.number}")
        arm = algorithm_of(proposal.candidate)
        own = replace(proposal, number=sum(pull.arm == arm for pull in self._pulls))
        self._arms[arm].recall(own)
        self._remember(arm, own)

    def tell(self, number: int, value: float | None, seconds: float | None = None) -> None:
        if not 0 <= number < len(self._pulls) or self._pulls[number].done:
            raise BadOption(f"trial {number} is not running")
        pull = self._pulls[number]
        self._arms[pull.arm].tell(pull.own_number, value, seconds)
        pull.done, pull.value = True, value

    def _remember(self, arm: str, own: Proposal) -> None:
        """Keep a pull, and look whether it was the last one that the arm has.

        It is looked for after every trial, also one that is recalled, so that the policy is asked about the
        same arms whether the search was stopped or not.
        """
        self._pulls.append(_Pull(arm, own.number, own.candidate.key))
        taken = {pull.key for pull in self._pulls if pull.arm == arm}
        random = np.random.default_rng([_seed_of(arm, self._seed), own.number])
        if self._sources[arm].any(taken, random) is None:
            self._exhausted.add(arm)

    def _history(self) -> list[tuple[str, float]]:
        """Arm and reward of each trial."""
        known = rewards([pull.value for pull in self._pulls if pull.done])
        done = [pull.arm for pull in self._pulls if pull.done]
        of_all = float(np.mean(known)) if known else 0.0
        means = {
            arm: np.mean([reward for own, reward in zip(done, known, strict=True) if own == arm])
            for arm in done
        }
        told = iter(known)
        return [
            (pull.arm, next(told) if pull.done else float(means.get(pull.arm, of_all)))
            for pull in self._pulls
        ]


def sources(candidates: CandidateSource) -> dict[str, CandidateSource]:
    """The candidates of each algorithm, in alphabetical order of their names."""
    names = sorted(candidates.algorithms)
    if len(names) == 1:  # then the algorithm need be no hyperparameter
        return {names[0]: candidates}
    return {name: candidates.among({ALGORITHM: name}) for name in names}


def algorithm_of(candidate: Candidate) -> str:
    """The canonical name of its algorithm."""
    return str(candidate.configuration.table.algorithms.iloc[0])


def rewards(values: Sequence[float | None]) -> list[float]:
    """Rewards from 0 to 1 of the values, larger is better; None, a failure, is 0."""
    known = [value for value in values if value is not None]
    low, high = min(known, default=0.0), max(known, default=1.0)
    if low >= 0 and high <= 1:
        low, high = 0.0, 1.0
    return [0.0 if value is None else (value - low) / (high - low) if high > low else 0.5 for value in values]


def _seed_of(arm: str, seed: int) -> int:
    """Another one for each arm, whichever others there are."""
    return int(np.random.SeedSequence([seed, zlib.crc32(arm.encode())]).generate_state(1)[0])
