"""Sources of proposals: the whole space, or a table of configurations that were run."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from recommend.space import Configurations, Space
from warehouse.configurations.configuration import Configuration
from warehouse.support.arrays import Floats, Positions

Score = Callable[[Sequence[Configurations]], Floats]
"""What `recommend.bo.scoring.Scorer.score` does."""

RANDOM = 10_000
"""Random configurations that the acquisition function is computed for at every trial."""
BLOCKS = 20
"""Parts of them, of which one is drawn anew at every trial."""
ATTEMPTS = 100
"""Random configurations after which a space counts as exhausted."""
STARTS = 10
"""Best configurations that local search starts from."""
STEPS = 2
"""Most steps of a local search."""


@dataclass(frozen=True)
class Candidate:
    """One configuration that may be tried."""

    key: Hashable
    """Equal for the same configuration of the same source."""
    configuration: Configurations
    """A single one."""
    given: Configuration | None = None
    """What to run, where it was given: the way through a vector may round the last digit."""


class Candidates(Protocol):
    """A source of proposals."""

    def any(self, taken: Collection[Hashable], random: np.random.Generator) -> Candidate | None:
        """One at random that is not `taken`; None where there is none left."""
        ...

    def best(
        self,
        score: Score,
        taken: Collection[Hashable],
        tried: Sequence[Configurations],
        number: int,
        random: np.random.Generator,
    ) -> Candidate | None:
        """The one that is not `taken` whose score is highest; None as above.

        Args:
            score: asked first about candidates that were not chosen by score.
            tried: the trials so far, one by one.
            number: of the trial, from 0.
        """
        ...


class TableCandidates:
    """The rows of a table, each of which may be tried once; a candidate's key is its row."""

    def __init__(self, configurations: Configurations) -> None:
        self.configurations = configurations

    def row(self, number: int) -> Candidate:
        """The candidate in this row."""
        return Candidate(int(number), self.configurations.take([number]))

    def any(self, taken: Collection[Hashable], random: np.random.Generator) -> Candidate | None:
        free = self._free(taken)
        return self.row(random.choice(free)) if len(free) else None

    def best(
        self,
        score: Score,
        taken: Collection[Hashable],
        tried: Sequence[Configurations],  # noqa: ARG002 (they are rows, too)
        number: int,  # noqa: ARG002 (the rows stay the same)
        random: np.random.Generator,  # noqa: ARG002
    ) -> Candidate | None:
        free = self._free(taken)
        return self.row(free[int(score([self.configurations])[free].argmax())]) if len(free) else None

    def _free(self, taken: Collection[Hashable]) -> Positions:
        return np.array([row for row in range(len(self.configurations)) if row not in taken], dtype=np.intp)


class SpaceCandidates:
    """The configurations of a space: random ones, and local search from the best of them.

    Which random ones there are follows from the seed and the trial's number alone, so that a search that goes
    on later sees those that it would have seen.
    """

    def __init__(self, space: Space, *, seed: int = 0) -> None:
        self.space = space
        self._seed = seed
        self._blocks: dict[tuple[int, int], Configurations] = {}

    def of(self, configuration: Configuration) -> Candidate:
        """The candidate that runs this configuration.

        Raises:
            BadInput: the space does not have it.
        """
        return replace(self._candidate(self.space.vector(configuration)), given=configuration)

    def configuration_of(self, candidate: Candidate) -> Configuration:
        """What to run for a candidate of this source."""
        return candidate.given or self.space.decoded(candidate.configuration.vectors)[0]

    def any(self, taken: Collection[Hashable], random: np.random.Generator) -> Candidate | None:
        for vector in self.space.sample(ATTEMPTS, random):  # a space of few choices has an end
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
        vectors = np.concatenate([configurations.vectors for configurations in (*drawn, *tried)])
        best = np.argsort(-scores, kind="stable")[:STARTS]
        reached, of_reached = self._climb(vectors[best], scores[best], score, random)
        order = np.argsort(-np.concatenate([of_reached, scores]), kind="stable")
        for vector in np.concatenate([reached, vectors])[order]:
            if vector.tobytes() not in taken:
                return self._candidate(vector)
        return None

    def _drawn(self, number: int) -> list[Configurations]:
        """The random configurations of this trial, in blocks, most of which the trial before had."""
        wanted = [(block, (number + BLOCKS - 1 - block) // BLOCKS) for block in range(BLOCKS)]
        self._blocks = {key: self._blocks[key] for key in wanted if key in self._blocks}
        for key in wanted:
            if key not in self._blocks:
                vectors = self.space.sample(RANDOM // BLOCKS, np.random.default_rng([self._seed, *key]))
                self._blocks[key] = self.space.configurations(vectors)
        return [self._blocks[key] for key in wanted]

    def _climb(
        self, vectors: Floats, scores: Floats, score: Score, random: np.random.Generator
    ) -> tuple[Floats, Floats]:
        """Each of these goes to its best neighbour as long as that is better, all of them together."""
        vectors, scores = vectors.copy(), scores.copy()
        climbing = np.arange(len(vectors))
        for _ in range(STEPS):
            neighbours, places = self.space.neighbours(vectors[climbing], random)
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
