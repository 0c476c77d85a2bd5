"""Candidates of a search: the whole space, or a table of configurations with runs."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Protocol, Self

import numpy as np
import pandas as pd

from recommend.space import Configurations, Space
from warehouse.support.arrays import Floats, Positions
from warehouse.vocabulary.configuration import Configuration
from warehouse.vocabulary.parameters import Value
from warehouse.vocabulary.table import ALGORITHM

Score = Callable[[Sequence[Configurations]], Floats]
"""Type of `recommend.bo.scoring.CandidateScorer.score`."""

RANDOM = 10_000
"""Random configurations for which the acquisition function is computed at every trial."""
BLOCKS = 20
"""Number of blocks of these; one block is redrawn at every trial."""
ATTEMPTS = 100
"""Random draws without a new configuration after which a space counts as exhausted."""
STARTS = 10
"""Number of best configurations from which local search starts."""
STEPS = 2
"""Most steps of a local search."""


@dataclass(frozen=True)
class Candidate:
    """One configuration that may be tried."""

    key: Hashable
    """Equal for the same configuration of the same source."""
    configuration: Configurations
    """A table of one."""
    given: Configuration | None = None
    """The configuration as given, since a vector may round the last digit."""


class CandidateSource(Protocol):
    """A source of proposals."""

    @property
    def algorithms(self) -> tuple[str, ...]:
        """Canonical names of the algorithms of its configurations."""

    def among(self, fixed: Mapping[str, Value]) -> Self:
        """The source restricted to configurations with these values; keys stay the same.

        Args:
            fixed: hyperparameter -> value; with several algorithms, names are joint ones, including
                `algorithm`. None also matches rows of a table without the hyperparameter.
        """

    def choices(self, name: str) -> tuple[Value, ...]:
        """Possible values of a choice in its configurations; empty if they lack it.

        Not all need to occur: some may be forbidden in combination with fixed values. They include None if
        only some rows of a table have a value.
        """

    def sample(self, n: int, random: np.random.Generator) -> Configurations:
        """Draw `n` random configurations, or fewer if a table has no more."""

    def default(self) -> Configurations:
        """Its default configuration, with the fixed values; empty for a table, or if forbidden."""

    def neighbours(self, configuration: Configurations, random: np.random.Generator) -> Configurations:
        """Its configurations that differ from a given one in one hyperparameter and its children."""

    def pick(
        self, groups: Sequence[Configurations], scores: Floats, taken: Collection[Hashable]
    ) -> Candidate | None:
        """The configuration with the highest score that is not `taken`; None if all are.

        Args:
            groups: configurations of this source.
            scores: (n,) of all of them, one group after the other.
        """

    def any(self, taken: Collection[Hashable], random: np.random.Generator) -> Candidate | None:
        """A random one that is not `taken`; None if none is left."""

    def best(
        self,
        score: Score,
        taken: Collection[Hashable],
        tried: Sequence[Configurations],
        number: int,
        random: np.random.Generator,
    ) -> Candidate | None:
        """The one with the highest score that is not `taken`; None if none is left.

        Args:
            score: called first on candidates that were not selected by score.
            tried: configurations of the trials so far.
            number: of the trial, from 0.
        """


class TableCandidates:
    """The rows of a table, each of which may be tried once; a candidate's key is its row."""

    def __init__(self, configurations: Configurations, rows: Positions | None = None) -> None:
        """A source of these configurations.

        Args:
            rows: keys of the configurations; None = their positions.
        """
        self.configurations = configurations
        self.rows = np.arange(len(configurations)) if rows is None else rows

    def row(self, number: int) -> Candidate:
        """The candidate in this row."""
        (place,) = np.flatnonzero(self.rows == number)
        return self._at(int(place))

    @property
    def algorithms(self) -> tuple[str, ...]:
        return tuple(str(name) for name in self.configurations.table.algorithms.unique())

    def among(self, fixed: Mapping[str, Value]) -> TableCandidates:
        own = self.configurations.table.hyperparameters
        fits = np.ones(len(self.rows), dtype=bool)
        for name, value in fixed.items():
            fits &= [_same(other, value) for other in own[name].tolist()] if name in own else False
        return TableCandidates(self.configurations.take(np.flatnonzero(fits)), self.rows[fits])

    def sample(self, n: int, random: np.random.Generator) -> Configurations:
        if n >= len(self.rows):
            return self.configurations
        return self.configurations.take(random.choice(len(self.rows), n, replace=False))

    def choices(self, name: str) -> tuple[Value, ...]:
        own = self.configurations.table.hyperparameters
        column = own[name].tolist() if name in own else []
        values = tuple(dict.fromkeys(None if _is_missing(value) else value for value in column))
        return () if values == (None,) else values

    def default(self) -> Configurations:
        return self.configurations.take([])

    def neighbours(
        self,
        configuration: Configurations,
        random: np.random.Generator,  # noqa: ARG002 (the rows are all there are)
    ) -> Configurations:
        own = self.configurations.vectors
        same = np.isclose(own, configuration.vectors, rtol=0, atol=0, equal_nan=True)
        return self.configurations.take(np.flatnonzero((~same).sum(axis=1) == 1))

    def pick(
        self, groups: Sequence[Configurations], scores: Floats, taken: Collection[Hashable]
    ) -> Candidate | None:
        places: dict[bytes, list[int]] = {}  # rows may look the same
        for place, vector in enumerate(self.configurations.vectors):
            places.setdefault(vector.tobytes(), []).append(place)
        for vector in _by_score(groups, scores):
            for place in places[vector.tobytes()]:
                if self.rows[place] not in taken:
                    return self._at(place)
        return None

    def any(self, taken: Collection[Hashable], random: np.random.Generator) -> Candidate | None:
        free = self._free(taken)
        return self._at(random.choice(free)) if len(free) else None

    def best(
        self,
        score: Score,
        taken: Collection[Hashable],
        tried: Sequence[Configurations],  # noqa: ARG002 (they are rows, too)
        number: int,  # noqa: ARG002 (the rows stay the same)
        random: np.random.Generator,  # noqa: ARG002
    ) -> Candidate | None:
        free = self._free(taken)
        return self._at(free[int(score([self.configurations])[free].argmax())]) if len(free) else None

    def _free(self, taken: Collection[Hashable]) -> Positions:
        """Positions of the rows that are not taken."""
        free = [place for place, row in enumerate(self.rows.tolist()) if row not in taken]
        return np.array(free, dtype=np.intp)

    def _at(self, place: int) -> Candidate:
        return Candidate(int(self.rows[place]), self.configurations.take([place]))


class SpaceCandidates:
    """The configurations of a space: random ones, and local search from the best of them.

    The random ones are determined by the seed and the trial's number, so that a resumed search sees the same
    ones.
    """

    def __init__(self, space: Space, *, seed: int = 0, fixed: Mapping[str, Value] | None = None) -> None:
        """A source of the configurations of `space` that have the `fixed` values."""
        self.space = space
        self._seed = seed
        self._fixed = fixed or {}
        self._blocks: dict[tuple[int, int], Configurations] = {}

    def of(self, configuration: Configuration) -> Candidate:
        """The candidate of this configuration.

        Raises:
            BadInput: the space does not have it.
        """
        return replace(self._candidate(self.space.vector(configuration)), given=configuration)

    def configuration_of(self, candidate: Candidate) -> Configuration:
        """The configuration of a candidate."""
        return candidate.given or self.space.decoded(candidate.configuration.vectors)[0]

    @property
    def algorithms(self) -> tuple[str, ...]:
        chosen = self._fixed.get(ALGORITHM)
        return tuple(self.space.flows) if chosen is None else (str(chosen),)

    def among(self, fixed: Mapping[str, Value]) -> SpaceCandidates:
        return SpaceCandidates(self.space, seed=self._seed, fixed={**self._fixed, **fixed})

    def choices(self, name: str) -> tuple[Value, ...]:
        return (self._fixed[name],) if name in self._fixed else self.space.choices(name)

    def sample(self, n: int, random: np.random.Generator) -> Configurations:
        return self.space.configurations(self.space.sample(n, random, self._fixed))

    def default(self) -> Configurations:
        return self.space.configurations(self.space.default(self._fixed))

    def neighbours(self, configuration: Configurations, random: np.random.Generator) -> Configurations:
        around, _ = self.space.neighbours(configuration.vectors, random)
        return self.space.configurations(around[self.space.having(around, self._fixed)])

    def pick(
        self, groups: Sequence[Configurations], scores: Floats, taken: Collection[Hashable]
    ) -> Candidate | None:
        for vector in _by_score(groups, scores):
            if vector.tobytes() not in taken:
                return self._candidate(vector)
        return None

    def any(self, taken: Collection[Hashable], random: np.random.Generator) -> Candidate | None:
        # A space of few choices may be exhausted.
        for vector in self.space.sample(ATTEMPTS, random, self._fixed):
            if vector.tobytes() not in taken:
                return self._candidate(vector)
        return None

    def best(
        self,
        score: Score,
        taken: Collection[Hashable],
        tried: Sequence[Configurations],
        number: int,
        random: np.random.Generator,
    ) -> Candidate | None:
        drawn = self._drawn(number)
        scores = score(drawn)
        if tried:
            scores = np.concatenate([scores, score(tried)])
        best = np.array([*islice(_by_score([*drawn, *tried], scores), STARTS)])
        reached, of_reached = self._climb(best, -np.sort(-scores)[:STARTS], score, random)
        groups = [self.space.configurations(reached), *drawn, *tried]
        return self.pick(groups, np.concatenate([of_reached, scores]), taken)

    def _drawn(self, number: int) -> list[Configurations]:
        """The random configurations of this trial, in blocks, most of them shared with the previous trial."""
        wanted = [(block, (number + BLOCKS - 1 - block) // BLOCKS) for block in range(BLOCKS)]
        self._blocks = {key: self._blocks[key] for key in wanted if key in self._blocks}
        for key in wanted:
            if key not in self._blocks:
                self._blocks[key] = self.sample(RANDOM // BLOCKS, np.random.default_rng([self._seed, *key]))
        return [self._blocks[key] for key in wanted]

    def _climb(
        self, vectors: Floats, scores: Floats, score: Score, random: np.random.Generator
    ) -> tuple[Floats, Floats]:
        """Move each vector to its best neighbour as long as that is better, all in parallel."""
        vectors, scores = vectors.copy(), scores.copy()
        climbing = np.arange(len(vectors))
        for _ in range(STEPS):
            neighbours, places = self.space.neighbours(vectors[climbing], random)
            inside = self.space.having(neighbours, self._fixed)
            neighbours, places = neighbours[inside], places[inside]
            if not len(neighbours):
                break
            owners = climbing[places]
            of_neighbours = score([self.space.configurations(neighbours)])
            better = []
            for place in climbing:
                own = np.flatnonzero(owners == place)
                if len(own) and of_neighbours[own].max() > scores[place]:
                    top = own[of_neighbours[own].argmax()]
                    vectors[place], scores[place] = neighbours[top], of_neighbours[top]
                    better.append(place)
            if not better:
                break
            climbing = np.array(better)
        return vectors, scores

    def _candidate(self, vector: Floats) -> Candidate:
        return Candidate(vector.tobytes(), self.space.configurations(vector[None]))


def _by_score(groups: Sequence[Configurations], scores: Floats) -> Iterator[Floats]:
    """(n,) vectors, those of higher score first."""
    vectors = [vector for configurations in groups for vector in configurations.vectors]
    return (vectors[place] for place in np.argsort(-scores, kind="stable"))


def _is_missing(value: object) -> bool:
    return value is pd.NA or value != value


def _same(one: object, other: Value) -> bool:
    if other is None:
        return one is None or _is_missing(one)
    return type(one) is type(other) and one == other
