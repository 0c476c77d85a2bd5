"""Importance of hyperparameters and meta-features for a meta-learner (van Hoof's thesis, Figure 6.3).

Three measures, because each misleads alone:

    gain           how much LightGBM's splits on a feature reduce its training loss; favours features with
                   many values
    contribution   mean absolute contribution of a feature to predictions (LightGBM's SHAP values), in scores
    permutation    decrease of tau on held-out datasets when a hyperparameter's values are shuffled among the
                   runs of a dataset. Meta-features are the same for all runs of a dataset, so they are
                   shuffled among datasets
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from metalearners.codec import with_settings
from metalearners.encoding.matrices import encode_runs, learn_encoding_of
from metalearners.encoding.training_data import TrainingData, training_data
from metalearners.evaluation.protocol import kendall_tau
from metalearners.learners.boosting import LightGBMRegressorLearner
from warehouse.questions.queries import RunTable

FOLDS = 3  # of datasets; a heuristic


def importances(
    runs: RunTable, metafeatures: pd.DataFrame, *, seed: int = 0, **settings: Any
) -> pd.DataFrame:
    """Importance of each input of the LightGBM learner, largest permutation importance first.

    Args:
        runs, metafeatures: as for `MetaLearner.fit`; all meta-features are used.
        seed: of the folds and the shuffling.
        settings: of `LightGBMRegressorLearner`, other than its meta-features.

    Returns:
        By name: `kind` ("hyperparameter" or "meta-feature"), `gain` (shares that add up to 1),
        `contribution` and `permutation`.
    """
    data = training_data(runs, metafeatures)
    learner = with_settings(LightGBMRegressorLearner, {**settings, "metafeatures": None, "seed": seed})
    encoding = learn_encoding_of(data)
    inputs = learner.inputs_of(encoding, data.metafeatures)
    X = inputs.matrix(encode_runs(encoding, data), data.metafeatures, data.dataset)
    owner = [_owner(column, runs) for column in inputs.names]

    def trained(rows: np.ndarray) -> Any:
        return learner.boost(X[rows], {}, label=data.scores[rows])

    everything = trained(np.ones(len(X), dtype=bool))
    gain = pd.Series(everything.feature_importance("gain")).groupby(owner).sum()
    shares = everything.predict(X, pred_contrib=True, num_threads=1)[:, :-1]
    summed = pd.DataFrame(shares.T).groupby(owner).sum().T  # a parameter's columns act as one
    random = np.random.default_rng(seed)
    fold = random.permutation(len(data.metafeatures)) % FOLDS
    falls = [
        _falls(trained(fold[data.dataset] != held_out), X, data, fold == held_out, owner, random)
        for held_out in range(FOLDS)
    ]
    table = pd.DataFrame(
        {
            "gain": gain / gain.sum(),
            "contribution": summed.abs().mean(),
            "permutation": pd.concat(falls).groupby(level=0).mean(),
        }
    )
    known = set(metafeatures.columns)
    table.insert(0, "kind", ["meta-feature" if name in known else "hyperparameter" for name in table.index])
    return table.sort_values("permutation", ascending=False)


def _falls(
    booster: Any,
    X: np.ndarray,
    data: TrainingData,
    held_out: np.ndarray,
    owner: list[str],
    random: np.random.Generator,
) -> pd.Series:
    """Decrease of tau by input, mean over the datasets where `held_out`, (d,) bool."""
    datasets = np.flatnonzero(held_out)
    rows_of = [np.flatnonzero(data.dataset == dataset) for dataset in datasets]
    whole = _taus(booster, X, data, rows_of)
    falls = {}
    for name in sorted(set(owner)):
        columns = np.flatnonzero([of == name for of in owner])
        inputs = [X[np.ix_(rows, columns)] for rows in rows_of]
        is_of_dataset = all((own == own[:1])[~np.isnan(own)].all() for own in inputs)
        shuffled = X.copy()
        others = random.permutation(len(rows_of))
        for rows, other in zip(rows_of, others, strict=True):
            source = np.repeat(rows_of[other][:1], len(rows)) if is_of_dataset else random.permutation(rows)
            shuffled[np.ix_(rows, columns)] = X[np.ix_(source, columns)]
        falls[name] = float(np.mean(whole - _taus(booster, shuffled, data, rows_of)))
    return pd.Series(falls)


def _taus(booster: Any, X: np.ndarray, data: TrainingData, rows_of: list[np.ndarray]) -> np.ndarray:
    predicted = np.full(len(X), np.nan)
    together = np.concatenate(rows_of)
    predicted[together] = booster.predict(X[together], num_threads=1)
    return np.array([kendall_tau(predicted[rows], data.scores[rows]) for rows in rows_of])


def _owner(column: str, runs: RunTable) -> str:
    """The hyperparameter of an encoded column; a meta-feature is its own."""
    parameters = [str(name) for name in runs.configurations.parameters.columns]
    owners = [name for name in parameters if column == name or column.startswith(f"{name}_")]
    return max(owners, key=len, default=column)
