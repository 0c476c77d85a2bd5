"""Accuracy of predicted fit times on held-out datasets.

    python -m tests.benchmarks.fit_times [--task regression] [--warehouse DIR] [--half reporting]

The families of datasets are dealt into folds, and each fold's fits are predicted from the runs on the others.
Prints tables in Markdown: the share of fits that took between half and twice as long as predicted, and the
share of fits stopped by a time limit whose predicted time is at least half of that limit.

Notation
    ours            `metalearners.fit_times`
    fewest          the same, learned from fits on the fewest rows of each dataset
    ended           the same, learned from fits that no time limit stopped
    thesis          LightGBM on hyperparameters and sizes (van Hoof's thesis, section 5.2 and Table 5.1)
    new             for held-out configurations, too
    from 1 s        fits that took a second or longer
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import lightgbm
import numpy as np
import pandas as pd

from metalearners.encoding.hyperparameters import learn_encoding
from metalearners.encoding.imputation import DatasetSize
from metalearners.evaluation.folds import HALVES, half_of
from metalearners.fit_times import learn_fit_times
from metalearners.learners.lightgbm_trees import REPRODUCIBLE
from tests.benchmarks.folds import FOLDS
from tests.benchmarks.report import markdown
from tests.benchmarks.task_kinds import KINDS
from warehouse.questions.queries import TimedFits
from warehouse.store import STARTER, Warehouse
from warehouse.support.arrays import Flags, Floats

FACTOR = 2.0
FROM = 1.0  # seconds
TREES, LEAVES, RATE = 100, 4, 0.15  # thesis, section 5.2 (Figure 5.2)
SIZES = ("NumberOfFeatures", "NumberOfClasses", "NumberOfSymbolicFeatures")

Learn = Callable[[Flags, Flags], Floats]
"""Training runs, (m,), and runs to predict, (m,) -> seconds of the latter."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--task", choices=KINDS, default="classification")
    parser.add_argument("--warehouse", default=STARTER)
    parser.add_argument("--half", choices=HALVES, help="judge fits on one half of the families only")
    options = parser.parse_args()
    warehouse = Warehouse.open(options.warehouse)
    task_type = KINDS[options.task].task_type
    fits, metafeatures = warehouse.fit_times(task_type=task_type), warehouse.metafeatures()
    runs = fits.runs
    fewest = (runs["train_rows"] == runs.groupby("dataset")["train_rows"].transform("min")).to_numpy()
    lines = partial(ours, fits, metafeatures)
    trees = thesis(fits, metafeatures)
    family, setup = (pd.factorize(runs[name])[0] % FOLDS for name in ("family", "setup"))
    once = np.zeros(len(runs), dtype=np.intp)
    predicted = pd.DataFrame(
        {
            "ours": left_out(lines, family, once),
            "fewest": left_out(lambda known, new: lines(known & fewest, new), family, once),
            "ended": left_out(
                lambda known, new: lines(known & ~runs["stopped"].to_numpy(), new), family, once
            ),
            "thesis": left_out(trees, family, once),
            "new, ours": left_out(lines, family, setup),
            "new, thesis": left_out(trees, family, setup),
        },
        index=runs.index,
    )
    judged = options.half is None or runs["family"].map(half_of) == options.half
    off = predicted.apply(np.log).sub(np.log(runs["seconds"]), axis=0)
    stopped = off[runs["stopped"] & judged] >= -np.log(FACTOR)
    runs, off = runs[~runs["stopped"] & judged], off[~runs["stopped"] & judged]
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


def left_out(learn: Learn, family: np.ndarray, setup: np.ndarray) -> Floats:
    """(m,) seconds of each fit, predicted from fits in other folds of families.

    Args:
        setup: (m,) fold of each run's configuration, which is held out, too; all equal: none is.
    """
    seconds = np.full(len(family), np.nan)
    several = len(np.unique(setup)) > 1
    for out in np.unique(family):
        for configurations in np.unique(setup):
            new = (family == out) & (setup == configurations)
            known = (family != out) & ((setup != configurations) | (not several))
            seconds[new] = learn(known, new)
    return seconds


def ours(fits: TimedFits, metafeatures: pd.DataFrame, known: Flags, new: Flags) -> Floats:
    """Seconds predicted by Headstart; see `Learn`."""
    times = learn_fit_times(replace(fits, runs=fits.runs[known]), metafeatures)
    asked = fits.runs[new].reset_index(drop=True)
    seconds = np.full(len(asked), np.nan)
    for (dataset, rows), places in asked.groupby(["dataset", "train_rows"]).indices.items():
        tried = fits.configurations.of_setups(asked["setup"].to_numpy()[places])
        seconds[places] = times.seconds(tried, metafeatures.loc[dataset], rows)
    return seconds


def thesis(fits: TimedFits, metafeatures: pd.DataFrame) -> Learn:
    """Predictions of seconds by the thesis's method."""
    described = metafeatures.reindex(fits.runs["dataset"])
    table = fits.configurations.hyperparameters
    configuration = fits.configurations.setups.get_indexer(pd.Index(fits.runs["setup"]))
    instances, features = described[["NumberOfInstances", "NumberOfFeatures"]].to_numpy(np.float64).T
    size = DatasetSize(instances, features - 1)
    encoding = learn_encoding(table, size, one_hot=True, rows=configuration)
    sizes = np.column_stack([fits.runs["train_rows"], described[list(SIZES)]]).astype(np.float64)
    X = np.hstack([encoding.matrix(table, size, configuration), np.log1p(sizes)])
    y = np.log(fits.runs["seconds"].to_numpy(np.float64))
    ended = ~fits.runs["stopped"].to_numpy(np.bool_)
    settings = {**REPRODUCIBLE, "num_leaves": LEAVES, "learning_rate": RATE}

    def learn(known: Flags, new: Flags) -> Floats:
        learned = lightgbm.Dataset(X[known & ended], y[known & ended])
        return np.exp(np.asarray(lightgbm.train(settings, learned, num_boost_round=TREES).predict(X[new])))

    return learn


if __name__ == "__main__":
    main()
