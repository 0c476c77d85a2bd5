"""Search methods that simulations compare, by name.

A method is written STRATEGY:SURROGATE/ACQUISITION~N+START, of which the surrogate or the strategy is enough:

    ucb1:gbqr+delta           without a strategy it is `joint`; without a surrogate the strategy's own
    gbqr/value-per-second     without an acquisition function it is the surrogate's own
    forest~2                  every second configuration is a random one; without a number none is
    blend+delta@lightgbm      the start that another meta-learner chooses; without one the start is random
    smac+top, optuna-tpe      optimizers of others (`simulation/peers.py`) take the place of strategy and
                              surrogate
    random, random-2x         a configuration at random for every trial, or the better of two
    order                     what the meta-learner expects most of, in this order
    pmf-paper                 matrix factorization as it was published (`simulation/factorization.py`)
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from recommend.bo.acquisition import TIMED, get_acquisition
from recommend.bo.simulation.peers import PEERS
from recommend.bo.strategies import DEFAULT_STRATEGY, all_strategies, get_strategy
from recommend.bo.surrogates import all_surrogates
from recommend.bo.warmstart import NO_START, OPTIMAL, ORACLE, get_start
from warehouse.support.errors import BadOption, UnknownName

By = Literal["trials", "seconds"]
"""The budget shared by all methods: trials, or time in units of the dataset's median run."""
ORDER = "order"
PMF = "pmf-paper"
RANDOM = {"random": 1, "random-2x": 2, "random-4x": 4}
"""Methods that draw several configurations at random for one trial -> their number."""

WHOLE = (*RANDOM, ORDER, PMF)
"""Methods that are not made of parts."""

_OWN = re.compile(r"(?P<name>[^/~]+)(/(?P<acquisition>[^/~]+))?(~(?P<every>[1-9]\d*))?")


@dataclass(frozen=True)
class Method:
    """A way to search that is made of parts."""

    strategy: str
    """Name of a strategy, or one of `PEERS`."""
    surrogate: str = ""
    """Empty for peers."""
    acquisition: str | None = None
    """None = the surrogate's own."""
    random_every: int | None = None
    start: str = NO_START


def parse(method: str) -> Method:
    """Parse the name of a method into its parts.

    Raises:
        BadInput: there is no such method.
    """
    name, _, start = method.partition("+")
    start = start or NO_START
    if start not in (NO_START, OPTIMAL, ORACLE):
        get_start(start)
    if name in PEERS:
        return Method(name, start=start)
    own = _OWN.fullmatch(name)
    strategy, surrogate = _strategy_and_surrogate(own["name"] if own else name)
    surrogates, strategies = all_surrogates(), all_strategies()
    if own is None or strategy.partition("@")[0] not in strategies or surrogate not in surrogates:
        known = (*WHOLE, *(f"{name}+START" for name in (*surrogates, *strategies, *PEERS)))
        raise UnknownName(f"unknown method {method!r}; known are {', '.join(known)}")
    get_strategy(strategy)
    if own["acquisition"] is not None:
        get_acquisition(own["acquisition"])
    every = None if own["every"] is None else int(own["every"])
    return Method(strategy, surrogate, own["acquisition"], every, start)


def needs_times(method: Method) -> bool:
    """Whether its start or its acquisition function weighs running times."""
    known = method.start in (NO_START, OPTIMAL, ORACLE)
    return method.acquisition in TIMED or (not known and get_start(method.start).choice == "quick")


def check(method: str, kind: str) -> None:
    """Check that the method exists and supports this kind of task.

    Raises:
        BadInput: it is refused.
    """
    if method == PMF and kind != "table":
        raise BadOption(f"{PMF} searches configurations with runs: it needs tasks of the kind table")
    if method in WHOLE:
        return
    name = parse(method).strategy
    if name in PEERS:
        if kind != "model":
            raise BadOption(f"{name} searches a whole space: it needs tasks of the kind model")
    elif get_strategy(name).shares and kind != "tiers":
        raise BadOption(f"{name} fits on a share of the rows: it needs tasks of the kind tiers")


def _strategy_and_surrogate(name: str) -> tuple[str, str]:
    """Names of strategy and surrogate, of which `name` may lack either."""
    strategy, colon, surrogate = name.partition(":")
    if colon:
        return strategy, surrogate
    if name.partition("@")[0] in all_strategies():
        return name, get_strategy(name).surrogate
    return DEFAULT_STRATEGY, name
