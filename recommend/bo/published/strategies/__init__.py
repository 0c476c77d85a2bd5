"""Published strategies by name.

A new one is a subclass of `AskTell` in a module of this package, and an entry in
`STRATEGIES`.
"""

from __future__ import annotations

from functools import partial

from recommend.bo.published.strategies.bandits import BANDITS
from recommend.bo.published.strategies.halving import AT_RANDOM, Halving, brackets
from recommend.bo.published.strategies.tree_search import TreeSearch, TreeSettings
from recommend.bo.strategies import Strategy

STRATEGIES: dict[str, Strategy] = {
    **BANDITS,
    "mosaic": Strategy(
        partial(TreeSearch, settings=TreeSettings()),
        "tree search over algorithm and steps (MOSAIC), after four configurations of each algorithm, or fewer"
        " in half of the trials",
        "forest",
    ),
    "mosaic-lean": Strategy(
        partial(TreeSearch, settings=TreeSettings(initial=None)),
        "the same without these four",
    ),
    "successive-halving": Strategy(
        lambda inputs: Halving(inputs, brackets()[:1]),
        "random configurations on a ninth of the rows, the best third of them on a third, then on all",
        "forest",
        shares=True,
    ),
    "hyperband": Strategy(
        lambda inputs: Halving(inputs, brackets()),
        "successive halving, alternating with fewer configurations that begin on a third of the rows, or all",
        "forest",
        shares=True,
    ),
    "bohb": Strategy(
        lambda inputs: Halving(inputs, brackets(), at_random=AT_RANDOM),
        "hyperband with two of three configurations from the surrogate",
        shares=True,
    ),
}
