"""Preprocessors of features, between the encoded columns of a dataset and a classifier.

Notation
    n, p     rows, columns of the training matrix
    q        columns that a preprocessor outputs
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from math import comb
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, TransformerMixin

from ingest.flows.base import of_sklearn
from warehouse.support.arrays import Floats

MOST_PRODUCTS = 1000
"""Most columns of a polynomial expansion."""
MOST = 1e30
"""Numbers are clipped to this size, so that trees can hold them in single precision."""

Values = Mapping[str, Any]
"""Hyperparameter, without the preprocessor's name -> value."""


class Preprocessor(TransformerMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn is untyped
    """A preprocessor of `ingest.flows.pipelines.PREPROCESSORS`, adapted to its training matrix.

    The number of components is limited by the numbers of rows and columns. A matrix of one column, or of
    constant ones, is not changed.

    Args:
        name: key in `PREPROCESSORS`.
        values: all its hyperparameters, without the preprocessor's name before theirs.
        seed: random seed.
    """

    def __init__(self, name: str, values: Values, seed: int = 0) -> None:
        self.name = name
        self.values = values
        self.seed = seed

    def fit(self, X: Floats, y: npt.ArrayLike) -> Self:
        """Fit on the rows of `X`, (n, p), and their classes `y`, (n,)."""
        self.step_ = None
        if X.shape[1] > 1 and np.ptp(X, axis=0).any():
            self.step_ = MAKERS[self.name](self.values, X, self.seed).fit(X, y)
            if hasattr(self.step_, "get_support") and not self.step_.get_support().any():
                self.step_ = of_sklearn("feature_selection.SelectKBest")(k=1).fit(X, y)
        return self

    def transform(self, X: Floats) -> Floats:
        """(n, q) finite numbers."""
        made = X if self.step_ is None else self.step_.transform(X)
        return np.clip(np.nan_to_num(made, nan=0.0, posinf=MOST, neginf=-MOST), -MOST, MOST)


def _ica(values: Values, X: Floats, seed: int) -> Any:
    return of_sklearn("decomposition.FastICA")(
        min(values["components"], int(np.linalg.matrix_rank(X - X.mean(axis=0)))),
        algorithm=values["algorithm"],
        fun=values["fun"],
        whiten="unit-variance",
        random_state=seed,
    )


def _nystroem(values: Values, X: Floats, seed: int) -> Any:
    kernel = {name: values[name] for name in ("gamma", "degree", "coef0") if name in values}
    return of_sklearn("kernel_approximation.Nystroem")(
        values["kernel"], n_components=min(values["components"], len(X)), random_state=seed, **kernel
    )


def _polynomial(values: Values, X: Floats, _seed: int) -> Any:
    """Products of columns; only the best by F statistic if there would be more than `MOST_PRODUCTS`."""
    from sklearn.feature_selection import SelectKBest
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import PolynomialFeatures

    degree = values["degree"]
    most = max(k for k in range(1, MOST_PRODUCTS) if comb(k + degree, degree) - 1 <= MOST_PRODUCTS)
    products = PolynomialFeatures(degree, interaction_only=values["interaction_only"], include_bias=False)
    return make_pipeline(SelectKBest(k=min(most, X.shape[1])), products)


def _percentile(values: Values, _X: Floats, seed: int) -> Any:
    from sklearn.feature_selection import SelectPercentile, f_classif, mutual_info_classif

    scores = {"f_classif": f_classif, "mutual_info": partial(mutual_info_classif, random_state=seed)}
    return SelectPercentile(scores[values["score"]], percentile=values["kept"])


def _trees_selection(values: Values, _X: Floats, seed: int) -> Any:
    settings = {name: values[name] for name in ("criterion", "max_features", "min_samples_leaf")}
    trees = of_sklearn("ensemble.ExtraTreesClassifier")(n_estimators=100, random_state=seed, **settings)
    return of_sklearn("feature_selection.SelectFromModel")(trees, threshold=values["threshold"])


def _l1_selection(values: Values, _X: Floats, seed: int) -> Any:
    machine = of_sklearn("svm.LinearSVC")(penalty="l1", dual=False, random_state=seed, **values)
    return of_sklearn("feature_selection.SelectFromModel")(machine, threshold="mean")


def _agglomeration(values: Values, X: Floats, _seed: int) -> Any:
    return of_sklearn("cluster.FeatureAgglomeration")(
        min(values["clusters"], X.shape[1]),
        linkage=values["linkage"],
        metric=values.get("metric", "euclidean"),
        pooling_func={"mean": np.mean, "median": np.median, "max": np.max}[values["pooling"]],
    )


MAKERS: dict[str, Callable[[Values, Floats, int], Any]] = {
    "pca": lambda values, _X, _seed: of_sklearn("decomposition.PCA")(
        values["variance"], whiten=values["whiten"], svd_solver="full"
    ),
    "ica": _ica,
    "svd": lambda values, X, seed: of_sklearn("decomposition.TruncatedSVD")(
        min(values["components"], *X.shape), random_state=seed
    ),
    "nystroem": _nystroem,
    "kitchen_sinks": lambda values, _X, seed: of_sklearn("kernel_approximation.RBFSampler")(
        gamma=values["gamma"], n_components=values["components"], random_state=seed
    ),
    "polynomial": _polynomial,
    "percentile": _percentile,
    "rates": lambda values, _X, _seed: of_sklearn(f"feature_selection.Select{values['mode'].capitalize()}")(
        alpha=values["alpha"]
    ),
    "trees_selection": _trees_selection,
    "l1_selection": _l1_selection,
    "agglomeration": _agglomeration,
    "trees_embedding": lambda values, _X, seed: of_sklearn("ensemble.RandomTreesEmbedding")(
        values["trees"],
        max_depth=values["max_depth"],
        min_samples_leaf=values["min_samples_leaf"],
        min_samples_split=values["min_samples_split"],
        sparse_output=False,
        random_state=seed,
    ),
}
"""Preprocessor -> function that makes its scikit-learn step for a matrix."""
