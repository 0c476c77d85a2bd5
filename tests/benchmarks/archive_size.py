"""Quality of recommendations by the size of the archive of runs, for the notebook `metalearners_compared`.

    python -m tests.benchmarks.archive_size [--half reporting] [--output FILE]

Families of datasets are dealt into five folds. A fold is evaluated with models that learned from random
families of the other folds, with random runs on each: the regret of the first three choices, and Kendall's
tau. A model chooses only among the configurations of its own archive; regret is relative to the best of all
runs on the dataset. It takes an hour. Finished figures are stored in the output, and the same command resumes
after an interruption.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd

from metalearners.encoding.training_data import runs_on, select_runs
from metalearners.evaluation.folds import HALVES, Half
from metalearners.evaluation.protocol import kendall_tau, normalized_regret
from tests.benchmarks.folds import left_out
from tests.benchmarks.latent_space import RESULTS
from warehouse.questions.queries import RunTable
from warehouse.store import STARTER, Warehouse
from warehouse.support.files import write_text

MEASURE = "predictive_accuracy"
ALL = 0
DATASETS = (10, 25, 70, ALL)
RUNS = {"functional-pca": (10, 40, ALL), "portfolio": (ALL,)}
"""Numbers of runs on a dataset, by learner."""
DRAWS = 3
TOP = 3


def archive(datasets: int, runs: int, draw: int) -> Callable[[RunTable, int], RunTable]:
    """Function that draws an archive of this many datasets, with this many runs each, from a larger one."""

    def drawn(known: RunTable, fold: int) -> RunTable:
        random = np.random.default_rng([draw, fold])
        table = known.runs
        order = random.permutation(table["dataset"].unique())
        chosen = table["dataset"].isin(order[: datasets or len(order)])
        place = random.permutation(len(table))  # random order of all runs, to draw within each dataset
        rank = table.assign(place=place).groupby("dataset")["place"].rank()
        return select_runs(known, (chosen & (rank <= (runs or len(table)))).to_numpy())

    return drawn


def judged(
    warehouse: Warehouse, learner: str, half: Half, made: Callable[[RunTable, int], RunTable]
) -> dict[str, list[float]]:
    """Figures of each dataset, sorted by name."""
    runs, metafeatures = warehouse.run_table(None, MEASURE), warehouse.metafeatures()
    found: dict[str, tuple[float, float]] = {}
    archives: list[pd.Index] = []

    def remembered(known: RunTable, fold: int) -> RunTable:
        archives.append(pd.Index((part := made(known, fold)).configurations.setups))
        return part

    for tested, model in left_out(learner, runs, metafeatures, remembered, half):
        for dataset in tested:
            configurations, actual = runs_on(runs, dataset)
            (own,) = np.nonzero(configurations.setups.isin(archives[-1]))
            traits = metafeatures.loc[dataset]
            chosen = own[model.choose(configurations.take(own), traits, TOP)]
            expected = model.predict(configurations.take(own), traits).mean
            found[str(dataset)] = normalized_regret(chosen, actual), kendall_tau(expected, actual[own])
    regrets, taus = zip(*(found[dataset] for dataset in sorted(found)), strict=True)
    return {"regret": np.round(regrets, 4).tolist(), "tau": np.round(taus, 3).tolist()}


def main() -> None:
    """Evaluate, and write after every archive."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--half", choices=HALVES, default="reporting", help="of the families")
    parser.add_argument("--output", type=Path, default=RESULTS / "archive_size.json")
    options = parser.parse_args()
    warehouse = Warehouse.open(STARTER)
    done: dict[str, list[dict[str, list[float]]]] = {}
    if options.output.exists():
        done = json.loads(options.output.read_text())
    archives = [(learner, runs) for learner, numbers in RUNS.items() for runs in numbers]
    for draw, (learner, runs), datasets in product(range(DRAWS), archives, DATASETS):
        draws = done.setdefault(f"{learner}, {datasets or 'all'} datasets, {runs or 'all'} runs", [])
        if len(draws) > draw or (draw and datasets == runs == ALL):
            continue
        draws.append(judged(warehouse, learner, options.half, archive(datasets, runs, draw)))
        lines = [f'"{key}": {json.dumps(value)}' for key, value in done.items()]
        write_text(options.output, "{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
