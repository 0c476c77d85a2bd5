"""Bandit search: each algorithm has its own optimizer, and a policy chooses the next algorithm.

Van Hoof's thesis, chapter 7, Figure 7.1. One pull of an arm is one trial, and its reward is the performance
of the configuration proposed by the arm's optimizer.

Trial number i:
    1. starts come first, and anchors when due, in the given order and regardless of the policy; the arm of
       their algorithm learns from them, and the policy sees their rewards
    2. otherwise the policy chooses among the arms with a configuration left, and the optimizer of the chosen
       arm proposes

Rewards are from 0 to 1. If all values so far are in this range, they are the rewards; otherwise (log loss)
values are scaled so that the lowest so far is 0 and the highest 1, or all 1/2 if they are equal. A failed
trial has reward 0. A running one counts with the mean of its arm, else with that of all arms, else 0. All
random numbers are determined by (seed, i).
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from recommend.bo.candidates import Candidate, CandidateSource
from recommend.bo.optimizer import AskTell, Optimizer, Proposal, RecordedTrial, given_proposal
from recommend.bo.published.strategies.policies import Policy, Pulls
from recommend.bo.strategies import SearchInputs
from warehouse.vocabulary.table import ALGORITHM


class Bandit(AskTell):
    """A search with one optimizer per algorithm.

    After ask, ask, tell(1), ask: trials 0 and 2 are running, each in its arm, and trial 1 is done. If 0 and 2
    are of one algorithm and 1 of another, they are trials 0 and 1 of the first arm and 0 of the second.
    """

    def __init__(self, inputs: SearchInputs, policy: Policy) -> None:
        """A search without a trial."""
        super().__init__()
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
        self._places: list[tuple[str, int]] = []
        """Arm of each trial, and the number of the trial within the arm."""

    def recall(self, proposal: Proposal) -> None:
        super().recall(proposal)
        arm = algorithm_of(proposal.candidate)
        number = len(self._trials_of(arm))
        self._arms[arm].recall(replace(proposal, number=number))
        self._places.append((arm, number))
        # Checked after every trial, including recalled ones, so that the policy sees the same arms in a
        # resumed search.
        taken = {trial.proposal.candidate.key for trial in self._trials_of(arm)}
        random = np.random.default_rng([_seed_of(arm, self._seed), number])
        if self._sources[arm].any(taken, random) is None:
            self._exhausted.add(arm)

    def tell(self, number: int, value: float | None, seconds: float | None = None) -> None:
        super().tell(number, value, seconds)
        arm, own_number = self._places[number]
        self._arms[arm].tell(own_number, value, seconds)

    def _next(self, number: int) -> Proposal | None:
        taken = {trial.proposal.candidate.key for trial in self._proposed}
        given = given_proposal(number, self._starts, self._anchors, taken)
        if given is not None:
            return given
        while free := [arm for arm in self._arms if arm not in self._exhausted]:
            random = np.random.default_rng([self._seed, number])
            arm = self._policy(Pulls(free, self._history()), random)
            proposal = self._arms[arm]._next(len(self._trials_of(arm)))
            if proposal is not None:
                return replace(proposal, number=number)
            self._exhausted.add(arm)
        return None

    def _trials_of(self, arm: str) -> list[RecordedTrial]:
        return [trial for trial, (own, _) in zip(self._proposed, self._places, strict=False) if own == arm]

    def _history(self) -> list[tuple[str, float]]:
        """Arm and reward of each trial."""
        trials = [(arm, trial) for trial, (arm, _) in zip(self._proposed, self._places, strict=True)]
        known = rewards([trial.value for _, trial in trials if trial.done])
        done = [arm for arm, trial in trials if trial.done]
        of_all = float(np.mean(known)) if known else 0.0
        means = {
            arm: np.mean([reward for own, reward in zip(done, known, strict=True) if own == arm])
            for arm in done
        }
        told = iter(known)
        return [(arm, next(told) if trial.done else float(means.get(arm, of_all))) for arm, trial in trials]


def sources(candidates: CandidateSource) -> dict[str, CandidateSource]:
    """The candidates of each algorithm, in alphabetical order of their names."""
    names = sorted(candidates.algorithms)
    if len(names) == 1:  # the algorithm may not be a hyperparameter
        return {names[0]: candidates}
    return {name: candidates.among({ALGORITHM: name}) for name in names}


def algorithm_of(candidate: Candidate) -> str:
    """The canonical name of its algorithm."""
    return str(candidate.configuration.table.algorithms.iloc[0])


def rewards(values: Sequence[float | None]) -> list[float]:
    """Rewards from 0 to 1 for the values, larger is better; None, a failure, is 0."""
    known = [value for value in values if value is not None]
    low, high = min(known, default=0.0), max(known, default=1.0)
    if low >= 0 and high <= 1:
        low, high = 0.0, 1.0
    return [0.0 if value is None else (value - low) / (high - low) if high > low else 0.5 for value in values]


def _seed_of(arm: str, seed: int) -> int:
    """The seed of an arm, independent of the other arms."""
    return int(np.random.SeedSequence([seed, zlib.crc32(arm.encode())]).generate_state(1)[0])
