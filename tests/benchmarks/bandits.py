"""Bandits over random forest, AdaBoost and a support vector machine: van Hoof's thesis, Figure 7.3.

    python -m tests.benchmarks.bandits [--surrogate gbqr] [--strategy NAME] [--most N]
        [--repeats 1] [--jobs 2] [--history FILE] [--plot FILE]

Every configuration of the three algorithms that the bundled starter has runs of on a dataset may be tried
once, on the datasets of 500 rows and more with 30 configurations or more. There are few of them: 24 of random
forest, 7 of AdaBoost and 8 of support vector machines, where the thesis has the hundreds of three OpenML
flows, on 50 datasets. It prints regret and rank after so many trials, and p against `random-algorithm`
(Wilcoxon's signed-rank test on the regret of a dataset, mean over all trials; two-sided, Holm's correction).
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

from scipy.stats import wilcoxon
from statsmodels.stats.multitest import multipletests

from recommend.bo.simulation.curves import curves_of, draw
from recommend.bo.simulation.runner import SimulationPlan, simulate
from warehouse.queries import RunTable
from warehouse.store import Warehouse
from warehouse.support.journal import Journal

ALGORITHMS = ("random_forest", "adaboost", "svm")
FEWEST_ROWS = 500
LEAST = 30
"""Configurations that a dataset has runs of."""
TRIALS = 20
BASELINE = "random-algorithm"
STRATEGIES = (
    BASELINE,
    "always@random_forest",
    "always@adaboost",
    "always@svm",
    "best-at-first",
    "round-robin",
    "epsilon-greedy",
    "decreasing-epsilon",
    "thompson",
    "top-two-thompson",
    "ucb1",
    "ucb1-tuned",
    "increasing-effort",
    "max-ucb",
    "max-median",
    "quantile-ucb",
    "joint",
)


def of_three(runs: RunTable) -> RunTable:
    """The runs of the three algorithms."""
    own = runs.runs[runs.runs["algorithm"].isin(ALGORITHMS)].reset_index(drop=True)
    table = runs.configurations
    return replace(runs, runs=own, configurations=table.of_setups(own["setup"].unique()))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--surrogate", default="gbqr")
    parser.add_argument("--strategy", action="append", help="beside the baseline; may be repeated")
    parser.add_argument("--most", type=int, help="datasets, the first ones")
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--history", type=Path)
    parser.add_argument("--plot", type=Path)
    given = parser.parse_args()
    starter = Warehouse.open(None)
    runs, metafeatures = of_three(starter.run_table(None, "predictive_accuracy")), starter.metafeatures()
    counts = runs.runs.groupby("dataset")["algorithm"].agg(["size", "nunique"])
    enough = counts.index[(counts["size"] >= LEAST) & (counts["nunique"] == len(ALGORITHMS))]
    rows = metafeatures["NumberOfInstances"].reindex(enough)
    strategies = (BASELINE, *given.strategy) if given.strategy else STRATEGIES
    searched = simulate(
        runs,
        metafeatures,
        SimulationPlan(
            tuple(f"{name}:{given.surrogate}+none" for name in strategies), trials=TRIALS, seeds=given.repeats
        ),
        datasets=list(enough[rows >= FEWEST_ROWS])[: given.most],
        jobs=given.jobs,
        journal=None if given.history is None else Journal(given.history),
    )
    curves = curves_of(searched)
    print(curves.summary().table())
    regret = dict(zip(curves.methods, curves.regret.mean(axis=(2, 3)), strict=True))
    baseline = regret.pop(f"{BASELINE}:{given.surrogate}+none")
    p = multipletests([wilcoxon(one - baseline).pvalue for one in regret.values()], method="holm")[1]
    print(f"\nmean regret over {TRIALS} trials, and p against {BASELINE}, {baseline.mean():.4f}")
    for name, one, of_chance in zip(regret, regret.values(), p, strict=True):
        print(f"{name:<40}{one.mean():>8.4f}{of_chance:>10.2g}")
    if given.plot is not None:
        draw(curves, given.plot, "three algorithms of the starter")


if __name__ == "__main__":
    main()
