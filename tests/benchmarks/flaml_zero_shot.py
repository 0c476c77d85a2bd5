"""First configurations from FLAML's zero-shot portfolios and from ours, run on the starter's datasets.

    pip install flaml==2.7.0
    python -m tests.benchmarks.flaml_zero_shot --datasets DIR [--output results.json]

FLAML names one configuration of each of its learners for a dataset (one nearest neighbour on four
meta-features); where learners are flows of ours (random forest, extra trees, LightGBM), these three are run
on the folds that the starter's runs were made with. They stand beside our first three of the same flows, and
of all flows, each recommended without the dataset's own runs. DIR holds files of the starter's datasets.

Values are normalized regrets: 0 = the best run of the starter on the dataset, 1 = the worst.
"""

from __future__ import annotations

import argparse
import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import wilcoxon
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.pipeline import Pipeline

from ingest.flows.preprocessing import preprocessor
from ingest.reading.dataset_files import find_datasets
from ingest.reading.datasets import Dataset, load_dataset
from ingest.running.cross_validation import cross_validate
from recommend.ranking import recommend
from warehouse.store import STARTER, Warehouse
from warehouse.support.errors import BadInput

FOLDS, SEED, TOP = 3, 0, 3
MATCHING = {"rf": "random_forest", "extra_tree": "extra_trees", "lgbm": "lightgbm"}
"""FLAML's name of a learner -> ours of the flow."""


def flaml_accuracies(dataset: Dataset) -> list[float]:
    """Accuracy of FLAML's configuration of each learner, in the pipelines of our flows."""
    from flaml.default import suggest_hyperparams

    codes = dataset.target.astype("category").cat.codes.to_numpy()
    steps = preprocessor(dataset.roles, imputation="median", scaling="none")
    rows = steps.fit_transform(dataset.features)  # FLAML looks at sizes and types alone
    accuracies = []
    for learner in MATCHING:
        hyperparameters, estimator = suggest_hyperparams("classification", rows, codes, learner)
        classifier = estimator(**hyperparameters)
        pipeline = Pipeline([("preprocessing", steps), ("classifier", classifier)])
        folds = StratifiedKFold(FOLDS, shuffle=True, random_state=SEED)
        predicted = cross_val_predict(pipeline, dataset.features, codes, cv=folds)
        accuracies.append(float((predicted == codes).mean()))
    return accuracies


def our_accuracies(dataset: Dataset, warehouse: Warehouse, flows: tuple[str, ...]) -> list[float]:
    """Accuracy of our first configurations."""
    found = recommend(dataset, warehouse=warehouse, top=TOP, flows=flows).configurations
    return [
        cross_validate(item.flow.name, item.configuration.values, dataset, folds=FOLDS, seed=SEED)[
            "predictive_accuracy"
        ]
        for item in found
    ]


def main() -> None:
    """Print a line per dataset, then means and tests."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--datasets", required=True)
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    warehouse = Warehouse.open(STARTER)
    table = warehouse.run_table(None, "predictive_accuracy").runs
    limits = table.groupby("dataset")["value"].agg(["min", "max"])
    results: dict[str, dict[str, Any]] = {}
    for file in find_datasets(options.datasets):
        try:
            dataset = load_dataset(
                file.path, target=file.target, numeric_target="binarize", rare_classes="drop"
            )
        except BadInput:
            continue
        if dataset.key not in limits.index or dataset.key in results:
            continue
        worst, best = limits.loc[dataset.key]
        accuracies = {
            "flaml": flaml_accuracies(dataset),
            "ours, same flows": our_accuracies(dataset, warehouse, tuple(MATCHING.values())),
            "ours": our_accuracies(dataset, warehouse, ()),
        }
        results[dataset.key] = {
            name: (best - max(values)) / (best - worst) if best > worst else 0.0
            for name, values in accuracies.items()
        }
        line = "  ".join(f"{name} {value:.3f}" for name, value in results[dataset.key].items())
        print(f"{dataset.name}: {line}", flush=True)
        if options.output:
            options.output.write_text(json.dumps(results, indent=1))
    names = next(iter(results.values()))
    regrets = {name: np.array([row[name] for row in results.values()]) for name in names}
    for name, values in regrets.items():
        half = 1.96 * values.std(ddof=1) / np.sqrt(len(values))
        print(f"{name}: {values.mean():.3f} +- {half:.3f} over {len(values)} datasets")
    for name in ("ours, same flows", "ours"):
        print(f"{name} against flaml: p = {wilcoxon(regrets[name], regrets['flaml']).pvalue:.2g}")


if __name__ == "__main__":
    main()
