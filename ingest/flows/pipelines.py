"""Optional preprocessing hyperparameters of flows.

They follow Feurer et al. (2015, auto-sklearn), as searched by MOSAIC (Rakotoarison, Schoenauer and Sebag
2019, section 4.2): imputation, encoding of categories, rescaling, balancing of classes, and one preprocessor
of the features, each with hyperparameters of its own. Ranges are auto-sklearn's; a comment says where they
are narrower, so that a trial takes seconds.

A configuration with none of them has the flow's own pipeline. Regressors do not have them yet.
"""

from __future__ import annotations

from dataclasses import replace

from ingest.flows.base import CLASS_WEIGHT, IMPUTATION, SCALING, Flow
from warehouse.vocabulary.parameters import Choice, Number, Value
from warehouse.vocabulary.task_types import CLASSIFICATION

PREPROCESSOR = "preprocessor"
NO_PREPROCESSOR = "none"

_ENCODINGS = ("indicators", "ordinal", "target")
_IMPUTATIONS = ("mean", "median", "most_frequent", "flagged")
_SCALINGS = ("standard", "quantile", "none", "minmax", "robust", "normalize")


def _number(
    preprocessor: str, name: str, low: float, high: float, default: float, *, log: bool = False
) -> Number:
    when: dict[str, tuple[Value, ...]] = {PREPROCESSOR: (preprocessor,)}
    return Number(f"{preprocessor}_{name}", low, high, default, log, when, optional=True)


def _choice(preprocessor: str, name: str, *choices: Value) -> Choice:
    """A choice whose first value is the default."""
    when: dict[str, tuple[Value, ...]] = {PREPROCESSOR: (preprocessor,)}
    return Choice(f"{preprocessor}_{name}", choices, choices[0], when, optional=True)


_NYSTROEM_KERNEL = _choice("nystroem", "kernel", "rbf", "poly", "sigmoid", "cosine")
_LINKAGE = _choice("agglomeration", "linkage", "ward", "complete", "average")

PREPROCESSORS: dict[str, tuple[Number | Choice, ...]] = {
    NO_PREPROCESSOR: (),
    "pca": (
        _number("pca", "variance", 0.5, 0.9999, 0.9999),
        _choice("pca", "whiten", False, True),
    ),
    # auto-sklearn: up to 2,000 components, for which ICA takes minutes.
    "ica": (
        _number("ica", "components", 2, 100, 20, log=True),
        _choice("ica", "algorithm", "parallel", "deflation"),
        _choice("ica", "fun", "logcosh", "exp", "cube"),
    ),
    "svd": (_number("svd", "components", 2, 256, 128, log=True),),
    # auto-sklearn: up to 10,000 components, also below.
    "nystroem": (
        _NYSTROEM_KERNEL,
        _number("nystroem", "components", 16, 512, 100, log=True),
        replace(
            _number("nystroem", "gamma", 2**-15, 8.0, 0.1, log=True),
            when={_NYSTROEM_KERNEL.name: ("rbf", "poly", "sigmoid")},
        ),
        replace(_number("nystroem", "degree", 2, 5, 3), when={_NYSTROEM_KERNEL.name: ("poly",)}),
        replace(
            _number("nystroem", "coef0", -1.0, 1.0, 0.0), when={_NYSTROEM_KERNEL.name: ("poly", "sigmoid")}
        ),
    ),
    "kitchen_sinks": (
        _number("kitchen_sinks", "components", 50, 512, 100, log=True),
        _number("kitchen_sinks", "gamma", 2**-15, 8.0, 1.0, log=True),
    ),
    "polynomial": (
        _number("polynomial", "degree", 2, 3, 2),
        _choice("polynomial", "interaction_only", False, True),
    ),
    "percentile": (
        _number("percentile", "kept", 1.0, 99.0, 50.0),
        _choice("percentile", "score", "f_classif", "mutual_info"),
    ),
    "rates": (
        _number("rates", "alpha", 0.01, 0.5, 0.1),
        _choice("rates", "mode", "fpr", "fdr", "fwe"),
    ),
    "trees_selection": (
        _choice("trees_selection", "criterion", "gini", "entropy"),
        _number("trees_selection", "max_features", 0.04, 1.0, 0.5),
        _number("trees_selection", "min_samples_leaf", 1, 20, 1),
        _choice("trees_selection", "threshold", "mean", "median"),
    ),
    "l1_selection": (
        _number("l1_selection", "C", 2**-5, 2.0**15, 1.0, log=True),
        _number("l1_selection", "tol", 1e-5, 1e-1, 1e-4, log=True),
    ),
    "agglomeration": (
        _number("agglomeration", "clusters", 2, 400, 25, log=True),
        _LINKAGE,
        replace(
            # auto-sklearn also has cosines, which a column of zeros lacks. Ward needs Euclidean.
            _choice("agglomeration", "metric", "euclidean", "manhattan"),
            when={_LINKAGE.name: ("complete", "average")},
        ),
        _choice("agglomeration", "pooling", "mean", "median", "max"),
    ),
    # auto-sklearn: up to 100 trees of 1,024 leaves, each of which becomes a column.
    "trees_embedding": (
        _number("trees_embedding", "trees", 10, 50, 10, log=True),
        _number("trees_embedding", "max_depth", 2, 5, 5),
        _number("trees_embedding", "min_samples_leaf", 1, 20, 1),
        _number("trees_embedding", "min_samples_split", 2, 20, 2),
    ),
}
"""Preprocessor -> its hyperparameters, named PREPROCESSOR_NAME."""

PREPROCESSOR_SUMMARIES = {
    NO_PREPROCESSOR: "the features as they are",
    "pca": "principal components that explain a share of the variance",
    "ica": "independent components (FastICA)",
    "svd": "singular vectors, without centring",
    "nystroem": "features whose dot products approximate a kernel, from a sample of rows",
    "kitchen_sinks": "random features whose dot products approximate the RBF kernel (Rahimi and Recht 2007)",
    "polynomial": "products of columns",
    "percentile": "the share of the columns that are most informative about the class",
    "rates": "the columns that pass a test at an error rate",
    "trees_selection": "the columns that extremely randomized trees use most",
    "l1_selection": "the columns that a sparse linear model uses",
    "agglomeration": "clusters of similar columns, each merged into one",
    "trees_embedding": "the leaves of random trees that contain the row",
}
"""Preprocessor -> description of its output."""

_LEARNED_FEATURES = ("nystroem", "kitchen_sinks")
"""Kernel approximations; auto-sklearn combines them only with linear models."""
_EXPANSIONS = (*_LEARNED_FEATURES, "polynomial")
"""The same, and products of columns: kernels and networks model these anyway, and distances drown in them."""
UNFIT: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(
        (
            "random_forest",
            "extra_trees",
            "decision_tree",
            "adaboost",
            "lightgbm",
            "xgboost",
            "catboost",
            "hist_gradient_boosting",
            "naive_bayes",
        ),
        _LEARNED_FEATURES,
    ),
    **dict.fromkeys(("svm", "k_nearest_neighbors", "mlp"), _EXPANSIONS),
    # The covariance matrix of constant features, or of more features than rows of a class, is singular.
    "quadratic_discriminant_analysis": (*_LEARNED_FEATURES, "trees_embedding"),
}
"""Flow -> preprocessors that it can't be combined with."""
_WEIGHED = ("svm", "adaboost", "naive_bayes")
"""Flows without a hyperparameter `class_weight` whose algorithm supports row weights."""
_NOT_UNDERSAMPLED = ("k_nearest_neighbors",)
"""Flows that may ask for more neighbours than undersampling leaves rows."""


def further_decisions(flow: Flow) -> tuple[Number | Choice, ...]:
    """The preprocessing hyperparameters that `flow` allows; values that it already has come first."""
    own = {parameter.name: parameter for parameter in flow.hyperparameters}
    preprocessors = [name for name in PREPROCESSORS if name not in UNFIT.get(flow.name, ())]
    # Boosters take categories and missing numbers as they are, and trees split alike on any scale: they have
    # these hyperparameters only after a preprocessor is chosen.
    before: dict[str, tuple[Value, ...]] = {PREPROCESSOR: tuple(preprocessors[1:])}
    takes_all = flow.encoding not in _ENCODINGS
    encoding = Choice("encoding", _ENCODINGS, "indicators", before if takes_all else {}, optional=True)
    imputation = (
        replace(IMPUTATION, choices=_IMPUTATIONS)
        if IMPUTATION.name in own
        else Choice(IMPUTATION.name, _IMPUTATIONS, "median", before, optional=True)
    )
    scaling = (
        replace(SCALING, choices=_SCALINGS)
        if SCALING.name in own
        else Choice(SCALING.name, _SCALINGS, "none", before, optional=True)
    )
    strategies = [
        "none",
        *(["weights"] if flow.name in _WEIGHED else []),
        "oversampling",
        *([] if flow.name in _NOT_UNDERSAMPLED else ["undersampling"]),
    ]
    return (
        Choice(PREPROCESSOR, tuple(preprocessors), NO_PREPROCESSOR, optional=True),
        encoding,
        imputation,
        scaling,
        Choice("balancing", tuple(strategies), "none", optional=True),
        *(parameter for name in preprocessors for parameter in PREPROCESSORS[name]),
    )


def knowing_preprocessing(flow: Flow) -> Flow:
    """Allow preprocessing hyperparameters in the configurations of a flow; its space does not change.

    A regressor is returned as it is.
    """
    if flow.task_type != CLASSIFICATION:
        return flow
    further = further_decisions(flow)
    weighed = any(parameter.name == CLASS_WEIGHT.name for parameter in flow.hyperparameters)
    forbidden = [
        # Balanced classes need no weights.
        {CLASS_WEIGHT.name: "balanced", "balancing": strategy}
        for strategy in ("oversampling", "undersampling")
        if weighed
    ]
    return replace(flow, further=(*flow.further, *further), forbidden=(*flow.forbidden, *forbidden))


def with_preprocessing(flow: Flow) -> Flow:
    """Add the preprocessing hyperparameters to the space of a flow."""
    return replace(flow, hyperparameters=flow.known)
