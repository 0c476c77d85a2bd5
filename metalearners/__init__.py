"""Meta-learners: models of the performance of configurations on datasets, learned from runs.

    `LEARNERS`, `DEFAULT_LEARNER`: names of the meta-learners, and the one that `recommend` uses.
    `new_learner`: a learner by name; its `fit` learns from runs and returns a model.
    `trained_model`: the model of a warehouse; trained once, then loaded.
    `Observations`: trials on a dataset, to condition a model on.
    `runs_on`, `without_datasets`: the runs on one dataset; the runs on all but some datasets.
    `standard_scores`: values, standardized within each dataset.

`metalearners.evaluation` measures how good learners are, and what matters in the runs.

Classes are imported on first access, so importing this package is fast.

Example:
    >>> from metalearners import new_learner
    >>> from warehouse import Warehouse
    >>> starter = Warehouse.open(None)
    >>> runs, metafeatures = starter.run_table("svm", "predictive_accuracy"), starter.metafeatures()
    >>> model = new_learner("average-rank").fit(runs, metafeatures)
    >>> first = model.choose(runs.configurations, metafeatures.iloc[0], 1)
    >>> len(runs.configurations.take(first))
    1
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

from warehouse.support.errors import look_up
from warehouse.support.exports import exported

if TYPE_CHECKING:
    from metalearners.encoding.scores import standard_scores as standard_scores
    from metalearners.encoding.training_data import runs_on as runs_on
    from metalearners.encoding.training_data import without_datasets as without_datasets
    from metalearners.learners.base import MetaLearner
    from metalearners.model_store import trained_model as trained_model
    from metalearners.predictions import Observations as Observations

__getattr__, __dir__, __all__ = exported(
    __name__,
    {
        "metalearners.encoding.scores": ["standard_scores"],
        "metalearners.encoding.training_data": ["runs_on", "without_datasets"],
        "metalearners.model_store": ["trained_model"],
        "metalearners.predictions": ["Observations"],
    },
    own=("DEFAULT_LEARNER", "LEARNERS", "new_learner"),
)

LEARNERS = {
    "functional-pca": "metalearners.learners.functional_pca:FunctionalPCALearner",
    "lightgbm": "metalearners.learners.boosting:LightGBMRegressorLearner",
    "lightgbm-ranker": "metalearners.learners.boosting:LightGBMRankerLearner",
    "knn": "metalearners.learners.neighbours:NearestDatasetLearner",
    "knn-lightgbm": "metalearners.learners.neighbours:NearestDatasetLightGBMLearner",
    "average-rank": "metalearners.learners.neighbours:AverageRankLearner",
    "portfolio": "metalearners.learners.neighbours:PortfolioLearner",
    "nearest-25": "metalearners.learners.neighbours:NearestBestLearner",
    "nearest-portfolio": "metalearners.learners.neighbours:NearestPortfolioLearner",
    "pmf": "metalearners.published.factorization.learner:FactorizationLearner",
    "knn-thesis": "metalearners.published.thesis_neighbours:ThesisKNNLearner",
    "knn-lightgbm-thesis": "metalearners.published.thesis_neighbours:ThesisKNNLightGBMLearner",
}
"""Name -> module:class; the default first, those of `metalearners.published` last."""

DEFAULT_LEARNER = "functional-pca"
"""The best learner on the starter and on OpenML's runs: see README."""


def new_learner(name: str, settings: Mapping[str, Any] | None = None) -> MetaLearner:
    """The learner of this name with these settings (JSON values); the others keep their defaults.

    Raises:
        BadInput: unknown learner or setting, or an invalid value.
    """
    from metalearners.codec import with_settings

    module, _, class_name = look_up(name, LEARNERS, "learner").partition(":")
    learner: MetaLearner = with_settings(getattr(import_module(module), class_name), settings or {})
    return learner
