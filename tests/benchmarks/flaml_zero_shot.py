"""First configurations from FLAML's zero-shot portfolios and from ours, run on the starter's datasets.

    pip install flaml==2.7.0
    python -m tests.benchmarks.flaml_zero_shot [--every 5] [--half NAME] [--output results.json]

FLAML names one configuration of each of its learners for a dataset (one nearest neighbour on four
meta-features); where learners are flows of ours (random forest, extra trees, LightGBM), these three are run
on the splits that the starter's runs were made with (`ingest/plans/starter.toml`, first tier). They stand
beside our first three of the same flows, and of all flows, each chosen by a model that has not learned from
the dataset, nor from its family (`tests.benchmarks.folds`).

Values are normalized regrets of the best of the three: 0 = the best run of the starter on the dataset, 1 =
the worst; less than 0 = better than all of them.
"""

from __future__ import annotations

import argparse
import json
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import wilcoxon
from statsmodels.stats.multitest import multipletests

from ingest.reading.datasets import Dataset, load_dataset
from ingest.running.cross_validation import class_codes
from ingest.running.plan import Plan, Source, read_plan
from metalearners import DEFAULT_LEARNER
from metalearners.encoding.training_data import runs_on
from metalearners.judging.evaluation import interval
from metalearners.judging.folds import HALVES, Half
from tests.benchmarks.folds import left_out
from tests.benchmarks.real_fits import flaml_pipeline
from warehouse.queries import RunTable
from warehouse.store import STARTER, Warehouse
from warehouse.support.arrays import Floats
from warehouse.support.errors import BadInput

PLAN = Path(__file__).resolve().parents[2] / "ingest" / "plans" / "starter.toml"
TOP = 3
MATCHING = {"rf": "random_forest", "extra_tree": "extra_trees", "lgbm": "lightgbm"}
"""FLAML's name of a learner -> ours of the flow."""
FLAML, SAME_FLOWS, ALL_FLOWS = "FLAML", "ours, same flows", "ours"


def main() -> None:
    """Print a line per dataset, then means and tests."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--every", type=int, default=1, help="take every so many of the datasets")
    parser.add_argument("--half", choices=HALVES, help="of the families of datasets; default: both")
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    warehouse, plan = Warehouse.open(STARTER), read_plan(PLAN)
    runs = warehouse.run_table(None, "predictive_accuracy")
    ours = our_best(runs, warehouse.metafeatures(), options.half)
    regrets: dict[str, dict[str, float]] = {}
    for source in plan.datasets[:: options.every]:
        dataset = read(source)
        if dataset is None or dataset.key not in ours or dataset.key in regrets:
            continue
        _, values = runs_on(runs, dataset.key)
        accuracies = {FLAML: flaml_best(dataset, plan), **ours[dataset.key]}
        spread = values.max() - values.min()
        regrets[dataset.key] = {
            name: (values.max() - accuracy) / spread if spread else 0.0
            for name, accuracy in accuracies.items()
        }
        line = "  ".join(f"{name} {value:.3f}" for name, value in regrets[dataset.key].items())
        print(f"{dataset.name}: {line}", flush=True)
        if options.output:
            options.output.write_text(json.dumps(regrets, indent=1))
    print(summary(pd.DataFrame.from_dict(regrets, orient="index")))


def summary(regrets: pd.DataFrame) -> str:
    """Means with intervals, and tests of ours against FLAML's (Wilcoxon, Holm)."""
    lines = []
    for name, values in regrets.items():
        mean = interval(values.tolist())
        lines.append(f"{name}: {mean.mean:.3f} ± {mean.high - mean.mean:.3f} over {len(values)} datasets")
    others = (SAME_FLOWS, ALL_FLOWS)
    p = multipletests([wilcoxon(regrets[name] - regrets[FLAML]).pvalue for name in others], method="holm")[1]
    for name, corrected in zip(others, p, strict=True):
        better, worse = ((sign * (regrets[FLAML] - regrets[name]) > 0).sum() for sign in (1, -1))
        lines.append(f"{name} against FLAML's: better on {better}, worse on {worse}, p = {corrected:.2g}")
    return "\n".join(lines)


def read(source: Source) -> Dataset | None:
    """The dataset as the starter's runs saw it; None where it can't be read."""
    try:
        return load_dataset(
            source.file.path,
            target=source.file.target,
            numeric_target=source.numeric_target,
            rare_classes="drop",
        )
    except BadInput:
        return None


def our_best(runs: RunTable, metafeatures: pd.DataFrame, half: Half | None) -> dict[str, dict[str, float]]:
    """Dataset -> accuracy of the best of our first three, of the same flows as FLAML's and of all."""
    found = {}
    for tested, model in left_out(DEFAULT_LEARNER, runs, metafeatures, half=half):
        for dataset in tested:
            configurations, values = runs_on(runs, dataset)
            same = np.flatnonzero(configurations.algorithms.isin(MATCHING.values()).to_numpy())
            among = {SAME_FLOWS: same, ALL_FLOWS: np.arange(len(values))}
            found[dataset] = {
                name: float(
                    values[of[model.choose(configurations.take(of), metafeatures.loc[dataset], TOP)]].max()
                )
                for name, of in among.items()
            }
    return found


def flaml_best(dataset: Dataset, plan: Plan) -> float:
    """The best accuracy of FLAML's configurations, one of each learner, in the pipelines of our flows."""
    codes = class_codes(dataset)
    repetitions = list(plan.resampling(len(dataset.features), plan.tiers[0]).splits(codes, plan.seed))
    seen = repetitions[0][0][0]

    def right(learner: str) -> Floats:
        pipeline = flaml_pipeline(dataset, seen, learner)
        return np.concatenate(
            [
                pipeline.fit(dataset.features.iloc[train], codes[train]).predict(dataset.features.iloc[test])
                == codes[test]
                for splits in repetitions
                for train, test in splits
            ]
        )

    return max(float(right(learner).mean()) for learner in MATCHING)


if __name__ == "__main__":
    main()
