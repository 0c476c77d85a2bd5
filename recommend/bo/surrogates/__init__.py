"""The surrogates by name.

A new one is a class in a module of this package (see `base.py`) and an entry in `SURROGATES`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pandas as pd

from metalearners.gp.posterior import HasPrior
from metalearners.learners.base import Model
from recommend.bo.surrogates.base import Surrogate
from recommend.bo.surrogates.blend import BlendSurrogate, LearnedSurrogate
from recommend.bo.surrogates.boosting import HyperboostSurrogate, QuantileSurrogate, QuantileTripleSurrogate
from recommend.bo.surrogates.forest import ExtraTreesSurrogate, ForestSurrogate
from recommend.bo.surrogates.gaussian_process import GaussianProcessSurrogate
from recommend.bo.transfer import weights
from recommend.bo.transfer.ensemble import EnsembleSurrogate, TwoStageSurrogate
from recommend.bo.transfer.prior_tasks import PriorTasks
from recommend.bo.transfer.weights import Weighting
from recommend.space import Configurations
from warehouse.support.errors import BadOption, UnknownName

__all__ = [
    "DEFAULT_SURROGATE",
    "LEARNERS_OF",
    "SURROGATES",
    "TRANSFERRING",
    "Ingredients",
    "Surrogate",
    "new_surrogate",
]

DEFAULT_SURROGATE = "blend"


@dataclass(frozen=True)
class Ingredients:
    """What surrogates are made of; each takes what it needs."""

    known: Configurations
    """Configurations in which all values of the space's choices occur."""
    metafeatures: pd.Series
    """Quality -> value of the dataset."""
    model: Model | None = None
    """What a meta-learner learned; None where there is nothing to learn from."""
    tasks: PriorTasks | None = None
    """Base models of other datasets, for the surrogates of `TRANSFERRING`."""


_WEIGHTINGS: dict[str, Weighting] = {
    "rgpe": weights.rgpe,
    "rgpe-undiluted": weights.rgpe_undiluted,
    "rlgp": weights.rlgp,
    "rlgp-diff": weights.rlgp_diff,
    "rlgp-fdiff": weights.rlgp_fdiff,
    "rlgp-mudiff": weights.rlgp_mudiff,
    "sim": weights.sim,
}
"""Surrogates that are weighted ensembles, and how they weigh."""


def _ensemble(weighting: Weighting) -> Callable[[Ingredients], Surrogate[Any]]:
    return lambda given: EnsembleSurrogate(_tasks(given), given.metafeatures, weighting)


SURROGATES: dict[str, Callable[[Ingredients], Surrogate[Any]]] = {
    "blend": lambda given: BlendSurrogate(_model(given), given.metafeatures),
    "learned": lambda given: LearnedSurrogate(_model(given), given.metafeatures),
    "pmf": lambda given: LearnedSurrogate(_model(given), given.metafeatures),
    "gbqr": lambda given: QuantileSurrogate(given.known, given.metafeatures),
    "quantile-triple": lambda given: QuantileTripleSurrogate(given.known, given.metafeatures),
    "hyperboost": lambda given: HyperboostSurrogate(given.known, given.metafeatures),
    "forest": lambda _: ForestSurrogate(),
    "forest-of-trees": lambda _: ForestSurrogate(of_leaves=False),
    "extra-trees": lambda _: ExtraTreesSurrogate(),
    "gp": lambda _: GaussianProcessSurrogate(),
    **{name: _ensemble(weighting) for name, weighting in _WEIGHTINGS.items()},
    "tst-r": lambda given: TwoStageSurrogate(_tasks(given), given.metafeatures),
    "rgpe-learned": lambda given: EnsembleSurrogate(
        _tasks(given), given.metafeatures, weights.rgpe_undiluted, _model(given)
    ),
}
LEARNERS_OF = {
    **dict.fromkeys(("blend", "learned", "rgpe-learned"), "functional-pca"),
    "pmf": "pmf",
}
"""Surrogates that rest on a meta-learner, and which one that is by default."""
TRANSFERRING = frozenset({*_WEIGHTINGS, "tst-r", "rgpe-learned"})
"""Surrogates that rest on base models of other datasets."""


def new_surrogate(name: str, ingredients: Ingredients) -> Surrogate[Any]:
    """An untrained surrogate.

    Raises:
        BadInput: there is none of this name, or it needs a meta-learner or other datasets that there are not.
    """
    if name not in SURROGATES:
        raise UnknownName(f"unknown surrogate {name!r}; known are {', '.join(SURROGATES)}")
    return SURROGATES[name](ingredients)


def _tasks(given: Ingredients) -> PriorTasks:
    if given.tasks is None:
        raise BadOption("this surrogate needs runs on other datasets")
    return given.tasks


def _model(given: Ingredients) -> HasPrior:
    model: object = given.model
    if not isinstance(model, HasPrior):
        raise BadOption("this surrogate needs a meta-learner that states a prior over configurations")
    return model
