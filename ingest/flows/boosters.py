"""Gradient boosters of other libraries behind one scikit-learn classifier.

LightGBM, XGBoost and CatBoost differ in how they are told of categories, of rows to stop early on, and of
class weights; `Booster` is told the same way for all three. The matrix that it takes has the category codes
in its first columns (NaN = a category that training did not have) and numbers, missing ones as NaN, in the
others.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import pandas as pd
from sklearn.base import BaseEstimator, ClassifierMixin

from warehouse.support.arrays import Floats, Positions

PATIENCE = 20
"""Rounds without a lower log loss on the validation rows after which training stops."""

Codes = Positions


class Booster(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn is untyped
    """A booster of the library `library` ("lightgbm", "xgboost" or "catboost").

    Args:
        library: whose booster it is.
        settings: hyperparameters under the library's own names.
        n_categorical: how many of the first columns are category codes.
        early_stopping: stop when the log loss on validation rows, which are taken out of the training rows,
            has not fallen for `PATIENCE` rounds, and keep the best round.
        balanced: weight rows so that all classes count alike.
        seed: of the booster and of the choice of validation rows.
    """

    def __init__(
        self,
        library: str,
        settings: Mapping[str, Any],
        *,
        n_categorical: int = 0,
        early_stopping: bool = False,
        balanced: bool = False,
        seed: int = 0,
    ) -> None:
        self.library = library
        self.settings = settings
        self.n_categorical = n_categorical
        self.early_stopping = early_stopping
        self.balanced = balanced
        self.seed = seed

    def fit(self, X: Floats, y: npt.ArrayLike) -> Self:
        """Fit on the rows of `X`, (n, columns), and their classes `y`, (n,)."""
        from sklearn.utils.class_weight import compute_sample_weight

        from ingest.running.resampling import hold_out

        self.classes_, codes = np.unique(np.asarray(y), return_inverse=True)
        weights = compute_sample_weight("balanced", codes) if self.balanced else None
        rows = _Rows(X, codes, weights)
        if not self.early_stopping:
            self.model_ = _FIT[self.library](self, rows, None)
            return self
        train, valid = hold_out(codes, max(2, round(1 / validation_share(len(codes)))), self.seed)
        self.model_ = _FIT[self.library](self, rows.take(train), rows.take(valid) if len(valid) else None)
        return self

    def predict_proba(self, X: Floats) -> Floats:
        """(n, classes) probabilities, in the order of `classes_`."""
        rows = _for_catboost(X, self.n_categorical) if self.library == "catboost" else X
        probabilities: Floats = self.model_.predict_proba(rows)
        return probabilities

    def predict(self, X: Floats) -> npt.NDArray[Any]:
        """(n,) the most probable class of each row."""
        predicted: npt.NDArray[Any] = self.classes_[self.predict_proba(X).argmax(axis=1)]
        return predicted


def validation_share(rows: int) -> float:
    """Share of the training rows that early stopping looks at: 500 rows, but between 5 and 20 percent.

    A heuristic, close to AutoGluon's (`default_holdout_frac`).
    """
    return min(0.2, max(0.05, 500 / rows))


@dataclass(frozen=True)
class _Rows:
    """Rows to fit on, or to stop early on."""

    X: Floats
    """(n, columns)"""
    codes: Codes
    """(n,) classes, from 0."""
    weights: Floats | None
    """(n,)"""

    def take(self, rows: Codes) -> Self:
        weights = None if self.weights is None else self.weights[rows]
        return replace(self, X=self.X[rows], codes=self.codes[rows], weights=weights)


def _fit_lightgbm(booster: Booster, train: _Rows, valid: _Rows | None) -> Any:
    from lightgbm import LGBMClassifier, early_stopping

    model = LGBMClassifier(random_state=booster.seed, n_jobs=1, verbose=-1, **booster.settings)
    watched: dict[str, Any] = {}
    if valid is not None:
        watched = {
            "eval_X": valid.X,
            "eval_y": valid.codes,
            "callbacks": [early_stopping(PATIENCE, first_metric_only=True, verbose=False)],
        }
    categorical = list(range(booster.n_categorical))
    return model.fit(
        train.X, train.codes, sample_weight=train.weights, categorical_feature=categorical, **watched
    )


def _fit_xgboost(booster: Booster, train: _Rows, valid: _Rows | None) -> Any:
    from xgboost import XGBClassifier

    model = XGBClassifier(
        random_state=booster.seed,
        n_jobs=1,
        tree_method="hist",
        enable_categorical=True,
        feature_types=["c"] * booster.n_categorical + ["q"] * (train.X.shape[1] - booster.n_categorical),
        eval_metric="logloss" if len(booster.classes_) == 2 else "mlogloss",
        early_stopping_rounds=None if valid is None else PATIENCE,
        **booster.settings,
    )
    watched = None if valid is None else [(valid.X, valid.codes)]
    return model.fit(train.X, train.codes, sample_weight=train.weights, eval_set=watched, verbose=False)


def _fit_catboost(booster: Booster, train: _Rows, valid: _Rows | None) -> Any:
    from catboost import CatBoostClassifier

    n_categorical = booster.n_categorical
    model = CatBoostClassifier(
        random_seed=booster.seed,
        thread_count=1,
        verbose=False,
        allow_writing_files=False,
        cat_features=list(range(n_categorical)),
        **booster.settings,
    )
    return model.fit(
        _for_catboost(train.X, n_categorical),
        train.codes,
        sample_weight=train.weights,
        eval_set=None if valid is None else (_for_catboost(valid.X, n_categorical), valid.codes),
        early_stopping_rounds=None if valid is None else PATIENCE,
    )


def _for_catboost(X: Floats, n_categorical: int) -> pd.DataFrame:
    """CatBoost takes categories as integers, without missing ones: -1 stands for an unknown category."""
    codes = np.nan_to_num(X[:, :n_categorical], nan=-1).astype(np.int32)
    parts = [pd.DataFrame(codes), pd.DataFrame(X[:, n_categorical:])]
    return pd.concat(parts, axis=1, ignore_index=True)


_FIT: dict[str, Callable[..., Any]] = {
    "lightgbm": _fit_lightgbm,
    "xgboost": _fit_xgboost,
    "catboost": _fit_catboost,
}
