"""Strategies by name: how a search divides its trials among algorithms.

A new one is a class in a module of this package that keeps the protocol `AskTell`, and an entry in
`STRATEGIES`.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from recommend.bo.optimizer import AskTell, Optimizer
from recommend.bo.selection.bandits import BANDITS
from recommend.bo.selection.base import Parts, Strategy
from recommend.bo.selection.halving import AT_RANDOM, Halving, brackets
from recommend.bo.selection.tree_search import TreeSearch, TreeSettings
from warehouse.support.errors import BadOption, UnknownName

__all__ = ["DEFAULT_STRATEGY", "STRATEGIES", "Parts", "Strategy", "get_strategy"]

DEFAULT_STRATEGY = "joint"


def _joint(parts: Parts) -> AskTell:
    return Optimizer(**parts.arguments())


def _mosaic(parts: Parts, settings: TreeSettings) -> AskTell:
    return TreeSearch(**parts.arguments(), settings=settings)


STRATEGIES: dict[str, Strategy] = {
    "joint": Strategy(_joint, "one surrogate of all algorithms, whose choice is one more hyperparameter"),
    **BANDITS,
    "mosaic": Strategy(
        partial(_mosaic, settings=TreeSettings()),
        "tree search over algorithm and steps (MOSAIC), after four configurations of each algorithm",
        "forest",
    ),
    "mosaic-lean": Strategy(
        partial(_mosaic, settings=TreeSettings(initial=None)),
        "the same without them, for searches of fewer trials than that",
    ),
    "successive-halving": Strategy(
        lambda parts: Halving(parts, brackets()[:1]),
        "random configurations on a ninth of the rows, the best third of them on a third, then on all",
        "forest",
        shares=True,
    ),
    "hyperband": Strategy(
        lambda parts: Halving(parts, brackets()),
        "the same in turn with fewer configurations that begin on a third of the rows, and on all",
        "forest",
        shares=True,
    ),
    "bohb": Strategy(
        lambda parts: Halving(parts, brackets(), at_random=AT_RANDOM),
        "hyperband with two of three configurations from the surrogate",
        shares=True,
    ),
}


def get_strategy(name: str) -> Strategy:
    """The strategy of this name; `NAME@ARGUMENT` gives it an argument.

    Raises:
        BadInput: there is none, and the message lists the known ones, or it has no such argument.
    """
    plain, at, argument = name.partition("@")
    if plain not in STRATEGIES:
        raise UnknownName(f"unknown strategy {plain!r}; known are {', '.join(STRATEGIES)}")
    strategy = STRATEGIES[plain]
    if not at:
        return strategy
    if strategy.argued is None:
        raise BadOption(f"the strategy {plain} takes no argument: {name}")
    return replace(strategy, new=strategy.argued(argument))
