"""Trees and forests. Ranges of the forest: van Hoof's thesis (OpenML flows 6969 and 8315)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ingest.flows.base import Flow, Values

if TYPE_CHECKING:
    from ConfigSpace.hyperparameters import Hyperparameter
    from sklearn.base import ClassifierMixin


def _forest_space(*, bootstrap: bool) -> list[Hyperparameter]:
    from ConfigSpace import Categorical, Float, Integer

    return [
        Categorical("bootstrap", [True, False], default=bootstrap),
        Categorical("criterion", ["gini", "entropy"], default="gini"),
        Float("max_features", (0.04, 0.90), default=0.3),
        Integer("min_samples_leaf", (1, 20), default=1),
        Integer("min_samples_split", (2, 20), default=2),
    ]


def _random_forest(values: Values, seed: int) -> ClassifierMixin:
    from sklearn.ensemble import RandomForestClassifier

    return RandomForestClassifier(n_estimators=100, random_state=seed, **values)


def _extra_trees(values: Values, seed: int) -> ClassifierMixin:
    from sklearn.ensemble import ExtraTreesClassifier

    return ExtraTreesClassifier(n_estimators=100, random_state=seed, **values)


def _decision_tree_space() -> list[Hyperparameter]:
    from ConfigSpace import Categorical, Float, Integer

    return [
        Categorical("criterion", ["gini", "entropy"], default="gini"),
        Integer("max_depth", (1, 30), default=30),
        Float("max_features", (0.04, 1.0), default=1.0),
        Integer("min_samples_leaf", (1, 20), default=1),
        Integer("min_samples_split", (2, 20), default=2),
    ]


def _decision_tree(values: Values, seed: int) -> ClassifierMixin:
    from sklearn.tree import DecisionTreeClassifier

    return DecisionTreeClassifier(random_state=seed, **values)


# `auto` was the old name of the square root of the number of features.
_OLD_MAX_FEATURES = {"max_features": {"auto": "sqrt"}}
_FIXED = {"max_leaf_nodes": None, "min_weight_fraction_leaf": 0.0}

random_forest = Flow(
    name="random_forest",
    title="Random forest",
    hyperparameters=lambda: _forest_space(bootstrap=True),
    estimator=_random_forest,
    openml=(6969, 8315),
    fixed=_FIXED | {"max_depth": None, "n_estimators": 100},
    renamed=_OLD_MAX_FEATURES,
)
extra_trees = Flow(
    name="extra_trees",
    title="Extra trees",
    hyperparameters=lambda: _forest_space(bootstrap=False),
    estimator=_extra_trees,
    renamed=_OLD_MAX_FEATURES,
)
decision_tree = Flow(
    name="decision_tree",
    title="Decision tree",
    hyperparameters=_decision_tree_space,
    estimator=_decision_tree,
    openml=(6840,),
    fixed=_FIXED,
    renamed=_OLD_MAX_FEATURES,
)
