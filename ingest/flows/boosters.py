"""Gradient boosters of other libraries behind one scikit-learn classifier and one regressor.

LightGBM, XGBoost and CatBoost take categories, rows for early stopping, class weights and losses in different
ways; `Booster` has one interface to all three. The first columns of its matrix are category codes (NaN = a
category unseen in training), the others numbers (NaN = missing).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass
from importlib import import_module
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
import pandas as pd
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

from ingest.flows.boosting import FITTED_AGAIN_BELOW
from warehouse.support.arrays import Floats, Positions, Rows

PATIENCE: Mapping[bool, int] = {False: 20, True: 100}
"""Whether the fit is for use -> training stops after this many rounds without a lower loss on the validation
rows."""
OBJECTIVES: Mapping[str, Mapping[str, Mapping[str, str]]] = {
    "lightgbm": {"squared": {"objective": "regression"}, "absolute": {"objective": "regression_l1"}},
    "xgboost": {
        "squared": {"objective": "reg:squarederror"},
        "absolute": {"objective": "reg:absoluteerror"},
    },
    "catboost": {"squared": {"loss_function": "RMSE"}, "absolute": {"loss_function": "MAE"}},
}
"""Library -> loss of a regressor -> the library's own parameters for it."""


@dataclass(eq=False, repr=False)
class Booster(BaseEstimator):  # type: ignore[misc]  # scikit-learn is untyped
    """A booster of another library."""

    CLASSES: ClassVar[Mapping[str, str]]
    """Library -> its estimator for this task type."""

    library: str
    """`lightgbm`, `xgboost` or `catboost`."""
    settings: Mapping[str, Any]
    """Hyperparameters under the library's own names."""
    _: KW_ONLY
    n_categorical: int = 0
    """How many leading columns are category codes."""
    early_stopping: bool = False
    """Hold out validation rows from the training rows, stop when the loss on them has not fallen for
    `patience` rounds, and keep the best round."""
    for_use: bool = False
    """Wait longer before stopping, and fit again on all rows, if they are few, with the rounds found."""
    seed: int = 0
    """Random seed of the booster and of the choice of validation rows."""

    @property
    def patience(self) -> int:
        """Rounds without a lower loss on the validation rows, after which training stops."""
        return PATIENCE[self.for_use]

    def model(self, **options: Any) -> Any:
        """The library's unfitted estimator."""
        kind = getattr(import_module(self.library), self.CLASSES[self.library])
        return kind(**{**self.settings, **options})

    def _fit_model(self, rows: _Rows, strata: Positions) -> None:
        """Fit the library's estimator; validation rows are stratified by the (n,) `strata`."""
        if not self.early_stopping:
            self.model_ = self._fitted(rows, None)
            return
        train, valid = hold_out_to_stop(strata, self.seed)
        self.model_ = self._fitted(rows.take(train), rows.take(valid) if len(valid) else None)
        again = self.for_use and len(valid) and len(strata) < FITTED_AGAIN_BELOW
        if again and not isinstance(self.model_, _Constant):
            self.model_ = self._fitted(rows, None, **_FOUND[self.library](self.model_))

    def _fitted(self, train: _Rows, valid: _Rows | None, **found: Any) -> Any:
        return _FIT[self.library](self, train, valid, **found)

    def _rows(self, X: Floats) -> Floats | pd.DataFrame:
        """Rows to predict, in the library's format."""
        return _for_catboost(X, self.n_categorical) if self.library == "catboost" else X


@dataclass(eq=False, repr=False)
class BoosterClassifier(ClassifierMixin, Booster):  # type: ignore[misc]
    """A booster for classification."""

    CLASSES: ClassVar = {
        "lightgbm": "LGBMClassifier",
        "xgboost": "XGBClassifier",
        "catboost": "CatBoostClassifier",
    }

    _: KW_ONLY
    balanced: bool = False
    """Weight rows so that all classes have the same total weight."""

    def fit(self, X: Floats, y: npt.ArrayLike, sample_weight: Floats | None = None) -> Self:
        """Fit on the rows of `X`, (n, columns), with their classes `y` and weights, (n,) each."""
        from sklearn.utils.class_weight import compute_sample_weight

        self.classes_, codes = np.unique(np.asarray(y), return_inverse=True)
        if self.balanced:
            balance = compute_sample_weight("balanced", codes)
            sample_weight = balance if sample_weight is None else balance * sample_weight
        self._fit_model(_Rows(X, codes, sample_weight), codes)
        return self

    def predict_proba(self, X: Floats) -> Floats:
        """(n, classes) probabilities, in the order of `classes_`."""
        probabilities: Floats = self.model_.predict_proba(self._rows(X))
        return probabilities

    def predict(self, X: Floats) -> npt.NDArray[Any]:
        """(n,) most probable classes."""
        predicted: npt.NDArray[Any] = self.classes_[self.predict_proba(X).argmax(axis=1)]
        return predicted


@dataclass(eq=False, repr=False)
class BoosterRegressor(RegressorMixin, Booster):  # type: ignore[misc]
    """A booster for regression.

    Under squared loss, the absolute penalty of leaves (`reg_alpha`) is in standard deviations of the target,
    so that it does not depend on the target's unit, as it does in the libraries. A target that is constant in
    single precision is predicted by its mean, since CatBoost refuses it.
    """

    CLASSES: ClassVar = {
        "lightgbm": "LGBMRegressor",
        "xgboost": "XGBRegressor",
        "catboost": "CatBoostRegressor",
    }

    _: KW_ONLY
    loss: str = "squared"
    """`squared` or `absolute`."""

    def fit(self, X: Floats, y: npt.ArrayLike, sample_weight: Floats | None = None) -> Self:
        """Fit on the rows of `X`, (n, columns), with their numbers `y` and weights, (n,) each."""
        target = np.asarray(y, dtype=float)
        self.scale_ = target.std()
        self._fit_model(_Rows(X, target, sample_weight), np.zeros(len(target), dtype=np.intp))
        return self

    def predict(self, X: Floats) -> Floats:
        """(n,) numbers."""
        predicted: Floats = np.asarray(self.model_.predict(self._rows(X)), dtype=float)
        return predicted

    def _fitted(self, train: _Rows, valid: _Rows | None, **found: Any) -> Any:
        if np.ptp(train.outcomes.astype(np.float32)) == 0:
            return _Constant(float(train.outcomes.mean()))
        return super()._fitted(train, valid, **found)

    def model(self, **options: Any) -> Any:
        """The library's unfitted estimator with the loss, and the absolute penalty in the target's unit."""
        if self.loss == "squared" and "reg_alpha" in self.settings:
            options["reg_alpha"] = self.settings["reg_alpha"] * self.scale_
        return super().model(**OBJECTIVES[self.library][self.loss], **options)


@dataclass(frozen=True)
class _Constant:
    """A model that predicts one number."""

    number: float

    def predict(self, X: Floats | pd.DataFrame) -> Floats:
        return np.full(len(X), self.number)


def hold_out_to_stop(strata: Positions, seed: int) -> tuple[Positions, Positions]:
    """Split into training rows and rows for early stopping, stratified by the (n,) `strata`."""
    from ingest.running.resampling import hold_out

    return hold_out(strata, max(2, round(1 / validation_share(len(strata)))), seed)


def validation_share(rows: int) -> float:
    """Share of the training rows held out for early stopping: 500 rows, but between 5 and 20 percent.

    A heuristic, close to AutoGluon's (`default_holdout_frac`).
    """
    return min(0.2, max(0.05, 500 / rows))


@dataclass(frozen=True)
class _Rows(Rows):
    """Rows for training or early stopping."""

    X: Floats
    """(n, columns)"""
    outcomes: Positions | Floats
    """(n,) classes, from 0, or numbers."""
    weights: Floats | None
    """(n,)"""


def _fit_lightgbm(booster: Booster, train: _Rows, valid: _Rows | None, **found: Any) -> Any:
    from lightgbm import early_stopping

    model = booster.model(random_state=booster.seed, n_jobs=1, verbose=-1, **found)
    watched: dict[str, Any] = {}
    if valid is not None:
        watched = {
            "eval_X": valid.X,
            "eval_y": valid.outcomes,
            "callbacks": [early_stopping(booster.patience, first_metric_only=True, verbose=False)],
        }
    categorical = list(range(booster.n_categorical))
    return model.fit(
        train.X, train.outcomes, sample_weight=train.weights, categorical_feature=categorical, **watched
    )


def _fit_xgboost(booster: Booster, train: _Rows, valid: _Rows | None, **found: Any) -> Any:
    model = booster.model(
        random_state=booster.seed,
        n_jobs=1,
        tree_method="hist",
        enable_categorical=True,
        feature_types=["c"] * booster.n_categorical + ["q"] * (train.X.shape[1] - booster.n_categorical),
        early_stopping_rounds=None if valid is None else booster.patience,
        **found,
    )
    watched = None if valid is None else [(valid.X, valid.outcomes)]
    return model.fit(train.X, train.outcomes, sample_weight=train.weights, eval_set=watched, verbose=False)


def _fit_catboost(booster: Booster, train: _Rows, valid: _Rows | None, **found: Any) -> Any:
    n_categorical = booster.n_categorical
    model = booster.model(
        random_seed=booster.seed,
        thread_count=1,
        verbose=False,
        allow_writing_files=False,
        cat_features=list(range(n_categorical)),
        **found,
    )
    return model.fit(
        _for_catboost(train.X, n_categorical),
        train.outcomes,
        sample_weight=train.weights,
        eval_set=None if valid is None else (_for_catboost(valid.X, n_categorical), valid.outcomes),
        early_stopping_rounds=None if valid is None else booster.patience,
    )


def _for_catboost(X: Floats, n_categorical: int) -> pd.DataFrame:
    """Convert categories to the integers that CatBoost needs; -1 stands for an unknown one."""
    codes = np.nan_to_num(X[:, :n_categorical], nan=-1).astype(np.int32)
    parts = [pd.DataFrame(codes), pd.DataFrame(X[:, n_categorical:])]
    return pd.concat(parts, axis=1, ignore_index=True)


_FIT: dict[str, Callable[..., Any]] = {
    "lightgbm": _fit_lightgbm,
    "xgboost": _fit_xgboost,
    "catboost": _fit_catboost,
}


def _found_by_catboost(model: Any) -> dict[str, Any]:
    # With fewer rounds, CatBoost would choose other values of the last two.
    steps = model.get_all_params()["leaf_estimation_iterations"]
    return {
        "iterations": model.tree_count_,
        "learning_rate": model.learning_rate_,
        "leaf_estimation_iterations": steps,
    }


_FOUND: dict[str, Callable[[Any], dict[str, Any]]] = {
    "lightgbm": lambda model: {"n_estimators": model.best_iteration_},
    "xgboost": lambda model: {"n_estimators": model.best_iteration + 1},
    "catboost": _found_by_catboost,
}
"""Library -> settings for all rows, from a model that was stopped early."""
