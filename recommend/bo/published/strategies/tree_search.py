"""Tree search over the structure of pipelines: MOSAIC (Rakotoarison, Schoenauer and Sebag, IJCAI 2019).

Notation
    s, s.a    decisions so far (`decisions.py`), and with one more
    X(s)      configurations with these decisions
    F(x)      reward of a trial: its value, larger is better, on [0, 1] (`arms.rewards`)
    F^        its expectation by the surrogate
    Q^(s, a)  mean of F^ over n_s configurations drawn from X(s.a)             (3)
    pi(a|s)   exp Q^(s, a) / sum over the admissible b of exp Q^(s, b)         (4)
    Q-(s, a)  median of F over the trials in X(s.a)
    n(s)      trials that visited s

Each trial after the first ones (algorithm 1):
    selection  from s, the a with the highest Q-(s, a) + C pi(a|s) sqrt(n(s)) / (1 + n(s.a))    (5)
    expansion  if s has fewer children than the integer part of n(s)^PW, the a with the highest Q^(s, a) among
               those that are not children; the selection ends there
    playout    the highest acquisition among n_r configurations drawn from X(s) and the neighbours of the best
               trial in X(s)
    backup     the outcome counts in Q- of all decisions of the trial
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Hashable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from recommend.bo.candidates import Candidate, CandidateSource
from recommend.bo.optimizer import Optimizer, Proposal
from recommend.bo.published.strategies.arms import rewards
from recommend.bo.published.strategies.decisions import Branch, Decisions, State, Structure
from recommend.bo.strategies import SearchInputs
from recommend.space import Configurations
from warehouse.support.arrays import Floats
from warehouse.support.text import counted
from warehouse.vocabulary.table import ALGORITHM

logger = logging.getLogger(__name__)

FIRST_SHARE = 0.5
"""Largest share of the planned trials before the tree begins; set by hand."""
_STREAM = 2**31 + 1
"""A separate stream of random numbers."""


@dataclass(frozen=True)
class TreeSettings:
    """The method's own hyperparameters, by default as in section 4.2 of the paper."""

    exploration: float = 1.3
    """C of equation 5; the paper tried 0.1 to 1.6 (figure 6)."""
    widening: float = 0.6
    """PW; the paper tried 0.5 to 1 (figure 6)."""
    samples: int = 100
    """n_s; the paper tried 50 to 1,000 (figure 5)."""
    draws: int = 1_000
    """n_r"""
    initial: int | None = 3
    """kappa, configurations of each algorithm tried first in addition to its default; None = neither these
    nor the defaults are tried first: the tree grows from the surrogate's expectations."""


def policy(expected: Floats) -> Floats:
    """pi(a|s), (children,), of Q^(s, a), (children,) (equation 4)."""
    weights = np.exp(expected - expected.max())  # the shares stay the same
    shares: Floats = weights / weights.sum()
    return shares


def puct(rewards: Floats, prior: Floats, visits: int, of_children: Floats, exploration: float) -> Floats:
    """(children,) the term maximized in equation 5.

    Args:
        rewards: (children,) Q-(s, a)
        prior: (children,) pi(a|s)
        visits: n(s)
        of_children: (children,) n(s.a)
        exploration: C
    """
    value: Floats = rewards + exploration * prior * np.sqrt(visits) / (1 + of_children)
    return value


def most_children(visits: int, widening: float) -> int:
    """Most children of a node after this many visits (section 2.2)."""
    return int(visits**widening + 1e-9)  # rounding may put 32 ** 0.6 below 8


@dataclass
class Node:
    """A node of the tree."""

    visits: int = 0
    """n(s)"""
    children: list[State] = field(default_factory=list)


@dataclass(frozen=True)
class _Known:
    """Knowledge at one trial."""

    rewards: dict[int, float]
    """Number of the trial -> F"""
    centre: float
    spread: float
    """The surrogate's standard scores times `spread` plus `centre` are rewards."""


class TreeSearch(Optimizer):
    """Proposes configurations by tree search over their structure.

    A running trial counts as a visit with the mean reward, a failed one has the lowest reward, as for the
    surrogate. The tree is determined by the trials in the order of their numbers, so that a search can be
    resumed from its history.
    """

    def __init__(self, inputs: SearchInputs, settings: TreeSettings) -> None:
        """A search without a trial.

        The starts are followed by each algorithm's default and `settings.initial` configurations, or fewer if
        these and the starts would exceed `FIRST_SHARE` of the planned trials.
        """
        self._settings = settings
        self._decisions = Decisions(inputs.candidates, settings.samples, inputs.seed)
        self.nodes: dict[State, Node] = {(): Node()}
        """Nodes of the tree by their decisions; only the search changes them."""
        self._structures: list[Structure] = []
        self._defaults: dict[int, list[tuple[str, Configurations]]] = {}
        most = None if inputs.trials is None else int(FIRST_SHARE * inputs.trials) - len(inputs.starts)
        first = [*inputs.starts, *self._initial(inputs.seed, most)]
        logger.info("the tree search begins after %s", counted(len({one.key for one in first}), "trials"))
        super().__init__(**replace(inputs, starts=first).optimizer_arguments())

    def recall(self, proposal: Proposal) -> None:
        super().recall(proposal)
        structure = self._decisions.structure(proposal.candidate.configuration)
        self._structures.append(structure)
        self._visit(structure, expand=proposal.origin == "model")

    def _initial(self, seed: int, most: int | None) -> Iterator[Candidate]:
        """The first candidates (section 3.4): each algorithm's default, then others of each.

        There are at most `most`, equally many of each algorithm. If an algorithm has no default, as in
        tables, a random configuration replaces it.
        """
        if self._settings.initial is None:
            return
        random = np.random.default_rng([seed, _STREAM])
        of_algorithms = self._of_algorithms()
        taken: set[Hashable] = set()
        of_each = 1 + self._settings.initial
        if most is not None:
            of_each = min(of_each, most // len(of_algorithms))
        for number in range(of_each):
            for own in of_algorithms:
                default = own.default() if number == 0 else own.sample(0, random)
                chosen = own.pick([default], np.zeros(len(default)), taken) or own.any(taken, random)
                if chosen is not None:
                    taken.add(chosen.key)
                    yield chosen

    def _of_algorithms(self) -> list[CandidateSource]:
        """The candidates of each algorithm."""
        root = self._decisions.root
        if len(root.candidates.algorithms) < 2:
            return [root.candidates]
        return [branch.candidates for branch in self._decisions.below(root)]

    def _visit(self, structure: Structure, *, expand: bool) -> None:
        """Count a trial at the nodes on its path, and add the next node of the path.

        Args:
            expand: whether the trial was chosen by the tree; otherwise only the node of its algorithm is
                added.
        """
        branch = self._decisions.root
        while True:
            node = self.nodes[branch.state]
            node.visits += 1
            if not (expand or node.children or not branch.state):
                return
            onward = [one for one in self._decisions.below(branch) if one.has(structure)]
            if not onward:
                return
            (branch,) = onward
            if branch.state not in self.nodes:
                if expand or branch.state[-1][0] == ALGORITHM:
                    node.children.append(branch.state)
                    self.nodes[branch.state] = Node(visits=1)
                return

    def _favourite(
        self,
        taken: Collection[Hashable],
        tried: Sequence[Configurations],  # noqa: ARG002 (the tree has its own)
        number: int,  # noqa: ARG002 (`random` depends on it)
        random: np.random.Generator,
    ) -> Candidate | None:
        learned = self._learned()
        of_trials = rewards([*learned.values()])
        known = _Known(
            dict(zip(learned, of_trials, strict=True)), float(np.mean(of_trials)), float(np.std(of_trials))
        )
        used_up: set[State] = set()
        while () not in used_up:
            branch = self._down(known, used_up)
            found = self._playout(branch, taken, random)
            if found is not None:
                return found
            used_up.add(branch.state)
        return None

    def _down(self, known: _Known, used_up: Collection[State]) -> Branch:
        """The branch in which the selection ends: a new one, or one without further decisions."""
        branch = self._decisions.root
        while True:
            below = self._decisions.below(branch)
            left = [place for place, one in enumerate(below) if one.state not in used_up]
            if not left:
                return branch
            expected = self._expected(below, known)
            new = [place for place in left if below[place].state not in self.nodes]
            old = [place for place in left if below[place].state in self.nodes]
            node = self.nodes[branch.state]
            due = most_children(node.visits + 1, self._settings.widening) > len(node.children)
            if new and (due or not old):
                return below[max(new, key=lambda place: expected[place])]
            values = puct(
                np.array([self._median(below[place], known) for place in old]),
                policy(expected)[old],
                node.visits,
                np.array([self.nodes[below[place].state].visits for place in old]),
                self._settings.exploration,
            )
            branch = below[old[int(values.argmax())]]

    def _expected(self, below: Sequence[Branch], known: _Known) -> Floats:
        """Q^(s, a), (children,) (equation 3)."""
        predicted = self._scorer.expect([branch.sample for branch in below])
        ends = np.cumsum([len(branch.sample) for branch in below])[:-1]
        means = np.array([part.mean() for part in np.split(predicted, ends)])
        return known.centre + known.spread * means

    def _median(self, branch: Branch, known: _Known) -> float:
        """Q-(s, a)"""
        return float(np.median([known.rewards[number] for number in self._below(branch)]))

    def _below(self, branch: Branch) -> list[int]:
        """Numbers of the trials in X(s)."""
        return [number for number, structure in enumerate(self._structures) if branch.has(structure)]

    def _playout(
        self, branch: Branch, taken: Collection[Hashable], random: np.random.Generator
    ) -> Candidate | None:
        """The configuration of X(s) with the highest acquisition; None if all were tried."""
        drawn = branch.candidates.sample(self._settings.draws, random)
        groups = [group for group in (drawn, *self._neighbours(branch, random)) if len(group)]
        # Random configurations come first: they define the typical score.
        scores = [self._scorer.score([group]) for group in groups]
        found = branch.candidates.pick(groups, np.concatenate(scores), taken) if groups else None
        return found or branch.candidates.any(taken, random)

    def _neighbours(self, branch: Branch, random: np.random.Generator) -> Iterator[Configurations]:
        """The neighbours in X(s) of its best trial (footnote 9).

        They differ in one hyperparameter other than the decisions, or in one decision and the defaults that
        belong to it.
        """
        values = {number: self._proposed[number].value for number in self._below(branch)}
        succeeded = {number: value for number, value in values.items() if value is not None}
        if not succeeded:
            return
        best = max(succeeded, key=lambda number: succeeded[number])
        alike = branch.candidates.among(self._structures[best])
        yield alike.neighbours(self._proposed[best].proposal.candidate.configuration, random)
        left = self._decisions.undecided(branch)
        yield from (default for name, default in self._defaults_around(best) if name in left)

    def _defaults_around(self, best: int) -> list[tuple[str, Configurations]]:
        """Decisions after the algorithm, each with the default configurations of its other values."""
        if best not in self._defaults:
            structure, root = self._structures[best], self._decisions.root
            own = {name: value for name, value in structure.items() if name == ALGORITHM}
            algorithm = Branch(tuple(own.items()), root.candidates.among(own), root.sample)
            self._defaults[best] = [
                (name, root.candidates.among({**structure, name: value}).default())
                for name in self._decisions.undecided(algorithm)
                for value in algorithm.candidates.choices(name)
                if name in structure and value != structure[name]
            ]
        return self._defaults[best]
