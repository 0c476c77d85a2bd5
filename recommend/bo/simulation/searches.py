"""Interface of a search in simulations: ask for a configuration, tell its value."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Sequence
from itertools import islice

import numpy as np

from recommend.bo.candidates import Candidate, CandidateSource
from recommend.bo.optimizer import ALL_ROWS, AskTell
from recommend.bo.simulation.tasks import Task


class SearchMethod(ABC):
    """Interface of optimizers in simulations."""

    share = ALL_ROWS
    """Share of the rows for the configuration asked last."""

    @abstractmethod
    def ask(self) -> Sequence[Candidate]:
        """The next trial: one configuration, or several of which the best counts; empty if none is left."""

    def tell(self, value: float | None, seconds: float | None = None) -> None:  # noqa: B027
        """Take the value of the configuration asked last, None for a failure, and its running time."""


class OwnSearch(SearchMethod):
    """One of our strategies."""

    def __init__(self, search: AskTell) -> None:
        self._search = search

    def ask(self) -> list[Candidate]:
        proposal = self._search.ask()
        if proposal is None:
            return []
        self._number, self.share = proposal.number, proposal.share
        return [proposal.candidate]

    def tell(self, value: float | None, seconds: float | None = None) -> None:
        self._search.tell(self._number, value, seconds)


class RandomSearch(SearchMethod):
    """Random configurations for every trial."""

    def __init__(self, candidates: CandidateSource, at_once: int, random: np.random.Generator) -> None:
        self._candidates = candidates
        self._at_once = at_once
        self._random = random
        self._taken: set[Hashable] = set()

    def ask(self) -> list[Candidate]:
        found: list[Candidate] = []
        while len(found) < self._at_once:
            drawn = self._candidates.any(self._taken, self._random)
            if drawn is None:
                break
            self._taken.add(drawn.key)
            found.append(drawn)
        return found


class OrderedSearch(SearchMethod):
    """Configurations in a fixed order."""

    def __init__(self, task: Task, order: Sequence[int]) -> None:
        self._task = task
        self._order = iter(order)

    def ask(self) -> list[Candidate]:
        return [self._task.start(position) for position in islice(self._order, 1)]
