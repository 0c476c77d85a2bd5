"""The parts that every strategy makes a search from."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from recommend.bo.candidates import Candidate, Candidates
from recommend.bo.optimizer import AskTell
from recommend.bo.scoring import Scorer
from recommend.bo.surrogates import DEFAULT_SURROGATE


@dataclass(frozen=True)
class Parts:
    """Parts of a search."""

    candidates: Candidates
    new_scorer: Callable[[], Scorer]
    """Makes a scorer that has not seen a trial; each optimizer has its own."""
    starts: Sequence[Candidate] = ()
    """Candidates to try first, in this order."""
    anchors: Sequence[Candidate] = ()
    """Candidates to try whatever is expected of them (`recommend.bo.anchors`)."""
    random_every: int | None = None
    """Period of random proposals; None = none after the first."""
    trials: int | None = None
    """Trials that are planned in all; None where no number is."""
    seed: int = 0

    def arguments(self) -> dict[str, Any]:
        """What an `Optimizer` is made of, with a scorer of its own."""
        return {
            "candidates": self.candidates,
            "scorer": self.new_scorer(),
            "starts": self.starts,
            "anchors": self.anchors,
            "random_every": self.random_every,
            "seed": self.seed,
        }


@dataclass(frozen=True)
class Strategy:
    """A way to search."""

    new: Callable[[Parts], AskTell]
    summary: str
    """What it does, in a line."""
    surrogate: str = DEFAULT_SURROGATE
    """Surrogate that it takes where none is named."""
    shares: bool = False
    """Whether it proposes trials on a share of the rows."""
    argued: Callable[[str], Callable[[Parts], AskTell]] | None = None
    """`new` of NAME@ARGUMENT; None where there is no argument to give."""
