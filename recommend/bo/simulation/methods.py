"""Search methods for simulations, by name.

A method is written STRATEGY:SURROGATE/ACQUISITION~N+START; the surrogate or the strategy suffices:

    ucb1:gbqr+delta           the default strategy is `joint`; the default surrogate is the strategy's own
    gbqr/value-per-second     the default acquisition function is the surrogate's own
    forest~2                  every second configuration is random; by default none is
    blend+delta@lightgbm      the start of another meta-learner; by default the start is random
    smac+top, optuna-tpe      optimizers of other projects (`simulation/peers.py`) replace strategy and
                              surrogate
    random, random-2x         a random configuration for every trial, or the better of two
    order                     the meta-learner's ranking, from the top
    pmf-paper                 matrix factorization as published (`simulation/factorization.py`)
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
"""Method of random search -> number of configurations per trial."""

WHOLE = (*RANDOM, ORDER, PMF)
"""Methods without parts."""

_OWN = re.compile(r"(?P<name>[^/~]+)(/(?P<acquisition>[^/~]+))?(~(?P<every>[1-9]\d*))?")


@dataclass(frozen=True)
class Method:
    """A search method with its parts."""

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
    """Whether its start or its acquisition function uses running times."""
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
    """Names of strategy and surrogate; `name` may lack one of them."""
    strategy, colon, surrogate = name.partition(":")
    if colon:
        return strategy, surrogate
    if name.partition("@")[0] in all_strategies():
        return name, get_strategy(name).surrogate
    return DEFAULT_STRATEGY, name
