"""Strategies by name: how a search divides its trials among algorithms.

The default strategy is here. Published ones are in `recommend.bo.published.strategies`, which is imported
when one of them is requested.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any

from recommend.bo.candidates import Candidate, CandidateSource
from recommend.bo.optimizer import AskTell, Optimizer
from recommend.bo.scoring import CandidateScorer
from recommend.bo.surrogates import DEFAULT_SURROGATE
from warehouse.support.errors import BadOption, look_up

DEFAULT_STRATEGY = "joint"


@dataclass(frozen=True)
class SearchInputs:
    """Inputs of a strategy."""

    candidates: CandidateSource
    new_scorer: Callable[[], CandidateScorer]
    """Makes a scorer without trials; each optimizer has its own."""
    starts: Sequence[Candidate] = ()
    """Candidates to try first, in this order."""
    anchors: Sequence[Candidate] = ()
    """Reference trials, regardless of their predictions (`recommend.bo.reference_trials`)."""
    random_every: int | None = None
    """Period of random proposals; None = none after the first."""
    trials: int | None = None
    """Number of trials planned in all; None = unknown."""
    seed: int = 0

    def optimizer_arguments(self) -> dict[str, Any]:
        """Arguments of an `Optimizer`, with its own scorer."""
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
    """A strategy of a search."""

    new: Callable[[SearchInputs], AskTell]
    summary: str
    """Description in one line."""
    surrogate: str = DEFAULT_SURROGATE
    """Default surrogate of the strategy."""
    shares: bool = False
    """Whether it proposes trials on a share of the rows."""
    argued: Callable[[str], Callable[[SearchInputs], AskTell]] | None = None
    """`new` of NAME@ARGUMENT; None = the strategy takes no argument."""


STRATEGIES: Mapping[str, Strategy] = {
    DEFAULT_STRATEGY: Strategy(
        lambda inputs: Optimizer(**inputs.optimizer_arguments()),
        "one surrogate of all algorithms, with the algorithm as a hyperparameter",
    )
}
"""Strategies that are imported by default."""


def all_strategies() -> dict[str, Strategy]:
    """The default strategy and the published ones, by name."""
    return {**STRATEGIES, **import_module("recommend.bo.published.strategies").STRATEGIES}


def get_strategy(name: str) -> Strategy:
    """The strategy of this name; `NAME@ARGUMENT` gives it an argument.

    Raises:
        BadInput: no strategy has this name (the message lists the known ones), or it takes no such argument.
    """
    plain, at, argument = name.partition("@")
    known = STRATEGIES if plain in STRATEGIES else all_strategies()
    strategy = look_up(plain, known, "strategy")
    if not at:
        return strategy
    if strategy.argued is None:
        raise BadOption(f"the strategy {plain} takes no argument: {name}")
    return replace(strategy, new=strategy.argued(argument))
