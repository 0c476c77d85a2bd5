"""First configurations from FLAML's zero-shot portfolios and from ours, run on the starter's datasets.

    pip install flaml==2.7.0
    python -m tests.benchmarks.flaml_zero_shot [--every 5] [--output results.json]

FLAML names one configuration of each of its learners for a dataset (one nearest neighbour on four
meta-features); where learners are flows of ours (random forest, extra trees, LightGBM), these three are run
on the splits that the starter's runs were made with (`ingest/plans/starter.toml`, first tier). They stand
beside our first three of the same flows, and of all flows, each recommended without the runs on the dataset
and on its family.

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

from ingest.keys import setup_of
from ingest.reading.datasets import Dataset, load_dataset
from ingest.running.cross_validation import class_codes, evaluate
from ingest.running.plan import Plan, read_plan
from ingest.running.resampling import Split
from recommend.ranking import recommend
from tests.benchmarks.real_fits import flaml_pipeline
from warehouse.store import STARTER, Warehouse
from warehouse.support.errors import BadInput

PLAN = Path(__file__).resolve().parents[2] / "ingest" / "plans" / "starter.toml"
TOP = 3
MATCHING = {"rf": "random_forest", "extra_tree": "extra_trees", "lgbm": "lightgbm"}
"""FLAML's name of a learner -> ours of the flow."""

Repetitions = list[list[Split]]


def flaml_accuracies(dataset: Dataset, repetitions: Repetitions) -> list[float]:
    """Accuracy of FLAML's configuration of each learner, in the pipelines of our flows."""
    codes = class_codes(dataset)
    seen = repetitions[0][0][0]
    accuracies = []
    for learner in MATCHING:
        pipeline = flaml_pipeline(dataset, seen, learner)
        right = [
            pipeline.fit(dataset.features.iloc[train], codes[train]).predict(dataset.features.iloc[test])
            == codes[test]
            for splits in repetitions
            for train, test in splits
        ]
        accuracies.append(float(np.concatenate(right).mean()))
    return accuracies


def our_accuracies(
    dataset: Dataset,
    repetitions: Repetitions,
    warehouse: Warehouse,
    known: dict[str, float],
    flows: tuple[str, ...],
    seed: int,
) -> list[float]:
    """Accuracy of our first configurations; what the starter has run is not run again.

    Args:
        known: setup -> accuracy on the dataset.
    """
    found = recommend(dataset, warehouse=warehouse, top=TOP, flows=flows, leave_out=True).configurations
    accuracies = []
    for item in found:
        accuracy = known.get(setup_of(item.configuration))
        if accuracy is None:
            measured = evaluate(item.flow.name, item.configuration.values, dataset, repetitions, seed=seed)
            accuracy = measured["predictive_accuracy"]
        accuracies.append(accuracy)
    return accuracies


def splits_of(dataset: Dataset, plan: Plan) -> Repetitions:
    """The splits of the plan's first tier."""
    resampling = plan.resampling(len(dataset.features), plan.tiers[0])
    return list(resampling.splits(class_codes(dataset), plan.seed))


def main() -> None:
    """Print a line per dataset, then means and tests."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--every", type=int, default=1, help="take every so many of the datasets")
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    warehouse, plan = Warehouse.open(STARTER), read_plan(PLAN)
    table = warehouse.run_table(None, "predictive_accuracy").runs
    values_of = {key: group.set_index("setup")["value"] for key, group in table.groupby("dataset")}
    results: dict[str, dict[str, Any]] = {}
    for source in plan.datasets[:: options.every]:
        try:
            dataset = load_dataset(
                source.file.path,
                target=source.file.target,
                numeric_target=source.numeric_target,
                rare_classes="drop",
            )
        except BadInput:
            continue
        if dataset.key not in values_of or dataset.key in results:
            continue
        known, repetitions = values_of[dataset.key].to_dict(), splits_of(dataset, plan)
        worst, best = min(known.values()), max(known.values())
        same_flows = tuple(MATCHING.values())
        accuracies = {
            "flaml": flaml_accuracies(dataset, repetitions),
            "ours, same flows": our_accuracies(dataset, repetitions, warehouse, known, same_flows, plan.seed),
            "ours": our_accuracies(dataset, repetitions, warehouse, known, (), plan.seed),
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
