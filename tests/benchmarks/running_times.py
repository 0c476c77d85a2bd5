"""Regressors of the logarithm of a run's seconds, as van Hoof's thesis compares them.

    python -m tests.benchmarks.running_times [--warehouse DIR] [--flow lightgbm] [--datasets 10]

Runs of one flow with what sets them apart: hyperparameters and sizes of the dataset, as
`recommend.bo.runtime` has them. First, ten folds of all runs (Table 5.1): the square root of the mean squared
error, and the seconds that a fold takes to fit and predict. Then learning curves on each of the datasets with
the most runs, of which one fold is predicted from random subsets of the others (Figures 5.1 and 5.2): mean
squared errors, over the datasets. Prints tables in Markdown.

Notation
    restricted   LightGBM, 100 trees of 4 leaves, learning rate 0.15, L1 penalty 0.2 (thesis, section 5.2.3)
    complex      LightGBM, 100 trees of 128 leaves, learning rate 0.1 (Figure 5.1a)
    loop         the model of the loop: the restricted one without the penalty
    smac         SMAC's forest (`recommend.bo.surrogates.forest`)
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

import numpy as np
import pandas as pd
from lightgbm import LGBMRegressor

from metalearners.encoding.matrices import encode_runs, learn_encoding_of
from metalearners.encoding.training_data import training_data
from recommend.bo.runtime import LEAVES, RATE, SIZES, TREES, timed_runs
from recommend.bo.surrogates.base import Matrix
from recommend.bo.surrogates.forest import ForestSurrogate
from tests.benchmarks.what_wins import markdown
from warehouse.store import STARTER, Warehouse
from warehouse.support.arrays import Floats
from warehouse.support.parallel import one_thread

FOLDS = 10
SUBSETS = (3, 5, 10, 15, 18)
"""Numbers of runs that learning curves are shown for, on one dataset."""


class Regressor(Protocol):
    """What is compared."""

    def fit(self, X: Floats, y: Floats) -> object: ...
    def predict(self, X: Floats) -> Floats: ...


class Smac:
    """SMAC's forest on features as they are; what is missing is outside of their range."""

    def fit(self, X: Floats, y: Floats) -> None:
        self._forest = ForestSurrogate()
        self._forest.fit(Matrix(np.nan_to_num(X, nan=-1.0)), y, np.random.default_rng(0))

    def predict(self, X: Floats) -> Floats:
        return self._forest.predict(Matrix(np.nan_to_num(X, nan=-1.0))).mean


def lightgbm_of(leaves: int, rate: float, penalty: float = 0.0, **settings: int) -> Regressor:
    """A LightGBM of the thesis."""
    return LGBMRegressor(
        n_estimators=TREES,
        num_leaves=leaves,
        learning_rate=rate,
        reg_alpha=penalty,
        n_jobs=1,
        random_state=0,
        verbosity=-1,
        **settings,
    )


def with_defaults() -> dict[str, Callable[[], Regressor]]:
    """The regressors of Table 5.1, each with its library's defaults and one thread."""
    from catboost import CatBoostRegressor
    from sklearn.ensemble import (
        AdaBoostRegressor,
        ExtraTreesRegressor,
        GradientBoostingRegressor,
        RandomForestRegressor,
    )
    from sklearn.impute import SimpleImputer
    from sklearn.linear_model import LinearRegression
    from sklearn.neighbors import KNeighborsRegressor
    from sklearn.pipeline import make_pipeline
    from sklearn.svm import LinearSVR
    from sklearn.tree import DecisionTreeRegressor
    from xgboost import XGBRegressor

    complete: dict[str, Callable[[], Regressor]] = {
        "GradientBoostingRegressor": lambda: GradientBoostingRegressor(random_state=0),
        "RandomForestRegressor": lambda: RandomForestRegressor(random_state=0),
        "ExtraTreesRegressor": lambda: ExtraTreesRegressor(random_state=0),
        "DecisionTreeRegressor": lambda: DecisionTreeRegressor(random_state=0),
        "AdaBoostRegressor": lambda: AdaBoostRegressor(random_state=0),
        "LinearRegression": LinearRegression,
        "KNeighborsRegressor": KNeighborsRegressor,
        "LinearSVR": lambda: LinearSVR(random_state=0),
    }
    imputed = {
        name: lambda new=new: make_pipeline(SimpleImputer(keep_empty_features=True), new())
        for name, new in complete.items()
    }
    return {
        "LGBMRegressor": lambda: LGBMRegressor(n_jobs=1, random_state=0, verbosity=-1),
        "CatBoostRegressor": lambda: CatBoostRegressor(
            thread_count=1, random_seed=0, verbose=False, allow_writing_files=False
        ),
        "XGBRegressor": lambda: XGBRegressor(n_jobs=1, random_state=0),
        **imputed,
        "restricted (thesis)": lambda: lightgbm_of(LEAVES, RATE, 0.2),
        "loop": lambda: lightgbm_of(LEAVES, RATE),
        "smac": Smac,
    }


SMALL: Mapping[str, Callable[[], Regressor]] = {
    "restricted": lambda: lightgbm_of(LEAVES, RATE, 0.2, min_child_samples=1, min_data_in_bin=1),
    "complex": lambda: lightgbm_of(128, 0.1, min_child_samples=1, min_data_in_bin=1),
    "loop": lambda: lightgbm_of(LEAVES, RATE, min_child_samples=1, min_data_in_bin=1),
    "smac": Smac,
}
"""Regressors of the learning curves; LightGBM may split off a single run."""


def features_and_seconds(warehouse: Warehouse, flow: str) -> tuple[Floats, Floats, pd.Series]:
    """X (m, any) and log seconds (m,) of the flow's runs, and their datasets."""
    runs = timed_runs(warehouse, flow)
    data = training_data(runs, warehouse.metafeatures())
    sizes = np.log1p(data.metafeatures.reindex(columns=list(SIZES)).to_numpy(np.float64))
    X = np.hstack([encode_runs(learn_encoding_of(data), data), sizes[data.dataset]])
    seconds = np.maximum(runs.runs["value"].to_numpy(np.float64) / 1000, 1e-3)
    return X, np.log(seconds), runs.runs["dataset"]


def folds_of(n: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Positions to learn from and to predict, ten times."""
    from sklearn.model_selection import KFold

    return list(KFold(FOLDS, shuffle=True, random_state=0).split(np.arange(n)))


def in_folds(regressors: Mapping[str, Callable[[], Regressor]], X: Floats, y: Floats) -> pd.DataFrame:
    """Table 5.1."""
    rows = {}
    for name, new in regressors.items():
        errors, start = [], time.perf_counter()
        for known, tested in folds_of(len(y)):
            regressor = new()
            regressor.fit(X[known], y[known])
            errors.append(np.sqrt(np.mean((regressor.predict(X[tested]) - y[tested]) ** 2)))
        rows[name] = {
            "RMSE": float(np.mean(errors)),
            "seconds a fold": (time.perf_counter() - start) / FOLDS,
        }
    return pd.DataFrame.from_dict(rows, orient="index").sort_values("RMSE")


def learning_curves(X: Floats, y: Floats, datasets: pd.Series, subsets: Sequence[int]) -> pd.DataFrame:
    """Figures 5.1 and 5.2: mean squared error by regressor and number of runs learned from."""
    errors: dict[tuple[str, int], list[float]] = {}
    for dataset in datasets.unique():
        own = np.flatnonzero(datasets == dataset)
        for fold, (known, tested) in enumerate(folds_of(len(own))):
            for size in subsets:
                chosen = own[np.random.default_rng([fold, size]).permutation(known)[:size]]
                for name, new in SMALL.items():
                    regressor = new()
                    regressor.fit(X[chosen], y[chosen])
                    missed = regressor.predict(X[own[tested]]) - y[own[tested]]
                    errors.setdefault((name, size), []).append(float(np.mean(missed**2)))
    return pd.DataFrame(
        {size: {name: float(np.mean(errors[name, size])) for name in SMALL} for size in subsets}
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--warehouse", default=STARTER)
    parser.add_argument("--flow", default="lightgbm")
    parser.add_argument("--datasets", type=int, default=10, help="that learning curves are averaged over")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    X, y, datasets = features_and_seconds(Warehouse.open(options.warehouse), options.flow)
    with one_thread():
        table = in_folds(with_defaults(), X, y)
        print(
            f"{len(y)} runs on {datasets.nunique()} datasets, {FOLDS} folds\n\n"
            f"{markdown(table.reset_index(names=''))}\n"
        )
        counts = datasets.value_counts(sort=True)
        most = list(counts.index[: options.datasets])
        largest = datasets.isin(most).to_numpy()
        fewest = int(counts[most].min())
        subsets = [size for size in SUBSETS if size <= fewest - fewest // FOLDS - 1]
        curves = learning_curves(X[largest], y[largest], datasets[largest].reset_index(drop=True), subsets)
        print("mean squared error after so many runs on a dataset\n")
        print(markdown(curves.reset_index(names="")))


if __name__ == "__main__":
    main()
