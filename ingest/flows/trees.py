"""Trees and forests. Ranges of the forest: van Hoof's thesis (OpenML flows 6969 and 8315).

Regressors look at all features at every split by default, as in scikit-learn (Geurts, Ernst and Wehenkel
2006 recommend it for extra trees).
"""

from __future__ import annotations

from ingest.flows.base import CLASS_WEIGHT, IMPUTATION, TARGET_TRANSFORMATION, Flow, from_sklearn
from warehouse.vocabulary.parameters import Choice, Number

LEAVES = (
    Number("min_samples_leaf", 1, 20, default=1),
    Number("min_samples_split", 2, 20, default=2),
)
"""Least rows of a leaf and of a split."""
CRITERION = Choice("criterion", ("gini", "entropy"), default="gini")


def _forest_space(*, bootstrap: bool) -> tuple[Number | Choice, ...]:
    return (
        Choice("bootstrap", (True, False), default=bootstrap),
        CRITERION,
        Number("max_features", 0.04, 0.90, default=0.3),
        *LEAVES,
        CLASS_WEIGHT,
        IMPUTATION,
    )


def _regression_forest_space(*, bootstrap: bool) -> tuple[Number | Choice, ...]:
    return (
        Choice("bootstrap", (True, False), default=bootstrap),
        Number("max_features", 0.04, 1.0, default=1.0),
        *LEAVES,
        TARGET_TRANSFORMATION,
        IMPUTATION,
    )


# `auto` was the old name of the square root of the number of features.
_OLD_MAX_FEATURES = {"max_features": {"auto": "sqrt"}}
_FIXED = {"max_leaf_nodes": None, "min_weight_fraction_leaf": 0.0}
"""Values that OpenML flow 6969 never varies."""

random_forest = Flow(
    name="random_forest",
    title="Random forest",
    hyperparameters=_forest_space(bootstrap=True),
    estimator=from_sklearn("ensemble.RandomForestClassifier", seeded=True, n_estimators=100),
    openml=(6969, 8315),
    beyond_openml=(CLASS_WEIGHT.name,),
    fixed=_FIXED | {"max_depth": None, "n_estimators": 100},
    renamed=_OLD_MAX_FEATURES,
)
extra_trees = Flow(
    name="extra_trees",
    title="Extra trees",
    hyperparameters=_forest_space(bootstrap=False),
    estimator=from_sklearn("ensemble.ExtraTreesClassifier", seeded=True, n_estimators=100),
    renamed=_OLD_MAX_FEATURES,
)
decision_tree = Flow(
    name="decision_tree",
    title="Decision tree",
    hyperparameters=(
        CRITERION,
        Number("max_depth", 1, 30, default=30),
        Number("max_features", 0.04, 1.0, default=1.0),
        *LEAVES,
        CLASS_WEIGHT,
        IMPUTATION,
    ),
    estimator=from_sklearn("tree.DecisionTreeClassifier", seeded=True),
    openml=(6840,),
    beyond_openml=(CLASS_WEIGHT.name,),
    fixed=_FIXED,
    renamed=_OLD_MAX_FEATURES,
)
random_forest_regressor = random_forest.regressor(
    *_regression_forest_space(bootstrap=True),
    estimator=from_sklearn("ensemble.RandomForestRegressor", seeded=True, n_estimators=100),
)
extra_trees_regressor = extra_trees.regressor(
    *_regression_forest_space(bootstrap=False),
    estimator=from_sklearn("ensemble.ExtraTreesRegressor", seeded=True, n_estimators=100),
)
decision_tree_regressor = decision_tree.regressor(
    Number("max_depth", 1, 30, default=30),
    Number("max_features", 0.04, 1.0, default=1.0),
    *LEAVES,
    TARGET_TRANSFORMATION,
    IMPUTATION,
    estimator=from_sklearn("tree.DecisionTreeRegressor", seeded=True),
)
