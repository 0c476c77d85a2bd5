"""Learners on the starter's random forests, as drawn in the notebook `metalearners_compared`.

    python -m tests.benchmarks.learners_compared [--flow random_forest]

Families of datasets are dealt into five folds, and a fold is evaluated with models of the others: Kendall's
tau, regret of the first choices, and tau of the rest after random trials. Only datasets on which all
configurations of the flow were run are evaluated; the training set has all. It takes a quarter of an hour.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from metalearners.encoding.training_data import runs_on
from metalearners.evaluation.protocol import TOPS, kendall_tau, normalized_regret
from metalearners.predictions import Observations
from tests.benchmarks.folds import left_out
from tests.benchmarks.latent_space import RESULTS
from warehouse.questions.queries import RunTable
from warehouse.store import STARTER, Warehouse
from warehouse.support.files import write_text

MEASURE = "predictive_accuracy"
SHOTS = (0, 3, 5, 10)
INPUTS: dict[str, tuple[str, dict[str, Any]]] = {
    f"{seen}, {targets}": ("lightgbm", {"inputs": seen, "targets": targets, "trees": 200})
    for targets in ("standardized", "raw")
    for seen in ("metafeatures", "hyperparameters", "both")
}
LEARNERS = (
    "functional-pca",
    "lightgbm",
    "lightgbm-ranker",
    "knn",
    "knn-thesis",
    "knn-lightgbm",
    "average-rank",
    "portfolio",
    "nearest-25",
    "nearest-portfolio",
)
CONDITIONED = ("functional-pca", "lightgbm", "average-rank")


def judged(
    runs: RunTable,
    metafeatures: pd.DataFrame,
    learner: str,
    settings: Mapping[str, Any],
    shots: tuple[int, ...],
) -> dict[str, Any]:
    """Figures of each dataset by name, sorted by dataset."""
    counts = runs.runs["dataset"].value_counts()
    complete = set(counts.index[counts == counts.max()])
    rows: dict[str, dict[str, Any]] = {}
    for tested, model in left_out(learner, runs, metafeatures, settings=settings):
        for dataset in tested[tested.isin(list(complete))]:
            configurations, actual = runs_on(runs, dataset)
            traits = metafeatures.loc[dataset]
            chosen = model.choose(configurations, traits, max(TOPS))
            order = np.random.default_rng(len(rows)).permutation(len(actual))
            after = []
            for number in shots:
                trials = Observations(configurations.take(order[:number]), actual[order[:number]])
                rest = order[number:]
                expected = model.condition(trials).predict(configurations.take(rest), traits).mean
                after.append(round(kendall_tau(expected, actual[rest]), 3))
            rows[str(dataset)] = {
                "tau": round(kendall_tau(model.predict(configurations, traits).mean, actual), 3),
                **{f"regret {top}": round(normalized_regret(chosen[:top], actual), 4) for top in TOPS},
                **({"after": after} if shots else {}),
            }
    ordered = [rows[dataset] for dataset in sorted(rows)]
    return {name: [row[name] for row in ordered] for name in ordered[0]}


def by_chance(runs: RunTable, top: int = 3, draws: int = 200) -> float:
    """Mean regret of this many random configurations, over the datasets where all were run."""
    random = np.random.default_rng(0)
    groups = [group.to_numpy() for _, group in runs.runs.groupby("dataset")["value"]]
    most = max(map(len, groups))
    regrets = [
        normalized_regret(random.choice(most, top, replace=False), values)
        for values in groups
        if len(values) == most
        for _ in range(draws)
    ]
    return round(float(np.mean(regrets)), 4)


def main() -> None:
    """Evaluate, and write after every learner."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--flow", default="random_forest")
    parser.add_argument("--output", type=Path, default=RESULTS / "learners.json")
    arguments = parser.parse_args()
    warehouse = Warehouse.open(STARTER)
    runs, metafeatures = warehouse.run_table(arguments.flow, MEASURE), warehouse.metafeatures()
    wanted = {**INPUTS, **{name: (name, {}) for name in LEARNERS}}
    results: dict[str, Any] = {
        "configurations": int(runs.runs["setup"].nunique()),
        "shots": list(SHOTS),
        "three at random": by_chance(runs),
    }
    for name, (learner, settings) in wanted.items():
        sys.stderr.write(f"{name}\n")
        results[name] = judged(runs, metafeatures, learner, settings, SHOTS if name in CONDITIONED else ())
        lines = [f'"{key}": {json.dumps(value)}' for key, value in results.items()]
        write_text(arguments.output, "{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
