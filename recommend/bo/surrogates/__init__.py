"""Surrogates by name.

The default one and its component, the meta-learner's posterior, are here. Published ones are in
`recommend.bo.published.surrogates`, which is imported when one of them is requested.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import pandas as pd

from metalearners.gp.posterior import HasPrior
from metalearners.learners.base import Model
from recommend.bo.surrogates.base import Surrogate
from recommend.bo.surrogates.blend import BlendSurrogate, LearnedSurrogate
from recommend.space import Configurations
from warehouse.questions.queries import RunTable
from warehouse.support.errors import BadOption, look_up

__all__ = [
    "DEFAULT_SURROGATE",
    "SURROGATES",
    "Surrogate",
    "SurrogateInputs",
    "SurrogateMethod",
    "all_surrogates",
    "get_surrogate",
]

DEFAULT_SURROGATE = "blend"


@dataclass(frozen=True)
class SurrogateInputs:
    """Inputs of surrogates; each takes those it needs."""

    known: Configurations
    """Configurations in which each value of each categorical hyperparameter occurs."""
    metafeatures: pd.Series
    """Quality -> value of the dataset."""
    model: Model | None = None
    """Trained model of a meta-learner; None = none was trained."""
    transferred: Any = None
    """Result of `SurrogateMethod.transfer`; None = none."""

    @property
    def prior(self) -> HasPrior:
        """The model.

        Raises:
            BadInput: there is none.
        """
        if self.model is None:
            raise BadOption("this surrogate needs a meta-learner with a prior over configurations")
        return self.model


@dataclass(frozen=True)
class SurrogateMethod:
    """A surrogate with its requirements."""

    new: Callable[[SurrogateInputs], Surrogate[Any]]
    summary: str
    """Description in one line."""
    learner: str | None = None
    """Default meta-learner of the surrogate; None = it uses none."""
    transfer: Callable[[RunTable, pd.DataFrame], Any] | None = None
    """Learns from runs on other datasets and their (datasets, qualities) meta-features; None = not needed."""


SURROGATES: Mapping[str, SurrogateMethod] = {
    DEFAULT_SURROGATE: SurrogateMethod(
        lambda given: BlendSurrogate(given.prior, given.metafeatures),
        "the meta-learner's prior and models of the trials, weighted by their evidence",
        learner="functional-pca",
    ),
    "learned": SurrogateMethod(
        lambda given: LearnedSurrogate(given.prior, given.metafeatures),
        "the meta-learner's posterior after the trials",
        learner="functional-pca",
    ),
}
"""Surrogates imported by default."""


def all_surrogates() -> dict[str, SurrogateMethod]:
    """The default and the published surrogates, by name."""
    return {**SURROGATES, **import_module("recommend.bo.published.surrogates").SURROGATES}


def get_surrogate(name: str) -> SurrogateMethod:
    """The surrogate of this name.

    Raises:
        BadInput: no surrogate has this name; the message lists the known ones.
    """
    return look_up(name, SURROGATES if name in SURROGATES else all_surrogates(), "surrogate")
