"""Comparison of configurations by known runs: the best ones, and the effect of a single setting.

Notation
    values    (datasets, setups) value of the measure, smaller is better; NaN = not run
    excess    value over the best one of the dataset, minus 1: 0.1 = an error a tenth above the best
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

import numpy as np
import pandas as pd

from warehouse.questions.queries import RunTable
from warehouse.support.errors import BadOption
from warehouse.vocabulary.measures import larger_is_better
from warehouse.vocabulary.parameters import Value


def values_of(runs: RunTable) -> pd.DataFrame:
    """(datasets, setups) mean value of each configuration on each dataset; NaN where it was not run.

    Raises:
        BadOption: larger values of the measure are better, so their ratios are not ratios of errors.
    """
    if larger_is_better(runs.measure):
        raise BadOption(
            f"configurations are compared by ratios of errors, but {runs.measure} is not an error"
        )
    return runs.runs.pivot_table("value", "dataset", "setup", aggfunc="mean")


def best_algorithms(runs: RunTable) -> pd.DataFrame:
    """(datasets, algorithms) 1 for the algorithm of the best run, 0 for the others; ties split the 1."""
    best = _best_of_each(runs)
    is_best = best.eq(best.min(axis=1), axis=0)
    return is_best.div(is_best.sum(axis=1), axis=0)


def algorithm_summary(runs: RunTable, defaults: Mapping[str, str]) -> pd.DataFrame:
    """Results of each algorithm on the datasets it was run on, most frequent winner first.

    Args:
        defaults: algorithm -> setup of its default configuration.

    Returns:
        By algorithm: `configurations` and `datasets` (numbers), `is_best` (share of the datasets on which it
        has the best run), `default` (median excess of its default) and `best` (median excess of its best
        configuration on each dataset).
    """
    values, best = values_of(runs), _best_of_each(runs)
    least = best.min(axis=1)
    excess = best.div(least, axis=0) - 1
    default = {
        algorithm: (values[setup] / least - 1).median()
        for algorithm, setup in defaults.items()
        if setup in values
    }
    table = pd.DataFrame(
        {
            "configurations": runs.configurations.algorithms.value_counts(),
            "datasets": best.notna().sum(),
            "is_best": best_algorithms(runs).mean(),
            "default": pd.Series(default, dtype=float),
            "best": excess.median(),
        }
    )
    return table.loc[best.columns].sort_values("is_best", ascending=False)


def setting_effects(runs: RunTable, hyperparameter: str, baseline: Value) -> pd.DataFrame:
    """Effect of changing one hyperparameter from `baseline`, all others being equal.

    Returns:
        A row for each dataset and pair of configurations run on it: `dataset`, `algorithm`, `setting` (the
        other value), and `ratio` (its error over that with `baseline`; below 1 is a gain).
    """
    values = values_of(runs)
    alike: dict[tuple[str, str], dict[Value, str]] = defaultdict(dict)
    configurations = runs.configurations
    for setup, configuration in zip(configurations.setups, configurations.configurations(), strict=True):
        others = dict(configuration.values)
        if hyperparameter in others:
            setting = others.pop(hyperparameter)
            alike[configuration.algorithm, repr(sorted(others.items()))][setting] = str(setup)
    ratios = [
        pd.DataFrame(
            {
                "dataset": values.index,
                "algorithm": algorithm,
                "setting": setting,
                "ratio": (values[setup] / values[setups[baseline]]).to_numpy(),
            }
        )
        for (algorithm, _), setups in alike.items()
        if baseline in setups
        for setting, setup in setups.items()
        if setting != baseline
    ]
    columns = ["dataset", "algorithm", "setting", "ratio"]
    return pd.concat(ratios, ignore_index=True).dropna() if ratios else pd.DataFrame(columns=columns)


def effects_by(effects: pd.DataFrame, group: pd.Series) -> pd.DataFrame:
    """Median change of the error in percent, by setting and group of datasets.

    Several pairs on a dataset count once, by the mean of their logarithms.

    Args:
        effects: the result of `setting_effects`.
        group: dataset -> group.

    Returns:
        (settings, groups) medians over datasets; negative is a gain.
    """
    logs = effects.assign(log=np.log(effects["ratio"].astype(float)))
    means = logs.groupby(["setting", "dataset"])["log"].mean().reset_index()
    means["group"] = means["dataset"].map(group)
    medians = means.pivot_table("log", "setting", "group", aggfunc="median", observed=False)
    return medians.map(np.expm1) * 100


def _best_of_each(runs: RunTable) -> pd.DataFrame:
    """(datasets, algorithms) value of each algorithm's best configuration."""
    algorithms = runs.configurations.algorithms
    return values_of(runs).T.groupby(algorithms).min().T
