"""Meta-learners: what works on which kind of dataset, learned from runs.

`LEARNERS` is the list of them. The classes are imported when one is asked for, which keeps importing this
package free of cost.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

from warehouse.support.errors import BadOption, UnknownName

if TYPE_CHECKING:
    from metalearners.base import MetaLearner

__all__ = ["DEFAULT_LEARNER", "LEARNERS", "new_learner"]

LEARNERS = {
    "lightgbm": "metalearners.boosting:LightGBMRegressorLearner",
    "lightgbm-ranker": "metalearners.boosting:LightGBMRankerLearner",
    "bank": "metalearners.bank:BankLearner",
    "pmf": "metalearners.factorization:FactorizationLearner",
    "knn": "metalearners.neighbours:NearestDatasetLearner",
    "knn-lightgbm": "metalearners.neighbours:NearestDatasetLightGBMLearner",
    "average-rank": "metalearners.neighbours:AverageRankLearner",
    "portfolio": "metalearners.neighbours:PortfolioLearner",
    "nearest-25": "metalearners.neighbours:NearestBestLearner",
    "nearest-portfolio": "metalearners.neighbours:NearestPortfolioLearner",
}
"""Name -> module:class."""

DEFAULT_LEARNER = "bank"
"""What ranks best on the starter and on OpenML's runs: see README."""


def new_learner(name: str, settings: Mapping[str, Any] | None = None) -> MetaLearner:
    """An untrained learner with these settings; those left out have their default.

    Raises:
        BadInput: an unknown learner or setting; the message lists the known learners.
    """
    if name not in LEARNERS:
        raise UnknownName(f"unknown learner {name!r}; known are {', '.join(LEARNERS)}")
    module, _, class_name = LEARNERS[name].partition(":")
    learner_class = getattr(import_module(module), class_name)
    try:
        learner: MetaLearner = learner_class(**(settings or {}))
    except TypeError as error:
        raise BadOption(f"learner {name!r} can't have these settings: {error}") from error
    return learner
