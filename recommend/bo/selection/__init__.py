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
from recommend.bo.selection.tree_search import TreeSearch, TreeSettings
from warehouse.support.errors import BadOption, UnknownName

__all__ = ["DEFAULT_STRATEGY", "STRATEGIES", "Parts", "Strategy", "get_strategy"]

DEFAULT_STRATEGY = "joint"


def _joint(parts: Parts) -> AskTell:
    return Optimizer(
        parts.candidates,
        parts.new_scorer(),
        starts=parts.starts,
        anchors=parts.anchors,
        random_every=parts.random_every,
        seed=parts.seed,
    )


def _mosaic(parts: Parts, settings: TreeSettings) -> AskTell:
    return TreeSearch(
        parts.candidates,
        parts.new_scorer(),
        starts=parts.starts,
        anchors=parts.anchors,
        random_every=parts.random_every,
        seed=parts.seed,
        settings=settings,
    )


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
