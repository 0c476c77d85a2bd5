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
    "Kind",
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


@dataclass(frozen=True)
class Kind:
    """A surrogate that a search may ask for."""

    new: Callable[[Ingredients], Surrogate[Any]]
    summary: str
    """What it is, in a line."""
    learner: str | None = None
    """The meta-learner that it rests on by default; None where it rests on none."""
    transfers: bool = False
    """Whether it rests on base models of other datasets."""


def _ensemble(weighting: Weighting, summary: str) -> Kind:
    return Kind(
        lambda given: EnsembleSurrogate(_tasks(given), given.metafeatures, weighting), summary, transfers=True
    )


SURROGATES: dict[str, Kind] = {
    "blend": Kind(
        lambda given: BlendSurrogate(_model(given), given.metafeatures),
        "the meta-learner's prior beside models of the trials alone, each as much as the evidence is for it",
        learner="functional-pca",
    ),
    "learned": Kind(
        lambda given: LearnedSurrogate(_model(given), given.metafeatures),
        "the meta-learner's posterior after the trials, and nothing else",
        learner="functional-pca",
    ),
    "pmf": Kind(
        lambda given: LearnedSurrogate(_model(given), given.metafeatures),
        "the posterior of probabilistic matrix factorization (Fusi et al. 2018, extended)",
        learner="pmf",
    ),
    "gbqr": Kind(
        lambda given: QuantileSurrogate(given.known, given.metafeatures),
        "the 90 % quantile by gradient boosting (van Hoof's thesis, section 5.3)",
    ),
    "quantile-triple": Kind(
        lambda given: QuantileTripleSurrogate(given.known, given.metafeatures),
        "the 16, 50 and 84 % quantiles by gradient boosting (thesis, equation 5.1)",
    ),
    "hyperboost": Kind(
        lambda given: HyperboostSurrogate(given.known, given.metafeatures),
        "the 90 % quantile plus the distance to what was tried (van Hoof and Vanschoren, equations 7 and 8)",
    ),
    "forest": Kind(
        lambda _: ForestSurrogate(),
        "SMAC's random forest with the uncertainty of leaves (thesis, equations 3.1 and 3.2)",
    ),
    "forest-of-trees": Kind(
        lambda _: ForestSurrogate(of_leaves=False),
        "the same forest with the uncertainty between trees alone (thesis, section 3.2.1)",
    ),
    "extra-trees": Kind(
        lambda _: ExtraTreesSurrogate(), "extremely randomized trees (thesis, section 4.1.2)"
    ),
    "gp": Kind(lambda _: GaussianProcessSurrogate(), "a Gaussian process with a Matern 5/2 kernel"),
    "rgpe": _ensemble(
        weights.rgpe,
        "Gaussian processes of the trials and of each other dataset, weighted by how rarely another one ranks"
        " the trials better (Manolache, equation 9)",
    ),
    "rgpe-undiluted": _ensemble(
        weights.rgpe_undiluted,
        "`rgpe` without datasets that rank worse than the trials themselves (Feurer et al. 2018)",
    ),
    "rlgp": _ensemble(
        weights.rlgp,
        "the same ensemble weighted by pairs in the right order (Manolache, equations 13 and 14)",
    ),
    "rlgp-diff": _ensemble(
        weights.rlgp_diff, "`rlgp`, each pair by its predicted difference (Manolache, equation 15)"
    ),
    "rlgp-fdiff": _ensemble(
        weights.rlgp_fdiff,
        "`rlgp`, each pair by how far the predicted difference exceeds the true one (Manolache, equation 16)",
    ),
    "rlgp-mudiff": _ensemble(
        weights.rlgp_mudiff, "`rlgp`, all pairs by the mean of that excess (Manolache, equation 17)"
    ),
    "sim": _ensemble(
        weights.sim,
        "the same ensemble weighted by pairs that a model orders as the trials' own does (Manolache,"
        " equation 18)",
    ),
    "tst-r": Kind(
        lambda given: TwoStageSurrogate(_tasks(given), given.metafeatures),
        "the two-stage transfer surrogate (Wistuba et al. 2016)",
        transfers=True,
    ),
    "rgpe-learned": Kind(
        lambda given: EnsembleSurrogate(
            _tasks(given), given.metafeatures, weights.rgpe_undiluted, _model(given)
        ),
        "`rgpe-undiluted` with the meta-learner's prior as one more model of each ensemble",
        learner="functional-pca",
        transfers=True,
    ),
}
LEARNERS_OF = {name: kind.learner for name, kind in SURROGATES.items() if kind.learner is not None}
"""Surrogates that rest on a meta-learner, and which one that is by default."""
TRANSFERRING = frozenset(name for name, kind in SURROGATES.items() if kind.transfers)
"""Surrogates that rest on base models of other datasets."""


def new_surrogate(name: str, ingredients: Ingredients) -> Surrogate[Any]:
    """An untrained surrogate.

    Raises:
        BadInput: there is none of this name, or it needs a meta-learner or other datasets that there are not.
    """
    if name not in SURROGATES:
        raise UnknownName(f"unknown surrogate {name!r}; known are {', '.join(SURROGATES)}")
    return SURROGATES[name].new(ingredients)


def _tasks(given: Ingredients) -> PriorTasks:
    if given.tasks is None:
        raise BadOption("this surrogate needs runs on other datasets")
    return given.tasks


def _model(given: Ingredients) -> HasPrior:
    model: object = given.model
    if not isinstance(model, HasPrior):
        raise BadOption("this surrogate needs a meta-learner that states a prior over configurations")
    return model
