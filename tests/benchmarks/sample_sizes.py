"""How well configurations are ranked by a model of a sample: the limits of `warehouse.sampling`, judged.

The starter fits into memory, so a sample of it can be compared with all of it. Families of datasets are dealt
into five folds; of the runs on the other folds a sample is drawn as `warehouse.sampling` draws one, with one
limit at a time, a model is trained, and ranks the runs on the fold's datasets. Printed are means over
datasets: Kendall's tau and the normalized regret of the first choice and of the best of three, with the
processor's seconds of the training.

    python -m tests.benchmarks.sample_sizes [--folds 1]
"""

from __future__ import annotations

import argparse
import hashlib
import time
from collections.abc import Iterator

import numpy as np
import pandas as pd

from metalearners.encoding.training_data import runs_on, select_runs
from metalearners.judging.evaluation import kendall_tau, normalized_regret
from metalearners.judging.folds import folds_of
from metalearners.learners.functional_pca import FunctionalPCALearner
from warehouse.queries import RunTable
from warehouse.store import STARTER, Warehouse

MEASURE = "predictive_accuracy"
LIMITS = {
    "datasets": (25, 100),
    "configurations": (25, 100),
    "runs of each dataset": (20, 80),
}


def samples(runs: RunTable) -> Iterator[tuple[str, RunTable]]:
    """Samples with their names, and last all runs."""
    for limit, sizes in LIMITS.items():
        for size in sizes:
            yield f"{size} {limit}", select_runs(runs, _drawn(runs.runs, limit, size))
    yield "all", runs


def _drawn(table: pd.DataFrame, limit: str, size: int) -> np.ndarray:
    """(m,) whether each run is in the sample."""
    if limit == "runs of each dataset":
        place = table["run"].map(_hash).groupby(table["dataset"]).rank().to_numpy()
        return np.asarray(place <= size)
    column = table["dataset" if limit == "datasets" else "setup"]
    counts = column.value_counts()
    order = sorted(counts.index, key=lambda name: (-counts[name], _hash(name)))
    return column.isin(order[:size]).to_numpy()


def _hash(name: str) -> str:
    return hashlib.md5(name.encode(), usedforsecurity=False).hexdigest()


def judged(runs: RunTable, tested: RunTable, metafeatures: pd.DataFrame) -> pd.DataFrame:
    """A row of figures for each dataset of `tested`, by a model of `runs`."""
    began = time.process_time()
    model = FunctionalPCALearner().fit(runs, metafeatures)
    seconds = time.process_time() - began
    rows = []
    for dataset in tested.runs["dataset"].unique():
        configurations, actual = runs_on(tested, dataset)
        described = metafeatures.loc[dataset]
        chosen = model.choose(configurations, described, 3)
        rows.append(
            {
                "runs": len(runs.runs),
                "tau": kendall_tau(model.predict(configurations, described).mean, actual),
                "regret of the first": normalized_regret(chosen[:1], actual),
                "regret of three": normalized_regret(chosen, actual),
                "seconds": seconds,
            }
        )
    return pd.DataFrame(rows)


def main() -> None:
    """Print the comparison."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    options.add_argument("--folds", type=int, default=1, help="of five, that are judged")
    given = options.parse_args()
    warehouse = Warehouse.open(STARTER)
    runs, metafeatures = warehouse.run_table(None, MEASURE), warehouse.metafeatures()
    fold = runs.runs["dataset"].map(folds_of(runs, 5)).to_numpy()
    found: dict[str, list[pd.DataFrame]] = {}
    for number in range(given.folds):
        tested = select_runs(runs, fold == number)
        for name, sample in samples(select_runs(runs, fold != number)):
            found.setdefault(name, []).append(judged(sample, tested, metafeatures))
            print(number, name, found[name][-1].mean().round(4).to_dict(), flush=True)
    means = {name: pd.concat(parts).mean() for name, parts in found.items()}
    print(pd.DataFrame(means).T.round(3).to_string())


if __name__ == "__main__":
    main()
