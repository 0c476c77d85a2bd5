"""What a model says of datasets that are taken out of it, beside one that was trained without them.

Families of the starter's reporting half are dealt into groups; each group is taken out of the model of all
datasets (`LeavesOut`), and a model is trained without it. Both rank the runs on the group's datasets. Printed
are means over datasets: Spearman's correlation of the two predictions, Kendall's tau with what the runs came
to, and the normalized regret of the first choice and of the best of three; and the share of processor time.

    python -m tests.benchmarks.left_out --groups 3
"""

from __future__ import annotations

import argparse
import time

import numpy as np
import pandas as pd
from scipy.stats import spearmanr

from metalearners.encoding.training_data import runs_on, without_datasets
from metalearners.judging.evaluation import kendall_tau, normalized_regret
from metalearners.judging.folds import families_of, half_of
from metalearners.learners.functional_pca import FunctionalPCA, FunctionalPCALearner
from warehouse.queries import RunTable
from warehouse.store import STARTER, Warehouse

SIZE = 12
"""Families that are left out together."""


def judged(model: FunctionalPCA, runs: RunTable, described: pd.Series, dataset: str) -> dict[str, float]:
    """How well a model ranks the runs on `dataset`."""
    configurations, actual = runs_on(runs, dataset)
    chosen = model.choose(configurations, described, 3)
    return {
        "tau": kendall_tau(model.predict(configurations, described).mean, actual),
        "regret of the first": normalized_regret(chosen[:1], actual),
        "regret of three": normalized_regret(chosen, actual),
    }


def main() -> None:
    """Print the comparison."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--measure", default="predictive_accuracy")
    options.add_argument("--groups", type=int, default=3, help=f"of {SIZE} families each")
    given = options.parse_args()
    warehouse = Warehouse.open(STARTER)
    runs, metafeatures = warehouse.run_table(None, given.measure), warehouse.metafeatures()
    families = families_of(runs)
    reporting = [name for name in dict.fromkeys(families) if half_of(name) == "reporting"]
    of_all = FunctionalPCALearner().fit(runs, metafeatures)
    seconds: dict[str, list[float]] = {"taken out": [], "trained": []}
    rows = []
    for group in range(given.groups):
        left_out = families.index[families.isin(reporting[group :: len(reporting) // SIZE][:SIZE])]
        began = time.process_time()
        taken_out = of_all.without(set(left_out))
        seconds["taken out"].append(time.process_time() - began)
        began = time.process_time()
        others = metafeatures.drop(index=left_out, errors="ignore")
        trained = FunctionalPCALearner().fit(without_datasets(runs, left_out), others)
        seconds["trained"].append(time.process_time() - began)
        if taken_out is None:
            raise SystemExit("too many datasets to be taken out: choose fewer families")
        for dataset in left_out:
            described = metafeatures.loc[dataset]
            configurations, _ = runs_on(runs, dataset)
            both = [model.predict(configurations, described) for model in (taken_out, trained)]
            alike = {
                "correlation": float(spearmanr(both[0].mean, both[1].mean).statistic),
                "difference": float(np.abs(both[0].mean - both[1].mean).mean()),
            }
            for name, model in {"taken out": taken_out, "trained": trained, "of all": of_all}.items():
                rows.append({"model": name, **alike, **judged(model, runs, described, dataset)})
    table = pd.DataFrame(rows)
    print(f"{len(table) // 3} datasets, {given.groups} groups, {given.measure}")
    print(table.groupby("model", sort=False).mean().round(4).to_string())
    print("smallest correlation", round(float(table["correlation"].min()), 4))
    taken, trained_in = (float(np.mean(seconds[name])) for name in ("taken out", "trained"))
    print(
        f"taken out in {taken:.2f} s, trained in {trained_in:.1f} s: {trained_in / taken:.0f} times as long"
    )


if __name__ == "__main__":
    main()
