"""Learners on a sparse matrix of real runs without meta-features: the problem of Fusi et al. (2018).

    python -m tests.benchmarks.sparse_matrix FILE [--folds 1] [--seeds 3] [--learner NAME ...]

FILE has runs of many algorithms, such as Weka's on OpenML's datasets: ASlib's layout, or any with a column
`algorithm`. The datasets are dealt into five folds; each of the first `--folds` is left out. On each dataset
left out the learner is shown 5, 10 and 20 random runs. The tables have means over datasets and draws: tau of
the other runs, and the regret of the best of the runs that are shown and the first one or three of the
others by the learner's prediction. Without a run all learners know the same: which algorithms are good on
average. p is of Wilcoxon's signed-rank test over datasets against the learner with the best mean, corrected
by Holm. `pmf` has the free positions of the paper, and `pmf+` our extensions.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd

from ingest.run_files import ingest_run_file
from metalearners import new_learner
from metalearners.encoding.training_data import runs_on, without_datasets
from metalearners.evaluation.folds import folds_of
from metalearners.evaluation.protocol import kendall_tau, normalized_regret
from metalearners.learners.base import Model
from metalearners.predictions import Observations
from tests.benchmarks.folds import FOLDS
from tests.benchmarks.report import comparison, holm, markdown
from warehouse.questions.queries import RunTable
from warehouse.store import Warehouse
from warehouse.support.parallel import one_thread

SHOTS = (5, 10, 20)
LEAST = 2 * max(SHOTS)
"""Runs that a judged dataset has at least."""
LEARNERS: dict[str, tuple[str, dict[str, Any]]] = {
    "average-rank": ("average-rank", {}),
    "knn": ("knn", {}),
    "functional-pca": ("functional-pca", {}),
    "pmf": ("pmf", {"cold_pipelines": False, "cold_datasets": False}),
    "pmf+": ("pmf", {}),
}
FIGURES = ("tau", "regret 1", "regret 3")


def judged(model: Model, runs: RunTable, dataset: str, seed: int) -> dict[tuple[str, int], float]:
    """Figures on a dataset by (name, number of runs that are shown)."""
    configurations, actual = runs_on(runs, dataset)
    order = np.random.default_rng([seed, len(actual)]).permutation(len(actual))
    nothing = pd.Series(dtype=float)
    found: dict[tuple[str, int], float] = {}
    for shots in SHOTS:
        shown, rest = order[:shots], order[shots:]
        trials = Observations(configurations.take(shown), actual[shown])
        expected = model.condition(trials).predict(configurations.take(rest), nothing).mean
        first = rest[np.argsort(-expected, kind="stable")]
        found["tau", shots] = kendall_tau(expected, actual[rest])
        for top in (1, 3):
            picked = np.concatenate([shown, first[:top]])
            found[f"regret {top}", shots] = normalized_regret(picked, actual)
    return found


def figures_of(name: str, runs: RunTable, folds: int, seeds: int) -> pd.DataFrame:
    """(datasets, figures), means over draws."""
    learner, settings = LEARNERS[name]
    fold_of, counts = folds_of(runs, FOLDS), runs.runs["dataset"].value_counts()
    rows: dict[str, pd.Series] = {}
    for fold in range(folds):
        left_out = fold_of.index[(fold_of == fold).to_numpy()]
        begun = time.process_time()
        model = new_learner(learner, settings).fit(without_datasets(runs, left_out), pd.DataFrame())
        sys.stderr.write(f"{name}, fold {fold + 1}: trained in {time.process_time() - begun:.0f} s\n")
        for dataset in left_out[(counts[left_out] >= LEAST).to_numpy()]:
            draws = [judged(model, runs, str(dataset), seed) for seed in range(seeds)]
            rows[str(dataset)] = pd.DataFrame(draws).mean()
    return pd.DataFrame(rows).T


def report(figures: dict[str, pd.DataFrame], figure: str) -> pd.DataFrame:
    """Means of one figure by learner, and p against the best learner, by number of runs shown."""
    sign = 1 if figure == "tau" else -1
    columns: dict[str, list[Any]] = {}
    for shots in SHOTS:
        values = {name: own[figure, shots] for name, own in figures.items()}
        best = max(values, key=lambda name: sign * values[name].mean())
        p = holm(
            np.nan if name == best else comparison(sign * (values[best] - own)).p
            for name, own in values.items()
        )
        columns[f"{figure} after {shots}"] = [float(own.mean()) for own in values.values()]
        columns[f"p ({shots})"] = p
    return pd.DataFrame(columns, index=pd.Index([*figures], name="learner"))


def main() -> None:
    """Print a table for each figure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("--folds", type=int, default=1, choices=range(1, FOLDS + 1))
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--learner", action="append", choices=[*LEARNERS])
    arguments = parser.parse_args()
    with TemporaryDirectory() as place, one_thread():
        warehouse = Warehouse.create(Path(place) / "runs")
        ingest_run_file(warehouse, arguments.file, flow_column="algorithm")
        runs = warehouse.run_table(None, "predictive_accuracy", related=False)
        figures = {
            name: figures_of(name, runs, arguments.folds, arguments.seeds)
            for name in arguments.learner or LEARNERS
        }
        print(f"{len(next(iter(figures.values())))} datasets")
        for figure in FIGURES:
            print(f"\n{markdown(report(figures, figure))}")


if __name__ == "__main__":
    main()
