"""How well the seconds of a fit are predicted on datasets that were not learned from.

    python -m tests.benchmarks.fit_times [--warehouse DIR]

The families of datasets are dealt into folds, and each fold's fits are predicted from the runs on the others.
Prints tables in Markdown: the share of fits that took between half and twice as long as predicted, and the
share of fits that a time limit stopped that were predicted to take at least half of what they had taken.

Notation
    ours            `metalearners.fit_times`
    fewest          the same, learned from fits on the fewest rows of each dataset
    ended           the same, learned from fits that no time limit stopped
    thesis          LightGBM on hyperparameters and sizes (van Hoof's thesis, section 5.2)
    from 1 s        of the fits that took a second or longer
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator

import lightgbm
import numpy as np
import pandas as pd

from metalearners.encoding.matrices import encode_configurations, learn_encoding_of
from metalearners.encoding.training_data import training_data
from metalearners.fit_times import learn_fit_times
from metalearners.learners.lightgbm_trees import REPRODUCIBLE
from recommend.bo.runtime import LEAVES, RATE, SIZES, TREES
from tests.benchmarks.folds import FOLDS
from tests.benchmarks.report import markdown
from warehouse.store import STARTER, Warehouse
from warehouse.support.arrays import Floats
from warehouse.vocabulary.table import ConfigurationTable

FACTOR = 2.0
FROM = 1.0  # seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--warehouse", default=STARTER)
    options = parser.parse_args()
    warehouse = Warehouse.open(options.warehouse)
    runs, metafeatures = warehouse.fit_times(), warehouse.metafeatures()
    configurations = warehouse.run_table(None, "fit_seconds").configurations
    fewest = (runs["train_rows"] == runs.groupby("dataset")["train_rows"].transform("min")).to_numpy()
    fold = pd.factorize(runs["family"])[0] % FOLDS
    predicted = pd.DataFrame(
        {
            "ours": ours(runs, metafeatures, configurations, fold, np.ones(len(runs), dtype=bool)),
            "fewest": ours(runs, metafeatures, configurations, fold, fewest),
            "ended": ours(runs, metafeatures, configurations, fold, ~runs["stopped"].to_numpy()),
            "thesis": thesis(warehouse, runs, metafeatures, configurations, fold),
        },
        index=runs.index,
    )
    off = predicted.apply(np.log).sub(np.log(runs["seconds"]), axis=0)
    stopped = off[runs["stopped"]] >= -np.log(FACTOR)
    runs, off = runs[~runs["stopped"]], off[~runs["stopped"]]
    near = (off.abs() <= np.log(FACTOR)).astype(float)
    long = near.where(runs["seconds"] >= FROM).add_suffix(f", from {FROM:g} s")
    for title, by in (
        ("", pd.Series("all", index=runs.index)),
        ("algorithm", runs["algorithm"]),
        ("rows", runs["train_rows"].round(-3)),
    ):
        table = pd.concat([near, long], axis=1).groupby(by).mean().round(3)
        table.insert(0, "fits", runs.groupby(by).size())
        print(markdown(table.rename_axis(title).reset_index()), end="\n\n")
    print(markdown(pd.DataFrame([{"stopped": len(stopped), **stopped.mean().round(3)}])))


def ours(
    runs: pd.DataFrame,
    metafeatures: pd.DataFrame,
    configurations: ConfigurationTable,
    fold: np.ndarray,
    learned_from: np.ndarray,
) -> Floats:
    """(m,) seconds of each fit, predicted from those of `learned_from`, (m,), in other folds."""
    seconds = np.full(len(runs), np.nan)
    for number in range(FOLDS):
        times = learn_fit_times(runs[(fold != number) & learned_from], metafeatures)
        for rows, described in by_size(runs, metafeatures, fold == number):
            tried = configurations.of_setups(runs["setup"].to_numpy()[rows])
            seconds[rows] = times.seconds(tried, described)
    return seconds


def thesis(
    warehouse: Warehouse,
    runs: pd.DataFrame,
    metafeatures: pd.DataFrame,
    configurations: ConfigurationTable,
    fold: np.ndarray,
) -> Floats:
    """(m,) seconds of each fit, predicted from those in other folds."""
    encoding = learn_encoding_of(training_data(warehouse.run_table(None, "fit_seconds"), metafeatures))
    parts: dict[int, Floats] = {}
    for rows, described in by_size(runs, metafeatures, np.ones(len(runs), dtype=bool)):
        tried = configurations.of_setups(runs["setup"].to_numpy()[rows])
        sizes = np.log1p(described.reindex(list(SIZES)).to_numpy(np.float64))
        encoded = encode_configurations(encoding, tried, described)
        parts |= dict(zip(rows, np.hstack([encoded, np.tile(sizes, (len(rows), 1))]), strict=True))
    X = np.array([parts[row] for row in range(len(runs))])
    y = np.log(runs["seconds"].to_numpy(np.float64))
    parameters = {**REPRODUCIBLE, "num_leaves": LEAVES, "learning_rate": RATE}
    seconds = np.full(len(runs), np.nan)
    for number in range(FOLDS):
        out = fold == number
        known = ~out & ~runs["stopped"].to_numpy()
        booster = lightgbm.train(parameters, lightgbm.Dataset(X[known], y[known]), num_boost_round=TREES)
        seconds[out] = np.exp(np.asarray(booster.predict(X[out])))
    return seconds


def by_size(
    runs: pd.DataFrame, metafeatures: pd.DataFrame, among: np.ndarray
) -> Iterator[tuple[np.ndarray, pd.Series]]:
    """Positions of the runs on the same rows of a dataset, and the dataset's meta-features for so many."""
    for (dataset, rows), places in runs.groupby(["dataset", "train_rows"]).indices.items():
        if among[places[0]]:
            described = metafeatures.loc[dataset].copy()
            described["NumberOfInstances"] = rows
            yield places, described


if __name__ == "__main__":
    main()
