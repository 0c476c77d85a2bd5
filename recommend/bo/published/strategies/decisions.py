"""Decisions about the structure of a pipeline, in order: the algorithm, then its steps.

Notation
    s       decisions so far, the paper's k-ps (Rakotoarison, Schoenauer and Sebag 2019, section 3)
    X(s)    configurations with these decisions
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from recommend.bo.candidates import CandidateSource
from recommend.space import Configurations
from warehouse.vocabulary.parameters import Value
from warehouse.vocabulary.table import ALGORITHM, joint_name

STEPS = ("preprocessor", "encoding", "imputation", "scaling", "balancing", "class_weight")
"""Hyperparameters that choose a step of a pipeline, in the order of their decisions after the algorithm; a
flow has some of them."""

State = tuple[tuple[str, Value], ...]
"""s: hyperparameter and value of each decision, in order."""
Structure = Mapping[str, Value]
"""All decisions of one configuration: hyperparameter -> value."""


@dataclass(frozen=True, eq=False)
class Branch:
    """The configurations that share some decisions."""

    state: State
    candidates: CandidateSource
    """X(s)"""
    sample: Configurations
    """A random sample of them."""

    def has(self, structure: Structure) -> bool:
        """Whether it contains configurations of this structure."""
        return all(structure.get(name) == value for name, value in self.state)


class Decisions:
    """The tree of all decisions, built lazily.

    The sample of a branch is determined by the seed and its decisions, whenever it is drawn.
    """

    def __init__(self, candidates: CandidateSource, samples: int, seed: int) -> None:
        """The decisions of `candidates`.

        Args:
            samples: size of each branch's sample.
        """
        self._samples = samples
        self._seed = seed
        self._below: dict[State, tuple[Branch, ...]] = {}
        self.root = self._branch((), candidates)
        self._joint = self.root.sample.table.joint

    def below(self, branch: Branch) -> tuple[Branch, ...]:
        """The branches of the next decision; empty if there is none.

        A value forbidden after the decisions so far has no branch, and a single possible value is not a
        decision.
        """
        if branch.state not in self._below:
            self._below[branch.state] = self._split(branch)
        return self._below[branch.state]

    def undecided(self, branch: Branch) -> list[str]:
        """Names of the remaining decisions, in order; the algorithm comes alone."""
        algorithms = branch.candidates.algorithms
        if len(algorithms) != 1:
            return [ALGORITHM] if algorithms else []
        names = [joint_name(algorithms[0], step) if self._joint else step for step in STEPS]
        last = branch.state[-1][0] if branch.state else ALGORITHM
        return names[names.index(last) + 1 :] if last in names else names

    def structure(self, configuration: Configurations) -> Structure:
        """The decisions of a single configuration."""
        table = configuration.table
        algorithm = str(table.algorithms.iloc[0])
        columns = {joint_name(algorithm, step) if self._joint else step for step in STEPS}
        found = {name: table.parameters[name].tolist()[0] for name in columns & {*table.parameters.columns}}
        present = {name: value for name, value in found.items() if value == value}
        return {ALGORITHM: algorithm, **present} if self._joint else present

    def _split(self, branch: Branch) -> tuple[Branch, ...]:
        for name in self.undecided(branch):
            values = branch.candidates.algorithms if name == ALGORITHM else branch.candidates.choices(name)
            branches = [
                self._branch((*branch.state, (name, value)), branch.candidates.among({name: value}))
                for value in values
            ]
            admissible = tuple(one for one in branches if len(one.sample))
            if len(admissible) > 1:
                return admissible
        return ()

    def _branch(self, state: State, candidates: CandidateSource) -> Branch:
        random = np.random.default_rng([self._seed, zlib.crc32(repr(state).encode())])
        return Branch(state, candidates, candidates.sample(self._samples, random))
